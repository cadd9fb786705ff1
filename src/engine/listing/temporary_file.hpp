// A temporary file without a name, for data too large for memory. It is gone when the process ends, at the latest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace deltamatch::engine {

/// One thread at a time appends. Several threads may read while nobody appends.
class TemporaryFile {
 public:
  /// Makes a file in `folder`. If that is empty, the first of TMPDIR, TMP, TEMP and TEMPDIR that is set names the folder; else
  /// it is /tmp. Throws Error if the file cannot be made.
  explicit TemporaryFile(std::filesystem::path folder);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Throws Error if not all bytes can be written, usually because the disk is full.
  void append(std::span<const std::byte> bytes);
  /// Fills `bytes`, which must lie below size(). Throws Error if they cannot be read.
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::filesystem::path folder_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace deltamatch::engine
