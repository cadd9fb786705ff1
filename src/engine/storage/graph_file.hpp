// Graph files: a whole graph by labels, of which a reader takes the part that it needs. graph_file_layout.hpp has the layout.
//
// Vertices with one label are numbered behind each other, and edges with the same three labels (of the edge and its two ends)
// form a block. So what a query with labels can touch is a few runs of the file.
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

/// Which edges are wanted, by their labels.
class EdgeDemand {
 public:
  struct Kind {
    LabelSet source;  ///< of its source; empty: any, as below
    LabelSet target;
    LabelSet edge;
    bool directed = true;  ///< false: source and target may change places
    friend bool operator==(const Kind&, const Kind&) = default;
  };

  /// Every edge that a match of the query can use in any mode, and if it is to be induced every edge that could make a map no
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
  std::uint64_t bytes = 0;  ///< read and verified
  std::uint64_t all_vertices = 0;
  std::uint64_t all_edges = 0;
  std::uint64_t all_bytes = 0;
};

/// Writes aside, syncs and renames, as write_snapshot does. The graph is settled. Equal graphs give equal files. Takes 8 bytes
/// an edge (16 in a timed graph) and 24 a vertex besides. Throws Error that names the file.
void write_graph_file(const std::filesystem::path& path, const graph::DataGraph& graph, std::optional<Timestamp> watermark);

/// One thread calls it. Every member throws Error, which names the file and the section, where the file is torn, damaged or of
/// another version; bytes are used only after their checksum was verified, and trusted with nothing then.
class GraphFile {
 public:
  /// O(1).
  explicit GraphFile(const std::filesystem::path& path);
  /// By its first bytes, or by the name that it was given: one that has lost its first bytes is refused, not read as text.
  [[nodiscard]] static bool recognises(const std::filesystem::path& path) {
    return path.extension() == ".dmg" || SectionMap::recognises(path, graph_file);
  }

  [[nodiscard]] std::string name() const { return map_.path().string(); }
  [[nodiscard]] bool directed() const noexcept { return directed_; }
  /// Whether edges bear times.
  [[nodiscard]] bool timed() const noexcept { return timed_; }
  /// Of the engine whose graph it is.
  [[nodiscard]] std::optional<Timestamp> watermark() const noexcept { return watermark_; }

  /// Loads what is wanted (null: all) into a graph of the file's direction and without times that has held nothing but labels.
  /// A vertex comes along if it bears the label of an end of a loaded block; with null all do. Takes time and memory as that
  /// needs, whatever else the file holds. When it throws, the graph is of no use.
  LoadedShare load(const EdgeDemand* demand, graph::DataGraph& graph, Workers& workers);

  /// Hands out the whole graph as insertions, vertices that were declared first. The views hold during the call.
  void for_each(const std::function<void(const Update&)>& take);

 private:
  /// A block and where it lies in the file.
  struct Block {
    std::uint32_t tail_label = 0;  ///< numbers of the file, as below
    std::uint32_t head_label = 0;
    std::uint32_t edge_label = 0;
    std::uint64_t first_edge = 0;
    std::uint64_t edges = 0;
  };
  /// Vertices of the file.
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  struct Labels {
    Section section;  ///< of the texts, for messages
    std::uint32_t count = 0;
    SectionMap::Place ends;
    SectionMap::Place texts;
  };
  class Wanted;

  void place_sections();
  void text(const Labels& labels, std::uint32_t label, std::string& text);
  [[nodiscard]] std::optional<std::uint32_t> find(const Labels& labels, std::string_view text);
  /// By number; these ascend.
  [[nodiscard]] std::map<std::uint32_t, LabelId> intern(const Labels& labels, const std::vector<std::uint32_t>& numbers,
                                                        LabelTable& table);
  [[nodiscard]] std::vector<Block> find_blocks(const EdgeDemand* demand);
  /// Those with tails of a label. `edges_end`: where the blocks of the labels before it end.
  void append_blocks(std::uint32_t tail_label, const Wanted* wanted, std::uint64_t& edges_end, std::vector<Block>& found);
  /// By label; these ascend.
  [[nodiscard]] std::map<std::uint32_t, Range> vertex_ranges(const std::vector<std::uint32_t>& labels);
  /// The text of an id goes to `text`.
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
