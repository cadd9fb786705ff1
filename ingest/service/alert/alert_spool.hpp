// The alerts of a batch that are too many for memory: in a file without a name, gone with its last user.
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

/// Filled by one thread, then read by any. Holds each alert once, with the numbers of its sinks. Its memory is 1 MiB while it
/// is filled, and as much for each reader, besides the longest alert.
class AlertSpool {
 public:
  /// In `folder`, or in the folder for temporary files if that is empty. Throws Error if no file can be made there.
  explicit AlertSpool(std::filesystem::path folder);

  /// Throws Error if the file cannot be written.
  void add(std::span<const std::uint32_t> sinks, std::string_view alert);
  /// Behind what was added.
  [[nodiscard]] std::uint64_t end() const noexcept { return written_ + buffer_.size(); }
  /// Forgets what was added behind `end`.
  void cut(std::uint64_t end);
  /// Nothing is added from now on. Throws as add.
  void finish();

  /// Hands out the alerts of the sink from `place` on until `take` gives false, and moves `place` behind each alert that it
  /// took or that is of other sinks. Only once it is finished. Throws Error if the file cannot be read.
  void read(std::uint32_t sink, std::uint64_t& place, const TakeAlert& take) const;

 private:
  void flush();
  void refill(std::string& bytes, std::size_t& at, std::uint64_t place, std::size_t wanted) const;

  std::filesystem::path folder_;
  FileDescriptor file_;
  std::uint64_t written_ = 0;
  std::string buffer_;  // behind what is written
};

/// The alerts of one of the spool's sinks.
[[nodiscard]] std::shared_ptr<const AlertSource> spooled_alerts(std::shared_ptr<const AlertSpool> spool, std::uint32_t sink);

}  // namespace deltamatch::ingest
