// Files made of checksummed sections: the container that snapshots and graph files come in.
//
//   file    = magic (8 bytes), version (u32), chunks, trailer
//   chunk   = section (u32), size (u32), stored size (u32), checksum (xxh3, 128 bits), stored bytes
//   trailer = a chunk of section `end` whose 8 bytes are the length of the file
//
// Integers are little-endian. A section is the bytes of consecutive chunks, all but its last as long as the kind of file says;
// stored bytes are zstd where that is shorter, else the bytes themselves. A checksum covers the chunk's first 12 bytes, its
// stored bytes and, as the seed, its place in the file, so that chunks can be neither changed, nor left out, nor moved. Reading
// trusts nothing: what it allocates is bounded by what it has really decoded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace deltamatch::engine {

/// Numbers of the formats: never reused.
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

/// What tells one kind of such files from another.
struct FileKind {
  std::string_view magic;  ///< 8 bytes: the first is no text, the last ones are changed by what converts line ends
  std::uint32_t version;
  std::string_view noun;    ///< for messages, as in "the snapshot"
  std::string_view remedy;  ///< where a file is damaged
  std::size_t chunk;        ///< bytes of a full chunk
};

inline constexpr FileKind snapshot_file{std::string_view("\x8f"
                                                         "DMSNP\r\n",
                                                         8),
                                        2, "snapshot", "use another snapshot, or build the graph again from its input",
                                        std::size_t{1} << 20};

inline constexpr FileKind graph_file{std::string_view("\x8f"
                                                      "DMGRF\r\n",
                                                      8),
                                     1, "graph file", "write it again with deltamatch convert --to graph",
                                     std::size_t{1} << 16};

inline constexpr std::size_t preamble_size = 12;
inline constexpr std::size_t checksum_size = 16;
inline constexpr std::size_t chunk_fields_size = 12;
inline constexpr std::size_t chunk_head_size = chunk_fields_size + checksum_size;
inline constexpr std::size_t trailer_size = chunk_head_size + 8;

/// A little-endian integer of so many bytes.
[[nodiscard]] std::uint64_t get_fixed(const char* from, int bytes) noexcept;
void put_fixed(std::string& out, std::uint64_t value, int bytes);
/// The checksum of a chunk that begins at `offset`. Throws std::bad_alloc.
[[nodiscard]] std::array<char, checksum_size> chunk_checksum(std::string_view fields, std::string_view stored,
                                                             std::uint64_t offset);

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  /// The descriptor, which is now the caller's to close.
  int release() noexcept;

 private:
  int descriptor_;
};

/// Writes a file aside and puts it in place as a whole. Every member throws Error that names the file.
class SectionWriter {
 public:
  /// Creates a temporary file beside `path`; it is removed again unless `commit` returns. Refuses a path that is something else
  /// than a regular file.
  explicit SectionWriter(const std::filesystem::path& path, const FileKind& kind = snapshot_file);
  ~SectionWriter();
  SectionWriter(const SectionWriter&) = delete;
  SectionWriter& operator=(const SectionWriter&) = delete;

  /// `packed` = false stores the section as it is, so that the file is as long as the section at least.
  void begin(Section section, bool packed = true);
  void byte(std::uint8_t value);
  /// Base 128, low digits first.
  void number(std::uint64_t value);
  /// Zigzag, so that numbers of small magnitude are short.
  void signed_number(std::int64_t value);
  /// The length, then the bytes.
  void text(std::string_view bytes) {
    number(bytes.size());
    raw(bytes);
  }
  /// The bytes alone.
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

/// Reads a snapshot from its beginning to its end. Every member throws Error that names the file where it is torn, damaged or
/// ends early.
class SectionReader {
 public:
  /// Checks the magic, the version and, by the trailer, the length.
  explicit SectionReader(const std::filesystem::path& path);

  /// Requires that the section so far is used up and that this one comes next.
  void begin(Section section);
  /// Requires that all is used up.
  void finish();

  [[nodiscard]] std::uint8_t byte();
  [[nodiscard]] std::uint64_t number();
  /// A number of at most `most`.
  [[nodiscard]] std::uint64_t number(std::uint64_t most);
  [[nodiscard]] std::int64_t signed_number();
  /// Replaces the text. A length that the rest of the file cannot hold is refused before memory is taken; it follows the bytes
  /// that are there.
  void text(std::string& bytes);
  /// The most bytes that the rest of the file can hold, unpacked.
  [[nodiscard]] std::uint64_t room() const noexcept;

  /// Length of the file in bytes.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// The Error for contents that cannot be.
  [[noreturn]] void refuse(std::string_view what) const;

 private:
  void next_chunk();
  /// Reads and verifies the chunk at `offset`; returns where the next one begins.
  std::uint64_t read_chunk(std::uint64_t offset, std::uint64_t end, Section expected, std::string& bytes);
  void read_at(std::uint64_t offset, char* bytes, std::size_t size);

  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
  std::uint64_t offset_ = 0;  // of the next chunk
  Section section_ = Section::end;
  std::string chunk_;
  std::size_t used_ = 0;  // of the chunk
  std::string stored_;
};

}  // namespace deltamatch::engine
