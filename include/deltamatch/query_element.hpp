// What vertices and edges of query graphs consist of. condition.hpp has the edges, whose steps may have conditions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace deltamatch {

/// A sorted set of alternatives without duplicates. The empty set is a wildcard: any label. An alternative is a label, and the
/// empty string stands for the empty label. The alternatives of a vertex, and negated ones of an edge, may also be terms. A
/// term is several labels as one text (deltamatch/labels.hpp), which must all be there. Those that must be absent begin with
/// label_negation.
using LabelSet = std::vector<std::string>;
inline constexpr char label_negation = '\x1e';

struct QueryVertex {
  std::string name{};  ///< unique within the query; bindings are reported under it
  LabelSet labels{};
  friend bool operator==(const QueryVertex&, const QueryVertex&) = default;
};

/// How many data edges in a row a quantified query edge maps to. They are the steps of a path from its source to its target.
struct Quantifier {
  std::uint32_t least = 1;
  std::uint32_t most = 1;
  friend bool operator==(const Quantifier&, const Quantifier&) = default;
};

}  // namespace deltamatch
