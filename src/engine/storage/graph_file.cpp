#include "engine/storage/graph_file.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/label_terms.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/labels.hpp"
#include "engine/storage/graph_file_layout.hpp"

namespace deltamatch::engine {
namespace {

using namespace graph_file_layout;

void make_set(std::vector<std::uint32_t>& labels) {
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
}

}  // namespace

void EdgeDemand::add(const Query& query, bool induced) {
  for (const QueryEdge& edge : query.edges) {
    add({query.vertices[edge.source].labels, query.vertices[edge.target].labels, edge.labels, edge.directed});
  }
  if (!induced) return;
  for (std::size_t u = 0; u < query.vertices.size(); ++u) {
    for (std::size_t v = 0; v < u; ++v) add({query.vertices[u].labels, query.vertices[v].labels, {}, false});
  }
}

void EdgeDemand::add(Kind kind) {
  if (std::find(kinds_.begin(), kinds_.end(), kind) == kinds_.end()) kinds_.push_back(std::move(kind));
}

/// A demand, in the file's numbers of labels.
class GraphFile::Wanted {
 public:
  Wanted(GraphFile& file, const EdgeDemand& demand) : undirected_(!file.directed_) {
    for (const EdgeDemand::Kind& kind : demand.kinds()) {
      kinds_.push_back({numbers(file, file.vertex_labels_, kind.source), numbers(file, file.vertex_labels_, kind.target),
                        numbers(file, file.edge_labels_, kind.edge), undirected_ || !kind.directed});
    }
  }

  [[nodiscard]] bool covers(const Block& block) const {
    return std::any_of(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
      if (!kind.edge.holds(block.edge_label)) return false;
      return (kind.source.holds(block.tail_label) && kind.target.holds(block.head_label)) ||
             (kind.either_way && kind.source.holds(block.head_label) && kind.target.holds(block.tail_label));
    });
  }

  /// Labels that the tails of wanted edges may have, ascending. No value: any label.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> tail_labels() const {
    std::vector<std::uint32_t> labels;
    for (const Kind& kind : kinds_) {
      if (kind.source.any || (kind.either_way && kind.target.any)) return std::nullopt;
      labels.insert(labels.end(), kind.source.labels.begin(), kind.source.labels.end());
      if (kind.either_way) labels.insert(labels.end(), kind.target.labels.begin(), kind.target.labels.end());
    }
    make_set(labels);
    return labels;
  }

 private:
  struct Set {
    bool any = false;
    std::vector<std::uint32_t> labels;  // ascending; labels that the file lacks match nothing
    [[nodiscard]] bool holds(std::uint32_t label) const {
      return any || std::binary_search(labels.begin(), labels.end(), label);
    }
  };
  struct Kind {
    Set source;
    Set target;
    Set edge;
    bool either_way;
  };

  static Set numbers(GraphFile& file, const Labels& labels, const LabelSet& wanted) {
    Set set{wanted.empty(), {}};
    for (const std::string& term : wanted) {
      if (is_plain_term(term) && !labels.sets) {
        if (const auto number = file.find(labels, term)) set.labels.push_back(*number);
      } else {
        file.find_all(labels, term, set.labels);
      }
    }
    make_set(set.labels);
    return set;
  }

  bool undirected_;
  std::vector<Kind> kinds_;
};

GraphFile::GraphFile(const std::filesystem::path& path) : map_(path, graph_file) { place_sections(); }

void GraphFile::place_sections() {
  const auto header = map_.at<Header>(map_.place(Section::graph_header, sizeof(Header)), 0);
  const auto refuse = [&](std::string_view what) { map_.refuse(Section::graph_header, what); };
  if ((header.flags & ~(directed_flag | timed_flag | watermark_flag | label_sets_flag)) != 0) refuse("it has unknown flags");
  for (const std::uint64_t count : {header.vertex_labels, header.edge_labels, header.vertices, header.blocks, header.edges,
                                    header.vertex_label_bytes, header.edge_label_bytes, header.id_bytes}) {
    if (count > map_.size()) refuse("it states more than the file can hold");  // so that no product below overflows
  }
  if (std::max(header.vertex_labels, header.edge_labels) > LabelTable::max_labels || header.vertices > max_vertices) {
    refuse("it states more labels or vertices than a graph can have");
  }
  directed_ = (header.flags & directed_flag) != 0;
  timed_ = (header.flags & timed_flag) != 0;
  vertex_labels_.sets = (header.flags & label_sets_flag) != 0;
  if ((header.flags & watermark_flag) != 0) watermark_ = header.watermark;
  vertices_ = header.vertices;
  edges_ = header.edges;
  vertex_labels_.count = static_cast<std::uint32_t>(header.vertex_labels);
  edge_labels_.count = static_cast<std::uint32_t>(header.edge_labels);
  vertex_labels_.ends = map_.place(Section::vertex_label_ends, 8 * header.vertex_labels);
  label_parts_ = map_.place(Section::label_parts, sizeof(LabelEnds) * header.vertex_labels);
  edge_labels_.ends = map_.place(Section::edge_label_ends, 8 * header.edge_labels);
  blocks_ = map_.place(Section::blocks, sizeof(BlockEntry) * header.blocks);
  vertex_keys_ = map_.place(Section::vertex_keys, 8 * header.vertices);
  edge_ends_ = map_.place(Section::edge_ends, sizeof(graph::EdgeEnds) * header.edges);
  edge_times_ = map_.place(Section::edge_times, timed_ ? sizeof(Timestamp) * header.edges : 0);
  vertex_labels_.texts = map_.place(Section::vertex_label_texts, header.vertex_label_bytes);
  edge_labels_.texts = map_.place(Section::edge_label_texts, header.edge_label_bytes);
  vertex_flags_ = map_.place(Section::vertex_flags, header.vertices);
  id_texts_ = map_.place(Section::id_texts, header.id_bytes);
  map_.finish_placing();
}

void GraphFile::text(const Labels& labels, std::uint32_t label, std::string& text) {
  const std::uint64_t begin = label == 0 ? 0 : map_.at<std::uint64_t>(labels.ends, label - 1);
  const auto end = map_.at<std::uint64_t>(labels.ends, label);
  if (end < begin) map_.refuse(labels.section, "a label ends before it begins");
  map_.text(labels.texts, begin, end - begin, text);
}

std::map<std::uint32_t, LabelId> GraphFile::intern(const Labels& labels, const std::vector<std::uint32_t>& numbers,
                                                   LabelTable& table) {
  std::map<std::uint32_t, LabelId> interned;
  std::string last;
  std::string label;
  for (const std::uint32_t number : numbers) {
    text(labels, number, label);
    if (!interned.empty() && label <= last) map_.refuse(labels.section, "its labels are out of order");
    interned.emplace(number, table.intern(label));
    last.swap(label);
  }
  return interned;
}

std::optional<std::uint32_t> GraphFile::find(const Labels& labels, std::string_view wanted) {
  std::string there;
  std::uint32_t low = 0;
  for (std::uint32_t high = labels.count; low < high;) {
    const std::uint32_t middle = low + (high - low) / 2;
    text(labels, middle, there);
    if (there == wanted) return middle;
    if (there < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::nullopt;
}

/// Appends the numbers of all labels that satisfy a term.
void GraphFile::find_all(const Labels& labels, std::string_view term, std::vector<std::uint32_t>& found) {
  std::string there;
  for (std::uint32_t label = 0; label < labels.count; ++label) {
    text(labels, label, there);
    if (satisfies(labels.sets ? split_labels(there) : std::vector<std::string_view>{there}, term)) found.push_back(label);
  }
}

bool GraphFile::has_label(std::string_view text, bool of_vertex) {
  const Labels& labels = of_vertex ? vertex_labels_ : edge_labels_;
  if (find(labels, text)) return true;
  std::vector<std::uint32_t> found;
  if (labels.sets) find_all(labels, text, found);
  return !found.empty();
}

void GraphFile::append_blocks(std::uint32_t tail_label, const Wanted* wanted, std::uint64_t& edges_end,
                              std::vector<Block>& found) {
  const auto refuse = [&](std::string_view what) { map_.refuse(Section::blocks, what); };
  const std::uint64_t begin = tail_label == 0 ? 0 : map_.at<LabelEnds>(label_parts_, tail_label - 1).blocks;
  const std::uint64_t end = map_.at<LabelEnds>(label_parts_, tail_label).blocks;
  if (begin > end) map_.refuse(Section::label_parts, "the blocks of a label end before they begin");
  if (begin == end) return;
  std::uint64_t first_edge = begin == 0 ? 0 : map_.at<BlockEntry>(blocks_, begin - 1).edges_end;
  if (first_edge < edges_end) refuse("its blocks overlap");
  std::optional<std::pair<std::uint32_t, std::uint32_t>> last;
  map_.for_each<BlockEntry>(blocks_, begin, end - begin, [&](const BlockEntry& entry) {
    const std::pair labels(entry.head_label, entry.edge_label);
    if (entry.head_label >= vertex_labels_.count || entry.edge_label >= edge_labels_.count) refuse("a label is out of range");
    if (!directed_ && entry.head_label < tail_label)
      refuse("the tail label of an undirected block is greater than its head label");
    if (last && labels <= *last) refuse("its blocks are out of order");
    if (entry.edges_end <= first_edge || entry.edges_end > edges_) refuse("its edges are out of range");
    const Block block{tail_label, entry.head_label, entry.edge_label, first_edge, entry.edges_end - first_edge};
    if (wanted == nullptr || wanted->covers(block)) found.push_back(block);
    first_edge = entry.edges_end;
    last = labels;
  });
  edges_end = first_edge;
}

std::vector<GraphFile::Block> GraphFile::find_blocks(const EdgeDemand* demand) {
  std::optional<Wanted> wanted;
  if (demand != nullptr) wanted.emplace(*this, *demand);
  const auto labels = wanted ? wanted->tail_labels() : std::nullopt;
  std::vector<Block> found;
  std::uint64_t edges_end = 0;
  if (labels) {
    for (const std::uint32_t label : *labels) append_blocks(label, &*wanted, edges_end, found);
  } else {
    for (std::uint32_t label = 0; label < vertex_labels_.count; ++label) {
      append_blocks(label, wanted ? &*wanted : nullptr, edges_end, found);
    }
  }
  return found;
}

std::map<std::uint32_t, GraphFile::Range> GraphFile::vertex_ranges(const std::vector<std::uint32_t>& labels) {
  std::map<std::uint32_t, Range> ranges;
  std::uint64_t last = 0;
  for (const std::uint32_t label : labels) {
    const Range range{label == 0 ? 0 : map_.at<LabelEnds>(label_parts_, label - 1).vertices,
                      map_.at<LabelEnds>(label_parts_, label).vertices};
    if (range.begin < last || range.end < range.begin || range.end > vertices_) {
      map_.refuse(Section::label_parts, "its vertices are out of range");
    }
    last = range.end;
    ranges.emplace(label, range);
  }
  return ranges;
}

Id GraphFile::id_of(std::uint64_t key, bool is_text, std::string& text) {
  if (!is_text) return static_cast<std::int64_t>(key);
  map_.text(id_texts_, key, 4, text);
  const std::uint64_t length = encoding::get_fixed(text.data(), 4);
  map_.text(id_texts_, key + 4, length, text);
  return std::string_view(text);
}

void GraphFile::restore_vertices(const Range& range, LabelId label, VertexId first, graph::Dictionary& dictionary) {
  std::string flags;
  std::string text;
  map_.text(vertex_flags_, range.begin, range.end - range.begin, flags);
  dictionary.reserve(flags.size(), 0);
  std::size_t i = 0;
  map_.for_each<std::uint64_t>(vertex_keys_, range.begin, range.end - range.begin, [&](std::uint64_t key) {
    const auto flag = static_cast<std::uint8_t>(flags[i]);
    if ((flag & ~(text_flag | declared_flag)) != 0) map_.refuse(Section::vertex_flags, "it has unknown flags");
    const Id id = id_of(key, (flag & text_flag) != 0, text);
    if (dictionary.find(id) != invalid_vertex) map_.refuse(Section::vertex_keys, "an id occurs twice");
    dictionary.restore(static_cast<VertexId>(first + i), id, label, (flag & declared_flag) != 0);
    ++i;
  });
}

std::vector<std::span<const graph::EdgeEnds>> GraphFile::map_edges(const Block& block, const Range& tails, const Range& heads) {
  std::vector<std::span<const graph::EdgeEnds>> runs;
  graph::EdgeEnds last{};
  bool sound = true;
  map_.read_array<graph::EdgeEnds>(edge_ends_, block.first_edge, block.edges, [&](std::span<const graph::EdgeEnds> run) {
    if (!runs.empty()) sound = sound && last < run.front();
    for (std::size_t i = 0; i < run.size(); ++i) {
      const graph::EdgeEnds& edge = run[i];
      sound = sound && edge.tail - tails.begin < tails.end - tails.begin && edge.head - heads.begin < heads.end - heads.begin &&
              (directed_ ? edge.tail != edge.head : edge.tail < edge.head) && (i == 0 || run[i - 1] < edge);
    }
    last = run.back();
    runs.push_back(run);
  });
  if (!sound) map_.refuse(Section::edge_ends, "its edges are out of range or out of order");
  return runs;
}

LoadedShare GraphFile::load(const EdgeDemand* demand, graph::DataGraph& graph, Workers& workers) {
  if (directed_ != graph.directed() || graph.timed()) {
    throw Error(map_.path().string(), "the graph file and the graph differ in direction",
                "load the file into a graph with its direction");
  }
  const std::vector<Block> found = find_blocks(demand);
  std::vector<std::uint32_t> labels;
  if (demand == nullptr) {
    for (std::uint32_t label = 0; label < vertex_labels_.count; ++label) labels.push_back(label);
  }
  for (const Block& block : found) labels.insert(labels.end(), {block.tail_label, block.head_label});
  make_set(labels);
  const std::map<std::uint32_t, Range> ranges = vertex_ranges(labels);

  LoadedShare share{0, 0, 0, vertices_, edges_, map_.size()};
  std::map<std::uint32_t, graph::LabelPart> parts;
  std::vector<graph::LabelPart> in_order;
  const std::map<std::uint32_t, LabelId> vertex_labels = intern(vertex_labels_, labels, graph.vertex_labels);
  for (const auto& [label, range] : ranges) {
    const auto first = static_cast<VertexId>(share.vertices);
    share.vertices += range.end - range.begin;
    const graph::LabelPart part{vertex_labels.at(label), first, static_cast<VertexId>(share.vertices)};
    restore_vertices(range, part.label, first, graph.dictionary);
    parts.emplace(label, part);
    in_order.push_back(part);
  }
  graph.dictionary.finish_restore();

  labels.clear();
  for (const Block& block : found) labels.push_back(block.edge_label);
  make_set(labels);
  const std::map<std::uint32_t, LabelId> edge_labels = intern(edge_labels_, labels, graph.edge_labels);
  std::vector<graph::EdgeBlock> blocks;
  blocks.reserve(found.size());
  for (const Block& block : found) {
    const Range& tails = ranges.at(block.tail_label);
    const Range& heads = ranges.at(block.head_label);
    const graph::LabelPart& tail_part = parts.at(block.tail_label);
    const graph::LabelPart& head_part = parts.at(block.head_label);
    blocks.push_back({edge_labels.at(block.edge_label), tail_part.label, head_part.label,
                      static_cast<VertexId>(tails.begin) - tail_part.begin,
                      static_cast<VertexId>(heads.begin) - head_part.begin, map_edges(block, tails, heads), block.edges});
    share.edges += block.edges;
  }
  graph.build(in_order, blocks, workers);
  share.bytes = map_.bytes_read();
  return share;
}

void GraphFile::for_each(const std::function<void(const Update&)>& take) {
  std::vector<std::uint32_t> labels(vertex_labels_.count);
  for (std::uint32_t label = 0; label < vertex_labels_.count; ++label) labels[label] = label;
  const std::map<std::uint32_t, Range> ranges = vertex_ranges(labels);
  std::string flags;
  map_.text(vertex_flags_, 0, vertices_, flags);
  const auto id = [&](std::uint64_t vertex, std::string& text) {
    return id_of(map_.at<std::uint64_t>(vertex_keys_, vertex), (static_cast<std::uint8_t>(flags[vertex]) & text_flag) != 0,
                 text);
  };
  std::string source;
  std::string target;
  std::string source_label;
  std::string target_label;
  std::string edge_label;
  for (const auto& [label, range] : ranges) {
    text(vertex_labels_, label, source_label);
    for (std::uint64_t vertex = range.begin; vertex < range.end; ++vertex) {
      if ((static_cast<std::uint8_t>(flags[vertex]) & declared_flag) == 0) continue;
      Update update;
      update.kind = UpdateKind::insert_vertex;
      update.source = id(vertex, source);
      update.source_label = source_label;
      take(update);
    }
  }
  for (const Block& block : find_blocks(nullptr)) {
    text(vertex_labels_, block.tail_label, source_label);
    text(vertex_labels_, block.head_label, target_label);
    text(edge_labels_, block.edge_label, edge_label);
    std::uint64_t number = block.first_edge;
    for (const auto run : map_edges(block, ranges.at(block.tail_label), ranges.at(block.head_label))) {
      for (const graph::EdgeEnds& edge : run) {
        Update update;
        update.source = id(edge.tail, source);
        update.target = id(edge.head, target);
        update.label = edge_label;
        update.source_label = source_label;
        update.target_label = target_label;
        if (timed_) update.time = map_.at<Timestamp>(edge_times_, number);
        ++number;
        take(update);
      }
    }
  }
}

}  // namespace deltamatch::engine
