#include "engine/storage/snapshot_edges.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/storage/snapshot_elements.hpp"

namespace deltamatch::engine {
namespace {

using graph::Edge;
using graph::EdgeTable;
using graph::Slot;

// Edges that are staged at once during loading. This bounds the memory besides the lists.
constexpr std::size_t load_chunk = std::size_t{1} << 20;

struct TimedEdge {
  Edge edge;
  Timestamp time;
  friend bool operator<(const TimedEdge& a, const TimedEdge& b) noexcept { return a.edge < b.edge; }
};

/// Puts edges into the graph, some at a time.
class Loading {
 public:
  Loading(SectionReader& in, graph::DataGraph& graph, Workers& workers) : in_(&in), graph_(&graph), workers_(&workers) {}

  /// The edge that a section states, checked. `which` as in Edge.
  [[nodiscard]] Edge edge_of(const StoredEdge& stored, std::uint32_t which) const {
    const Edge edge{vertex(stored.tail), vertex(stored.head), which};
    if (!graph_->edge_labels.in_use(stored.label)) in_->refuse("an edge has a label that does not exist");
    if ((edge.tail == edge.head && !graph_->keeps_loops()) || (!graph_->directed() && edge.head < edge.tail))
      in_->refuse("an edge has impossible ends");
    return edge;
  }
  void add(const Edge& edge, const std::optional<Timestamp>& time) {
    edges_.push_back({edge, time.value_or(0)});
    if (edges_.size() == load_chunk) finish();
  }
  void finish() {
    if (edges_.empty()) return;
    if (!std::is_sorted(edges_.begin(), edges_.end())) std::sort(edges_.begin(), edges_.end());
    for (const auto& [edge, time] : edges_) {
      batch_.inserted.push_back(edge);
      if (graph_->timed()) batch_.inserted_times.push_back(time);
    }
    graph_->stage(batch_, *workers_);
    graph_->settle(*workers_);
    batch_.clear();
    edges_.clear();
  }

 private:
  [[nodiscard]] VertexId vertex(std::int64_t number) const {
    if (number < 0 || number >= graph_->dictionary.capacity() || !graph_->dictionary.alive(static_cast<VertexId>(number))) {
      in_->refuse("an edge leads to no vertex");
    }
    return static_cast<VertexId>(number);
  }

  SectionReader* in_;
  graph::DataGraph* graph_;
  Workers* workers_;
  std::vector<TimedEdge> edges_;
  graph::NetBatch batch_;
};

void write_by_rank(SectionWriter& out, const graph::DataGraph& graph, std::uint64_t vertices) {
  out.begin(Section::edges);
  ElementWriter writer(out, graph);
  if (graph.edges() > 0) writer.begin_run({UpdateKind::insert_edge, fields_of_edges(graph).always}, graph.edges());
  std::vector<TimedEdge> edges;
  for (VertexId tail = 0; tail < vertices; ++tail) {
    edges.clear();
    graph.for_each_edge(tail, false, [&](const Edge& edge, Timestamp time) { edges.push_back({edge, time}); });
    std::sort(edges.begin(), edges.end());
    for (const auto& [edge, time] : edges) writer.put(StoredEdge{edge.tail, edge.head, edge.which, time, {}, {}});
  }
}

void read_by_rank(ElementReader& reader, SectionReader& in, std::uint64_t count, Loading& loading) {
  Edge last{};
  for (std::uint64_t i = 0; i < count; ++i) {
    const StoredEdge stored = reader.edge();
    const Edge edge = loading.edge_of(stored, stored.label);
    if (i > 0 && edge <= last) in.refuse("its edges are out of order");
    loading.add(last = edge, stored.time);
  }
}

/// One more than the largest slot in use.
std::uint64_t slots_of(const EdgeTable& table) {
  std::uint64_t slots = table.slots();
  while (slots > 0 && !table.live(static_cast<Slot>(slots - 1))) --slots;
  return slots;
}

void write_by_slot(SectionWriter& out, const graph::DataGraph& graph) {
  const EdgeTable& table = *graph.edge_table;
  const std::uint64_t slots = slots_of(table);
  out.begin(Section::slots, false);
  out.number(table.last_ordinal());
  out.number(slots);
  for (std::uint64_t first = 0; first < slots; first += 8) {
    unsigned bits = 0;
    for (std::uint64_t i = first; i < std::min(first + 8, slots); ++i)
      bits |= (table.live(static_cast<Slot>(i)) ? 1u : 0u) << (i - first);
    out.byte(static_cast<std::uint8_t>(bits));
  }
  out.begin(Section::edges);
  ElementWriter writer(out, graph);
  const auto head_of = [&](std::uint64_t number) {
    namespace field = encoding::field;
    const auto slot = static_cast<Slot>(number);
    std::uint64_t fields = field::label;
    if (table.time(slot)) fields |= field::time;
    if (table.keyed()) fields |= field::key | (table.external_key(slot).is_text() ? field::text_key : 0);
    if (has_values(table.values(), slot)) fields |= field::attributes;
    return encoding::Head{UpdateKind::insert_edge, fields};
  };
  const auto next = [&](std::uint64_t slot) {
    while (slot < slots && !table.live(static_cast<Slot>(slot))) ++slot;
    return slot;
  };
  std::vector<AttributeValue> values;
  std::uint64_t last = 0;
  write_runs(writer, slots, next, head_of, [&](std::uint64_t number) {
    const auto slot = static_cast<Slot>(number);
    StoredEdge edge{table.tail(slot), table.head(slot), table.label(slot), table.time(slot), {}, {}};
    if (table.keyed()) edge.key = table.external_key(slot);
    edge.values = stored_values(table.values(), slot, values);
    writer.put(edge);
    out.signed_number(static_cast<std::int64_t>(table.ordinal(slot) - std::exchange(last, table.ordinal(slot))));
  });
}

/// Reads which slots are in use, a bit for each.
std::vector<std::uint8_t> read_slots(SectionReader& in, std::uint64_t count, EdgeTable& table) {
  in.begin(Section::slots);
  table.set_last_ordinal(in.number());
  const std::uint64_t slots = in.number(EdgeTable::max_slots);
  if (slots / 8 > in.size()) in.refuse("there are more slots than the file can hold");
  std::vector<std::uint8_t> in_use((slots + 7) / 8);
  std::uint64_t used = 0;
  for (std::uint8_t& bits : in_use) used += static_cast<unsigned>(std::popcount(bits = in.byte()));
  if (slots % 8 != 0 && in_use.back() >> (slots % 8) != 0) in.refuse("a slot is out of range");
  if (used != count) in.refuse("the number of slots in use is not that of edges in the header");
  return in_use;
}

void read_by_slot(ElementReader& reader, SectionReader& in, std::span<const std::uint8_t> in_use, graph::DataGraph& graph,
                  Loading& loading) {
  EdgeTable& table = *graph.edge_table;
  std::vector<graph::Word> words;
  std::uint64_t ordinal = 0;
  for (std::uint64_t number = 0; number < in_use.size() * 8; ++number) {
    if ((in_use[number / 8] >> (number % 8) & 1) == 0) continue;
    const auto slot = static_cast<Slot>(number);
    const StoredEdge stored = reader.edge();
    const Edge edge = loading.edge_of(stored, slot);
    graph::EdgeRecord record{edge.tail, edge.head, stored.label, stored.time};
    if (stored.key) {
      if (table.keys().find(*stored.key).entry != nullptr) in.refuse("a key occurs twice");
      record.key = stored.key;
    }
    ordinal += static_cast<std::uint64_t>(in.signed_number());
    if (ordinal == 0 || ordinal > table.last_ordinal()) in.refuse("an edge has an impossible ordinal");
    record.ordinal = ordinal;
    table.values().read(stored.values, words);
    table.restore(slot, record, words);
    loading.add(edge, stored.time);
  }
}

}  // namespace

void write_edges(SectionWriter& out, const graph::DataGraph& graph, std::uint64_t vertices) {
  graph.edge_table ? write_by_slot(out, graph) : write_by_rank(out, graph, vertices);
}

void read_edges(SectionReader& in, std::uint64_t count, std::uint64_t labels, graph::DataGraph& graph, Workers& workers) {
  std::vector<std::uint8_t> slots;
  if (graph.edge_table) slots = read_slots(in, count, *graph.edge_table);
  in.begin(Section::edges);
  ElementReader reader(in, graph, count, labels, fields_of_edges(graph));
  Loading loading(in, graph, workers);
  if (graph.edge_table) {
    read_by_slot(reader, in, slots, graph, loading);
  } else {
    read_by_rank(reader, in, count, loading);
  }
  loading.finish();
}

}  // namespace deltamatch::engine
