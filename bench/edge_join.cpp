#include "edge_join.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>

#include "deltamatch/error.hpp"
#include "filter/pruned_lists.hpp"
#include "thread_time.hpp"

namespace deltamatch::bench {

namespace {

/// As the matcher's filter: rounds end once one takes less than a 32nd.
std::unique_ptr<filter::PrunedLists> candidate_edges(plan::BoundQuery& query, graph::DataGraph& graph, Workers& workers) {
  const std::atomic<bool> never_stopped = false;
  filter::Candidates candidates(query, workers, never_stopped);
  const auto left = [&] {
    const auto& all = candidates.left().candidates;
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  };
  candidates.by_label();
  candidates.by_degree();
  for (std::uint64_t before = left() + 1, after = left(); after > 0 && (before - after) * 32 >= before; after = left()) {
    before = after;
    candidates.refine();
  }
  const std::atomic<bool> never = false;
  auto lists = std::make_unique<filter::PrunedLists>(query, candidates, filter::Numbering::of_graph, workers, never);
  lists->lend(query, graph);
  return lists;
}

/// Partial matches: rows of one vertex for each matched query vertex, in the order in which these were matched.
class Table {
 public:
  Table(const plan::BoundQuery& query, std::size_t memory, EdgeJoin& join) : query_(&query), memory_(memory), join_(&join) {}

  /// Joins the candidates of one query edge after the other; false where memory does not suffice.
  bool join_all() {
    std::vector<bool> joined(query_->edges.size());
    for (std::size_t i = 0; i < joined.size(); ++i) {
      const std::uint32_t edge = next_edge(joined);
      joined[edge] = true;
      const bool fits = i == 0                                                                   ? begin(edge)
                        : place(query_->edges[edge].source) && place(query_->edges[edge].target) ? close(edge)
                                                                                                 : extend(edge);
      if (!fits) return false;
      join_->partials.push_back(rows());
    }
    return true;
  }
  [[nodiscard]] std::uint64_t rows() const { return cells_.size() / columns_.size(); }

 private:
  [[nodiscard]] std::optional<std::size_t> place(std::uint32_t vertex) const {
    const auto at = std::ranges::find(columns_, vertex);
    if (at == columns_.end()) return std::nullopt;
    return static_cast<std::size_t>(at - columns_.begin());
  }
  [[nodiscard]] std::uint32_t next_edge(const std::vector<bool>& joined) const {
    std::uint32_t best = 0;
    std::tuple<int, std::uint64_t> least{3, 0};
    for (std::uint32_t e = 0; e < joined.size(); ++e) {
      if (joined[e]) continue;
      const int open = 2 - static_cast<int>(place(query_->edges[e].source).has_value()) -
                       static_cast<int>(place(query_->edges[e].target).has_value());
      const std::tuple rank{open, query_->graph().figures(query_->edges[e].reading[0]).entries};
      if (rank < least) std::tie(best, least) = std::tuple(e, rank);
    }
    return best;
  }
  [[nodiscard]] std::span<const VertexId> list(std::uint32_t edge, unsigned end, VertexId vertex) const {
    const graph::Resolved& where = query_->graph().resolve(query_->edges[edge].reading[end]);
    return where.store->ids(vertex, where.relation);
  }
  [[nodiscard]] bool fits(const std::vector<VertexId>& next) const {
    const std::size_t bytes = (cells_.size() + next.size()) * sizeof(VertexId);
    join_->peak_bytes = std::max(join_->peak_bytes, bytes);
    return bytes <= memory_;
  }

  bool begin(std::uint32_t edge) {
    columns_ = {query_->edges[edge].source, query_->edges[edge].target};
    const auto vertices = static_cast<VertexId>(query_->graph().base().vertices());
    for (VertexId vertex = 0; vertex < vertices; ++vertex) {
      for (const VertexId other : list(edge, 0, vertex)) cells_.insert(cells_.end(), {vertex, other});
    }
    return fits({});
  }

  /// One end is matched: a row for each candidate of the other.
  bool extend(std::uint32_t edge) {
    const plan::BoundEdge& bound = query_->edges[edge];
    const auto source = place(bound.source);
    const unsigned end = source ? 0 : 1;
    const std::size_t from = source ? *source : *place(bound.target);
    const std::size_t width = columns_.size();
    std::vector<VertexId> next;
    for (std::size_t row = 0; row < cells_.size(); row += width) {
      const auto begin = cells_.begin() + static_cast<std::ptrdiff_t>(row);
      const auto partial = std::span(begin, width);
      for (const VertexId vertex : list(edge, end, partial[from])) {
        if (std::ranges::find(partial, vertex) != partial.end()) continue;
        next.insert(next.end(), partial.begin(), partial.end());
        next.push_back(vertex);
      }
      if (!fits(next)) return false;
    }
    columns_.push_back(end == 0 ? bound.target : bound.source);
    cells_.swap(next);
    return true;
  }

  /// Both ends are matched: the rows that are joined stay.
  bool close(std::uint32_t edge) {
    const std::size_t source = *place(query_->edges[edge].source);
    const std::size_t target = *place(query_->edges[edge].target);
    const std::size_t width = columns_.size();
    std::vector<VertexId> next;
    for (std::size_t row = 0; row < cells_.size(); row += width) {
      const auto partial = std::span(cells_.begin() + static_cast<std::ptrdiff_t>(row), width);
      if (!std::ranges::binary_search(list(edge, 0, partial[source]), partial[target])) continue;
      next.insert(next.end(), partial.begin(), partial.end());
    }
    const bool enough = fits(next);
    cells_.swap(next);
    return enough;
  }

  const plan::BoundQuery* query_;
  std::size_t memory_;
  EdgeJoin* join_;
  std::vector<std::uint32_t> columns_;  // query vertices
  std::vector<VertexId> cells_;
};

}  // namespace

EdgeJoin join_edges(const Query& query, graph::DataGraph& graph, std::size_t memory, Workers& workers) {
  EdgeJoin join;
  double start = thread_seconds();
  std::unique_ptr<filter::PrunedLists> lists;  // outlives the query
  plan::BoundQuery bound(query, MatchMode::isomorphism, CountMode::embeddings, graph);
  graph.resolve_all();
  for (const plan::BoundEdge& edge : bound.edges) {
    const graph::Resolved& where = graph.resolve(edge.reading[0]);
    if (where.store == nullptr) return join;
    if (where.parallel) throw Error("query " + query.name, "parallel edges", "name one edge label for each query edge");
  }
  lists = candidate_edges(bound, graph, workers);
  for (const plan::BoundEdge& edge : bound.edges) join.candidate_edges += graph.figures(edge.reading[0]).entries;
  join.candidate_bytes = lists->bytes();
  join.filter_seconds = thread_seconds() - start;

  start = thread_seconds();
  Table table(bound, memory, join);
  join.complete = table.join_all();
  if (join.complete) join.embeddings = table.rows();
  join.join_seconds = thread_seconds() - start;
  return join;
}

}  // namespace deltamatch::bench
