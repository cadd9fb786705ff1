#include "ingest/service/state/log_format.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "deltamatch/error.hpp"
#include "encoding/checksum.hpp"
#include "encoding/numbers.hpp"
#include "ingest/service/state/files.hpp"

namespace deltamatch::ingest::log_format {
namespace {

using encoding::checksum;
using encoding::get_fixed;
using encoding::put_fixed;
using encoding::view;

// The first byte is no text. The last bytes change if line ends are converted.
constexpr std::string_view magic(
    "\x8f"
    "DMLOG\r\n",
    8);
constexpr std::string_view prefix = "log-";
constexpr std::string_view suffix = ".dmlog";
constexpr int zstd_level = 1;

}  // namespace

std::string segment_name(std::uint64_t first) { return numbered_name(prefix, first, suffix); }

std::optional<std::uint64_t> segment_number(std::string_view name) { return number_in(name, prefix, suffix); }

std::string to_bytes(const Head& head) {
  if (head.fingerprint.size() != fingerprint_size) throw Error("log", "a fingerprint does not have 32 digits");
  std::string bytes(magic);
  put_fixed(bytes, head.version, 4);
  put_fixed(bytes, head.first, 8);
  bytes += head.fingerprint;
  return bytes.append(view(checksum(bytes, 0)));
}

std::optional<Head> read_head(std::string_view bytes) {
  if (bytes.size() != head_size || !bytes.starts_with(magic)) return {};
  const std::string_view covered = bytes.substr(0, head_size - checksum_size);
  if (view(checksum(covered, 0)) != bytes.substr(covered.size())) return {};
  return Head{static_cast<std::uint32_t>(get_fixed(bytes.data() + 8, 4)), get_fixed(bytes.data() + 12, 8),
              std::string(bytes.substr(20, fingerprint_size))};
}

struct Packer::Context {
  ZSTD_CCtx* zstd = ZSTD_createCCtx();
  std::string packed;
};

Packer::Packer() : context_(std::make_unique<Context>()) {
  if (context_->zstd == nullptr) throw std::bad_alloc();
}
Packer::~Packer() { ZSTD_freeCCtx(context_->zstd); }

void Packer::pack(std::string_view payload, std::uint64_t offset, std::string_view where, std::string& out) {
  if (payload.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(where, fmt::format("a batch has {} bytes, more than the 4 GiB that an entry can hold", payload.size()),
                "lower batch.max_updates, or give queries with that many matches no sinks");
  }
  std::string& packed = context_->packed;
  packed.resize(ZSTD_compressBound(payload.size()));
  const std::size_t size =
      ZSTD_compressCCtx(context_->zstd, packed.data(), packed.size(), payload.data(), payload.size(), zstd_level);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // the only possible failure with a buffer of this size
  const bool worth_it = size < payload.size() && payload.size() / max_ratio < size;
  const std::string_view stored = worth_it ? std::string_view(packed).substr(0, size) : payload;
  const std::size_t begin = out.size();
  out.resize(begin + checksum_size);
  put_fixed(out, payload.size(), 4);
  put_fixed(out, stored.size(), 4);
  out += stored;
  const encoding::Checksum sum = checksum(std::string_view(out).substr(begin + checksum_size), offset);
  std::copy(sum.begin(), sum.end(), out.begin() + static_cast<std::ptrdiff_t>(begin));
}

Frame read_frame(std::string_view bytes) {
  return {static_cast<std::uint32_t>(get_fixed(bytes.data() + checksum_size, 4)),
          static_cast<std::uint32_t>(get_fixed(bytes.data() + checksum_size + 4, 4))};
}

struct Unpacker::Context {
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
  std::string payload;
};

Unpacker::Unpacker() : context_(std::make_unique<Context>()) {
  if (context_->zstd == nullptr) throw std::bad_alloc();
}
Unpacker::~Unpacker() { ZSTD_freeDCtx(context_->zstd); }

std::optional<std::string_view> Unpacker::unpack(std::string_view entry, std::uint64_t offset) {
  if (entry.size() < frame_size) return {};
  const Frame frame = read_frame(entry);
  const std::string_view stored = entry.substr(frame_size);
  if (stored.size() != frame.stored_size || frame.stored_size > frame.size) return {};
  if (view(checksum(entry.substr(checksum_size), offset)) != entry.substr(0, checksum_size)) return {};
  if (frame.stored_size == frame.size) return stored;
  if (frame.size / max_ratio >= frame.stored_size) return {};
  std::string& payload = context_->payload;
  payload.resize(frame.size);
  const std::size_t size = ZSTD_decompressDCtx(context_->zstd, payload.data(), payload.size(), stored.data(), stored.size());
  if (size != payload.size()) return {};
  return payload;
}

}  // namespace deltamatch::ingest::log_format
