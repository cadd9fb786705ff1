// The sections of a snapshot, in this order; the container is engine/storage/section_file.hpp.
//
//   header         directed, window, batch, watermark, and the counts in Sizes below
//   annotation     bytes from the caller
//   vertex labels  texts by number, without the empty label
//   edge labels    the same
//   numbers        one bit per dense number that is in use; not compressed, so that a short file cannot claim many
//   vertices       ascending, as snapshot_elements.hpp says
//   edges          by rank, as snapshot_elements.hpp says; in a window with times
#include "engine/storage/snapshot.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <string>
#include <vector>

#include "deltamatch/error.hpp"
#include "engine/storage/section_file.hpp"
#include "engine/storage/snapshot_elements.hpp"

namespace deltamatch::engine {
namespace {

using graph::Edge;

// Edges that are staged at once during loading. This bounds the memory besides the lists.
constexpr std::size_t load_chunk = std::size_t{1} << 20;

// The least bytes of a vertex (label, id) and of an edge (tail, head, label), unpacked.
constexpr std::uint64_t least_bytes_of_vertex = 2;
constexpr std::uint64_t least_bytes_of_edge = 3;

/// The sizes that the header states, to notice a section that ends early or late.
struct Sizes {
  std::uint64_t vertex_labels;  ///< including the empty one, as is the next
  std::uint64_t edge_labels;
  std::uint64_t numbers;  ///< one more than the largest number in use
  std::uint64_t vertices;
  std::uint64_t edges;
};

Sizes sizes_of(const graph::DataGraph& graph) {
  std::uint64_t numbers = graph.dictionary.capacity();
  while (numbers > 0 && !graph.dictionary.alive(static_cast<VertexId>(numbers - 1))) --numbers;
  return {graph.vertex_labels.size(), graph.edge_labels.size(), numbers, graph.dictionary.size(), graph.edges()};
}

void write_header(SectionWriter& out, const SnapshotHeader& header, const Sizes& sizes) {
  out.begin(Section::header);
  out.byte(header.directed ? 1 : 0);
  out.signed_number(header.window);
  out.number(header.batch);
  out.byte(header.watermark ? 1 : 0);
  out.signed_number(header.watermark.value_or(0));
  for (const std::uint64_t size : {sizes.vertex_labels, sizes.edge_labels, sizes.numbers, sizes.vertices, sizes.edges}) {
    out.number(size);
  }
  out.begin(Section::annotation);
  out.text(header.annotation);
}

SnapshotHeader read_header(SectionReader& in, Sizes& sizes) {
  SnapshotHeader header;
  in.begin(Section::header);
  header.directed = in.number(1) != 0;
  header.window = in.signed_number();
  header.batch = in.number();
  const bool watermark = in.number(1) != 0;
  const Timestamp time = in.signed_number();
  if (watermark) header.watermark = time;
  sizes.vertex_labels = in.number(LabelTable::max_labels);
  sizes.edge_labels = in.number(LabelTable::max_labels);
  sizes.numbers = in.number(max_vertices);
  sizes.vertices = in.number(sizes.numbers);
  sizes.edges = in.number();
  if (header.window < 0 || sizes.vertex_labels == 0 || sizes.edge_labels == 0) in.refuse("the header contradicts itself");
  if (sizes.numbers / 8 > in.size() || sizes.vertices > in.room() / least_bytes_of_vertex) {
    in.refuse("there are more vertices than the file can hold");
  }
  if (sizes.edges > in.room() / least_bytes_of_edge) in.refuse("there are more edges than the file can hold");
  if (sizes.vertex_labels + sizes.edge_labels > in.room()) in.refuse("there are more labels than the file can hold");
  in.begin(Section::annotation);
  in.text(header.annotation);
  if (header.annotation.size() > max_annotation) in.refuse("its annotation exceeds 1 MiB");
  return header;
}

// Writes label texts by number. A free number below the largest in use has the empty text.
void write_labels(SectionWriter& out, Section section, const LabelTable& labels) {
  out.begin(section);
  for (LabelId label = 1; label < labels.size(); ++label) out.text(labels.text(label));
}

void read_labels(SectionReader& in, Section section, std::uint64_t count, LabelTable& labels) {
  in.begin(section);
  std::string text;
  for (std::uint64_t label = 1; label < count; ++label) {
    in.text(text);
    if (text.empty()) continue;
    if (labels.find(text)) in.refuse("a label occurs twice");
    labels.restore(static_cast<LabelId>(label), text);
  }
}

void write_vertices(SectionWriter& out, const graph::Dictionary& dictionary, std::uint64_t numbers) {
  out.begin(Section::numbers, false);
  for (std::uint64_t first = 0; first < numbers; first += 8) {
    unsigned bits = 0;
    for (std::uint64_t i = first; i < std::min(first + 8, numbers); ++i) {
      bits |= (dictionary.alive(static_cast<VertexId>(i)) ? 1u : 0u) << (i - first);
    }
    out.byte(static_cast<std::uint8_t>(bits));
  }
  out.begin(Section::vertices);
  ElementWriter writer(out);
  const auto stored = [&](std::uint64_t number) -> StoredVertex {
    const auto vertex = static_cast<VertexId>(number);
    return {dictionary.external(vertex), dictionary.label(vertex), dictionary.declared(vertex)};
  };
  // Ids that are texts are far apart in memory, so they are touched only once: when they are written.
  const auto head_of = [&](std::uint64_t number) {
    const auto vertex = static_cast<VertexId>(number);
    return head_of_vertex(dictionary.has_text_id(vertex), dictionary.declared(vertex));
  };
  const auto next_alive = [&](std::uint64_t number) {
    while (number < numbers && !dictionary.alive(static_cast<VertexId>(number))) ++number;
    return number;
  };
  for (std::uint64_t first = next_alive(0); first < numbers;) {
    const encoding::Head head = head_of(first);
    std::uint64_t count = 0;
    std::uint64_t end = first;
    for (; end < numbers && head_of(end) == head; end = next_alive(end + 1)) ++count;
    writer.begin_run(head, count);
    for (; first < end; first = next_alive(first + 1)) writer.put(stored(first));
  }
}

void read_vertices(SectionReader& in, const Sizes& sizes, graph::DataGraph& graph) {
  graph::Dictionary& dictionary = graph.dictionary;
  in.begin(Section::numbers);
  std::vector<std::uint8_t> in_use((sizes.numbers + 7) / 8);
  std::uint64_t count = 0;
  for (std::uint8_t& bits : in_use) {
    bits = in.byte();
    count += static_cast<unsigned>(std::popcount(bits));
  }
  if (count != sizes.vertices) in.refuse("the number of vertices is not the one in the header");
  in.begin(Section::vertices);
  ElementReader reader(in, sizes.vertices, sizes.vertex_labels);
  for (std::uint64_t number = 0; number < in_use.size() * 8; ++number) {
    if ((in_use[number / 8] >> (number % 8) & 1) == 0) continue;
    const StoredVertex vertex = reader.vertex();
    if (!graph.vertex_labels.in_use(vertex.label)) in.refuse("a vertex has a label that does not exist");
    if (number >= sizes.numbers || dictionary.find(vertex.id) != invalid_vertex) {
      in.refuse("a vertex is out of range, or an id occurs twice");
    }
    dictionary.restore(static_cast<VertexId>(number), vertex.id, vertex.label, vertex.declared);
  }
  dictionary.finish_restore();
}

struct TimedEdge {
  Edge edge;
  Timestamp time;
  friend bool operator<(const TimedEdge& a, const TimedEdge& b) noexcept { return a.edge < b.edge; }
};

void write_edges(SectionWriter& out, const graph::DataGraph& graph, const Sizes& sizes) {
  out.begin(Section::edges);
  ElementWriter writer(out);
  if (sizes.edges > 0) writer.begin_run(head_of_edges(graph.timed()), sizes.edges);
  std::vector<TimedEdge> edges;
  for (VertexId tail = 0; tail < sizes.numbers; ++tail) {
    edges.clear();
    graph.for_each_edge(tail, false, [&](const Edge& edge, Timestamp time) { edges.push_back({edge, time}); });
    std::sort(edges.begin(), edges.end());
    for (const auto& [edge, time] : edges) writer.put(StoredEdge{edge.tail, edge.head, edge.which, time});
  }
}

void read_edges(SectionReader& in, const Sizes& sizes, graph::DataGraph& graph, Workers& workers) {
  in.begin(Section::edges);
  const auto vertex = [&](std::int64_t number) {
    if (number < 0 || number >= graph.dictionary.capacity() || !graph.dictionary.alive(static_cast<VertexId>(number))) {
      in.refuse("an edge leads to no vertex");
    }
    return static_cast<VertexId>(number);
  };
  graph::NetBatch batch;
  Edge last{};
  ElementReader reader(in, sizes.edges, sizes.edge_labels);
  for (std::uint64_t i = 0; i < sizes.edges; ++i) {
    const StoredEdge stored = reader.edge(graph.timed());
    const Edge edge{vertex(stored.tail), vertex(stored.head), stored.label};
    if (!graph.edge_labels.in_use(edge.which)) in.refuse("an edge has a label that does not exist");
    if (edge.tail == edge.head || (!graph.directed() && edge.head < edge.tail)) in.refuse("an edge has impossible ends");
    if (i > 0 && edge <= last) in.refuse("its edges are out of order");
    if (graph.timed()) batch.inserted_times.push_back(stored.time);
    batch.inserted.push_back(last = edge);
    if (batch.inserted.size() < load_chunk && i + 1 < sizes.edges) continue;
    graph.stage(batch, workers);
    graph.settle(workers);
    batch.clear();
  }
}

}  // namespace

void write_snapshot(const std::filesystem::path& path, const SnapshotHeader& header, const graph::DataGraph& graph) {
  if (header.annotation.size() > max_annotation)
    throw Error(path.string(), "the annotation exceeds 1 MiB", "shorten the annotation");
  SectionWriter out(path);
  const Sizes sizes = sizes_of(graph);
  write_header(out, header, sizes);
  write_labels(out, Section::vertex_labels, graph.vertex_labels);
  write_labels(out, Section::edge_labels, graph.edge_labels);
  write_vertices(out, graph.dictionary, sizes.numbers);
  write_edges(out, graph, sizes);
  out.commit();
}

SnapshotHeader read_snapshot_header(const std::filesystem::path& path) {
  SectionReader in(path);
  Sizes sizes{};
  return read_header(in, sizes);
}

void read_snapshot(const std::filesystem::path& path, graph::DataGraph& graph, Workers& workers) {
  SectionReader in(path);
  Sizes sizes{};
  const SnapshotHeader header = read_header(in, sizes);
  if (header.directed != graph.directed() || (header.window > 0) != graph.timed()) {
    throw Error(path.string(), "the snapshot and the graph differ in direction or window",
                "restore it into a graph with its direction and window");
  }
  try {
    read_labels(in, Section::vertex_labels, sizes.vertex_labels, graph.vertex_labels);
    read_labels(in, Section::edge_labels, sizes.edge_labels, graph.edge_labels);
    read_vertices(in, sizes, graph);
    read_edges(in, sizes, graph, workers);
    graph.give_back_labels();  // earlier versions kept labels that nothing has
  } catch (const std::bad_alloc&) {
    throw Error(path.string(),
                "memory is too small for the snapshot, which has " + std::to_string(sizes.vertices) +
                    " vertices with numbers below " + std::to_string(sizes.numbers) + ", and " + std::to_string(sizes.edges) +
                    " edges",
                "give the machine more memory, or use another snapshot");
  }
  in.finish();
}

}  // namespace deltamatch::engine
