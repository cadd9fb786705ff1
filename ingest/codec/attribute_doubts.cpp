// Doubts about attributes of which no record has a value.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <variant>

#include "ingest/codec/doubts.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {

void Doubts::watch_attributes(const std::vector<AttributeColumn>& attributes) {
  if (!attributes_.names.empty()) return;
  for (const AttributeColumn& column : attributes) attributes_.names.push_back(column.attribute.name);
  attributes_.seen.assign(attributes.size(), 0);
  attributes_.unseen = attributes.size();
}

void Doubts::see_values(std::span<const AttributeValue> values) {
  if (attributes_.records++ == 0) attributes_.first = now_;
  for (std::size_t i = 0; i < values.size() && i < attributes_.seen.size(); ++i) {
    if (attributes_.seen[i] != 0 || std::holds_alternative<std::monostate>(values[i])) continue;
    attributes_.seen[i] = 1;
    --attributes_.unseen;
  }
}

std::optional<Doubts::Doubt> Doubts::about_attributes() const {
  if (attributes_.records == 0 || attributes_.unseen == 0) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < attributes_.names.size(); ++i) {
    if (attributes_.seen[i] == 0) names.push_back(in_ticks(attributes_.names[i]));
  }
  const std::string entry = attributes_.names.size() == 1 ? attributes_.names[0] : std::string("ATTRIBUTE");
  return Doubt{"attribute_absent", attributes_.first, fmt::format("no record has a value of {}", fmt::join(names, ", ")),
               fmt::format("{} says which column or field holds it, {} says that none does",
                           spelling_("columns", entry + "=NAME"), spelling_("columns", entry + "=")),
               attributes_.records};
}

}  // namespace deltamatch::ingest
