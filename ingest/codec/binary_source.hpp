// Records of a binary stream: a preamble, then records with their lengths before them, in version 2 in blocks with checksums.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/source/byte_buffer.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// A record of more than `max_record` bytes has the fault too_long and its first bytes; the rest is passed over without being
/// held. next() throws Error with the offset (of the unpacked stream) where the stream is torn: no record behind that point can
/// be told from any other bytes. So it does, in version 2, where a block is not what was written; what it hands over has been
/// verified.
class BinarySource final : public RecordSource {
 public:
  /// Throws Error where the stream is not empty and does not begin with the preamble, or is of another version.
  BinarySource(ByteBuffer bytes, std::size_t max_record);

  bool next(Record& record) override;
  [[nodiscard]] std::string where(Position position) const override;
  [[nodiscard]] Progress progress() const noexcept override;
  void cancel() noexcept override;
  [[nodiscard]] const std::string& name() const noexcept { return bytes_.name(); }

 private:
  [[nodiscard]] std::string_view held() const noexcept;
  bool more();
  bool take_block();
  void drop(std::size_t size) noexcept;
  void drop_stored(std::size_t size) noexcept;
  bool take_preamble();
  bool find_record();
  bool take_length(std::uint64_t& length);
  bool take_long(Record& record, std::uint64_t start);
  bool hold(std::size_t size, std::uint64_t start);
  bool hold_stored(std::size_t size, std::uint64_t start);
  [[noreturn]] void refuse(std::string_view what) const;
  [[noreturn]] void refuse_torn(std::uint64_t start) const;

  ByteBuffer bytes_;
  std::size_t max_record_;
  std::uint64_t offset_ = 0;  // in the stream, of what bytes_ holds
  bool in_blocks_ = false;    // version 2, and its end has not come
  std::uint64_t block_ = 0;   // the number of the next one
  std::string verified_;      // of blocks
  std::size_t used_ = 0;      // of verified_
  std::string prefix_;        // of a record that is too long
  std::uint64_t record_ = 0;
  std::atomic<std::uint64_t> records_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace deltamatch::ingest
