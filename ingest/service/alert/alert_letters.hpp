// A file of alerts that a sink gave up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ingest/service/alert/file_series.hpp"

namespace deltamatch::ingest {

/// Why a part of a batch was given up.
struct GivenUp {
  std::uint64_t batch = 0;
  std::uint64_t part = 0;
  std::uint64_t tries = 0;
  std::string_view reason;
};

/// One line for each alert (docs/reference/formats.md), each once, also across crashes: of a part that is there already in
/// whole or in part only the rest is written. Nothing that is there is ever removed but a line of the sink's own that a
/// crash has torn. The file is made when it is needed. It may be moved away or emptied at any time; then it begins anew. One
/// thread calls it.
class AlertLetters {
 public:
  /// No path: there is no file, and nothing is written.
  AlertLetters(std::string sink, std::filesystem::path path);

  /// Finds what is there of batches that may come again: all that lies behind `position`, or in a file that does not go so far,
  /// all. Gives the position that it began at. Throws Error.
  std::string recover(std::string_view position);
  /// The alerts are on disk once this has returned. Throws Error, with nothing of them written; then it can be called again.
  void write(const GivenUp& what, std::span<const std::string_view> alerts);
  /// The batches up to this one do not come again. Gives the position behind what is there of them; empty if there is no file.
  std::string settle(std::uint64_t batch);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  struct Held {
    std::uint64_t alerts = 0;
    std::uint64_t begin = 0;  // of the first one's line
  };

  void open();
  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] bool begins_line(std::uint64_t at) const;
  void read(std::uint64_t from);
  void take(std::string_view line, std::uint64_t at);
  void append(const std::string& text, std::uint64_t at) const;

  std::string beginning_;  // of a line
  std::filesystem::path path_;
  FileSeries files_;  // of one
  Descriptor file_;
  std::uint64_t length_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Held> held_;  // by batch and part
};

}  // namespace deltamatch::ingest
