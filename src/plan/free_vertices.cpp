#include "plan/free_vertices.hpp"

#include <algorithm>
#include <bit>

#include "base/checked.hpp"

namespace deltamatch::plan {

namespace {

// Limits the terms of one sum by inclusion and exclusion, to the number of partitions of five vertices.
constexpr std::size_t max_terms = 52;

class Partitions {
 public:
  explicit Partitions(const BoundQuery& query) : query_(query) {}

  std::optional<std::vector<std::vector<Mask>>> of(const std::vector<std::uint32_t>& free) {
    result_.clear();
    std::vector<Mask> blocks;
    if (!extend(free, 0, blocks)) return std::nullopt;
    return result_;
  }

 private:
  bool extend(const std::vector<std::uint32_t>& free, std::size_t next, std::vector<Mask>& blocks) {
    if (next == free.size()) {
      if (result_.size() == max_terms) return false;
      result_.push_back(blocks);
      return true;
    }
    const std::uint32_t v = free[next];
    blocks.push_back(Mask{1} << v);
    if (!extend(free, next + 1, blocks)) return false;
    blocks.pop_back();
    if (query_.mode != MatchMode::isomorphism) return true;
    for (Mask& block : blocks) {
      if ((block & query_.neighbours(v)) != 0) continue;
      const auto first = static_cast<std::uint32_t>(std::countr_zero(block));
      if (!query_.compatible(first, v)) continue;
      if (query_.labels[first] != query_.labels[v]) return false;
      block |= Mask{1} << v;
      const bool fits = extend(free, next + 1, blocks);
      block &= ~(Mask{1} << v);
      if (!fits) return false;
    }
    return true;
  }

  const BoundQuery& query_;
  std::vector<std::vector<Mask>> result_;
};

}  // namespace

std::optional<std::vector<std::vector<Mask>>> partitions(const BoundQuery& query, const std::vector<std::uint32_t>& free) {
  return Partitions(query).of(free);
}

std::int64_t moebius(const std::vector<Mask>& blocks) {
  std::int64_t coefficient = 1;
  for (const Mask block : blocks) {
    for (int i = 1; i < std::popcount(block); ++i) coefficient *= -i;
  }
  return coefficient;
}

std::vector<std::vector<std::uint32_t>> take_twins(const BoundQuery& query, std::uint32_t anchor,
                                                   const std::vector<Mask>& positions, std::vector<std::uint32_t>& free) {
  std::vector<std::vector<std::uint32_t>> groups;
  if (query.mode != MatchMode::isomorphism) return groups;
  Mask held = 0;
  for (const Mask position : positions) held |= position;
  for (std::size_t i = 0; i < free.size(); ++i) {
    const std::uint32_t v = free[i];
    if ((query.neighbours(v) & ~held) != 0) continue;
    const Candidates own = candidates_for(query, Mask{1} << v, positions, anchor, positions.size());
    std::vector<std::uint32_t> twins;
    bool apart = true;
    for (const std::uint32_t u : free) {
      const bool alike = query.labels[u] == query.labels[v] && (query.neighbours(u) & ~held) == 0 && [&] {
        const Candidates other = candidates_for(query, Mask{1} << u, positions, anchor, positions.size());
        return std::equal(
            own.probes.begin(), own.probes.end(), other.probes.begin(), other.probes.end(),
            [](const Probe& a, const Probe& b) { return a.position == b.position && a.query_relation == b.query_relation; });
      }();
      if (alike) {
        twins.push_back(u);
      } else {
        apart = apart && !(query.compatible(u, v) && !query.adjacent(u, v));
      }
    }
    if (twins.size() < 2 || !apart) continue;
    std::erase_if(free, [&](std::uint32_t u) { return std::find(twins.begin(), twins.end(), u) != twins.end(); });
    groups.push_back(std::move(twins));
    i = static_cast<std::size_t>(-1);
  }
  return groups;
}

std::vector<Factor> choose_twins(const FactorBuilder& builder, const std::vector<std::vector<std::uint32_t>>& groups,
                                 const std::vector<Mask>& positions, Count& divisor) {
  std::vector<Factor> chosen;
  for (const auto& twins : groups) {
    chosen.push_back(builder.factors({Mask{1} << twins[0]}, positions)[0]);
    chosen.back().members[0] = twins;
    chosen.back().choose = static_cast<std::uint32_t>(twins.size());
    divisor /= checked_factorial(twins.size());
  }
  return chosen;
}

bool must_enumerate(const BoundQuery& query) {
  if (query.conditional()) return true;
  return query.induced || query.mode == MatchMode::edge_distinct ||
         (query.mode == MatchMode::isomorphism && query.edges_may_coincide());
}

}  // namespace deltamatch::plan
