// The records by which workers know of each other, as JSON: cuts, the progress of slots, and claims.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/digest.hpp"
#include "ingest/service/workers/slot_map.hpp"

namespace deltamatch::ingest::workers {

/// That a slot's part of a batch is published. It is in the transaction that does so.
struct SlotProgress {
  Slot slot = 0;
  std::uint64_t batch = 0;
  std::optional<RunningDigest> digest{};  ///< of the worker's graph after the batch
  friend bool operator==(const SlotProgress&, const SlotProgress&) = default;
};

/// What a worker says of itself, now and then.
struct Claim {
  std::string worker;
  std::uint64_t applied = 0;    ///< the batch that its graph holds
  bool spare = false;           ///< it wants no slot, so that it can take any over
  bool leaves = false;          ///< it publishes what it owes, and then ends
  bool gone = false;            ///< it has ended
  std::uint32_t semantics = 0;  ///< the version of the rules by which it matches
  friend bool operator==(const Claim&, const Claim&) = default;
};

/// {"v":1,"workers":["a","b","b"],"moves":[1],"take_overs":[2],"first":7,"mark":{…}}: for each slot its worker, then the slots
/// that came by a move or a take-over. The mark has the form of to_json(CommitPoint). Throws Error(configuration) for a name
/// that is not UTF-8.
[[nodiscard]] std::string to_json(const Cut& cut);
/// {"v":1,"slot":3,"batch":17,"digest":{"begin":"<32 hex digits>","now":"<32 hex digits>"}}; without a digest if it is unknown.
[[nodiscard]] std::string to_json(const SlotProgress& progress);
/// {"v":1,"worker":"a","applied":17,"spare":false,"leaves":false,"gone":false,"semantics":1}. Throws as for cuts.
[[nodiscard]] std::string to_json(const Claim& claim);

/// Each returns nothing if the text is a record of another kind or none, and throws Error at `where` for a damaged one.
[[nodiscard]] std::optional<Cut> parse_cut(std::string_view json, std::string_view where);
[[nodiscard]] std::optional<SlotProgress> parse_slot_progress(std::string_view json, std::string_view where);
[[nodiscard]] std::optional<Claim> parse_claim(std::string_view json, std::string_view where);

}  // namespace deltamatch::ingest::workers
