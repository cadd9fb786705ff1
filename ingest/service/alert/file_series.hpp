// The files of a sink that rotates: which there are, and which of those beside them are the sink's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace deltamatch::ingest {

/// Throws Error at `path` with what errno's value `code` means.
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

/// `path` is number 0, and beside it lie alerts-000001.jsonl, alerts-000002.jsonl … Others may give files such names, too
/// (alerts-20261122.jsonl): so the numbers in use are listed in alerts.jsonl.series, each before its file is made, and no file
/// that is not listed is ever written, cut or removed. Throws Error where the disk fails. Not thread-safe.
class FileSeries {
 public:
  explicit FileSeries(std::filesystem::path path) : path_(std::move(path)) {}

  [[nodiscard]] std::filesystem::path file(std::uint64_t number) const;
  /// The list: it is there once a second file was begun.
  [[nodiscard]] std::filesystem::path list() const;
  /// Whether the file is one that the sink writes or may come to write, by its name.
  [[nodiscard]] bool may_name(const std::filesystem::path& other) const;

  /// Whether there is a file of this number, whosever it is.
  [[nodiscard]] bool has(std::uint64_t number) const;
  /// The numbers of the sink's files that are there, ascending.
  [[nodiscard]] std::vector<std::uint64_t> numbers() const;
  /// Makes, locks and empties the next file behind this number: the first whose name is not another's. Gives its number.
  std::uint64_t begin_behind(std::uint64_t number, Descriptor& file) const;
  /// Opens and locks a file; where it is not there it is made.
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
