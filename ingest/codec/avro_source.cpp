#include "ingest/codec/avro_source.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "deltamatch/error.hpp"
#include "ingest/source/bytes.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t sync_size = 16;
constexpr std::uint64_t most_of_block = std::uint64_t{256} << 20;  // stored, and unpacked
constexpr std::uint64_t most_of_header = std::uint64_t{16} << 20;

TicksOfUnit ticks_of(std::optional<TimeUnit> unit) noexcept {
  const TimeUnit told = unit.value_or(TimeUnit::microseconds);
  return told == TimeUnit::seconds ? 1'000'000 : told == TimeUnit::milliseconds ? 1'000 : 1;
}

/// Unpacks raw deflate. Nothing if the bytes are damaged, or stand for too many.
std::optional<std::string> inflate_all(std::string_view packed) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  std::string out;
  std::array<char, 1 << 16> buffer{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // zlib does not write there
  stream.avail_in = static_cast<uInt>(packed.size());
  int code = Z_OK;
  while (code == Z_OK && out.size() <= most_of_block) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    code = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  const bool whole = code == Z_STREAM_END;  // Python's writer leaves 3 bytes of a checksum behind
  inflateEnd(&stream);
  if (!whole) return std::nullopt;
  return out;
}

class AvroSource final : public RecordSource {
 public:
  AvroSource(ByteBuffer bytes, const CodecOptions& options, std::size_t max_record)
      : bytes_(std::move(bytes)), max_record_(max_record), text_(ticks_of(options.time_unit)) {
    if (!bytes_.held().empty() || bytes_.more()) read_header();
  }

  bool next(Record& record) override {
    while (left_ == 0) {
      if (!rest_.empty()) refuse(fmt::format("{} bytes follow the records of the block", rest_.size()));
      if (!take_block()) return false;
    }
    --left_;
    ++record_;
    const std::string_view before = rest_;
    if (!avro_.read_first(schema_, rest_, text_)) {
      throw Error(where({record_, 0}), avro_.fault(), "write the file again; the records before are whole");
    }
    const std::uint64_t length = before.size() - rest_.size();
    record = {text_.padded(), {record_, 0}, RecordFault::none, length, true};
    if (length > max_record_) record.fault = RecordFault::too_long;
    records_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  [[nodiscard]] std::string where(Position position) const override {
    return fmt::format("{}: record {}", bytes_.name(), position.number);
  }
  [[nodiscard]] Progress progress() const noexcept override {
    return bytes_.progress(records_.load(std::memory_order_relaxed));
  }
  void cancel() noexcept override {
    cancelled_.store(true, std::memory_order_release);
    bytes_.cancel();
  }

 private:
  [[noreturn]] void refuse(const std::string& what, std::string_view remedy = "fetch or write it again") const {
    throw Error(bytes_.name(), fmt::format("{}, before byte {}", what, offset_), remedy);
  }

  /// Reads until so many bytes are held. Returns false at the end of the file.
  bool hold(std::uint64_t size) {
    while (bytes_.held().size() < size) {
      if (!bytes_.more()) return false;
    }
    return true;
  }

  void drop(std::size_t size) noexcept {
    bytes_.drop(size);
    offset_ += size;
  }

  std::string take(std::uint64_t size, std::uint64_t most) {
    if (size > most) refuse(fmt::format("a part of the file claims {} bytes", size));
    if (!hold(size)) refuse("the file is torn");
    std::string taken(bytes_.held().substr(0, size));
    drop(size);
    return taken;
  }

  std::int64_t take_number() {
    std::uint64_t sum = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1, 1)[0]);
      sum |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) return static_cast<std::int64_t>(sum >> 1 ^ (~(sum & 1) + 1));
    }
    refuse("a number is longer than 64 bits");
  }

  std::string take_text() {
    const std::int64_t size = take_number();
    if (size < 0) refuse("a length is negative");
    return take(static_cast<std::uint64_t>(size), most_of_header);
  }

  void read_header() {
    constexpr std::uint64_t most_entries = 1 << 16;
    if (take(avro_magic.size(), avro_magic.size()) != avro_magic)
      refuse("it does not begin as an Avro file does", "name its format");
    std::string schema;
    std::uint64_t entries = 0;
    for (std::int64_t count = take_number(); count != 0; count = take_number()) {
      if (count < 0) static_cast<void>(take_number());  // the size of the block
      const std::uint64_t pairs = count < 0 ? ~static_cast<std::uint64_t>(count) + 1 : static_cast<std::uint64_t>(count);
      entries += std::min(pairs, most_entries + 1);
      if (entries > most_entries) refuse("the header has too many entries");
      for (std::uint64_t i = 0; i < pairs; ++i) {
        const std::string key = take_text();
        const std::string value = take_text();
        if (key == "avro.schema") schema = value;
        if (key == "avro.codec") codec_ = value;
      }
    }
    sync_ = take(sync_size, sync_size);
    if (codec_ != "null" && codec_ != "deflate" && codec_ != "zstandard" && codec_ != "xz") {
      throw Error(bytes_.name(), fmt::format("its blocks are compressed by {}, which is not read", codec_),
                  "write it with the codec null, deflate, zstandard or xz");
    }
    auto read = AvroSchema::read(schema);
    if (const auto* const what = std::get_if<std::string>(&read))
      throw Error(bytes_.name(), fmt::format("its schema cannot be read: {}", *what), "write the file again");
    schema_ = std::move(std::get<AvroSchema>(read));
  }

  /// Reads the next block. Returns false at the end of the file.
  bool take_block() {
    if (cancelled_.load(std::memory_order_acquire) || sync_.empty()) return false;
    if (bytes_.held().empty() && !bytes_.more()) return false;
    const std::int64_t count = take_number();
    const std::int64_t size = take_number();
    if (count < 0 || size < 0) refuse("a block has a negative size");
    std::string packed = take(static_cast<std::uint64_t>(size), most_of_block);
    if (take(sync_size, sync_size) != sync_) refuse("the file is damaged: a block does not end where it should");
    block_ = codec_ == "null" ? std::move(packed) : unpack(packed);
    if (static_cast<std::uint64_t>(count) > block_.size()) refuse("a block claims more records than it has bytes");
    rest_ = block_;
    left_ = static_cast<std::uint64_t>(count);
    return true;
  }

  std::string unpack(std::string_view packed) {
    if (codec_ == "deflate") {
      std::optional<std::string> bytes = inflate_all(packed);
      if (!bytes) refuse("a block is damaged, or larger than 256 MiB");
      return std::move(*bytes);
    }
    std::string out;
    const std::unique_ptr<ByteSource> source = unpacked(memory_bytes(packed, bytes_.name()));
    std::array<char, 1 << 16> buffer{};
    while (const std::size_t size = source->read(buffer)) {
      out.append(buffer.data(), size);
      if (out.size() > most_of_block) refuse("a block is larger than 256 MiB");
    }
    return out;
  }

  ByteBuffer bytes_;
  std::size_t max_record_;
  RecordText text_;
  AvroRecord avro_;
  AvroSchema schema_;
  std::string codec_ = "null";
  std::string sync_;
  std::string block_;       // unpacked
  std::string_view rest_;   // of the block
  std::uint64_t left_ = 0;  // records in it
  std::uint64_t offset_ = 0;
  std::uint64_t record_ = 0;
  std::atomic<std::uint64_t> records_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace

std::unique_ptr<RecordSource> open_avro(ByteBuffer bytes, const CodecOptions& options, std::size_t max_record) {
  return std::make_unique<AvroSource>(std::move(bytes), options, max_record);
}

}  // namespace deltamatch::ingest
