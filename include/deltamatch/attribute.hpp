// What the edges of a data graph are, and which attributes edges and vertices have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "deltamatch/id.hpp"

namespace deltamatch {

/// Which insertions are one edge. A graph has one model for its whole life.
enum class EdgeModel : std::uint8_t {
  simple,  ///< (source, target, label) is an edge. Inserting it again refreshes its time
  keyed,   ///< a key is an edge. Inserting it again replaces time, attributes and ends
  events,  ///< each insertion is an edge
};

/// The type of an attribute. All take 64 bits.
struct AttributeType {
  enum class Kind : std::uint8_t {
    integer,  ///< 64 bits with sign
    decimal,  ///< 64 bits with sign, divided by 10^scale; for money
    real,     ///< an IEEE 754 double, finite
    boolean,
    symbol,  ///< a text; equal texts are stored once
    time,    ///< microseconds since the epoch, UTC
  };
  Kind kind = Kind::integer;
  std::uint8_t scale = 0;  ///< of a decimal: 0 to 18
  friend bool operator==(const AttributeType&, const AttributeType&) = default;
};

struct Attribute {
  std::string name{};  ///< not empty; an edge's attribute is not called "time", which is its event time
  AttributeType type{};
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

/// The most attributes of edges, and of vertices, that a Schema may declare.
inline constexpr std::size_t max_attributes = 255;

/// A value as its attribute's type has it. std::monostate is NULL: the record has no value.
/// - std::int64_t: an integer, the digits of a decimal at its declared scale (12.50 at scale 2 is 1250), or a time in
///   microseconds
/// - double: a real, which is finite
/// - bool: a boolean
/// - std::string_view: a symbol
using AttributeValue = std::variant<std::monostate, bool, std::int64_t, double, std::string_view>;

/// Whether a value is NULL or of this type. A real must be finite, and a symbol has at most 1,024 bytes.
[[nodiscard]] bool fits(const AttributeType& type, const AttributeValue& value) noexcept;
/// The index of the first value that does not fit. Values beyond the declared attributes fit none; nullopt: all fit, and there
/// are none or as many as attributes.
[[nodiscard]] std::optional<std::size_t> find_misfit(std::span<const Attribute> attributes,
                                                     std::span<const AttributeValue> values) noexcept;

/// What a record says beside ends, labels and time.
struct Properties {
  std::optional<Id> key{};  ///< of an edge; needed by the model `keyed`, unused otherwise
  /// The value of each attribute that the Schema declares for edges, or for vertices, in its order. Empty: the record speaks
  /// of none. A vertex then keeps its values, and those of an edge are NULL.
  std::span<const AttributeValue> attributes{};
};

/// The declarations of a graph. Names are distinct among the edges' attributes, and among the vertices'.
struct Schema {
  EdgeModel model = EdgeModel::simple;
  std::vector<Attribute> edges{};
  std::vector<Attribute> vertices{};
  friend bool operator==(const Schema&, const Schema&) = default;
};

/// Throws Error(configuration) if a name is empty, occurs twice or is "time" for an edge. The same if a scale is above 18, if
/// there are more than max_attributes, or if edges of the model `simple` have attributes.
void validate(const Schema& schema);

}  // namespace deltamatch
