// A source of records that are JSON values and may span lines.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/source/byte_buffer.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// The layout of the values of JSON data: one per line, elements of one array, or one after the other over several lines.
enum class JsonLayout : std::uint8_t { lines, array, sequence };

/// Reads the elements of one array, or values that follow one another. Each value is a record. Brackets and quotes show where a
/// value ends; the codec judges what is in between. The position of an array element is the line in which it begins and its
/// number in the array, from 0. next() throws Error if a value does not end, is longer than `max_record`, or is out of place.
/// By then every record before it has been handed over.
class JsonSource final : public RecordSource {
 public:
  /// `layout` must not be lines. `bytes` must begin with the data, after any byte order mark.
  JsonSource(ByteBuffer bytes, std::size_t max_record, JsonLayout layout);

  bool next(Record& record) override;
  [[nodiscard]] std::string where(Position position) const override;
  [[nodiscard]] Progress progress() const noexcept override;
  void cancel() noexcept override { bytes_.cancel(); }

 private:
  static constexpr char nothing = 0;  // a byte that no JSON contains

  char peek();
  bool to_element();
  std::size_t value_end();
  [[noreturn]] void fail(std::string_view what, std::string_view remedy);
  [[nodiscard]] Position here() const noexcept;

  ByteBuffer bytes_;
  std::size_t max_record_;
  bool array_;
  bool begun_ = false;
  bool ended_ = false;
  std::uint64_t line_ = 1;      // in which the held bytes begin
  std::uint64_t elements_ = 0;  // handed over
  std::atomic<std::uint64_t> records_ = 0;
};

}  // namespace deltamatch::ingest
