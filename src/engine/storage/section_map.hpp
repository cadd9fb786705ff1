// Random access to a file of unpacked sections, without reading all of it.
// The file is mapped. A chunk is verified when its bytes are first asked for. The reader states the length of each section in
// the order of the file, so their positions are known.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/storage/section_file.hpp"

namespace deltamatch::engine {

/// One thread calls all members. Every member throws Error if the file is torn or damaged; the error names the file and the
/// section. If another process cuts the file short meanwhile, reading ends the process with SIGBUS.
class SectionMap {
 public:
  /// A section and its size in bytes.
  struct Place {
    Section section = Section::end;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;       ///< position of its first chunk
    std::uint64_t first_chunk = 0;  ///< number of chunks in the sections before
  };

  /// Maps the file. Checks the magic and the version, and the length by the trailer. O(1).
  SectionMap(std::filesystem::path path, const FileKind& kind);
  ~SectionMap();
  SectionMap(const SectionMap&) = delete;
  SectionMap& operator=(const SectionMap&) = delete;

  /// Whether the path is a regular file that begins like this kind. False if it cannot be opened. Never throws Error.
  [[nodiscard]] static bool recognises(const std::filesystem::path& path, const FileKind& kind);

  /// Places the section that follows those placed so far.
  [[nodiscard]] Place place(Section section, std::uint64_t size);
  /// Requires that the whole file is placed.
  void finish_placing() const;

  /// Calls visit(std::span<const char>) with the verified bytes [begin, begin + size) of a section, in order. Each part ends
  /// where a chunk does.
  template <class Visit>
  void read(const Place& place, std::uint64_t begin, std::uint64_t size, Visit&& visit) {
    if (begin > place.size || size > place.size - begin) refuse(place.section, "it ends early");
    while (size > 0) {
      const std::uint64_t chunk = begin / kind_.chunk;
      const std::uint64_t within = begin % kind_.chunk;
      const std::uint64_t count = std::min<std::uint64_t>(size, kind_.chunk - within);
      visit(std::span(verified(place, chunk) + within, static_cast<std::size_t>(count)));
      begin += count;
      size -= count;
    }
  }
  /// Calls visit(std::span<const T>) with elements [begin, begin + count) of a section that is an array. Chunks begin at
  /// multiples of 4 bytes if the size of every earlier section is a multiple of 4.
  template <class T, class Visit>
  void read_array(const Place& place, std::uint64_t begin, std::uint64_t count, Visit&& visit) {
    static_assert(alignof(T) <= 4);
    check_elements<T>(place, begin, count);
    read(place, begin * sizeof(T), count * sizeof(T), [&](std::span<const char> bytes) {
      visit(std::span(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)));
    });
  }
  /// Calls take(element) for each element instead. T may need any alignment.
  template <class T, class Take>
  void for_each(const Place& place, std::uint64_t begin, std::uint64_t count, Take&& take) {
    check_elements<T>(place, begin, count);
    read(place, begin * sizeof(T), count * sizeof(T), [&](std::span<const char> bytes) {
      for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) {
        T element;
        std::memcpy(&element, bytes.data() + i, sizeof element);
        take(element);
      }
    });
  }
  template <class T>
  [[nodiscard]] T at(const Place& place, std::uint64_t index) {
    T value{};
    for_each<T>(place, index, 1, [&](const T& element) { value = element; });
    return value;
  }
  /// Replaces `bytes` by the bytes [begin, begin + size) of a section.
  void text(const Place& place, std::uint64_t begin, std::uint64_t size, std::string& bytes);

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Bytes of the chunks that were verified so far.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Throws the Error for impossible contents.
  [[noreturn]] void refuse(Section section, std::string_view what) const;

 private:
  template <class T>
  void check_elements(const Place& place, std::uint64_t begin, std::uint64_t count) const {
    const std::uint64_t all = place.size / sizeof(T);
    if (begin > all || count > all - begin) refuse(place.section, "it ends early");
  }
  [[nodiscard]] const char* verified(const Place& place, std::uint64_t chunk);
  /// Verifies the chunk and returns its bytes.
  const char* verify(Section section, std::uint64_t offset, std::uint64_t size);
  void map(const FileKind& kind);
  void unmap() noexcept;

  FileKind kind_;
  std::filesystem::path path_;
  const char* bytes_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t placed_ = preamble_size;
  std::uint64_t bytes_read_ = 0;
  std::vector<bool> verified_;  // by chunk
};

[[nodiscard]] std::string_view section_name(Section section) noexcept;

}  // namespace deltamatch::engine
