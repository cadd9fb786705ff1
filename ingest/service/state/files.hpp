// Files of the state directory: descriptors that close themselves, writing aside, errors that name the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] bool open() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

/// The Error for a call on a file that failed with `code` (errno).
[[noreturn]] void fail_on(const std::filesystem::path& path, std::string_view what, int code);

/// Writes all bytes at `offset`. Gives 0, or the errno of what went wrong; some of the bytes may be in the file then.
[[nodiscard]] int write_at(int descriptor, std::string_view bytes, std::uint64_t offset) noexcept;

/// Makes names in the folder durable. Throws Error.
void sync_folder(const std::filesystem::path& folder);

/// Puts a small file in place as a whole, durably: after a crash the path holds all of it or what it held before. Throws Error.
void replace_file(const std::filesystem::path& path, std::string_view bytes);

/// What the names of files that are written aside hold; they are of no use once their process is gone.
inline constexpr std::string_view temporary_infix = ".tmp-";

/// prefix, the number in 20 digits, suffix: names that sort as their numbers.
[[nodiscard]] std::string numbered_name(std::string_view prefix, std::uint64_t number, std::string_view suffix);
/// The number in such a name; empty for any other name.
[[nodiscard]] std::optional<std::uint64_t> number_in(std::string_view name, std::string_view prefix, std::string_view suffix);

}  // namespace deltamatch::ingest
