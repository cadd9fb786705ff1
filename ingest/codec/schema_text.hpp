// The text that declares attributes: "amount:decimal(2)=payload.amt,channel:symbol".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/attribute.hpp"
#include "ingest/codec/codec.hpp"

namespace deltamatch::ingest {

enum class AttributesOf : std::uint8_t { edges, vertices };

/// The most attributes of edges, and of vertices.
inline constexpr std::size_t max_attributes = 100;

/// Reads entries name:type or name:type=column with commas between them. Types are int, decimal(DIGITS), float, bool, symbol
/// and time. decimal(DIGITS,base64) says that texts are base64. Throws Error(usage) with `option` as its place.
[[nodiscard]] std::vector<AttributeColumn> parse_attributes(std::string_view text, AttributesOf of, std::string_view option);

/// Reads one attribute whose type is "decimal(2)" or "decimal(2)=payload.amt". Throws Error(usage) with `where` as its place.
[[nodiscard]] AttributeColumn parse_attribute(std::string_view name, std::string_view type, AttributesOf of,
                                              std::string_view where);

/// The name of a type as it is declared: "decimal(2)".
[[nodiscard]] std::string type_text(const AttributeType& type);
/// "amount decimal(2), channel symbol". Empty if there are none.
[[nodiscard]] std::string attributes_text(const std::vector<Attribute>& attributes);

/// "simple", "keyed" or "events".
[[nodiscard]] std::string_view model_name(EdgeModel model) noexcept;

/// What the options declare. Throws Error(usage) if edges of the model `simple` have attributes.
[[nodiscard]] Schema schema_of(const CodecOptions& options);
void check_attributes(const CodecOptions& options);

}  // namespace deltamatch::ingest
