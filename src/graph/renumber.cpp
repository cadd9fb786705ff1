// Renumbers vertices. Lists stay where they are; only their contents change.
#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cassert>
#include <numeric>

#include "graph/data_graph.hpp"
#include "graph/permute.hpp"

namespace deltamatch::graph {

namespace {

constexpr std::size_t vertex_grain = std::size_t{1} << 10;

}  // namespace

void Adjacency::renumber(std::span<const VertexId> to, std::vector<bool>& done, Workers& workers) noexcept {
  assert(column_ == Column::none && delta_rows_.empty() && to.size() == rows_.size());
  permute(to, done, rows_);
  serial_ = next_serial();
  workers.for_each(rows_.size(), vertex_grain, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      Row& row = rows_[v];
      ++row.version;
      for (std::uint32_t s = 0; s < row.slices; ++s) {
        const std::span<std::uint32_t> list(row.ids() + row.begin(s), row.end(s) - row.begin(s));
        for (std::uint32_t& id : list) id = to[id];
        boost::sort::pdqsort_branchless(list.begin(), list.end());
      }
    }
  });
}

void DataGraph::renumber_by_degree(Workers& workers) {
  const VertexId count = dictionary.capacity();
  base_.reserve_vertices(count);
  // There may be more rows than the dictionary has numbers. The extra rows keep their numbers.
  std::vector<VertexId> order(base_.vertices());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.begin() + count,
                   [&](VertexId a, VertexId b) { return base_.degree(a) < base_.degree(b); });
  std::vector<VertexId> to(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) to[order[place]] = static_cast<VertexId>(place);
  std::vector<bool> done(to.size());
  vertex_values.expect(count);
  dictionary.renumber(std::span(to).first(count), done);
  vertex_values.renumber(std::span(to).first(count), done);
  base_.renumber(to, done, workers);
  forget_derived();
  numbered_by_degree_ = true;
}

}  // namespace deltamatch::graph
