// A temporary file for the alerts of a batch that are too many for memory. It has no name and disappears with its last user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ingest/service/alert/alert_list.hpp"
#include "ingest/service/state/files.hpp"

namespace deltamatch::ingest {

/// One thread fills it; then any thread may read it. Each alert is held once, with the numbers of its sinks. It needs 1 MiB of
/// memory while it is filled, and 1 MiB per reader, besides the longest alert.
class AlertSpool {
 public:
  /// Creates the file in `folder`, or in the folder for temporary files if `folder` is empty. Throws Error if it cannot be
  /// created.
  explicit AlertSpool(std::filesystem::path folder);

  /// Throws Error if the file cannot be written.
  void add(std::span<const std::uint32_t> sinks, std::string_view alert);
  /// The place after the last added alert.
  [[nodiscard]] std::uint64_t end() const noexcept { return written_ + buffer_.size(); }
  /// Drops what was added after `end`, and frees its place in the file.
  void cut(std::uint64_t end);
  /// Nothing can be added from now on. Throws as add() does.
  void finish();

  /// Hands out the sink's alerts from `place` on, until `take` returns false. Moves `place` behind each alert that was accepted
  /// or belongs only to other sinks. Call it only after finish(). Throws Error if the file cannot be read.
  void read(std::uint32_t sink, std::uint64_t& place, const TakeAlert& take) const;

 private:
  void flush();
  void refill(std::string& bytes, std::size_t& at, std::uint64_t place, std::size_t wanted) const;

  std::filesystem::path folder_;
  FileDescriptor file_;
  std::uint64_t written_ = 0;
  std::string buffer_;  // what follows the written bytes
};

/// The alerts of one of the spool's sinks.
[[nodiscard]] std::shared_ptr<const AlertSource> spooled_alerts(std::shared_ptr<const AlertSpool> spool, std::uint32_t sink);

}  // namespace deltamatch::ingest
