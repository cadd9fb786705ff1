// The files of a rotating sink: which exist, and which of the files beside them belong to the sink.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace deltamatch::ingest {

/// Throws an Error at `path` that explains errno's value `code`.
[[noreturn]] void fail_file(const std::filesystem::path& path, const char* what, int code);

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

/// `path` has number 0. Beside it are alerts-000001.jsonl, alerts-000002.jsonl … Others may use such names, too
/// (alerts-20261122.jsonl). Therefore alerts.jsonl.series lists the numbers in use, and each is listed before its file is
/// created. A file that is not listed is never written, cut or removed. Throws Error if the disk fails. Not thread-safe.
class FileSeries {
 public:
  explicit FileSeries(std::filesystem::path path) : path_(std::move(path)) {}

  [[nodiscard]] std::filesystem::path file(std::uint64_t number) const;
  /// The list. It exists once a second file was begun.
  [[nodiscard]] std::filesystem::path list() const;
  /// Whether the file has a name that the sink uses or may use later.
  [[nodiscard]] bool may_name(const std::filesystem::path& other) const;

  /// Whether a file with this number exists, whoever owns it.
  [[nodiscard]] bool has(std::uint64_t number) const;
  /// The numbers of the sink's existing files, ascending.
  [[nodiscard]] std::vector<std::uint64_t> numbers() const;
  /// Creates, locks and empties the next file after this number. Skips names that belong to files of others. Returns its
  /// number.
  std::uint64_t begin_behind(std::uint64_t number, Descriptor& file) const;
  /// Opens and locks a file. Creates it if it does not exist.
  [[nodiscard]] Descriptor open(std::uint64_t number) const;
  void remove(std::uint64_t number) const;
  void sync_folder() const;

 private:
  [[nodiscard]] std::filesystem::path folder() const;
  [[nodiscard]] std::vector<std::uint64_t> listed() const;
  void write_list(const std::vector<std::uint64_t>& numbers) const;

  std::filesystem::path path_;
};

}  // namespace deltamatch::ingest
