// Whether updates suit the declarations of a graph, and how declarations are written.
#pragma once

#include <optional>
#include <string>

#include "deltamatch/attribute.hpp"
#include "deltamatch/update.hpp"

namespace deltamatch {

/// A value that does not fit the type of its attribute (RejectReason::bad_value).
struct Misfit {
  std::string attribute{};  ///< its name; empty if there is no such attribute
  std::string message{};    ///< names the attribute and the value
};

/// The first misfit of an update, if it has one. Attributes of deletions mean nothing and are not checked.
[[nodiscard]] std::optional<Misfit> find_misfit(const Schema& schema, const Update& update);

/// "simple", "keyed", "events".
[[nodiscard]] std::string to_text(EdgeModel model);
/// "int", "decimal(2)", "float", "bool", "symbol", "time".
[[nodiscard]] std::string to_text(const AttributeType& type);
/// As options state it: "edges keyed, attributes amount:decimal(2),channel:symbol, vertex attributes none".
[[nodiscard]] std::string to_text(const Schema& schema);
/// The same, or nothing for the model `simple` without attributes: what older files and messages say.
[[nodiscard]] std::string schema_text(const Schema& schema);

}  // namespace deltamatch
