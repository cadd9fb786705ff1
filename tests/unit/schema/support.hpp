// Helpers of the tests of schemas. Bytes that other programs wrote stand here in hexadecimal digits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/codec/codec.hpp"
#include "ingest/codec/schema_reader.hpp"
#include "ingest/schema/schema.hpp"
#include "unit/ingest/support.hpp"

namespace deltamatch::ingest::testing {

inline std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

/// Avro's encoding of a number.
inline std::string avro(std::int64_t value) {
  auto rest = static_cast<std::uint64_t>(value) << 1 ^ (value < 0 ? ~std::uint64_t{0} : 0);
  std::string bytes;
  for (; rest >= 0x80; rest >>= 7) bytes += static_cast<char>(rest | 0x80U);
  return bytes += static_cast<char>(rest);
}
/// Avro's encoding of a text.
inline std::string avro(std::string_view text) { return avro(static_cast<std::int64_t>(text.size())).append(text); }

/// What a registry puts before a record.
inline std::string framed(std::uint32_t id, std::string_view record) {
  std::string bytes(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(id >> shift & 0xffU);
  return bytes.append(record);
}

/// A registry in memory.
class Schemas final : public SchemaSource {
 public:
  std::shared_ptr<const RecordSchema> find(std::uint32_t id) override {
    ++asked;
    if (down) throw SchemaUnavailable("it is down");
    const auto found = texts.find(id);
    return found == texts.end() ? nullptr : std::make_shared<const RecordSchema>(found->second);
  }
  std::map<std::uint32_t, SchemaText> texts;
  bool down = false;
  int asked = 0;
};

/// What a message says, or why it is refused.
inline std::vector<std::string> said(Codec& codec, std::optional<std::string_view> value, const MessageFrame& frame = {}) {
  const Decoded decoded = codec.decode_message(value, frame);
  std::vector<std::string> out;
  for (const Update& update : decoded.updates) out.push_back(text_of(update));
  if (decoded.refused) out.push_back(fmt::format("! {}: {}", reject_name(*decoded.refused), decoded.message));
  return out;
}

inline MessageFrame with_key(std::string_view key) { return {.key = key, .headers = {}, .time = {}}; }

}  // namespace deltamatch::ingest::testing
