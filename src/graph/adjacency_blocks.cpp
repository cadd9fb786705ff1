// Builds a whole graph from blocks of edges. It counts the entries, cuts the memory blocks and appends to the lists. It goes
// relation by relation, in the order of every directory. It needs no memory except for the lists. Workers share the rows in
// ranges. Each worker reads all edges at the label of its rows and takes those of its rows. The result does not depend on the
// number of workers.
#include <algorithm>
#include <cassert>
#include <tuple>

#include "base/prefetch.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::graph {

namespace {

constexpr std::size_t rows_ahead = 32;
constexpr std::size_t entries_ahead = 16;
constexpr std::size_t least_rows = std::size_t{1} << 14;  // rows in a range, unless the label has fewer

/// Calls take(vertex, neighbour) for the entries of one side of a block whose vertex is in [begin, end). Before, it calls
/// fetch(vertex, far) for entries a little ahead, and with `far` for those still further ahead.
template <class Fetch, class Take>
void for_each_entry(const BlockSide& side, VertexId begin, VertexId end, Fetch&& fetch, Take&& take) {
  const EdgeBlock& block = *side.block;
  const auto vertex = [&](const EdgeEnds& ends) {
    return side.at_head ? ends.head - block.head_shift : ends.tail - block.tail_shift;
  };
  const auto neighbour = [&](const EdgeEnds& ends) {
    return side.at_head ? ends.tail - block.tail_shift : ends.head - block.head_shift;
  };
  const auto ours = [&](VertexId v) { return v - begin < end - begin; };
  for (const std::span<const EdgeEnds> run : block.runs) {
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (i + rows_ahead < run.size()) {
        if (const VertexId v = vertex(run[i + rows_ahead]); ours(v)) fetch(v, true);
        if (const VertexId v = vertex(run[i + entries_ahead]); ours(v)) fetch(v, false);
      }
      if (const VertexId v = vertex(run[i]); ours(v)) take(v, neighbour(run[i]));
    }
  }
}

/// A range of rows with the sides of blocks that have entries in it.
struct Range {
  VertexId begin;
  VertexId end;
  std::span<const BlockSide> sides;
};

/// Calls take(vertex, neighbour, relation) for all entries of a range, side by side, and fetch as above.
template <class Fetch, class Take>
void for_each_entry(const Range& range, Fetch&& fetch, Take&& take) {
  for (const BlockSide& side : range.sides) {
    for_each_entry(side, range.begin, range.end, fetch,
                   [&](VertexId vertex, VertexId neighbour) { take(vertex, neighbour, side.relation); });
  }
}

std::vector<Range> ranges_of(std::span<const LabelPart> parts, std::span<const BlockSide> sides, std::size_t threads) {
  std::vector<Range> ranges;
  std::size_t vertices = 0;
  for (const LabelPart& part : parts) vertices += part.end - part.begin;
  const std::size_t rows = std::max(least_rows, threads > 1 ? vertices / (2 * threads) + 1 : vertices);
  for (const LabelPart& part : parts) {
    const auto [first, last] =
        std::equal_range(sides.begin(), sides.end(), BlockSide{part.label, 0, false, nullptr},
                         [](const BlockSide& a, const BlockSide& b) { return a.row_label < b.row_label; });
    for (std::size_t begin = part.begin; begin < part.end; begin += rows) {
      ranges.push_back({static_cast<VertexId>(begin), static_cast<VertexId>(std::min<std::size_t>(begin + rows, part.end)),
                        std::span(first, last)});
    }
  }
  return ranges;
}

}  // namespace

void Adjacency::build(std::span<const LabelPart> parts, std::span<const BlockSide> sides, Workers& workers) {
  assert(column_ == Column::none && arena_->bytes() == 0 && delta_rows_.empty());
  rows_.assign(parts.empty() ? 0 : parts.back().end, Row{});
  const std::vector<Range> ranges = ranges_of(parts, sides, workers.size());
  const auto fetch_row = [this](VertexId vertex, bool far) {
    if (far) fetch_line_to_write(&rows_[vertex]);
  };

  // Before the blocks are allocated, `staged` holds the number of entries, and `version` the last counted relation plus one.
  workers.for_each(ranges.size(), 1, [&](unsigned, std::size_t first, std::size_t last) {
    for (std::size_t r = first; r < last; ++r) {
      for_each_entry(ranges[r], fetch_row, [&](VertexId vertex, VertexId, RelationId relation) {
        Row& row = rows_[vertex];
        ++row.staged;
        if (row.version == relation + 1) return;
        row.version = relation + 1;
        ++row.slices;
      });
    }
  });

  for (Row& row : rows_) {
    row.version = 0;
    if (row.staged == 0) continue;
    row.directory_log = log_ceil(row.slices);
    const std::size_t words = block_words(row.staged, row.directory_log);
    row.block = arena_->allocate(words);
    row.capacity = static_cast<std::uint32_t>(Arena::block_words(words) - row.directory_words());
    row.version = 1;
    row.staged = 0;
    row.slices = 0;
  }

  const auto fetch = [this](VertexId vertex, bool far) {
    if (far) {
      fetch_line_to_write(&rows_[vertex]);
    } else {
      const Row& row = rows_[vertex];
      fetch_line_to_write(row.block + 2 * std::size_t{row.slices});
      fetch_line_to_write(row.ids() + row.staged);
    }
  };
  workers.for_each(ranges.size(), 1, [&](unsigned, std::size_t first, std::size_t last) {
    for (std::size_t r = first; r < last; ++r) {
      for_each_entry(ranges[r], fetch, [&](VertexId vertex, VertexId neighbour, RelationId relation) {
        Row& row = rows_[vertex];
        if (row.slices == 0 || row.block[2 * (row.slices - 1)] != relation) {
          row.block[2 * row.slices] = relation;
          ++row.slices;
        }
        row.ids()[row.staged++] = neighbour;
        row.block[2 * row.slices - 1] = row.staged;
      });
      for (VertexId vertex = ranges[r].begin; vertex < ranges[r].end; ++vertex) rows_[vertex].staged = 0;
    }
  });
  sum_figures(workers);
}

void Adjacency::sum_figures(Workers& workers) {
  std::vector<std::vector<RelationFigures>> sums(workers.size());
  workers.for_each(rows_.size(), least_rows, [&](unsigned worker, std::size_t begin, std::size_t end) {
    std::vector<RelationFigures>& own = sums[worker];
    for (std::size_t v = begin; v < end; ++v) {
      const Row& row = rows_[v];
      for (std::uint32_t s = 0; s < row.slices; ++s) {
        const RelationId relation = row.block[2 * s];
        if (relation >= own.size()) own.resize(relation + 1);
        RelationFigures& figures = own[relation];
        const std::uint32_t length = row.end(s) - row.begin(s);
        figures.entries += length;
        figures.lists += 1;
        figures.squares += static_cast<double>(length) * length;
        figures.longest = std::max(figures.longest, length);
      }
    }
  });
  for (const auto& own : sums) {
    if (own.size() > figures_.size()) figures_.resize(own.size());
    for (std::size_t relation = 0; relation < own.size(); ++relation) {
      RelationFigures& figures = figures_[relation];
      figures.entries += own[relation].entries;
      figures.lists += own[relation].lists;
      figures.squares += own[relation].squares;
      figures.longest = std::max(figures.longest, own[relation].longest);
    }
  }
}

void DataGraph::build(std::span<const LabelPart> parts, std::span<const EdgeBlock> blocks, Workers& workers) {
  std::vector<BlockSide> sides;
  std::uint64_t edges = 0;
  for (const EdgeBlock& block : blocks) {
    const RelationId at_tail =
        relations_.intern(directed_ ? Direction::out : Direction::both, block.edge_label, block.head_label);
    const RelationId at_head =
        relations_.intern(directed_ ? Direction::in : Direction::both, block.edge_label, block.tail_label);
    sides.push_back({block.tail_label, at_tail, false, &block});
    sides.push_back({block.head_label, at_head, true, &block});
    edges += block.edges;
  }
  // An undirected edge within one label has the same relation at both ends. Its head side comes first, because it has the lower
  // neighbours.
  std::sort(sides.begin(), sides.end(), [](const BlockSide& a, const BlockSide& b) {
    return std::tuple(a.row_label, a.relation, !a.at_head) < std::tuple(b.row_label, b.relation, !b.at_head);
  });
  base_.build(parts, sides, workers);
  edges_ = edges;
}

}  // namespace deltamatch::graph
