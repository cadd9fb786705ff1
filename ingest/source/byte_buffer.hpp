// A buffer for bytes that were read from a stream but not handed over yet.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/source/bytes.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// Reads ahead of its owner. It grows if the owner asks for more bytes without dropping any.
class ByteBuffer {
 public:
  explicit ByteBuffer(std::unique_ptr<ByteSource> bytes);

  /// The bytes that were read and not dropped. Valid until more(). Record::padding bytes behind them can be read.
  [[nodiscard]] std::string_view held() const noexcept { return {buffer_.data() + begin_, end_ - begin_}; }
  void drop(std::size_t size) noexcept { begin_ += size; }
  /// Reads more bytes behind the held ones. Returns false at the end of the stream.
  bool more();
  /// Whether the next bytes of the stream are `prefix`. Reads more if necessary.
  bool begins_with(std::string_view prefix);

  [[nodiscard]] const std::string& name() const noexcept { return bytes_->name(); }
  [[nodiscard]] Progress progress(std::uint64_t records) const noexcept {
    return {records, bytes_->bytes_read(), bytes_->bytes_total()};
  }
  /// Ends a more() that waits for input. It and every later call return false.
  void cancel() noexcept { bytes_->cancel(); }

 private:
  std::unique_ptr<ByteSource> bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
};

}  // namespace deltamatch::ingest
