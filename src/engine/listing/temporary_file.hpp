// A file without a name: what is too large for memory, gone with the process at the latest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace deltamatch::engine {

/// Appended to by one thread at a time; reading is safe from several while nobody appends.
class TemporaryFile {
 public:
  /// In `folder`; where that is empty, in the one that the first of TMPDIR, TMP, TEMP and TEMPDIR names that is set, else in
  /// /tmp. Throws Error where none can be made.
  explicit TemporaryFile(std::filesystem::path folder);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Throws Error where not all of it can be written: the disk is full, as a rule.
  void append(std::span<const std::byte> bytes);
  /// All of `bytes`, which lie below size(). Throws Error where they cannot be read.
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::filesystem::path folder_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace deltamatch::engine
