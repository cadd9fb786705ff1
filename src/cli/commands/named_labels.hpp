// Labels that queries name and that do not occur. Probably they are spelled otherwise in the data.
#pragma once

#include <string>
#include <vector>

#include "cli/options/queries.hpp"
#include "cli/report/input_notes.hpp"
#include "deltamatch/engine.hpp"
#include "engine/storage/graph_file.hpp"

namespace deltamatch::cli {

/// Looks for the labels of queries in a graph until each has occurred. Then it costs nothing more.
class NamedLabels {
 public:
  NamedLabels() = default;
  /// A choice with the empty label, as `0` in a t/v/e graph, asks for no label in particular.
  explicit NamedLabels(const std::vector<NamedQuery>& queries);

  /// Looks into the graph as it is now. O(labels that have not occurred).
  void look(const Engine& engine);
  /// Looks into a graph file, of which only a part may be loaded.
  void look(engine::GraphFile& file);
  /// Warns of each label that no graph so far had, unless none had an edge.
  void conclude(const Engine& engine, InputNotes& notes) const;

 private:
  struct Label {
    std::string query;  ///< the first that names it
    std::string text;
    bool of_vertex;
  };
  void add(const std::string& query, const LabelSet& labels, bool of_vertex);

  std::vector<Label> missing_;
  bool had_edges_ = false;
  bool in_part_ = false;  // the engine may lack labels of the data
};

}  // namespace deltamatch::cli
