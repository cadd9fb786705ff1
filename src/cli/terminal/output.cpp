#include "cli/terminal/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::cli {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse(const std::string& path, int error) {
  throw Error(path, "cannot be written: " + reason(error), "check the path and its permissions");
}

void check_folder(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) refuse(path, errno);
}

}  // namespace

void print_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw Error("standard output", "cannot write: " + reason(errno), "check where it leads, and the free space there");
}

void print_err(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void check_writable(const std::string& path) {
  if (path.empty() || path == "-") return;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) refuse(path, EISDIR);
  if (::access(path.c_str(), W_OK) == 0) return;
  if (errno != ENOENT) refuse(path, errno);
  check_folder(path);
}

void check_replaceable(const std::string& path) {
  if (path.empty()) return;
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
    throw Error(path, "is not a regular file, so it cannot be replaced", "name another file");
  }
  check_folder(path);
}

TextFile::TextFile(std::string path) : path_(std::move(path)), file_(path_ == "-" ? stdout : std::fopen(path_.c_str(), "wbe")) {
  if (file_ == nullptr) fail(errno);
}

TextFile::~TextFile() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

void TextFile::line(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fputc('\n', file_) == EOF) fail(errno);
}

void TextFile::flush() {
  if (std::fflush(file_) != 0) fail(errno);
}

void TextFile::close() {
  std::FILE* const file = std::exchange(file_, nullptr);
  if (file == nullptr) return;
  if ((file == stdout ? std::fflush(file) : std::fclose(file)) != 0) fail(errno);
}

void TextFile::fail(int error) {
  std::FILE* const file = std::exchange(file_, nullptr);
  if (file != nullptr && file != stdout) std::fclose(file);
  throw Error(path_ == "-" ? "standard output" : path_, "cannot write: " + reason(error), "check the path and the free space");
}

}  // namespace deltamatch::cli
