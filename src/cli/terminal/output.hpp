// Writes text to the program's own channels and files. Every failed write is noticed.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace deltamatch::cli {

/// Writes and flushes. Throws Error(runtime) if standard output takes no more, for example because a disk is full.
void print_out(std::string_view text);

/// Writes to standard error. Ignores failures, because nothing can be done about them.
void print_err(std::string_view text) noexcept;

/// Throws Error(runtime) if a file cannot be written. This is for a file that a run opens only when it has something to write.
/// The file stays as it is. "-" (standard output) and "" (no file) are never refused.
void check_writable(const std::string& path);

/// The same for a file that is written aside and then renamed. So its folder must be writable.
void check_replaceable(const std::string& path);

/// A text file that is written line by line, or standard output under the name "-". Every member throws Error(runtime) that
/// names the file. After that, only close() may be called.
class TextFile {
 public:
  explicit TextFile(std::string path);
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  void line(std::string_view text);
  /// Hands the lines over to whoever reads the file.
  void flush();
  /// Does nothing if a write has failed, which has been reported.
  void close();

 private:
  [[noreturn]] void fail(int error);

  std::string path_;
  std::FILE* file_;
};

}  // namespace deltamatch::cli
