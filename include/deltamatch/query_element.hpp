// The vertices and edges of query graphs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace deltamatch {

/// A sorted set of labels without duplicates. The empty set is a wildcard: any label. The empty string stands for the empty
/// label.
using LabelSet = std::vector<std::string>;

struct QueryVertex {
  std::string name;  ///< unique within the query; bindings are reported under it
  LabelSet labels;
  friend bool operator==(const QueryVertex&, const QueryVertex&) = default;
};

struct QueryEdge {
  std::uint32_t source = 0;  ///< index into Query::vertices
  std::uint32_t target = 0;
  LabelSet labels;
  bool directed = true;  ///< false: matches a data edge of either direction
  std::string name{};    ///< unique within the query, also among the vertices; empty: the edge has no name
  friend bool operator==(const QueryEdge&, const QueryEdge&) = default;
};

}  // namespace deltamatch
