// The files of a log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/state/files.hpp"
#include "ingest/service/state/log_format.hpp"

namespace deltamatch::ingest {

struct SegmentFile {
  std::uint64_t first = 0;  ///< the first batch in it
  std::filesystem::path path;
};

/// The segments in a folder, oldest first. Throws Error if the folder cannot be read.
[[nodiscard]] std::vector<SegmentFile> segments_in(const std::filesystem::path& folder);

/// Reads the entries of one segment, which may still grow.
class SegmentReader {
 public:
  /// Throws Error if the file cannot be opened.
  SegmentReader(SegmentFile file, std::string fingerprint, LogReader::Wanted wanted);

  /// The next sound entry, or `end` if none follows (yet). Throws Error if the segment cannot be read, has another version or
  /// belongs to another configuration.
  [[nodiscard]] LogReader::Entry next();
  /// The latest entry, valid until the next one is read.
  [[nodiscard]] const LoggedBatch& batch() const noexcept { return batch_; }
  [[nodiscard]] const Delivered& delivered() const noexcept { return delivered_; }
  [[nodiscard]] const LoggedPiece& piece() const noexcept { return piece_; }
  /// The version in the segment's head, known once an entry was read.
  [[nodiscard]] std::uint32_t version() const noexcept { return version_; }

  [[nodiscard]] const SegmentFile& file() const noexcept { return file_; }
  /// The number that the next batch must have.
  [[nodiscard]] std::uint64_t due() const noexcept { return due_; }
  /// The offset after the latest entry; 0 if the segment's head is not sound.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  /// The current size of the file.
  [[nodiscard]] std::uint64_t size() const;

 private:
  bool read_head();
  bool read(std::uint64_t offset, std::uint64_t count, std::string& bytes) const;
  std::optional<std::string_view> read_payload();

  SegmentFile file_;
  std::string fingerprint_;
  LogReader::Wanted wanted_;
  FileDescriptor descriptor_;
  std::uint64_t due_;
  std::uint64_t offset_ = 0;
  std::string entry_;
  log_format::Unpacker unpacker_;
  LoggedBatch batch_;
  Delivered delivered_;
  LoggedPiece piece_;
  std::uint32_t version_ = 0;
};

}  // namespace deltamatch::ingest
