// Labels that queries name and that do not occur. Probably they are spelled otherwise in the data.
#pragma once

#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch::engine {

class GraphFile;

/// A label that no vertex, or no edge, had.
struct AbsentLabel {
  std::string query;  ///< the first that names it
  std::string text;
  bool of_vertex = false;
  bool none = false;    ///< no vertex, or no edge, had any label
  std::string meant{};  ///< a label that occurs and is spelled much the same; empty if there is none

  /// "no edge has the label 'TRANSFER'".
  [[nodiscard]] std::string what() const;
};

/// Looks for the labels of queries in a graph until each has occurred. Then it costs nothing more.
class NamedLabels {
 public:
  /// Adds the labels of a query. A choice with the empty label, as `0` in a t/v/e graph, asks for no label in particular.
  void add(const Query& query);

  /// Looks into the graph as it is now. O(labels that have not occurred).
  void look(const Engine& engine);
  /// Looks into a graph file, of which only a part may be loaded.
  void look(GraphFile& file);
  /// The labels that no graph so far had. None, unless one had an edge.
  [[nodiscard]] std::vector<AbsentLabel> absent(const Engine& engine) const;

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

}  // namespace deltamatch::engine
