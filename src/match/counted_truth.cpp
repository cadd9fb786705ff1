#include "match/counted_truth.hpp"

#include <algorithm>

#include "condition/evaluate.hpp"
#include "plan/condition_steps.hpp"

namespace deltamatch::match {

namespace {

/// The values that a condition reads of a match, and the counts.
template <class Count>
class CountedValues : public plan::BoundValues {
 public:
  CountedValues(const plan::BoundValues& values, const Count& count) noexcept : plan::BoundValues(values), count_(&count) {}
  [[nodiscard]] std::int64_t count(std::uint32_t slot) const { return (*count_)(slot); }

 private:
  const Count* count_;
};

}  // namespace

SharedImages shared_images(const plan::BoundQuery& query, std::uint32_t pattern, std::span<const VertexId> vertices) noexcept {
  SharedImages images{pattern, {}};
  const std::vector<std::uint32_t>& shared = query.counts[pattern].shared;
  for (std::size_t i = 0; i < shared.size(); ++i) images.vertices[i] = vertices[shared[i]];
  return images;
}

CountedTruth::CountedTruth(const plan::BoundQuery& query, std::span<const graph::Resolved> resolved) : query_(&query) {
  searches_.reserve(query.counts.size());
  for (const plan::BoundCount& count : query.counts) searches_.emplace_back(*count.pattern, count.first_edge(), resolved);
}

bool CountedTruth::holds(GraphState state, std::span<const VertexId> vertices, std::span<const graph::Edge> edges) {
  return std::ranges::all_of(query_->counted, [&](const plan::CountedCondition& condition) {
    const auto counted = [&](std::uint32_t slot) { return count(state, condition.counts[slot], vertices, edges); };
    const CountedValues values(plan::BoundValues(*query_, condition, vertices, edges), counted);
    return condition::evaluate(condition.program, values) == condition::Truth::yes;
  });
}

std::int64_t CountedTruth::count(GraphState state, std::uint32_t pattern, std::span<const VertexId> vertices,
                                 std::span<const graph::Edge> edges) {
  if (!query_->counts[pattern].closed) return count_anew(state, pattern, vertices, edges);
  // Where nothing ages, the graph before the batch has one state.
  if (state == GraphState::aged && aged_[0] == aged_[1]) state = GraphState::before;
  const auto [known, fresh] = known_[index_of(state)].try_emplace(shared_images(*query_, pattern, vertices), 0);
  if (!fresh) return known->second;
  const std::int64_t counted = count_anew(state, pattern, vertices, edges);
  known_[index_of(state)][shared_images(*query_, pattern, vertices)] = counted;
  return counted;
}

std::int64_t CountedTruth::count_anew(GraphState state, std::uint32_t pattern, std::span<const VertexId> vertices,
                                      std::span<const graph::Edge> edges) {
  constexpr std::int64_t few = 16;
  const plan::BoundCount& count = query_->counts[pattern];
  const std::int64_t enough = count.counted.enough;
  PatternSearch& search = searches_[pattern];
  search.begin(state, aged_[index_of(state)]);
  if (!count.closed) {  // its condition reads more than shared vertices
    for (std::uint32_t e = 0; e < count.first_edge(); ++e) search.give_edge(e, edges[e]);
    for (std::uint32_t v = 0; v < count.first_vertex(); ++v) {
      if (!std::ranges::binary_search(count.shared, v)) search.give_vertex(v, vertices[v]);
    }
  }
  for (const std::uint32_t v : count.shared) {
    if (!search.bind_vertex(v, vertices[v])) return 0;
  }
  std::int64_t counted = 0;
  const std::vector<std::uint32_t>& distinct = count.counted.pattern.distinct;
  if (distinct.empty()) {
    search.run([&] { return ++counted < enough; });
    return counted;
  }
  few_.clear();
  if (enough > few) many_.clear();
  search.run([&] {
    std::uint64_t images = 0;
    for (const std::uint32_t v : distinct) images = images << 32 | search.vertices()[v];
    if (enough > few) {
      many_.insert(images);
      counted = static_cast<std::int64_t>(many_.size());
    } else if (std::ranges::find(few_, images) == few_.end()) {
      few_.push_back(images);
      ++counted;
    }
    return counted < enough;
  });
  return counted;
}

}  // namespace deltamatch::match
