// The running digest of an engine: what tells whether two processes hold the same graph under the same numbers.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace deltamatch {

/// A hash of 128 bits.
struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

/// Formats a hash as 32 lower-case hexadecimal digits.
[[nodiscard]] std::string to_string(const Hash128& hash);

/// A chain of hashes over the batches of an engine.
///
/// Each batch makes `now` the xxh3 with 128 bits of the former `now` and of what the batch did:
/// - its number and the watermark after it;
/// - the net batch: removed and inserted edges as (tail, head, which), with times if the graph is timed, and refreshed times;
/// - labels that are new, with their texts and numbers;
/// - each change of a vertex: its number, and its external id, label or attributes, in the order of the records;
/// - if time orders the records, the deletions of each edge whose remembered deletions changed;
/// - each new slot with label, time, ordinal, key and attributes, if edges have slots;
/// - the numbers of vertices that the batch set free, and how many vertices, labels, symbols and edges there are after it.
///
/// So it depends on the graph before, the accepted updates in their order, and the numbers that they got. It does not depend on
/// threads, backend or cache, nor on refused records or abandoned batches. Nor does it matter whether the engine was restored.
/// Engine::load and what a bulk load brings are not part of it.
///
/// Two digests with the same `begin` differ in `now` if the engines did not take the same batches, or number otherwise. Digests
/// with different `begin` say nothing about each other.
struct RunningDigest {
  Hash128 begin{};  ///< what `now` was when the digest began; zero for a new engine
  Hash128 now{};
  friend bool operator==(const RunningDigest&, const RunningDigest&) = default;
  /// Whether both can be compared and are not the same.
  [[nodiscard]] bool contradicts(const RunningDigest& other) const noexcept { return begin == other.begin && now != other.now; }
};

}  // namespace deltamatch
