#include "ingest/codec/binary_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "deltamatch/error.hpp"
#include "deltamatch/misfit.hpp"
#include "encoding/numbers.hpp"
#include "ingest/codec/binary.hpp"
#include "ingest/codec/binary_schema.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t kept_of_long_record = 4096;

}  // namespace

BinarySource::BinarySource(ByteBuffer bytes, std::size_t max_record, Schema declared)
    : bytes_(std::move(bytes)), max_record_(std::max<std::size_t>(max_record, 1)), declared_(std::move(declared)) {
  if (!bytes_.held().empty() || bytes_.more()) take_preamble();
}

std::string BinarySource::where(Position position) const { return name() + ": record " + std::to_string(position.number); }

Progress BinarySource::progress() const noexcept { return bytes_.progress(records_.load(std::memory_order_relaxed)); }

void BinarySource::cancel() noexcept {
  cancelled_.store(true, std::memory_order_release);
  bytes_.cancel();
}

void BinarySource::refuse(std::string_view what) const {
  throw Error(name(), std::string(what) + " at byte " + std::to_string(offset_),
              "fetch or write it again; the records before are whole");
}

void BinarySource::refuse_torn(std::uint64_t start) const {
  throw Error(name(), "the stream is torn: it ends within what begins at byte " + std::to_string(start),
              "fetch or write it again; the records before are whole");
}

/// The bytes of records that are held.
std::string_view BinarySource::held() const noexcept {
  return in_blocks_ ? std::string_view(verified_).substr(used_) : bytes_.held();
}

/// Reads more bytes behind those held. Returns false at the end of the stream, or if cancelled.
bool BinarySource::more() { return in_blocks_ ? take_block() : bytes_.more(); }

void BinarySource::drop(std::size_t size) noexcept {
  if (in_blocks_)
    used_ += size;
  else
    drop_stored(size);
}

void BinarySource::drop_stored(std::size_t size) noexcept {
  bytes_.drop(size);
  offset_ += size;
}

/// Verifies the next block. Returns false at the block that ends the stream, or if cancelled.
bool BinarySource::take_block() {
  const std::uint64_t start = offset_;
  if (!hold_stored(BinaryBlock::head_size, start)) return false;
  const auto block = BinaryBlock::read(bytes_.held().substr(0, BinaryBlock::head_size), block_);
  if (!block) refuse("the stream is damaged, or a block is missing: there is no head of block " + std::to_string(block_));
  if (block->size > BinaryBlock::most_bytes) refuse("there is a block of more than 1 MiB");
  if (!hold_stored(BinaryBlock::head_size + block->size, start)) return false;
  const std::string_view bytes = bytes_.held().substr(BinaryBlock::head_size, block->size);
  if (!block->holds(bytes, block_)) refuse("the stream is damaged: a checksum does not match in the block");
  ++block_;
  const bool last = bytes.empty();
  verified_.erase(0, used_);
  used_ = 0;
  verified_.append(bytes);
  drop_stored(BinaryBlock::head_size + block->size);
  if (last) in_blocks_ = false;
  return !last;
}

/// Reads until `size` bytes are held. Returns false if cancelled. If the stream ends before, it is torn: the part being read
/// began at `start`.
bool BinarySource::hold(std::size_t size, std::uint64_t start) {
  while (held().size() < size) {
    const bool blocks = in_blocks_;
    if (more()) continue;
    if (cancelled_.load(std::memory_order_acquire)) return false;
    if (blocks && !in_blocks_) refuse("the stream is torn: it ends within a record");
    refuse_torn(start);
  }
  return true;
}

/// The same for the bytes as they are stored.
bool BinarySource::hold_stored(std::size_t size, std::uint64_t start) {
  while (bytes_.held().size() < size) {
    if (bytes_.more()) continue;
    if (cancelled_.load(std::memory_order_acquire)) return false;
    refuse_torn(start);
  }
  return true;
}

bool BinarySource::take_preamble() {
  if (!bytes_.begins_with(binary_magic) && !binary_magic.starts_with(bytes_.held())) {
    throw Error(name(), "does not begin as a binary stream does", "name the right format, or leave the option out");
  }
  if (!hold_stored(binary_preamble_size, offset_)) return false;
  const char version = bytes_.held()[binary_magic.size()];
  if (version < 1 || version > binary_version_with_schema) {
    throw Error(name(), "is a binary stream of version " + std::to_string(static_cast<unsigned char>(version)),
                "read it with the deltamatch that wrote it, or a newer one");
  }
  if (version != 1) {
    if (!hold_stored(binary_preamble_size + binary_seal.size(), offset_)) return false;
    const std::string_view seal = version == binary_version_with_schema ? binary_seal_with_schema : binary_seal;
    if (bytes_.held().substr(binary_preamble_size, seal.size()) != seal) refuse("the preamble is damaged");
    drop_stored(seal.size());
    in_blocks_ = true;
    block_ = 0;
    verified_.clear();
    used_ = 0;
  }
  drop_stored(binary_preamble_size);
  return version != binary_version_with_schema || take_schema();
}

/// Verifies the block of the schema, and that records are read as it says. Returns false if cancelled.
bool BinarySource::take_schema() {
  const std::uint64_t start = offset_;
  if (!take_block() && in_blocks_) return false;
  const std::optional<Schema> stated = read_schema(verified_);
  if (!stated) {
    throw Error(name(), fmt::format("the block at byte {} states no schema that this version knows", start),
                "read the stream with the deltamatch that wrote it, or a newer one");
  }
  used_ = verified_.size();
  if (*stated == declared_) return true;
  throw Error(
      name(),
      fmt::format("the stream that begins at byte {} was written with {}, but is read with {}",
                  start - binary_preamble_size - binary_seal.size(), to_text(*stated), to_text(declared_)),
      "declare the same, with names, types and order as written, or convert the stream to jsonl to declare something else");
}

/// Goes to the next record. Returns false at the end of all streams, or if cancelled. The preamble of another stream may stand
/// before the record. After the end of a stream in blocks nothing else may follow.
bool BinarySource::find_record() {
  for (;;) {
    const bool blocks = in_blocks_;
    if (blocks) {
      if (!held().empty() || more()) return true;
      if (in_blocks_) return false;  // cancelled
    }
    if (bytes_.held().empty() && !bytes_.more()) return false;
    if (bytes_.held()[0] != binary_magic[0] || !bytes_.begins_with(binary_magic)) {
      if (!blocks) return true;
      if (cancelled_.load(std::memory_order_acquire)) return false;
      refuse("after the end of the stream, no other stream begins");
    }
    if (!take_preamble()) return false;
  }
}

/// Takes a record's length. Returns false as find_record does.
bool BinarySource::take_length(std::uint64_t& length) {
  if (!find_record()) return false;
  for (;;) {
    const std::string_view there = held();
    const char* at = there.data();
    const encoding::NumberFault fault = encoding::take_number(at, there.data() + there.size(), length);
    if (fault == encoding::NumberFault::none) {
      drop(static_cast<std::size_t>(at - there.data()));
      return true;
    }
    if (fault == encoding::NumberFault::wrong)
      refuse(in_blocks_ ? "there is no length of a record before" : "there is no length of a record");
    if (!hold(there.size() + 1, offset_)) return false;
  }
}

/// Hands over the first bytes and skips the rest. Returns false if cancelled.
bool BinarySource::take_long(Record& record, std::uint64_t start) {
  prefix_.clear();
  record.fault = RecordFault::too_long;
  for (std::uint64_t left = record.length; left != 0;) {
    if (!hold(1, start)) return false;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, held().size()));
    const std::size_t room = std::min(kept_of_long_record, max_record_) - prefix_.size();
    prefix_ += held().substr(0, std::min(size, room));
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
  record.padded = false;
  if (record.length <= max_record_) {
    const auto size = static_cast<std::size_t>(record.length);
    if (!hold(size, start)) return false;
    record.padded = !in_blocks_;
    record.bytes = held().substr(0, size);
    drop(size);
  } else if (!take_long(record, start)) {
    return false;
  }
  records_.store(record_, std::memory_order_relaxed);
  return true;
}

}  // namespace deltamatch::ingest
