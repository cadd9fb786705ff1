// Records that are JSON values, wherever their lines end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/source/byte_buffer.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// How the values of JSON data are laid out: one a line, as the elements of one array, or one after the other over many lines.
enum class JsonLayout : std::uint8_t { lines, array, sequence };

/// The elements of one array, each a record, or values that stand one after the other. Where a value ends is told by its
/// brackets and quotes; the codec judges what stands between. An element's position is the line that it begins in and its
/// number in the array, from 0. next() throws Error for what does not end, is longer than `max_record`, or does not belong
/// there; every record before it has been handed over then.
class JsonSource final : public RecordSource {
 public:
  /// `layout` is not lines. `bytes` begins with the data, behind any byte order mark.
  JsonSource(ByteBuffer bytes, std::size_t max_record, JsonLayout layout);

  bool next(Record& record) override;
  [[nodiscard]] std::string where(Position position) const override;
  [[nodiscard]] Progress progress() const noexcept override;
  void cancel() noexcept override { bytes_.cancel(); }

 private:
  static constexpr char nothing = 0;  // no JSON holds it

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
  std::uint64_t line_ = 1;      // that the held bytes begin in
  std::uint64_t elements_ = 0;  // handed over
  std::atomic<std::uint64_t> records_ = 0;
};

}  // namespace deltamatch::ingest
