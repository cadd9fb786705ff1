// The records of a binary stream: a preamble, then records with their lengths before them. From version 2 on they lie in blocks
// with checksums. In version 3 the first block states their schema.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "deltamatch/attribute.hpp"
#include "ingest/source/byte_buffer.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// A record of more than `max_record` bytes has the fault too_long and its first bytes. The rest is skipped without being held.
///
/// If the stream is torn, next() throws Error with the offset in the unpacked stream. No record can be found behind that place.
/// From version 2 on it also throws if a block is damaged, so all that it hands over has been verified.
class BinarySource final : public RecordSource {
 public:
  /// `declared` says how attributes will be read. Throws Error if the stream is not empty and does not begin with the preamble,
  /// has another version, or states another schema.
  BinarySource(ByteBuffer bytes, std::size_t max_record, Schema declared = {});

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
  bool take_schema();
  bool find_record();
  bool take_length(std::uint64_t& length);
  bool take_long(Record& record, std::uint64_t start);
  bool hold(std::size_t size, std::uint64_t start);
  bool hold_stored(std::size_t size, std::uint64_t start);
  [[noreturn]] void refuse(std::string_view what) const;
  [[noreturn]] void refuse_torn(std::uint64_t start) const;

  ByteBuffer bytes_;
  std::size_t max_record_;
  Schema declared_;
  std::uint64_t offset_ = 0;  // of the bytes in bytes_, in the stream
  bool in_blocks_ = false;    // version 2 or 3, and its end has not come
  std::uint64_t block_ = 0;   // number of the next block
  std::string verified_;      // bytes of verified blocks
  std::size_t used_ = 0;      // bytes of verified_ that were handed over
  std::string prefix_;        // start of a record that is too long
  std::uint64_t record_ = 0;
  std::atomic<std::uint64_t> records_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace deltamatch::ingest
