// Helpers for files of the state directory: descriptors that close themselves, atomic replacement, errors that name the file.
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

/// Throws the Error for a call on a file that failed with `code` (errno).
[[noreturn]] void fail_on(const std::filesystem::path& path, std::string_view what, int code);

/// Writes all bytes at `offset`. Returns 0 or errno. After an error, some of the bytes may be in the file.
[[nodiscard]] int write_at(int descriptor, std::string_view bytes, std::uint64_t offset) noexcept;

/// The folder that a path lies in; "." for a mere name. A slash at the end of the path does not count.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& path);

/// Makes new names in the folder durable. Throws Error.
void sync_folder(const std::filesystem::path& folder);

/// Replaces a small file durably and atomically. After a crash, the path holds all of the new bytes or what it held before.
/// Throws Error.
void replace_file(const std::filesystem::path& path, std::string_view bytes);

/// Part of the names of temporary files. Such files are useless once their process has ended.
inline constexpr std::string_view temporary_infix = ".tmp-";

/// Prefix, number with 20 digits, suffix. Such names sort like their numbers.
[[nodiscard]] std::string numbered_name(std::string_view prefix, std::uint64_t number, std::string_view suffix);
/// The number in such a name, or nothing for any other name.
[[nodiscard]] std::optional<std::uint64_t> number_in(std::string_view name, std::string_view prefix, std::string_view suffix);

}  // namespace deltamatch::ingest
