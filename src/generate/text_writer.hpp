// Writes text to a FILE* through its own buffer with to_chars, which is fast and independent of locales. Internal to the
// generators.
#pragma once

#include <cerrno>
#include <charconv>
#include <concepts>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "deltamatch/error.hpp"

namespace deltamatch::generate {

class TextWriter {
 public:
  /// Does not take ownership of `out`.
  explicit TextWriter(std::FILE* out) : out_(out) { buffer_.reserve(capacity + slack); }

  TextWriter& operator<<(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= capacity) drain();
    return *this;
  }
  TextWriter& operator<<(char c) { return *this << std::string_view(&c, 1); }
  template <std::integral T>
    requires(!std::same_as<T, char> && !std::same_as<T, bool>)
  TextWriter& operator<<(T number) {
    char digits[24];
    return *this << std::string_view(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }

  /// Writes the buffered text. Without this call, text may be lost without an error.
  void finish() {
    drain();
    if (std::fflush(out_) != 0) fail();
  }

 private:
  static constexpr std::size_t capacity = 1 << 16;
  static constexpr std::size_t slack = 256;

  void drain() {
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), out_) != buffer_.size()) fail();
    buffer_.clear();
  }
  [[noreturn]] void fail() const {
    const int error = errno;
    throw Error(name(), std::string("cannot write: ") + std::strerror(error), "check the output and the space left");
  }
  /// As the system knows the file.
  [[nodiscard]] std::string name() const {
    if (out_ == stdout) return "standard output";
    std::error_code failed;
    const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(::fileno(out_)), failed);
    return failed ? "generate" : path.string();
  }

  std::FILE* out_;
  std::string buffer_;
};

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Creates or overwrites a file. Throws Error(runtime) if it cannot.
inline File open_output(const std::filesystem::path& path) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file)
    throw Error(path.string(), std::string("cannot create: ") + std::strerror(errno), "check the folder and its permissions");
  return file;
}

}  // namespace deltamatch::generate
