#include "ingest/service/loop/reading.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <nlohmann/json.hpp>

namespace deltamatch::ingest {
namespace {

/// The text as bytes, because codec options may contain any.
nlohmann::json bytes_of(const std::string& text) {
  // NOLINTNEXTLINE(modernize-return-braced-init-list): braces would make a list that holds the list
  return nlohmann::json(std::vector<std::uint8_t>(text.begin(), text.end()));
}

template <class T>
nlohmann::json number_of(const std::optional<T>& value) {
  return value ? nlohmann::json(static_cast<int>(*value)) : nlohmann::json();
}

nlohmann::json to_json(const std::vector<AttributeColumn>& attributes) {
  nlohmann::json all = nlohmann::json::array();
  for (const AttributeColumn& column : attributes) {
    all.push_back({bytes_of(column.attribute.name), static_cast<int>(column.attribute.type.kind), column.attribute.type.scale,
                   bytes_of(column.column), column.base64});
  }
  return all;
}

nlohmann::json to_json(const InputTopics& topics) {
  const CodecOptions& codec = topics.codec;
  nlohmann::json all = {bytes_of(topics.name),
                        format_name(topics.format),
                        bytes_of(codec.columns),
                        static_cast<int>(codec.envelope),
                        static_cast<int>(codec.separator),
                        number_of(codec.header),
                        number_of(codec.ids),
                        number_of(codec.time_unit),
                        bytes_of(codec.time_format),
                        codec.negative_ids,
                        bytes_of(codec.edge_label),
                        codec.vertices,
                        bytes_of(codec.op_values)};
  // What earlier versions did not know is left out if it is not used, so their fingerprints hold.
  if (codec.edges != EdgeModel::simple || !codec.vertex_attributes.empty()) {
    all.push_back(static_cast<int>(codec.edges));
    all.push_back(to_json(codec.attributes));
    all.push_back(to_json(codec.vertex_attributes));
  }
  if (codec.schema != SchemaOptions() || codec.key_format) {
    nlohmann::json imports = nlohmann::json::array();
    for (const auto& [name, text] : codec.schema.imports) imports.push_back({bytes_of(name), bytes_of(text)});
    all.push_back({codec.schema.framed, bytes_of(codec.schema.text), imports, bytes_of(codec.schema.message),
                   codec.key_format ? format_name(*codec.key_format) : std::string_view()});
  }
  if (codec.decimal != Decimal::strict) all.push_back(static_cast<int>(codec.decimal));
  return all;
}

}  // namespace

std::string reading_fingerprint(const InputOptions& input) {
  // Versions read some records differently. Version 2 trims blanks around cells, knows more operations, and reads JSON arrays.
  constexpr int version = 2;
  nlohmann::json all = nlohmann::json::array({version, input.max_record, max_name, input.max_ahead.count(), input.max_labels});
  for (const InputTopics& topics : input.topics) all.push_back(to_json(topics));
  const std::string text = all.dump();
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace deltamatch::ingest
