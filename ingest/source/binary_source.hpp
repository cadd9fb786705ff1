// Records of a binary stream: a preamble, then records with their lengths before them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "ingest/source/byte_buffer.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// A record of more than `max_record` bytes has the fault too_long and its first bytes; the rest is passed over without being
/// held. next() throws Error with the offset (of the unpacked stream) where the stream is torn: no record behind that point can
/// be told from any other bytes.
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
  void drop(std::size_t size) noexcept;
  bool take_preamble();
  bool take_length(std::uint64_t& length);
  bool take_long(Record& record, std::uint64_t start);
  bool hold(std::size_t size, std::uint64_t start);

  ByteBuffer bytes_;
  std::size_t max_record_;
  std::uint64_t offset_ = 0;  // of what is held
  std::string prefix_;        // of a record that is too long
  std::uint64_t record_ = 0;
  std::atomic<std::uint64_t> records_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace deltamatch::ingest
