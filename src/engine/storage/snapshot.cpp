// The sections of a snapshot, in this order; the container is engine/storage/section_file.hpp.
//
//   header         directed, window, batch, watermark, and the counts in Sizes below
//   annotation     bytes from the caller
//   schema         as snapshot_schema.hpp says, and the allowed lateness; from version 4 on
//   digest         begin and now of the running digest, 16 bytes each; version 5
//   order          whether time orders records; version 5
//   vertex labels  texts by number, without the empty label
//   edge labels    the same
//   symbols        the same, of the texts of attributes; from version 4 on
//   numbers        one bit per dense number that is in use; not compressed, so that a short file cannot claim many
//   vertices       ascending, as snapshot_elements.hpp says
//   slots          which slots are in use, if edges have slots: the last ordinal, how many bits, a bit per slot; not compressed
//   edges          as snapshot_elements.hpp says; in a window with times
//   deletions      that are remembered, by name, if time orders records: how many, and each with its name and its times
//
// Earlier programs wrote version 4 only for graphs with a schema, and version 3 for all others.
#include "engine/storage/snapshot.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <string>
#include <vector>

#include "deltamatch/error.hpp"
#include "deltamatch/misfit.hpp"
#include "engine/storage/section_file.hpp"
#include "engine/storage/snapshot_edges.hpp"
#include "engine/storage/snapshot_elements.hpp"
#include "engine/storage/snapshot_schema.hpp"

namespace deltamatch::engine {
namespace {

constexpr std::uint32_t version_with_schema = 4;
constexpr std::uint32_t version_with_digest = 5;

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

// Flags of the section `order`.
constexpr std::uint8_t by_time = 1;
constexpr std::uint8_t keeps_loops = 2;

void write_order(SectionWriter& out, EventOrder order, SelfLoops self_loops) {
  out.begin(Section::order);
  out.byte(
      static_cast<std::uint8_t>((order == EventOrder::time ? by_time : 0) | (self_loops == SelfLoops::keep ? keeps_loops : 0)));
}

void read_order(SectionReader& in, SnapshotHeader& header) {
  in.begin(Section::order);
  const std::uint64_t flags = in.number(by_time | keeps_loops);
  header.order = (flags & by_time) != 0 ? EventOrder::time : EventOrder::arrival;
  header.self_loops = (flags & keeps_loops) != 0 ? SelfLoops::keep : SelfLoops::leave_out;
}

void write_deletions(SectionWriter& out, std::span<const graph::Deletions::Entry> deletions) {
  out.begin(Section::deletions);
  out.number(deletions.size());
  for (const auto& [name, times] : deletions) {
    out.text(name);
    out.number(times.size());
    for (const Timestamp time : times) out.signed_number(time);
  }
}

void read_deletions(SectionReader& in, graph::Deletions& deletions) {
  in.begin(Section::deletions);
  std::string name;
  for (std::uint64_t left = in.number(); left > 0; --left) {
    in.text(name);
    std::vector<Timestamp> times;
    for (std::uint64_t more = in.number(); more > 0; --more) times.push_back(in.signed_number());
    if (!deletions.restore(name, std::move(times))) in.refuse("a deletion occurs twice, or at impossible times");
  }
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
  write_schema(out, header.schema);
  out.signed_number(header.lateness);
  const RunningDigest digest = header.digest.value_or(RunningDigest{});
  out.begin(Section::digest);
  for (const Hash128& hash : {digest.begin, digest.now}) {
    out.fixed(hash.high, 8);
    out.fixed(hash.low, 8);
  }
  write_order(out, header.order, header.self_loops);
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
  if (in.version() >= version_with_schema) {
    header.schema = read_schema(in);
    header.lateness = in.signed_number();
    if (header.lateness < 0) in.refuse("the header contradicts itself");
  }
  if (in.version() >= version_with_digest) {
    in.begin(Section::digest);
    RunningDigest& digest = header.digest.emplace();
    for (Hash128* hash : {&digest.begin, &digest.now}) {
      hash->high = in.fixed(8);
      hash->low = in.fixed(8);
    }
    read_order(in, header);
  }
  if (header.order == EventOrder::time && header.window == 0 && header.schema.model == EdgeModel::simple)
    in.refuse("the header contradicts itself");
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

// Symbols are written as labels are.
void write_symbols(SectionWriter& out, const graph::SymbolTable& symbols) {
  out.begin(Section::symbols);
  out.number(std::max<std::size_t>(symbols.size(), 1) - 1);
  for (std::uint32_t symbol = 1; symbol < symbols.size(); ++symbol) out.text(symbols.text(symbol));
}

void read_symbols(SectionReader& in, graph::SymbolTable& symbols) {
  in.begin(Section::symbols);
  const std::uint64_t count = in.number(LabelTable::max_labels - 1);
  if (count > in.room()) in.refuse("there are more symbols than the file can hold");
  std::string text;
  for (std::uint64_t symbol = 1; symbol <= count; ++symbol) {
    in.text(text);
    if (text.empty()) continue;
    if (symbols.find(text)) in.refuse("a symbol occurs twice");
    symbols.restore(static_cast<std::uint32_t>(symbol), text);
  }
}

// A symbol that nothing has would keep its number for ever.
void require_uses(const SectionReader& in, const graph::SymbolTable& symbols) {
  for (std::uint32_t symbol = 1; symbol < symbols.size(); ++symbol) {
    if (!symbols.text(symbol).empty() && !symbols.in_use(symbol)) in.refuse("there is a symbol that nothing has");
  }
}

void write_vertices(SectionWriter& out, const graph::DataGraph& graph, std::uint64_t numbers) {
  const graph::Dictionary& dictionary = graph.dictionary;
  out.begin(Section::numbers, false);
  for (std::uint64_t first = 0; first < numbers; first += 8) {
    unsigned bits = 0;
    for (std::uint64_t i = first; i < std::min(first + 8, numbers); ++i) {
      bits |= (dictionary.alive(static_cast<VertexId>(i)) ? 1u : 0u) << (i - first);
    }
    out.byte(static_cast<std::uint8_t>(bits));
  }
  out.begin(Section::vertices);
  ElementWriter writer(out, graph);
  std::vector<AttributeValue> values;
  const auto stored = [&](std::uint64_t number) -> StoredVertex {
    const auto vertex = static_cast<VertexId>(number);
    return {dictionary.external(vertex), dictionary.label(vertex), dictionary.declared(vertex),
            stored_values(graph.vertex_values, vertex, values)};
  };
  // Ids that are texts are far apart in memory, so they are touched only once: when they are written.
  const auto head_of = [&](std::uint64_t number) {
    const auto vertex = static_cast<VertexId>(number);
    return head_of_vertex(dictionary.has_text_id(vertex), dictionary.declared(vertex), has_values(graph.vertex_values, vertex));
  };
  const auto next_alive = [&](std::uint64_t number) {
    while (number < numbers && !dictionary.alive(static_cast<VertexId>(number))) ++number;
    return number;
  };
  write_runs(writer, numbers, next_alive, head_of, [&](std::uint64_t number) { writer.put(stored(number)); });
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
  ElementReader reader(in, graph, sizes.vertices, sizes.vertex_labels, fields_of_vertices(graph));
  std::vector<graph::Word> words;
  graph.vertex_values.expect(sizes.numbers);
  for (std::uint64_t number = 0; number < in_use.size() * 8; ++number) {
    if ((in_use[number / 8] >> (number % 8) & 1) == 0) continue;
    const StoredVertex vertex = reader.vertex();
    if (!graph.vertex_labels.in_use(vertex.label)) in.refuse("a vertex has a label that does not exist");
    if (number >= sizes.numbers || dictionary.find(vertex.id) != invalid_vertex) {
      in.refuse("a vertex is out of range, or an id occurs twice");
    }
    dictionary.restore(static_cast<VertexId>(number), vertex.id, vertex.label, vertex.declared);
    if (vertex.values.empty()) continue;
    graph.vertex_values.read(vertex.values, words);
    graph.vertex_values.set(number, words);
  }
  dictionary.finish_restore();
}

void require_same_kind(const std::filesystem::path& path, const SnapshotHeader& header, const graph::DataGraph& graph) {
  const bool timed = graph.model() == EdgeModel::simple && graph.timed();
  if (header.directed != graph.directed() || (graph.model() == EdgeModel::simple && (header.window > 0) != timed)) {
    throw Error(path.string(), "the snapshot and the graph differ in direction or window",
                "restore it into a graph with its direction and window");
  }
  if ((header.self_loops == SelfLoops::keep) != graph.keeps_loops()) {
    throw Error(path.string(), "the snapshot and the graph differ in what becomes of self-loops",
                "restore it into a graph that keeps them, or leaves them out, as it does");
  }
  if (header.schema != graph.schema()) {
    throw Error(
        path.string(),
        "the snapshot's graph has " + to_text(header.schema) + "; the graph to be restored has " + to_text(graph.schema()),
        "state the edges and attributes of the snapshot");
  }
}

}  // namespace

void write_snapshot(const std::filesystem::path& path, const SnapshotHeader& header, const graph::DataGraph& graph,
                    std::span<const graph::Deletions::Entry> deletions) {
  if (header.annotation.size() > max_annotation)
    throw Error(path.string(), "the annotation exceeds 1 MiB", "shorten the annotation");
  SectionWriter out(path);
  const Sizes sizes = sizes_of(graph);
  write_header(out, header, sizes);
  write_labels(out, Section::vertex_labels, graph.vertex_labels);
  write_labels(out, Section::edge_labels, graph.edge_labels);
  write_symbols(out, graph.symbols);
  write_vertices(out, graph, sizes.numbers);
  write_edges(out, graph, sizes.numbers);
  if (header.order == EventOrder::time) write_deletions(out, deletions);
  out.commit();
}

SnapshotHeader read_snapshot_header(const std::filesystem::path& path) {
  SectionReader in(path);
  Sizes sizes{};
  return read_header(in, sizes);
}

void read_snapshot(const std::filesystem::path& path, graph::DataGraph& graph, Workers& workers, graph::Deletions* deletions) {
  SectionReader in(path);
  Sizes sizes{};
  const SnapshotHeader header = read_header(in, sizes);
  require_same_kind(path, header, graph);
  try {
    read_labels(in, Section::vertex_labels, sizes.vertex_labels, graph.vertex_labels);
    read_labels(in, Section::edge_labels, sizes.edge_labels, graph.edge_labels);
    if (in.version() >= version_with_schema) read_symbols(in, graph.symbols);
    read_vertices(in, sizes, graph);
    read_edges(in, sizes.edges, sizes.edge_labels, graph, workers);
    require_uses(in, graph.symbols);
    if (header.order == EventOrder::time) {
      graph::Deletions unused(graph.model(), graph.directed());
      read_deletions(in, deletions != nullptr ? *deletions : unused);
    }
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
