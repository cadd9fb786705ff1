// The names of vertices and edges in conditions, and what may be said of the elements that have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "deltamatch/condition.hpp"
#include "deltamatch/query.hpp"
#include "query/source_text.hpp"

namespace deltamatch::query {

/// Where a condition names an element. The element may be defined further on in the text, so names are resolved at the end.
struct Mention {
  std::string name;
  std::size_t offset = 0;
  enum class Use : std::uint8_t { attribute, vertex, path, previous };
  Use use = Use::attribute;  ///< vertex: in id(). path: in a function of a path. previous: in prev()
};

/// Refuses id() of an edge. Also refuses the name of a path where one edge is meant, and any other name where a path is meant.
/// `element` is one of `query`, or is numbered on behind its elements and is no path. `inside`: the element that the condition
/// stands in, if it does.
void check_use(const Mention& mention, const Query& query, const Element& element, const std::optional<Element>& inside,
               const SourceText& source);

/// Refuses a name that nothing has.
[[noreturn]] void refuse_unknown(const Mention& mention, const SourceText& source);

}  // namespace deltamatch::query
