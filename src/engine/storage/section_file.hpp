// Files made of checksummed sections: the container for snapshots and graph files.
//
//   file      = magic (8 bytes), version (u32), chunks, trailer
//   chunk     = section (u32), size (u32), stored size (u32), checksum (encoding/checksum.hpp), stored bytes
//   trailer   = a chunk of section `end` whose 8 bytes are the length of the file
//
// Integers are little-endian. A section is the bytes of consecutive chunks. All of its chunks but the last have the size that
// the kind of file sets. Stored bytes are compressed with zstd if that is shorter, else stored as they are.
//
// A checksum covers the chunk's first 12 bytes and its stored bytes. Its seed is the chunk's position in the file. So a change,
// loss or move of a chunk is found. A reader trusts nothing: what it has decoded bounds what it allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "encoding/checksum.hpp"
#include "encoding/numbers.hpp"

namespace deltamatch::engine {

/// Section numbers of the formats. A number is never reused.
enum class Section : std::uint32_t {
  end = 0,
  // snapshots
  header = 1,
  vertex_labels = 2,
  edge_labels = 3,
  numbers = 4,
  vertices = 5,
  edges = 6,
  annotation = 7,
  schema = 8,   ///< of snapshots from version 4 on, as are the next two
  symbols = 9,  ///< texts of attributes
  slots = 10,
  digest = 11,  ///< of snapshots from version 5 on, as are the next two
  order = 12,
  deletions = 13,  ///< that are remembered
  memories = 15,   ///< of ALERT ONCE; absent if there are none
  // graph files
  graph_header = 16,
  vertex_label_ends = 17,
  label_parts = 18,
  edge_label_ends = 19,
  blocks = 20,
  vertex_keys = 21,
  edge_ends = 22,
  edge_times = 23,
  vertex_label_texts = 24,
  edge_label_texts = 25,
  vertex_flags = 26,
  id_texts = 27
};

/// What distinguishes one kind of file from another.
struct FileKind {
  std::string_view magic;        ///< 8 bytes. The first is no text; a conversion of line ends changes the last ones
  std::uint32_t version;         ///< that is written; the newest that is read
  std::uint32_t oldest_version;  ///< that is read
  std::string_view noun;         ///< for messages, as in "the snapshot"
  std::string_view remedy;       ///< what to do if a file is damaged
  std::size_t chunk;             ///< bytes of a full chunk
};

inline constexpr FileKind snapshot_file{std::string_view("\x8f"
                                                         "DMSNP\r\n",
                                                         8),
                                        5,
                                        2,
                                        "snapshot",
                                        "use another snapshot, or build the graph again from its input",
                                        std::size_t{1} << 20};

inline constexpr FileKind graph_file{std::string_view("\x8f"
                                                      "DMGRF\r\n",
                                                      8),
                                     1,
                                     1,
                                     "graph file",
                                     "write it again with deltamatch convert --to graph",
                                     std::size_t{1} << 16};

inline constexpr std::size_t preamble_size = 12;
inline constexpr std::size_t chunk_fields_size = 12;
inline constexpr std::size_t chunk_head_size = chunk_fields_size + encoding::checksum_size;
inline constexpr std::size_t trailer_size = chunk_head_size + 8;

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  /// Returns the descriptor. The caller must close it.
  int release() noexcept;

 private:
  int descriptor_;
};

/// Writes a temporary file, then puts it in place as a whole. Every member throws Error that names the file.
class SectionWriter {
 public:
  /// Creates a temporary file beside `path`. It is removed unless `commit` returns. Refuses a path that is not a regular file.
  explicit SectionWriter(const std::filesystem::path& path, const FileKind& kind = snapshot_file);
  ~SectionWriter();
  SectionWriter(const SectionWriter&) = delete;
  SectionWriter& operator=(const SectionWriter&) = delete;

  /// Begins a section. If not `packed`, it is stored uncompressed, so the file is at least as long as the section.
  void begin(Section section, bool packed = true);
  /// These write as encoding/numbers.hpp says.
  void byte(std::uint8_t value) {
    if (chunk_.size() == kind_.chunk) flush_chunk();
    chunk_.push_back(static_cast<char>(value));
  }
  void number(std::uint64_t value) {
    if (kind_.chunk - chunk_.size() >= encoding::longest_number) {
      encoding::put_number(chunk_, value);
      return;
    }
    for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  void signed_number(std::int64_t value) { number(encoding::fold(value)); }
  void fixed(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) byte(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void text(std::string_view bytes) {
    number(bytes.size());
    raw(bytes);
  }
  /// Writes the bytes alone.
  void raw(std::string_view bytes);
  /// Ends the file, syncs it, renames it to the path and syncs the folder.
  void commit();

 private:
  void flush_chunk();
  void write(std::string_view bytes);
  [[noreturn]] void fail(const char* what, int code) const;

  FileKind kind_;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  Descriptor file_;
  std::uint64_t written_ = 0;
  Section section_ = Section::end;
  bool packed_ = true;
  std::string chunk_;
  std::string packed_bytes_;
};

/// Reads a snapshot from its beginning to its end. Every member throws Error that names the file if the file is torn, damaged
/// or too short.
class SectionReader {
 public:
  /// Checks the magic and the version, and the length by the trailer.
  explicit SectionReader(const std::filesystem::path& path);

  /// Begins a section. Requires that the previous section is used up and that this one comes next.
  void begin(Section section);
  /// Whether the previous section is used up and this one comes next.
  [[nodiscard]] bool next_is(Section section);
  /// Requires that the whole file is used up.
  void finish();

  [[nodiscard]] std::uint8_t byte();
  [[nodiscard]] std::uint64_t number() {
    if (used_ < chunk_.size() && static_cast<unsigned char>(chunk_[used_]) < 0x80) {
      return static_cast<unsigned char>(chunk_[used_++]);
    }
    return number_across_chunks();
  }
  /// Reads a number of at most `most`.
  [[nodiscard]] std::uint64_t number(std::uint64_t most);
  [[nodiscard]] std::int64_t signed_number() { return encoding::unfold(number()); }
  [[nodiscard]] std::uint64_t fixed(int width) {
    std::uint64_t value = 0;
    for (int i = 0; i < width; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  /// Reads a text into `bytes`. Refuses a length that the rest of the file cannot hold. Memory grows only with the bytes that
  /// are there.
  void text(std::string& bytes);
  /// The text is valid until the next one is read.
  [[nodiscard]] std::string_view text() {
    text(text_);
    return text_;
  }
  /// The most bytes that the rest of the file can hold, unpacked.
  [[nodiscard]] std::uint64_t room() const noexcept;

  /// The length of the file in bytes.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t version() const noexcept { return version_; }
  /// Throws the Error for impossible contents.
  [[noreturn]] void refuse(std::string_view what) const;
  /// As encoding::ByteReader has them; here nothing goes on after a failure.
  [[noreturn]] void fail() const { refuse("attributes in no form that exists"); }
  [[nodiscard]] static constexpr bool sound() noexcept { return true; }
  /// Throws the Error for contents that only later versions read.
  [[noreturn]] void refuse_later(std::string_view what) const;

 private:
  [[nodiscard]] std::uint64_t number_across_chunks();
  void next_chunk();
  /// Reads and verifies the chunk at `offset`. Returns where the next one begins.
  std::uint64_t read_chunk(std::uint64_t offset, std::uint64_t end, Section expected, std::string& bytes);
  void read_at(std::uint64_t offset, char* bytes, std::size_t size);

  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
  std::uint32_t version_ = 0;
  std::uint64_t offset_ = 0;  // position of the next chunk
  Section section_ = Section::end;
  std::string chunk_;
  std::size_t used_ = 0;  // bytes of the chunk that are used up
  std::string stored_;
  std::string text_;
};

}  // namespace deltamatch::engine
