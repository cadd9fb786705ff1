// An output file, or standard output, that takes each batch of bytes completely or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// Append bytes to text(). commit() writes everything since the last commit to the file, and abort() drops it. A batch larger
/// than the buffer is spilled to the file itself, and abort() then truncates the file. If the output cannot be truncated (a
/// pipe), the batch is spilled to an unnamed temporary file. Every failed write throws an Error that names the file.
class OutputFile {
 public:
  /// Creates or empties `path`; "-" is standard output. Throws Error.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] std::string& text() noexcept { return text_; }
  /// Call this regularly while text() grows.
  void spill_if_large() {
    if (text_.size() >= spill_size) spill();
  }
  void commit();
  void abort() noexcept;

 private:
  static constexpr std::size_t spill_size = std::size_t{1} << 22;

  void spill();
  void write_all(int descriptor, std::string_view bytes);
  void copy_spool();
  [[noreturn]] void fail(const char* what, int code) const;

  std::string name_;
  int file_ = -1;
  int spool_ = -1;
  bool owned_ = false;
  bool can_cut_ = false;
  std::uint64_t committed_ = 0;  // abort() truncates to this size
  std::uint64_t spooled_ = 0;
  std::string text_;
};

}  // namespace deltamatch::ingest
