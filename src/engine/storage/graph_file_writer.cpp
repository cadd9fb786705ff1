// Writes graph files. Blocks are counted first, then every edge goes to its position in its block. Tails come in the order of
// the file, so only the heads of each tail must still be sorted within a block.
#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <numeric>
#include <tuple>

#include "deltamatch/error.hpp"
#include "deltamatch/labels.hpp"
#include "engine/storage/graph_file.hpp"
#include "engine/storage/graph_file_layout.hpp"

namespace deltamatch::engine {
namespace {

using namespace graph_file_layout;
using graph::DataGraph;
using graph::Edge;

/// The labels that are in use, in bytewise order.
struct Labels {
  std::vector<LabelId> by_rank;
  std::vector<std::uint32_t> ranks;  // by label; set only for labels in use

  Labels(const LabelTable& table, const std::vector<bool>& used) : ranks(table.size()) {
    for (LabelId label = 0; label < table.size(); ++label) {
      if (used[label]) by_rank.push_back(label);
    }
    std::sort(by_rank.begin(), by_rank.end(), [&](LabelId a, LabelId b) { return table.text(a) < table.text(b); });
    for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank) ranks[by_rank[rank]] = rank;
  }
};

struct BlockKey {
  std::uint32_t tail_label;
  std::uint32_t head_label;
  std::uint32_t edge_label;
  friend auto operator<=>(const BlockKey&, const BlockKey&) = default;
  friend std::size_t hash_value(const BlockKey& key) noexcept {
    std::uint64_t hash = key.tail_label * 0x9e3779b97f4a7c15U;
    hash = (hash ^ key.head_label) * 0xd6e8feb86659fd93U;
    return (hash ^ key.edge_label ^ hash >> 32) * 0x9e3779b97f4a7c15U;
  }
};

class Layout {
 public:
  explicit Layout(const DataGraph& graph)
      : graph_(graph),
        vertex_labels_(graph.vertex_labels, used_vertex_labels(graph)),
        edge_labels_(graph.edge_labels, used_edge_labels(graph)) {
    number_vertices();
    count_blocks();
    place_edges();
  }

  void write(SectionWriter& out, std::optional<Timestamp> watermark) const;

 private:
  static std::vector<bool> used_vertex_labels(const DataGraph& graph);
  static std::vector<bool> used_edge_labels(const DataGraph& graph);

  [[nodiscard]] bool has_label_sets() const {
    return std::ranges::any_of(vertex_labels_.by_rank,
                               [&](LabelId label) { return is_several_labels(graph_.vertex_labels.text(label)); });
  }
  void number_vertices();
  void count_blocks();
  void place_edges();
  [[nodiscard]] BlockKey key_of(VertexId tail, VertexId head, LabelId label) const {
    return {vertex_labels_.ranks[graph_.dictionary.label(tail)], vertex_labels_.ranks[graph_.dictionary.label(head)],
            edge_labels_.ranks[label]};
  }
  /// Calls visit(head, edge label, time) for each edge whose tail in the file is this vertex.
  template <class Visit>
  void for_each_edge(VertexId tail, Visit&& visit) const {
    graph_.for_each_edge(tail, !graph_.directed(), [&](const Edge& edge, Timestamp time) {
      const VertexId head = edge.tail == tail ? edge.head : edge.tail;
      if (graph_.directed() || numbers_[tail] < numbers_[head]) visit(head, graph_.label_of(edge), time);
    });
  }

  struct Entry {
    graph::EdgeEnds ends;
    Timestamp time;
  };

  const DataGraph& graph_;
  Labels vertex_labels_;
  Labels edge_labels_;
  std::vector<VertexId> vertices_;                             // by number in the file
  std::vector<VertexId> numbers_;                              // by vertex
  std::vector<std::pair<BlockKey, std::uint64_t>> blocks_;     // ascending, with the number of edges
  boost::unordered_flat_map<BlockKey, std::uint64_t> places_;  // first the number of edges, then where the next edge goes
  std::vector<graph::EdgeEnds> ends_;
  std::vector<Timestamp> times_;
};

std::vector<bool> Layout::used_vertex_labels(const DataGraph& graph) {
  std::vector<bool> used(graph.vertex_labels.size());
  for (VertexId v = 0; v < graph.dictionary.capacity(); ++v) {
    if (graph.dictionary.alive(v)) used[graph.dictionary.label(v)] = true;
  }
  return used;
}

std::vector<bool> Layout::used_edge_labels(const DataGraph& graph) {
  std::vector<bool> used(graph.edge_labels.size());
  const auto figures = graph.base().figures();
  for (graph::RelationId relation = 0; relation < figures.size(); ++relation) {
    if (figures[relation].entries > 0) used[graph.relations()[relation].edge_label] = true;
  }
  return used;
}

void Layout::number_vertices() {
  const graph::Dictionary& dictionary = graph_.dictionary;
  for (VertexId v = 0; v < dictionary.capacity(); ++v) {
    if (dictionary.alive(v)) vertices_.push_back(v);
  }
  std::sort(vertices_.begin(), vertices_.end(), [&](VertexId a, VertexId b) {
    const std::uint32_t rank_a = vertex_labels_.ranks[dictionary.label(a)];
    const std::uint32_t rank_b = vertex_labels_.ranks[dictionary.label(b)];
    return rank_a != rank_b ? rank_a < rank_b : dictionary.external(a) < dictionary.external(b);
  });
  numbers_.resize(dictionary.capacity());
  for (VertexId number = 0; number < vertices_.size(); ++number) numbers_[vertices_[number]] = number;
}

void Layout::count_blocks() {
  for (const VertexId tail : vertices_) {
    for_each_edge(tail, [&](VertexId head, LabelId label, Timestamp) { ++places_[key_of(tail, head, label)]; });
  }
  blocks_.assign(places_.begin(), places_.end());
  std::sort(blocks_.begin(), blocks_.end());
  std::uint64_t place = 0;
  for (const auto& [key, edges] : blocks_) {
    places_[key] = place;
    place += edges;
  }
  ends_.resize(place);
  if (graph_.timed()) times_.resize(place);
}

void Layout::place_edges() {
  std::vector<std::pair<BlockKey, Entry>> of_tail;
  for (const VertexId tail : vertices_) {
    of_tail.clear();
    for_each_edge(tail, [&](VertexId head, LabelId label, Timestamp time) {
      of_tail.push_back({key_of(tail, head, label), {{numbers_[tail], numbers_[head]}, time}});
    });
    std::sort(of_tail.begin(), of_tail.end(),
              [](const auto& a, const auto& b) { return std::tie(a.first, a.second.ends) < std::tie(b.first, b.second.ends); });
    for (const auto& [key, entry] : of_tail) {
      const std::uint64_t place = places_[key]++;
      ends_[place] = entry.ends;
      if (graph_.timed()) times_[place] = entry.time;
    }
  }
}

template <class T>
void put(SectionWriter& out, const T& value) {
  out.raw({reinterpret_cast<const char*>(&value), sizeof value});
}

template <class T>
void put_all(SectionWriter& out, Section section, const std::vector<T>& values) {
  out.begin(section, false);
  out.raw({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

std::uint64_t put_label_ends(SectionWriter& out, Section section, const LabelTable& table, const Labels& labels) {
  out.begin(section, false);
  std::uint64_t end = 0;
  for (const LabelId label : labels.by_rank) put(out, end += table.text(label).size());
  return end;
}

void put_label_texts(SectionWriter& out, Section section, const LabelTable& table, const Labels& labels) {
  out.begin(section, false);
  for (const LabelId label : labels.by_rank) out.raw(table.text(label));
}

std::uint64_t text_bytes(const LabelTable& table, const Labels& labels) {
  return std::accumulate(labels.by_rank.begin(), labels.by_rank.end(), std::uint64_t{0},
                         [&](std::uint64_t sum, LabelId label) { return sum + table.text(label).size(); });
}

void Layout::write(SectionWriter& out, std::optional<Timestamp> watermark) const {
  const graph::Dictionary& dictionary = graph_.dictionary;
  std::uint64_t id_bytes = 0;
  for (const VertexId v : vertices_) {
    if (const Id id = dictionary.external(v); id.is_text()) id_bytes += 4 + id.text().size();
  }
  out.begin(Section::graph_header, false);
  const std::uint32_t flags = (graph_.directed() ? directed_flag : 0) | (graph_.timed() ? timed_flag : 0) |
                              (watermark ? watermark_flag : 0) | (has_label_sets() ? label_sets_flag : 0);
  put(out, Header{flags, 0, vertex_labels_.by_rank.size(), edge_labels_.by_rank.size(), vertices_.size(), blocks_.size(),
                  ends_.size(), text_bytes(graph_.vertex_labels, vertex_labels_), text_bytes(graph_.edge_labels, edge_labels_),
                  id_bytes, watermark.value_or(0)});

  put_label_ends(out, Section::vertex_label_ends, graph_.vertex_labels, vertex_labels_);
  out.begin(Section::label_parts, false);
  LabelEnds label_ends{0, 0};
  for (std::uint32_t rank = 0; rank < vertex_labels_.by_rank.size(); ++rank) {
    while (label_ends.vertices < vertices_.size() &&
           dictionary.label(vertices_[label_ends.vertices]) == vertex_labels_.by_rank[rank]) {
      ++label_ends.vertices;
    }
    while (label_ends.blocks < blocks_.size() && blocks_[label_ends.blocks].first.tail_label == rank) ++label_ends.blocks;
    put(out, label_ends);
  }
  put_label_ends(out, Section::edge_label_ends, graph_.edge_labels, edge_labels_);
  out.begin(Section::blocks, false);
  std::uint64_t edges_end = 0;
  for (const auto& [key, edges] : blocks_) put(out, BlockEntry{key.head_label, key.edge_label, edges_end += edges});

  out.begin(Section::vertex_keys, false);
  std::uint64_t text_begin = 0;
  for (const VertexId v : vertices_) {
    const Id id = dictionary.external(v);
    put(out, id.is_text() ? text_begin : static_cast<std::uint64_t>(id.number()));
    if (id.is_text()) text_begin += 4 + id.text().size();
  }
  put_all(out, Section::edge_ends, ends_);
  put_all(out, Section::edge_times, times_);
  put_label_texts(out, Section::vertex_label_texts, graph_.vertex_labels, vertex_labels_);
  put_label_texts(out, Section::edge_label_texts, graph_.edge_labels, edge_labels_);
  out.begin(Section::vertex_flags, false);
  for (const VertexId v : vertices_) {
    out.byte(static_cast<std::uint8_t>((dictionary.external(v).is_text() ? text_flag : 0) |
                                       (dictionary.declared(v) ? declared_flag : 0)));
  }
  out.begin(Section::id_texts, false);
  for (const VertexId v : vertices_) {
    const Id id = dictionary.external(v);
    if (!id.is_text()) continue;
    put(out, static_cast<std::uint32_t>(id.text().size()));
    out.raw(id.text());
  }
}

}  // namespace

void write_graph_file(const std::filesystem::path& path, const DataGraph& graph, std::optional<Timestamp> watermark) {
  if (graph.schema() != Schema{}) {
    throw Error(ErrorKind::usage, path.string(), "a graph file holds no edges with identities, and no attributes",
                "save a snapshot instead, or write the updates in a binary stream");
  }
  if (graph.keeps_loops()) {
    throw Error(ErrorKind::usage, path.string(), "a graph file holds no self-loops, and the graph keeps them",
                "save a snapshot instead, or write the updates in a binary stream");
  }
  SectionWriter out(path, graph_file);
  Layout(graph).write(out, watermark);
  out.commit();
}

}  // namespace deltamatch::engine
