// Names of shared snapshots. A name says what the snapshot is, so that it can be judged before it is fetched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest {

/// The name is "<application>.<identity>.<batch>.<mark>.<bytes>.dms". Names of one application and identity sort by batch.
struct SharedSnapshot {
  std::string application;
  std::string identity;     ///< the first 16 digits of StateDirectory::fingerprint
  std::uint64_t batch = 0;  ///< 20 digits
  std::string mark;         ///< mark_fingerprint: tells batches of one number apart
  std::string bytes;        ///< 32 hexadecimal digits: the checksum of the file

  [[nodiscard]] std::string name() const;
  friend bool operator==(const SharedSnapshot&, const SharedSnapshot&) = default;
};

/// Nothing for any other name.
[[nodiscard]] std::optional<SharedSnapshot> parse_shared_name(std::string_view name);

/// 16 hexadecimal digits that identify a mark: XXH3 of to_json(mark).
[[nodiscard]] std::string mark_fingerprint(const CommitPoint& mark);

}  // namespace deltamatch::ingest
