// Bytes of a stream that have been read and not yet been handed over.
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

/// Reads ahead of what its owner takes. It grows as far as the owner asks for more without taking anything.
class ByteBuffer {
 public:
  explicit ByteBuffer(std::unique_ptr<ByteSource> bytes);

  /// What has been read and not been dropped. Holds until more(); Record::padding bytes behind it are readable.
  [[nodiscard]] std::string_view held() const noexcept { return {buffer_.data() + begin_, end_ - begin_}; }
  void drop(std::size_t size) noexcept { begin_ += size; }
  /// Reads more behind what is held; false at the end of the stream.
  bool more();
  /// Whether the stream goes on with `prefix`; reads more where that needs it.
  bool begins_with(std::string_view prefix);

  [[nodiscard]] const std::string& name() const noexcept { return bytes_->name(); }
  [[nodiscard]] Progress progress(std::uint64_t records) const noexcept {
    return {records, bytes_->bytes_read(), bytes_->bytes_total()};
  }
  /// Ends a more() that waits for input; it and every later one are false.
  void cancel() noexcept { bytes_->cancel(); }

 private:
  std::unique_ptr<ByteSource> bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
};

}  // namespace deltamatch::ingest
