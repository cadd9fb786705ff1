#include "engine/batch/once_rule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <string>

#include "deltamatch/error.hpp"

namespace deltamatch::engine {
namespace {

void append(std::string& bytes, std::uint64_t number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof number); }

void append(std::string& bytes, const Id& id) {
  bytes.push_back(id.is_text() ? 's' : 'i');
  if (id.is_text()) {
    append(bytes, std::uint64_t{id.text().size()});
    bytes.append(id.text());
  } else {
    append(bytes, static_cast<std::uint64_t>(id.number()));
  }
}

/// The time of a new match. If the batch has inserted one of its edges, it is that of the newest edge. A match may come late,
/// so it is not before the watermark. One that is final has its moment, or a later newest edge. Else something beside the match
/// has made it appear, so the time is the batch's.
Timestamp time_of(const OnceBatch& batch, const match::FinalRule* final_rule, const ListedMatch& match) {
  std::optional<Timestamp> newest;
  bool inserted = false;
  for (const graph::Edge& edge : match.edges) {
    if (!batch.graph.edge_table) break;
    newest = std::max(newest, batch.graph.edge_table->time(edge.which));
    inserted = inserted || std::ranges::binary_search(batch.inserted, edge);
  }
  if (final_rule != nullptr && !inserted) return final_rule->moment(*batch.graph.edge_table, match.edges);
  if (final_rule != nullptr) newest = std::max(newest, std::optional(final_rule->moment(*batch.graph.edge_table, match.edges)));
  if (inserted && newest) return std::max(*newest, batch.watermark_before.value_or(INT64_MIN));
  return batch.watermark.value_or(INT64_MIN);
}

Timestamp until(const OnceBatch& batch, const match::FinalRule* final_rule, const ListedMatch& match) {
  if (final_rule != nullptr) return INT64_MIN;
  if (batch.report_span == 0 || match.edges.empty() || !batch.graph.edge_table) return INT64_MAX;
  if (batch.graph.model() == EdgeModel::keyed) return INT64_MAX;  // a correction may keep its edges young
  Timestamp newest = INT64_MIN;
  for (const graph::Edge& edge : match.edges)
    newest = std::max(newest, batch.graph.edge_table->time(edge.which).value_or(INT64_MAX));
  Timestamp end = 0;
  return __builtin_add_overflow(newest, batch.report_span, &end) ? INT64_MAX : end;
}

}  // namespace

OnceBinding::OnceBinding(const plan::BoundQuery& query, const AlertOnce& once) {
  const auto named = [&](std::uint32_t v) { return std::ranges::binary_search(once.vertices, v); };
  const auto name = [&](std::uint32_t v) { return query.query.vertices[v].name; };
  for (const std::uint32_t v : once.vertices) {
    std::vector<std::uint32_t> part{v};
    if (query.count == CountMode::subgraphs) part = query.group.orbit(v);
    const auto other = std::ranges::find_if_not(part, named);
    if (other != part.end()) {
      std::vector<std::string> names;
      for (const std::uint32_t w : part) names.push_back(name(w));
      throw Error(ErrorKind::configuration, "query " + query.query.name,
                  fmt::format("ALERT ONCE PER '{}', which can change places with '{}': a match does not say which is which",
                              name(v), name(*other)),
                  fmt::format("name all of them, ALERT ONCE PER ({}), or tell them apart by labels or conditions",
                              fmt::join(names, ", ")));
    }
    if (part.front() == v) parts_.push_back(std::move(part));
  }
}

Hash128 OnceBinding::of(const graph::DataGraph& graph, std::span<const VertexId> vertices) const {
  std::string bytes;
  std::vector<Id> ids;
  for (const std::vector<std::uint32_t>& part : parts_) {
    ids.clear();
    for (const std::uint32_t v : part) ids.push_back(graph.dictionary.external(vertices[v]));
    std::ranges::sort(ids);
    for (const Id& id : ids) append(bytes, id);
  }
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

OnceCandidate OnceRule::candidate(const OnceBatch& batch, std::size_t task, const ListedMatch& match) const {
  const std::size_t variant = task - batch.tasks.first;
  const match::FinalRule* final_rule = batch.final_rules.at(variant);
  return {time_of(batch, final_rule, match), match.id, bindings_[variant].of(batch.graph, match.vertices),
          until(batch, final_rule, match)};
}

LetThrough OnceRule::decide(const OnceBatch& batch) {
  LetThrough result;
  memory_.begin(batch.watermark_before);
  batch.listing.for_each(batch.tasks, false, batch.most_removed, [&](std::size_t, const ListedMatch& match) {
    if (memory_.vanish(match.id)) result.removed.push_back(match.id);
  });
  std::vector<OnceCandidate> candidates;
  batch.listing.for_each(batch.tasks, true, batch.most_added, [&](std::size_t task, const ListedMatch& match) {
    candidates.push_back(candidate(batch, task, match));
  });
  std::vector<MatchId> passing;
  if (batch.transient) {
    batch.listing.for_each_transient(batch.tasks, [&](std::size_t task, const ListedMatch& match) {
      candidates.push_back(candidate(batch, task, match));
      passing.push_back(match.id);
    });
  }
  const std::size_t found = candidates.size();
  result.added = memory_.decide(candidates);
  result.suppressed = found - result.added.size();
  if (passing.empty()) return result;
  std::ranges::set_intersection(result.added, passing, std::back_inserter(result.transient));
  for (const MatchId& id : result.transient) memory_.forget(id);
  return result;
}

void apply(const LetThrough& let_through, bool lists, bool transients_vanish, QueryDelta& delta) {
  const auto digest = [&](std::initializer_list<const std::vector<MatchId>*> parts) {
    MatchDigest sum;
    for (const std::vector<MatchId>* ids : parts) {
      for (const MatchId& id : *ids) sum.add(id);
    }
    return lists ? sum : MatchDigest{};
  };
  static const std::vector<MatchId> none;
  const std::vector<MatchId>& passing = transients_vanish ? let_through.transient : none;
  delta.added = let_through.added.size();
  delta.removed = let_through.removed.size() + passing.size();
  delta.suppressed = let_through.suppressed;
  delta.added_digest = digest({&let_through.added});
  delta.removed_digest = digest({&let_through.removed, &passing});
}

}  // namespace deltamatch::engine
