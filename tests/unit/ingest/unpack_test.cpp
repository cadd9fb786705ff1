// Unpacking. The packed data is made here with the libraries themselves.
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "ingest/source/bytes.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string gz(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  std::string in(text);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string xz(std::string_view text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                                    text.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

std::string zst(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

struct Packer {
  const char* name;
  std::string (*pack)(std::string_view);
};

void PrintTo(const Packer& packer, std::ostream* out) { *out << packer.name; }

class Unpack : public ::testing::TestWithParam<Packer> {
 protected:
  static std::string pack(std::string_view text) { return GetParam().pack(text); }
};

std::string numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{} {}\n", i, i * 7919 % 100003);
  return text;
}

/// All that can be read, and the error at the end.
std::pair<std::string, std::string> read_out(std::string_view packed, std::size_t step = 10000) {
  std::string out;
  const std::string error = error_of([&] {
    const auto source = unpacked(memory_bytes(packed, "test"));
    std::vector<char> buffer(step);
    while (const std::size_t got = source->read(buffer)) out.append(buffer.data(), got);
  });
  return {out, error};
}

TEST_P(Unpack, GivesBackWhatWasPacked) {
  for (const std::string& text : {std::string(), std::string("1 2\n"), numbers(100000)}) {
    for (const std::size_t step : {1000u, 1000000u}) {
      const auto [out, error] = read_out(pack(text), step);
      EXPECT_EQ(error, "");
      EXPECT_EQ(out, text);
    }
  }
}

TEST_P(Unpack, FramesOneAfterTheOtherAreOneStream) {
  const auto [out, error] = read_out(pack("1 2\n") + pack("") + pack(numbers(50000)) + pack("3 4\n"));
  EXPECT_EQ(error, "");
  EXPECT_EQ(out, "1 2\n" + numbers(50000) + "3 4\n");
}

TEST_P(Unpack, ATruncatedArchiveIsAnErrorAfterWhatCouldBeRead) {
  const std::string text = numbers(50000);
  const std::string whole = pack(text);
  for (const std::size_t size : {std::size_t{6}, std::size_t{20}, whole.size() / 2, whole.size() - 5, whole.size() - 1}) {
    const auto [out, error] = read_out(std::string_view(whole).substr(0, size));
    EXPECT_EQ(error, fmt::format("test: the archive is truncated at byte {}; fetch it or pack it again", size));
    EXPECT_TRUE(std::string_view(text).starts_with(out));
  }
}

TEST_P(Unpack, ACorruptArchiveIsAnErrorWithTheOffset) {
  std::string broken = pack(numbers(50000));
  for (std::size_t i = broken.size() / 2; i < broken.size() / 2 + 16; ++i) broken[i] = static_cast<char>(~broken[i]);
  EXPECT_THAT(read_out(broken).second, StartsWith("test: the archive is corrupt at byte "));
  EXPECT_THAT(read_out(pack("1 2\n") + "trailing garbage").second, StartsWith("test: the archive is corrupt at byte "));
}

TEST_P(Unpack, AStreamHandsOverTheGoodBatchesAndNoCutLine) {
  const std::string whole = pack(numbers(50000));
  const std::string half = whole.substr(0, whole.size() / 2);
  for (const unsigned read_ahead : {0u, 2u}) {
    ReadOptions options;
    options.limits.max_updates = 1000;
    options.read_ahead = read_ahead;
    const auto stream = open_memory(half, "test", options);
    std::size_t updates = 0;
    const std::string error = error_of([&] {
      PositionedBatch batch;
      while (stream->next(batch)) {
        for (const Update& update : batch.updates.updates()) {
          EXPECT_EQ(update.source.number(), static_cast<std::int64_t>(updates));
          EXPECT_EQ(update.target.number(), static_cast<std::int64_t>(updates) * 7919 % 100003);
          ++updates;
        }
      }
    });
    EXPECT_THAT(error, HasSubstr("truncated at byte"));
    EXPECT_GT(updates, 1000u);
    EXPECT_LT(updates, 50000u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Unpack, ::testing::Values(Packer{"gz", &gz}, Packer{"xz", &xz}, Packer{"zst", &zst}),
                         [](const auto& packer) { return std::string(packer.param.name); });

TEST(UnpackOthers, PlainBytesPassUnchanged) {
  for (const std::string& text :
       {std::string(), std::string("1"), std::string("BZh is a text\n"), std::string("\x1f"), numbers(100000)}) {
    EXPECT_EQ(read_out(text).first, text);
  }
}

TEST(UnpackOthers, BytesThatBeginNoArchiveAreNotWaitedFor) {
  for (const std::string_view first : {"1 2\n", "B\n", "BZ\n", "P", "\x1f\n"}) {
    testing::Dribble* source = nullptr;
    auto bytes = std::make_unique<testing::Dribble>(std::string(first) + "later", first.size());
    source = bytes.get();
    const auto plain = unpacked(std::move(bytes));
    EXPECT_EQ(source->bytes_read(), first == "P" ? 2u : first.size()) << first;  // P may begin a zip archive
  }
}

TEST(UnpackOthers, ArchivesAreKnownByTheirFirstBytes) {
  EXPECT_EQ(archive_in(gz("x")), "gzip");
  EXPECT_EQ(archive_in(xz("x")), "xz");
  EXPECT_EQ(archive_in(zst("x")), "zstd");
  EXPECT_EQ(archive_in("PK\x03\x04"), "zip");
  EXPECT_EQ(archive_in(std::string(257, 'x') + "ustar  "), "tar");
  for (const std::string& text : {std::string(), std::string("BZh is a text\n"), std::string(300, 'x'), std::string("1 2\n")})
    EXPECT_EQ(archive_in(text), "") << text;
}

TEST(UnpackOthers, ArchivesThatAreNotReadAreNamed) {
  EXPECT_EQ(read_out("PK\x03\x04rest of it").second,
            "test: is a zip archive, which is not read here; unpack it first and give it as -, e.g. with unzip -p");
  EXPECT_THAT(read_out("BZh91AY&SY....").second, HasSubstr("is a bzip2 archive"));
}

TEST(UnpackOthers, ZeroPaddingAfterGzipIsNoFault) {
  const auto [out, error] = read_out(gz("1 2\n") + std::string(1000, '\0'));
  EXPECT_EQ(error, "");
  EXPECT_EQ(out, "1 2\n");
}

}  // namespace
}  // namespace deltamatch::ingest
