// Draws the payments of planted patterns and decoys, without accounts' numbers and with times from 0. Internal to the payments
// generator.
#pragma once

#include <cstdint>
#include <vector>

#include "generate/payments.hpp"
#include "generate/payments_plan.hpp"
#include "generate/random.hpp"

namespace deltamatch::generate {

inline constexpr Timestamp minute = 60LL * 1'000'000;
inline constexpr Timestamp hour = 60 * minute;
inline constexpr Timestamp day = 24 * hour;
inline constexpr Timestamp longest_draft = day + 12 * hour;
/// A batch that spans less sees no planted pattern appear and vanish at once.
inline constexpr Timestamp longest_batch = 3 * hour;
/// Of smurfing.
inline constexpr std::size_t least_senders = 10;

struct DraftPayment {
  Flow flow;
  std::uint8_t source;  ///< index of a vertex: the accounts, then the shop
  std::uint8_t target;
  Timestamp time;
  std::uint64_t amount;
};

struct DraftChargeBack {
  std::uint8_t payment;
  Timestamp time;
};

/// The payments are those of the pattern's edges, in their order, then those that it counts, then others.
struct Draft {
  std::vector<Inflow> accounts;  ///< one for each
  bool shop = false;
  std::vector<DraftPayment> payments;
  std::size_t edges = 0;
  std::size_t counted = 0;
  std::vector<DraftChargeBack> charge_backs;  ///< those without which a planted pattern would not match
  Timestamp fresh_until = 0;                  ///< a charge-back before this time makes a planted pattern vanish

  /// The time of the last payment that is an edge.
  [[nodiscard]] Timestamp closes() const;
};

/// How many accounts a draft has. It follows from the number of the pattern or decoy, from 1. So do the length of a ring and
/// the number of senders.
[[nodiscard]] std::size_t accounts_of(PlantedKind kind, Miss miss, std::uint32_t number) noexcept;

/// A planted pattern keeps well within each condition, a decoy misses one of them. Some decoys miss it by nothing: the first
/// payment is 1,000 and not above.
[[nodiscard]] Draft draw_draft(PlantedKind kind, Miss miss, std::uint32_t number, Random& random);

/// The payments whose charge-backs let a planted pattern vanish, if its match is there. Empty if none can be charged back.
[[nodiscard]] std::vector<std::uint8_t> draw_recalled(const Draft& draft, Random& random);

}  // namespace deltamatch::generate
