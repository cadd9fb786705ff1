#include "ingest/source/binary_source.hpp"

#include <algorithm>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/codec/binary.hpp"
#include "ingest/codec/varint.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t kept_of_long_record = 4096;

}  // namespace

BinarySource::BinarySource(ByteBuffer bytes, std::size_t max_record)
    : bytes_(std::move(bytes)), max_record_(std::max<std::size_t>(max_record, 1)) {
  if (!bytes_.held().empty() || bytes_.more()) take_preamble();
}

std::string BinarySource::where(Position position) const { return name() + ": record " + std::to_string(position.number); }

Progress BinarySource::progress() const noexcept { return bytes_.progress(records_.load(std::memory_order_relaxed)); }

void BinarySource::cancel() noexcept {
  cancelled_.store(true, std::memory_order_release);
  bytes_.cancel();
}

void BinarySource::drop(std::size_t size) noexcept {
  bytes_.drop(size);
  offset_ += size;
}

/// Reads until `size` bytes are held. The stream is torn where it ends before: what is read began at `start`. False: cancelled.
bool BinarySource::hold(std::size_t size, std::uint64_t start) {
  while (bytes_.held().size() < size) {
    if (bytes_.more()) continue;
    if (cancelled_.load(std::memory_order_acquire)) return false;
    throw Error(name(), "the stream is torn: it ends within what begins at byte " + std::to_string(start),
                "fetch or write it again; what stands before is whole");
  }
  return true;
}

bool BinarySource::take_preamble() {
  if (!bytes_.begins_with(binary_magic) && !binary_magic.starts_with(bytes_.held())) {
    throw Error(name(), "does not begin as a binary stream does", "name its format, or leave that to be recognised");
  }
  if (!hold(binary_preamble_size, offset_)) return false;
  if (const char version = bytes_.held()[binary_magic.size()]; version != binary_version) {
    throw Error(name(), "is a binary stream of version " + std::to_string(static_cast<unsigned char>(version)),
                "read it with the deltamatch that wrote it, or a newer one");
  }
  drop(binary_preamble_size);
  return true;
}

/// Takes a record's length; false at the end of the stream. Another stream's preamble may stand before it.
bool BinarySource::take_length(std::uint64_t& length) {
  for (;;) {
    if (bytes_.held().empty() && !bytes_.more()) return false;
    if (bytes_.held()[0] != binary_magic[0] || !bytes_.begins_with(binary_magic)) break;
    if (!take_preamble()) return false;
  }
  for (;;) {
    const std::string_view held = bytes_.held();
    const char* at = held.data();
    const VarintFault fault = take_varint(at, held.data() + held.size(), length);
    if (fault == VarintFault::none) {
      drop(static_cast<std::size_t>(at - held.data()));
      return true;
    }
    if (fault == VarintFault::wrong) {
      throw Error(name(), "there is no length of a record at byte " + std::to_string(offset_),
                  "fetch or write it again; what stands before is whole");
    }
    if (!hold(held.size() + 1, offset_)) return false;
  }
}

/// Hands over the first bytes and passes over the rest; false: cancelled.
bool BinarySource::take_long(Record& record, std::uint64_t start) {
  prefix_.clear();
  record.fault = RecordFault::too_long;
  for (std::uint64_t left = record.length; left != 0;) {
    if (!hold(1, start)) return false;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, bytes_.held().size()));
    const std::size_t room = std::min(kept_of_long_record, max_record_) - prefix_.size();
    prefix_ += bytes_.held().substr(0, std::min(size, room));
    drop(size);
    left -= size;
  }
  record.bytes = prefix_;
  return true;
}

bool BinarySource::next(Record& record) {
  const std::uint64_t start = offset_;
  if (!take_length(record.length)) return false;
  record.position = {++record_, 0};
  record.fault = RecordFault::none;
  record.padded = record.length <= max_record_;
  if (record.padded) {
    const auto size = static_cast<std::size_t>(record.length);
    if (!hold(size, start)) return false;
    record.bytes = bytes_.held().substr(0, size);
    drop(size);
  } else if (!take_long(record, start)) {
    return false;
  }
  records_.store(record_, std::memory_order_relaxed);
  return true;
}

}  // namespace deltamatch::ingest
