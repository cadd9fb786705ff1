// Reads records in Avro's binary encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/schema/avro_schema.hpp"
#include "ingest/schema/record_text.hpp"

namespace deltamatch::ingest {

/// How much longer the text of a record may be than its bytes, so that few bytes cannot fill the memory.
inline constexpr std::size_t most_text_per_byte = 64;
inline constexpr std::size_t most_text_beside = std::size_t{1} << 20;
[[nodiscard]] constexpr std::size_t longest_text(std::size_t bytes) noexcept {
  return most_text_beside + most_text_per_byte * bytes;
}

/// Reads one record of a schema, in time and memory O(bytes), whatever they hold. A record that claims more is refused, and so
/// is one that nests deeper than `deepest`.
class AvroRecord {
 public:
  /// How deep the values of a record may nest.
  static constexpr std::size_t deepest = 128;

  /// Writes the record into `out`. Returns false if the bytes are no record of the schema; fault() says why.
  bool read(const AvroSchema& schema, std::string_view bytes, RecordText& out);
  /// The same for a record with others behind it. `bytes` begins behind it afterwards.
  bool read_first(const AvroSchema& schema, std::string_view& bytes, RecordText& out);

  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

 private:
  bool value(std::uint32_t number, std::size_t depth);
  bool record(const AvroType& type, std::size_t depth);
  bool alternatives(const AvroType& type, std::size_t depth);
  bool blocks(const AvroType& type, std::size_t depth);
  bool fixed(const AvroType& type, std::string_view bytes);
  bool integer(const AvroType& type, std::int64_t value);
  bool number(std::int64_t& value);
  bool take(std::uint64_t size, std::string_view& bytes);
  bool take_counted(std::string_view& bytes);
  bool fail(std::string what);

  const AvroSchema* schema_ = nullptr;
  RecordText* out_ = nullptr;
  std::string_view rest_;
  std::size_t size_ = 0;
  std::uint64_t left_ = 0;  // values that may still be read
  std::string fault_;
};

}  // namespace deltamatch::ingest
