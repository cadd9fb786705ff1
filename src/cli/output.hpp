// Text to the program's own channels and files, with every failed write noticed.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace deltamatch::cli {

/// Writes and flushes. Throws Error(runtime) where standard output takes no more (a full disk, say).
void print_out(std::string_view text);

/// Standard error: nothing can be done about a failure there.
void print_err(std::string_view text) noexcept;

/// Throws Error(runtime) where a file cannot be written that a run is going to open only once it has something to write, so
/// that it need not begin. The file stays as it is. "-" (standard output) and "" (no file) are never refused.
void check_writable(const std::string& path);

/// The same of a file that is written beside the one that it then takes the place of: its folder must take it.
void check_replaceable(const std::string& path);

/// A text file that is written line by line, or standard output under the name "-". Every member throws Error(runtime) naming
/// the file; behind that nothing but close() may be called.
class TextFile {
 public:
  explicit TextFile(std::string path);
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  void line(std::string_view text);
  /// Hands the lines over to whoever reads the file.
  void flush();
  /// Does nothing where a write has failed, which has been told.
  void close();

 private:
  [[noreturn]] void fail(int error);

  std::string path_;
  std::FILE* file_;
};

}  // namespace deltamatch::cli
