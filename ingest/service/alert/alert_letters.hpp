// The dead-letter file of a sink: alerts that the sink gave up.
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

/// Writes one line per alert (docs/reference/formats.md). Each alert is written once, even across crashes. If some alerts of a
/// part are in the file already, only the rest is written. Nothing is ever removed from the file, except a line of the sink's
/// own that a crash has torn. The file is created when it is needed. It may be moved away or emptied at any time; then it
/// begins again. Only one thread may call it.
class AlertLetters {
 public:
  /// Without a path there is no file, and nothing is written.
  AlertLetters(std::string sink, std::filesystem::path path);

  /// Finds the letters of batches that may be delivered again: all lines after `position`, or all lines if the file is shorter.
  /// Returns the position at which it began. Throws Error.
  std::string recover(std::string_view position);
  /// The alerts are on disk when this returns. If it throws Error, none of them is written, and it can be called again.
  void write(const GivenUp& what, std::span<const std::string_view> alerts);
  /// Batches up to this one are not delivered again. Returns the position after their letters, or an empty text if there is no
  /// file.
  std::string settle(std::uint64_t batch);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  struct Held {
    std::uint64_t alerts = 0;
    std::uint64_t begin = 0;  // the offset of its first line
  };

  void open();
  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] bool begins_line(std::uint64_t at) const;
  void read(std::uint64_t from);
  void take(std::string_view line, std::uint64_t at);
  void append(const std::string& text, std::uint64_t at) const;

  std::string beginning_;  // the first bytes of a line
  std::filesystem::path path_;
  FileSeries files_;  // a series of one file
  Descriptor file_;
  std::uint64_t length_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Held> held_;  // by batch and part
};

}  // namespace deltamatch::ingest
