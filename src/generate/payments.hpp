// A stream of payments between accounts, merchants and cash machines, with planted patterns and decoys among everyday noise.
//
// Vertices: Account (acct-N), Merchant (shop-N), Atm (atm-N). Edges: TRANSFER account to account, PAYMENT account to merchant,
// REFUND merchant to account, PAYOUT merchant to account, CASH_OUT account to cash machine. Each payment has a key, a time, an
// amount and a channel. A record `-` is a charge-back, which deletes a payment by its key. Times never decrease.
//
// Planted patterns have the names and conditions of config/patterns. A decoy looks like one of them and misses one condition.
//
// The noise contains none of these patterns, by construction:
//   - Rings: transfers between ordinary accounts go to accounts that receive, and among those from the lower number to the
//     higher.
//   - Smurfing: a transfer of the noise is of 500.00 or less, or of 1,000.00 or more. So none of them counts.
//   - Round trips: a refund of the noise is for a part of the payment, or for a payment below 500. Cents keep other refunds and
//     payments from being equal. Payments have even cents. Refunds of parts have 3 more than a multiple of 4, planted ones 1.
//   - Unpaid refunds: a refund of the noise comes within 12 hours after a payment of as much or more. After the refund, no
//     payment is charged back that came before it between the two.
//   - Chains: what an account of the noise passes on is small, or one of a few round amounts. None of these is 80 to 90 % of
//     another.
//   - Accounts of planted patterns and decoys ("mules") belong to one of them each, and transfer nothing else. They receive
//     only transfers of the noise that fit into no match. Those of unpaid refunds pay no merchant in the noise.
//
// No planted pattern or decoy contains another one:
//   - A ring has no chord, and the times of its payments ascend from one of them only. A small payment beside the first is
//     neither above 1,000 nor 80 % of another one.
//   - A ring loses less than 10 % in each hop, a chain more. Only senders of smurfing send between 500 and 1,000 to the same
//     account.
//   - A larger payment comes before each refund of round trips whose own payment comes late, long before, or is charged back.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/id.hpp"
#include "deltamatch/update.hpp"

namespace deltamatch::generate {

enum class PlantedKind : std::uint8_t { ring, smurfing, refund_round_trip, fee_chain, unpaid_refund };
inline constexpr std::size_t planted_kind_count = 5;
/// The name of the pattern, which is also that of its file.
[[nodiscard]] std::string_view planted_name(PlantedKind kind) noexcept;

/// The condition that a decoy misses.
enum class Miss : std::uint8_t {
  nothing,  ///< a planted pattern
  out_of_order,
  too_small,  ///< the first payment; one of the payments of smurfing; a refund
  too_large,  ///< one of the payments of smurfing
  too_slow,
  too_long,          ///< a ring of 7
  grows,             ///< an account of a ring passes on more than it got
  loses_too_little,  ///< an account of a chain keeps less than 10 %
  loses_too_much,    ///< more is kept, or less is refunded, than the pattern allows
  too_few,           ///< senders of smurfing
  sender_twice,      ///< there are as many payments of smurfing as there must be senders
  paid,              ///< for a refund
};
inline constexpr std::size_t miss_count = 12;
/// "out_of_order" and so on; empty for nothing.
[[nodiscard]] std::string_view miss_name(Miss miss) noexcept;
/// The conditions that decoys of a pattern miss.
[[nodiscard]] std::span<const Miss> misses_of(PlantedKind kind) noexcept;

enum class IdStyle : std::uint8_t {
  text,    ///< acct-17, shop-3, atm-5; keys are tx-1, tx-2 and so on
  number,  ///< accounts from 0, then merchants, then cash machines; keys from 1
};
enum class PaymentsFormat : std::uint8_t {
  csv,   ///< header op,txn_id,source,target,label,source_label,target_label,time,amount,channel; time in seconds
  jsonl  ///< one object per line with the same names; time in microseconds, the amount as a string
};

struct PaymentsOptions {
  std::uint64_t updates = 1'000'000;  ///< total number of records, including planted and deleting ones
  std::uint32_t accounts = 50'000;    ///< planted patterns and decoys take at most half of them
  std::uint32_t merchants = 2'000;
  std::uint32_t atms = 200;
  std::array<std::uint32_t, planted_kind_count> planted = {100, 100, 100, 100, 100};  ///< number of patterns, by PlantedKind
  std::uint32_t decoys = 10;                                                          ///< of each pattern and missed condition
  double exponent = 2.5;                    ///< of the power law of accounts' and merchants' activity; above 2, at most 10
  double charge_backs = 0.01;               ///< share of noise that deletes a recent payment
  double recalled = 0.1;                    ///< share of planted patterns that vanish by charge-backs
  double repeated = 0.2;                    ///< share of rings and chains in which two accounts have another, small payment
  Timestamp start = 1'700'000'000'000'000;  ///< microseconds
  Timestamp duration = 10LL * 86'400 * 1'000'000;  ///< microseconds from the first to about the last record
  IdStyle ids = IdStyle::text;
  PaymentsFormat format = PaymentsFormat::csv;
  std::uint64_t seed = 1;
};

/// Checks the options. Throws Error(usage) that names the option and its bounds.
void validate(const PaymentsOptions& options);

/// A planted pattern, or a decoy.
struct PlantedPattern {
  PlantedKind kind{};
  Miss misses = Miss::nothing;
  std::string name;                  ///< unique in the stream: ring-17, ring-too_slow-3
  std::vector<std::string> keys;     ///< of its payments, in the order of the pattern's edges
  std::vector<std::string> counted;  ///< keys of the payments that were made for its COUNT or EXISTS
  Timestamp closes = 0;              ///< time of the last one of `keys`
  /// Time of the charge-back at which the match vanishes; 0 if there is none. It deletes one of `keys`. Or, of smurfing, it is
  /// the one that leaves fewer than ten senders.
  Timestamp recalled = 0;
};

/// One record. The views are valid only during the call. `update` has the key. It has no attributes: they are beside it.
struct PaymentRecord {
  Update update;
  std::uint64_t amount = 0;  ///< cents; 0 for a charge-back
  std::string_view channel;  ///< empty for a charge-back
};

struct PaymentsSummary {
  std::uint64_t inserts = 0;
  std::uint64_t deletes = 0;
  Timestamp first_time = 0;
  Timestamp last_time = 0;
  std::vector<PlantedPattern> planted;  ///< in order of `closes`
};

/// Calls `take` for every record, in order of time. Throws Error(usage) if options are invalid. Memory does not grow with
/// `updates`. A charge-back by which a planted pattern vanishes comes 3 hours or more after its last payment. So no batch of
/// that span sees it both appear and vanish.
PaymentsSummary generate_payments(const PaymentsOptions& options, const std::function<void(const PaymentRecord&)>& take);

/// Writes the stream in options.format, and the truth unless `truth` is null. The truth is CSV with header
/// `name,pattern,kind,misses,keys,counted,closes,recalled` and one row per planted pattern or decoy in order of `closes`.
/// `kind` is planted or decoy. Keys are separated by blanks, times are in microseconds, and `recalled` is empty if the match
/// does not vanish. Throws Error(runtime) if a write fails.
PaymentsSummary write_payments(const PaymentsOptions& options, std::FILE* stream, std::FILE* truth = nullptr);
/// The same, to files that are created or overwritten. An empty `truth` writes none.
PaymentsSummary write_payments(const PaymentsOptions& options, const std::filesystem::path& stream,
                               const std::filesystem::path& truth = {});

}  // namespace deltamatch::generate
