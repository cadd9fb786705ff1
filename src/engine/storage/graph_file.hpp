// Graph files: a whole graph sorted by labels. A reader loads only the part it needs. graph_file_layout.hpp has the layout.
//
// Vertices with the same label have consecutive numbers. Edges with the same three labels (of the edge and its two ends) form a
// block. So what a query with labels can read is a few runs of the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/query.hpp"
#include "deltamatch/update.hpp"
#include "engine/storage/section_map.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::engine {

/// States which edges are wanted, by their labels.
class EdgeDemand {
 public:
  struct Kind {
    LabelSet source;  ///< labels of its source; empty: any, also in the next two
    LabelSet target;
    LabelSet edge;
    bool directed = true;  ///< false: source and target may be swapped
    friend bool operator==(const Kind&, const Kind&) = default;
  };

  /// Adds every edge that a match of the query can use, in any mode. If `induced`, also adds every edge that could rule out a
  /// match.
  void add(const Query& query, bool induced);
  [[nodiscard]] const std::vector<Kind>& kinds() const noexcept { return kinds_; }

 private:
  void add(Kind kind);
  std::vector<Kind> kinds_;
};

/// How much of a graph file was loaded.
struct LoadedShare {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t bytes = 0;  ///< that were read and verified
  std::uint64_t all_vertices = 0;
  std::uint64_t all_edges = 0;
  std::uint64_t all_bytes = 0;
};

/// Writes a temporary file, syncs it and renames it, as write_snapshot does. The graph must be settled. It must be of the model
/// `simple` and without attributes. Equal graphs give equal
/// files. Takes 8 bytes per edge (16 in a timed graph) and 24 per vertex of extra memory. Throws Error that names the file.
void write_graph_file(const std::filesystem::path& path, const graph::DataGraph& graph, std::optional<Timestamp> watermark);

/// Reads a graph file. One thread calls all members. Every member throws Error if the file is torn, damaged or of another
/// version; the error names the file and the section. Bytes are used only after their checksum was verified, and even then they
/// are checked.
class GraphFile {
 public:
  /// Opens the file. O(1).
  explicit GraphFile(const std::filesystem::path& path);
  /// Whether the path is a graph file, by its first bytes or its extension. So a graph file that lost its first bytes is
  /// refused, not read as text.
  [[nodiscard]] static bool recognises(const std::filesystem::path& path) {
    return path.extension() == ".dmg" || SectionMap::recognises(path, graph_file);
  }

  [[nodiscard]] std::string name() const { return map_.path().string(); }
  [[nodiscard]] bool directed() const noexcept { return directed_; }
  /// Whether edges have times.
  [[nodiscard]] bool timed() const noexcept { return timed_; }
  [[nodiscard]] std::uint64_t edges() const noexcept { return edges_; }
  /// Whether a vertex, or an edge, has the label. O(log labels), or O(labels) if vertices have several.
  [[nodiscard]] bool has_label(std::string_view text, bool of_vertex);
  /// The watermark of the engine whose graph was written.
  [[nodiscard]] std::optional<Timestamp> watermark() const noexcept { return watermark_; }

  /// Loads the wanted edges (null: all) into a graph that has held nothing but labels. The graph must have the file's direction
  /// and no times. A vertex is loaded if its label is that of an end of a loaded block; with null, all are. Time and memory
  /// depend on what is loaded, not on the size of the file. If it throws, the graph must not be used.
  LoadedShare load(const EdgeDemand* demand, graph::DataGraph& graph, Workers& workers);

  /// Passes the whole graph to `take` as insertions, declared vertices first. Views are valid during the call.
  void for_each(const std::function<void(const Update&)>& take);

 private:
  /// A block and its position in the file.
  struct Block {
    std::uint32_t tail_label = 0;  ///< a number of the file, as are the next two
    std::uint32_t head_label = 0;
    std::uint32_t edge_label = 0;
    std::uint64_t first_edge = 0;
    std::uint64_t edges = 0;
  };
  /// A range of the file's vertices.
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  struct Labels {
    Section section;  ///< section of the texts, for messages
    std::uint32_t count = 0;
    SectionMap::Place ends;
    SectionMap::Place texts;
    bool sets = false;  ///< a text may be several labels
  };
  class Wanted;

  void place_sections();
  void text(const Labels& labels, std::uint32_t label, std::string& text);
  [[nodiscard]] std::optional<std::uint32_t> find(const Labels& labels, std::string_view text);
  void find_all(const Labels& labels, std::string_view term, std::vector<std::uint32_t>& found);
  /// Interns labels of the file. The numbers must ascend. Returns the graph's label for each number.
  [[nodiscard]] std::map<std::uint32_t, LabelId> intern(const Labels& labels, const std::vector<std::uint32_t>& numbers,
                                                        LabelTable& table);
  [[nodiscard]] std::vector<Block> find_blocks(const EdgeDemand* demand);
  /// Appends the blocks whose tails have the label. `edges_end`: end of the edges of all labels before.
  void append_blocks(std::uint32_t tail_label, const Wanted* wanted, std::uint64_t& edges_end, std::vector<Block>& found);
  /// The vertices that have each label. The labels must ascend.
  [[nodiscard]] std::map<std::uint32_t, Range> vertex_ranges(const std::vector<std::uint32_t>& labels);
  /// Makes an id from its key. If it is a text, `text` receives the text.
  [[nodiscard]] Id id_of(std::uint64_t key, bool is_text, std::string& text);
  void restore_vertices(const Range& range, LabelId label, VertexId first, graph::Dictionary& dictionary);
  /// The block's edges as they lie in the file, checked.
  [[nodiscard]] std::vector<std::span<const graph::EdgeEnds>> map_edges(const Block& block, const Range& tails,
                                                                        const Range& heads);

  SectionMap map_;
  bool directed_ = true;
  bool timed_ = false;
  std::optional<Timestamp> watermark_;
  std::uint64_t vertices_ = 0;
  std::uint64_t edges_ = 0;
  Labels vertex_labels_{Section::vertex_label_texts, 0, {}, {}};
  Labels edge_labels_{Section::edge_label_texts, 0, {}, {}};
  SectionMap::Place label_parts_;
  SectionMap::Place blocks_;
  SectionMap::Place vertex_keys_;
  SectionMap::Place edge_ends_;
  SectionMap::Place edge_times_;
  SectionMap::Place vertex_flags_;
  SectionMap::Place id_texts_;
};

}  // namespace deltamatch::engine
