// Builds a whole graph at once. Half-edges are counted by vertex and scattered into one array. There they are sorted,
// repetitions are removed, and the rest is copied into blocks of the right size. It needs 4 bytes per half-edge and 8 per
// vertex in addition to the lists. Every pass runs in parallel except the one that cuts the blocks. The result does not depend
// on the number of threads.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cassert>
#include <utility>

#include "base/prefetch.hpp"
#include "deltamatch/error.hpp"
#include "graph/bulk_graph.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::graph {

namespace {

constexpr std::size_t edge_grain = std::size_t{1} << 16;
constexpr std::size_t vertex_grain = std::size_t{1} << 10;
// Marks an entry of an incoming edge during the build.
constexpr std::uint32_t incoming_bit = std::uint32_t{1} << 31;
// How far ahead data in random places is prefetched.
constexpr std::size_t prefetch_distance = 16;

// Uninitialised memory, on huge pages if the system has them, because most accesses go to random places.
template <class T>
class LargeArray {
 public:
  explicit LargeArray(std::size_t size)
      : bytes_(std::max<std::size_t>(size, 1) * sizeof(T)), memory_(static_cast<T*>(heap_slabs().allocate(bytes_))) {}
  ~LargeArray() { heap_slabs().release(memory_, bytes_); }
  LargeArray(const LargeArray&) = delete;
  LargeArray& operator=(const LargeArray&) = delete;
  [[nodiscard]] T* data() const noexcept { return memory_; }
  T& operator[](std::size_t at) const noexcept { return memory_[at]; }

 private:
  std::size_t bytes_;
  T* memory_;
};

std::uint64_t take(std::uint64_t& counter) noexcept { return std::atomic_ref(counter).fetch_add(1, std::memory_order_relaxed); }

void check(const VertexPair& edge, VertexId vertices) {
  if (std::max(edge.first, edge.second) >= vertices)
    throw Error("bulk load", "an edge leads to a vertex that does not exist", "number vertices from 0, without gaps");
  if (edge.first == edge.second) throw Error("bulk load", "an edge is a self-loop", "leave self-loops out");
}

// All half-edges, grouped by vertex.
class BulkHalves {
 public:
  BulkHalves(const BulkEdges& bulk, Workers& workers) : ends_(bulk.vertices), entries_(2 * bulk.edges.size()) {
    workers.for_each(bulk.vertices, edge_grain, [&](unsigned, std::size_t begin, std::size_t end) {
      std::fill(ends_.data() + begin, ends_.data() + end, 0);
    });
    workers.for_each(bulk.edges.size(), edge_grain, [&](unsigned, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        check(bulk.edges[i], bulk.vertices);
        take(ends_[bulk.edges[i].first]);
        take(ends_[bulk.edges[i].second]);
      }
    });
    std::uint64_t sum = 0;
    for (std::size_t v = 0; v < bulk.vertices; ++v) sum += std::exchange(ends_[v], sum);
    // Each counter starts where its vertex's entries begin, so it ends where the next vertex's begin.
    const std::uint32_t mark = bulk.directed ? incoming_bit : 0;
    workers.for_each(bulk.edges.size(), edge_grain, [&](unsigned, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i += group) scatter(bulk.edges.subspan(i, std::min(group, end - i)), mark);
    });
  }

  [[nodiscard]] std::span<std::uint32_t> of(std::size_t vertex) noexcept {
    const std::uint64_t begin = vertex == 0 ? 0 : ends_[vertex - 1];
    return {entries_.data() + begin, ends_[vertex] - begin};
  }

 private:
  static constexpr std::size_t group = 32;

  // Takes the places first and writes afterwards. In between, the places are loaded into the cache.
  void scatter(std::span<const VertexPair> edges, std::uint32_t mark) noexcept {
    std::array<std::uint64_t, 2 * group> places;
    for (const auto& [tail, head] : edges) {
      fetch_line_to_write(&ends_[tail]);
      fetch_line_to_write(&ends_[head]);
    }
    for (std::size_t i = 0; i < edges.size(); ++i) {
      places[2 * i] = take(ends_[edges[i].first]);
      places[2 * i + 1] = take(ends_[edges[i].second]);
      fetch_line_to_write(&entries_[places[2 * i]]);
      fetch_line_to_write(&entries_[places[2 * i + 1]]);
    }
    for (std::size_t i = 0; i < edges.size(); ++i) {
      entries_[places[2 * i]] = edges[i].second;
      entries_[places[2 * i + 1]] = edges[i].first | mark;
    }
  }

  LargeArray<std::uint64_t> ends_;
  LargeArray<std::uint32_t> entries_;
};

class RelationOf {
 public:
  explicit RelationOf(const BulkEdges& bulk) noexcept : bulk_(&bulk) {}
  RelationId operator()(std::uint32_t entry) const noexcept {
    const LabelId label = bulk_->labels[entry & ~incoming_bit];
    return (entry & incoming_bit) != 0 ? bulk_->to_tail[label] : bulk_->to_head[label];
  }

 private:
  const BulkEdges* bulk_;
};

struct Distinct {
  std::uint32_t entries;
  std::uint32_t relations;
};

// Sorts a vertex's entries by (relation, neighbour) and moves the distinct ones to the front.
Distinct sort_entries(std::span<std::uint32_t> entries, const RelationOf& relation_of, std::vector<std::uint64_t>& keys) {
  keys.clear();
  for (const std::uint32_t entry : entries) {
    keys.push_back(std::uint64_t{relation_of(entry)} << 32 | std::rotl(entry, 1));  // the mark is equal within a relation
  }
  boost::sort::pdqsort_branchless(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::uint32_t relations = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    entries[i] = std::rotr(static_cast<std::uint32_t>(keys[i]), 1);
    if (i == 0 || keys[i] >> 32 != keys[i - 1] >> 32) ++relations;
  }
  return {static_cast<std::uint32_t>(keys.size()), relations};
}

// The same for the case of a single relation.
Distinct sort_entries(std::span<std::uint32_t> entries) {
  boost::sort::pdqsort_branchless(entries.begin(), entries.end());
  const auto end = std::unique(entries.begin(), entries.end());
  return {static_cast<std::uint32_t>(end - entries.begin()), entries.empty() ? 0U : 1U};
}

/// The statistics of one relation from one worker.
struct Sums {
  std::uint64_t entries = 0;
  std::uint64_t lists = 0;
  std::uint64_t squares = 0;
  std::uint32_t longest = 0;

  void add(std::uint32_t length) noexcept {
    entries += length;
    lists += 1;
    squares += std::uint64_t{length} * length;
    longest = std::max(longest, length);
  }
  void add(const Sums& more) noexcept {
    entries += more.entries;
    lists += more.lists;
    squares += more.squares;
    longest = std::max(longest, more.longest);
  }
};

/// Sums the workers' statistics by relation.
std::vector<RelationFigures> figures_of(const std::vector<std::vector<Sums>>& by_worker, RelationId relations) {
  std::vector<RelationFigures> figures(relations);
  for (RelationId relation = 0; relation < relations; ++relation) {
    Sums all;
    for (const std::vector<Sums>& own : by_worker) all.add(own[relation]);
    figures[relation] = {all.entries, all.lists, static_cast<double>(all.squares), all.longest};
  }
  return figures;
}

}  // namespace

void Adjacency::build(const BulkEdges& bulk, Workers& workers) {
  assert(column_ == Column::none && arena_->bytes() == 0 && delta_rows_.empty());
  BulkHalves halves(bulk, workers);
  const RelationOf relation_of(bulk);
  RelationId relations = 0;
  for (const auto* by_label : {&bulk.to_head, &bulk.to_tail}) {
    for (const RelationId relation : *by_label) relations = std::max(relations, relation + 1);
  }
  rows_.assign(bulk.vertices, Row{});

  // Before the blocks are allocated, `staged` holds the number of entries.
  std::vector<std::vector<std::uint64_t>> keys(workers.size());
  workers.for_each(rows_.size(), vertex_grain, [&](unsigned worker, std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      const Distinct distinct =
          relations == 1 ? sort_entries(halves.of(v)) : sort_entries(halves.of(v), relation_of, keys[worker]);
      rows_[v].staged = distinct.entries;
      rows_[v].slices = distinct.relations;
    }
  });
  keys.clear();

  for (Row& row : rows_) {
    if (row.staged == 0) continue;
    row.directory_log = log_ceil(row.slices);
    const std::size_t words = block_words(row.staged, row.directory_log);
    row.block = arena_->allocate(words);
    row.capacity = static_cast<std::uint32_t>(Arena::block_words(words) - row.directory_words());
    row.version = 1;
  }

  std::vector<std::vector<Sums>> sums(workers.size(), std::vector<Sums>(relations));
  workers.for_each(rows_.size(), vertex_grain, [&](unsigned worker, std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      Row& row = rows_[v];
      const std::span<const std::uint32_t> entries = halves.of(v).first(row.staged);
      std::uint32_t from = 0;
      for (std::uint32_t s = 0; s < row.slices; ++s) {
        const RelationId relation = relation_of(entries[from]);
        std::uint32_t to = from;
        for (; to < entries.size() && (relations == 1 || relation_of(entries[to]) == relation); ++to) {
          row.ids()[to] = entries[to] & ~incoming_bit;
        }
        row.block[2 * s] = relation;
        row.block[2 * s + 1] = to;
        sums[worker][relation].add(to - from);
        from = to;
      }
      row.staged = 0;
    }
  });

  figures_ = figures_of(sums, relations);
}

void DataGraph::build(std::span<const VertexPair> edges, std::span<const LabelId> labels, Workers& workers) {
  BulkEdges bulk{edges, static_cast<VertexId>(labels.size()), directed_, labels, {}, {}};
  for (LabelId label = 0; label < vertex_labels.size(); ++label) {
    bulk.to_head.push_back(relations_.intern(directed_ ? Direction::out : Direction::both, empty_label, label));
    bulk.to_tail.push_back(relations_.intern(directed_ ? Direction::in : Direction::both, empty_label, label));
  }
  base_.build(bulk, workers);
  std::uint64_t entries = 0;
  for (const RelationFigures& figures : base_.figures()) entries += figures.entries;
  edges_ = entries / 2;
  dictionary.restore_numbers(labels, [this](VertexId vertex) {
    if (vertex + prefetch_distance < base_.vertices()) base_.prefetch_block(static_cast<VertexId>(vertex + prefetch_distance));
    return base_.degree(vertex) > 0;
  });
}

}  // namespace deltamatch::graph
