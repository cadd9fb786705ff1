// Decompression: one loop over three decoders. boost::iostreams has such filters, but none of them reports the offset of a
// fault, and its zstd filter accepts a truncated file.
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/source/bytes.hpp"

namespace deltamatch::ingest {
namespace {

enum class Step : std::uint8_t { more, frame_end, corrupt };

/// Unpacks a sequence of frames. `step` removes what it used from the front of `in` and `out`.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual Step step(std::string_view& in, std::span<char>& out) = 0;
  /// Prepares for the next frame.
  virtual void restart() = 0;
  /// Whether padding (zero bytes) may stand between frames and after the last one.
  [[nodiscard]] virtual bool allows_padding() const noexcept { return false; }
};

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  Step step(std::string_view& in, std::span<char>& out) override {
    // zlib does not write through next_in; its interface merely lacks the const.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int code = inflate(&stream_, Z_NO_FLUSH);
    in.remove_prefix(in.size() - stream_.avail_in);
    out = out.subspan(out.size() - stream_.avail_out);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code == Z_STREAM_END) return Step::frame_end;
    return code == Z_OK || code == Z_BUF_ERROR ? Step::more : Step::corrupt;
  }
  void restart() override { inflateReset(&stream_); }
  [[nodiscard]] bool allows_padding() const noexcept override { return true; }

 private:
  z_stream stream_{};
};

class XzDecoder final : public Decoder {
 public:
  XzDecoder() { restart(); }
  ~XzDecoder() override { lzma_end(&stream_); }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;

  Step step(std::string_view& in, std::span<char>& out) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    const lzma_ret code = lzma_code(&stream_, LZMA_RUN);
    in.remove_prefix(in.size() - stream_.avail_in);
    out = out.subspan(out.size() - stream_.avail_out);
    if (code == LZMA_MEM_ERROR || code == LZMA_MEMLIMIT_ERROR) throw std::bad_alloc();
    if (code == LZMA_STREAM_END) return Step::frame_end;
    return code == LZMA_OK || code == LZMA_BUF_ERROR ? Step::more : Step::corrupt;
  }
  void restart() override {
    if (lzma_stream_decoder(&stream_, memory_limit, 0) != LZMA_OK) throw std::bad_alloc();
  }
  [[nodiscard]] bool allows_padding() const noexcept override { return true; }

 private:
  static constexpr std::uint64_t memory_limit = std::uint64_t{4} << 30;  // the most that a hostile header can ask for
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() : context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, largest_window_log);
  }
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  Step step(std::string_view& in, std::span<char>& out) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t code = ZSTD_decompressStream(context_, &to, &from);
    in.remove_prefix(from.pos);
    out = out.subspan(to.pos);
    if (ZSTD_isError(code) != 0) return Step::corrupt;
    return code == 0 ? Step::frame_end : Step::more;
  }
  void restart() override { ZSTD_DCtx_reset(context_, ZSTD_reset_session_only); }

 private:
  static constexpr int largest_window_log = 30;
  ZSTD_DCtx* context_;
};

template <class T>
std::unique_ptr<Decoder> make() {
  return std::make_unique<T>();
}

struct Archive {
  std::string_view magic;
  std::string_view name;
  std::unique_ptr<Decoder> (*make)();  // null if the archive is recognised but not supported
  std::string_view remedy;
};

constexpr std::array archives = {
    Archive{"\x1f\x8b", "gzip", &make<GzipDecoder>, {}},
    Archive{std::string_view("\xfd"
                             "7zXZ\0",
                             6),
            "xz",
            &make<XzDecoder>,
            {}},
    Archive{"\x28\xb5\x2f\xfd", "zstd", &make<ZstdDecoder>, {}},
    Archive{"PK\x03\x04", "zip", nullptr, "unzip -p"},
    Archive{"BZh", "bzip2", nullptr, "bzip2 -dc"},
};
constexpr std::string_view bzip2_block = "1AY&SY";  // a text may start with "BZh" alone

/// Null if the bytes begin no archive of the list.
const Archive* find_archive(std::string_view begin) noexcept {
  const auto* const found = std::ranges::find_if(archives, [&](const Archive& archive) {
    return begin.starts_with(archive.magic) && (archive.name != "bzip2" || begin.find(bzip2_block) == 4);
  });
  return found == archives.end() ? nullptr : found;
}

/// Whether more bytes can decide which archive begins with these. A live pipe of text is not waited for.
bool is_undecided(std::string_view begin) noexcept {
  return std::ranges::any_of(archives, [&](const Archive& archive) {
    const std::size_t needed = archive.name == "bzip2" ? 4 + bzip2_block.size() : archive.magic.size();
    return begin.size() < needed && (archive.magic.starts_with(begin) || begin.starts_with(archive.magic));
  });
}

class UnpackedSource final : public ByteSource {
 public:
  explicit UnpackedSource(std::unique_ptr<ByteSource> packed) : packed_(std::move(packed)), buffer_(std::size_t{1} << 18) {
    while (is_undecided(in_) && refill()) {
    }
    if (const Archive* const archive = find_archive(in_)) {
      decoder_ = archive->make == nullptr ? nullptr : archive->make();
      if (!decoder_) {
        throw Error(name(), "is a " + std::string(archive->name) + " archive, which is not read here",
                    "unpack it first and give it as -, e.g. with " + std::string(archive->remedy));
      }
    }
  }

  std::size_t read(std::span<char> out) override {
    if (!decoder_) return pass(out);
    const std::size_t room = out.size();
    for (;;) {
      if (broken_) return fail("corrupt");
      if (between_frames_ && !next_frame()) return 0;
      if (in_.empty()) refill();  // even at the end of the input, the decoder may still hold output
      const std::size_t before = in_.size();
      const Step step = decoder_->step(in_, out);
      if (step == Step::frame_end) between_frames_ = true;
      const bool stuck = step == Step::more && out.size() == room && in_.size() == before;
      if (stuck && in_.empty()) return fail("truncated");
      broken_ = stuck || step == Step::corrupt;
      if (out.size() < room) return room - out.size();  // output comes before a fault is reported
    }
  }

  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return packed_->bytes_read(); }
  [[nodiscard]] std::optional<std::uint64_t> bytes_total() const noexcept override { return packed_->bytes_total(); }
  [[nodiscard]] const std::string& name() const noexcept override { return packed_->name(); }
  void cancel() noexcept override {
    cancelled_.store(true, std::memory_order_release);
    packed_->cancel();
  }

 private:
  /// Appends to the remaining input. Returns false at its end.
  bool refill() {
    if (!in_.empty()) std::memmove(buffer_.data(), in_.data(), in_.size());
    const std::size_t kept = in_.size();
    const std::size_t got = packed_->read(std::span(buffer_).subspan(kept));
    in_ = std::string_view(buffer_.data(), kept + got);
    return got != 0;
  }

  std::size_t pass(std::span<char> out) {
    if (in_.empty()) return packed_->read(out);
    const std::size_t size = std::min(in_.size(), out.size());
    std::memcpy(out.data(), in_.data(), size);
    in_.remove_prefix(size);
    return size;
  }

  /// Returns false at the end of the input.
  bool next_frame() {
    for (;;) {
      if (decoder_->allows_padding()) in_.remove_prefix(std::min(in_.find_first_not_of('\0'), in_.size()));
      if (!in_.empty()) break;
      if (!refill()) return false;
    }
    decoder_->restart();
    between_frames_ = false;
    return true;
  }

  /// Throws, unless reading was cancelled.
  std::size_t fail(const char* fault) {
    if (cancelled_.load(std::memory_order_acquire)) return 0;
    throw Error(name(), std::string("the archive is ") + fault + " at byte " + std::to_string(bytes_read() - in_.size()),
                "fetch it or pack it again");
  }

  std::unique_ptr<ByteSource> packed_;
  std::vector<char> buffer_;
  std::string_view in_;               // read but not yet unpacked
  std::unique_ptr<Decoder> decoder_;  // null if nothing needs unpacking
  bool between_frames_ = false;
  bool broken_ = false;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace

std::string_view archive_in(std::string_view bytes) noexcept {
  constexpr std::size_t tar_mark = 257;
  if (bytes.size() > tar_mark && bytes.substr(tar_mark).starts_with("ustar")) return "tar";
  const Archive* const archive = find_archive(bytes);
  return archive == nullptr ? std::string_view() : archive->name;
}

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> packed) {
  return std::make_unique<UnpackedSource>(std::move(packed));
}

}  // namespace deltamatch::ingest
