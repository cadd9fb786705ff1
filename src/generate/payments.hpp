// A stream of payments between accounts, merchants and cash machines, with planted laundering patterns. It is known exactly
// when each pattern appears and vanishes.
//
// Vertices: Account (acct-N), Merchant (shop-N), Atm (atm-N). Edges: TRANSFER account to account, PAYMENT account to merchant,
// REFUND merchant to account, PAYOUT merchant to account, CASH_OUT account to cash machine. A record `-` is a charge-back,
// which deletes an edge. Times never decrease.
//
// Planted patterns. The patterns of config/patterns have the same names and list vertices in the same order.
//   ring3, ring4, ring5  transfers round a directed ring of accounts
//   scatter_gather       one account transfers to three, these to one sink, which cashes out: source, three mules, sink, atm
//   fan_in               four accounts transfer to one collector, which cashes out: collector, four accounts, atm
//   chain                three transfers in a row, then cash: four accounts, atm
//
// The background contains none of them, by construction:
//   - An account either receives background transfers or cashes out in the background, never both.
//   - Background transfers between ordinary accounts go from the lower account number to the higher: no directed ring.
//   - Accounts of planted patterns ("mules") belong to one pattern each. They send only that pattern's transfers and cash.
//   - Among mules, only members of rings and heads of chains receive background transfers.
// So each planted pattern is one match while its edges live, and there are no other matches.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/id.hpp"
#include "deltamatch/update.hpp"

namespace deltamatch::generate {

enum class PlantedKind : std::uint8_t { ring3, ring4, ring5, scatter_gather, fan_in, chain };
inline constexpr std::size_t planted_kind_count = 6;
/// The name of the pattern, "ring3" and so on, which is also that of its file.
[[nodiscard]] std::string_view planted_name(PlantedKind kind) noexcept;

enum class IdStyle : std::uint8_t {
  text,    ///< acct-17, shop-3, atm-5
  number,  ///< accounts from 0, then merchants, then cash machines
};
enum class PaymentsFormat : std::uint8_t {
  csv,   ///< header op,source,target,label,source_label,target_label,time[,amount]; time in seconds with six decimals
  jsonl  ///< one object per line with the same names; time in microseconds
};

struct PaymentsOptions {
  std::uint64_t updates = 1'000'000;  ///< total number of records, including planted and deleting ones
  std::uint32_t accounts = 50'000;    ///< planted patterns take at most half of them
  std::uint32_t merchants = 2'000;
  std::uint32_t atms = 200;
  std::array<std::uint32_t, planted_kind_count> planted = {100, 100, 100, 100, 100, 100};  ///< number of patterns, by
                                                                                           ///< PlantedKind
  double exponent = 2.5;       ///< of the power law of accounts' and merchants' activity; above 2, at most 10
  double charge_backs = 0.01;  ///< share of background records that delete a recent payment
  double recalled = 0.1;       ///< share of planted patterns that lose an edge to a charge-back before they expire
  double repeated = 0.2;       ///< share of planted patterns in which some payments are repeated, so that they live longer
  Timestamp start = 1'700'000'000'000'000;         ///< microseconds
  Timestamp duration = 10LL * 86'400 * 1'000'000;  ///< microseconds from the first to about the last record
  Timestamp window = 86'400LL * 1'000'000;         ///< sliding window for which the truth holds; 0: edges do not expire
  Timestamp planted_span = 7'200LL * 1'000'000;    ///< a planted pattern closes within this time; at most window / 4
  IdStyle ids = IdStyle::text;
  PaymentsFormat format = PaymentsFormat::csv;
  bool amounts = false;  ///< adds a last column or member `amount`, in cents; matching ignores it
  std::uint64_t seed = 1;
};

/// Checks the options. Throws Error(usage) that names the option and its bounds.
void validate(const PaymentsOptions& options);

/// How a planted pattern ended.
enum class PlantedEnd : std::uint8_t {
  expired,   ///< its oldest edge left the window
  recalled,  ///< a charge-back deleted one of its edges
  alive      ///< it still exists when the stream ends
};

struct PlantedPattern {
  PlantedKind kind{};
  /// In the order of the pattern's vertices. Among equivalent orders it is the smallest, with ids compared as Id does. A match
  /// of the pattern is listed in this order.
  std::vector<std::string> vertices;
  Timestamp closes = 0;    ///< time of the record that completes the pattern
  Timestamp vanishes = 0;  ///< smallest watermark at which it is gone; 0 if it ends alive
  PlantedEnd end = PlantedEnd::alive;
};

/// One record. The views in `update` are valid only during the call.
struct PaymentRecord {
  Update update;
  std::uint64_t amount = 0;  ///< cents
};

struct PaymentsSummary {
  std::uint64_t inserts = 0;
  std::uint64_t deletes = 0;
  Timestamp first_time = 0;
  Timestamp last_time = 0;
  std::vector<PlantedPattern> planted;  ///< in order of `closes`
};

/// Calls `take` for every record, in order of time. Throws Error(usage) if options are invalid. Memory does not grow with
/// `updates`. A pattern lives at least window / 8 after it is complete. So no batch of span window / 16 sees it both appear and
/// vanish.
PaymentsSummary generate_payments(const PaymentsOptions& options, const std::function<void(const PaymentRecord&)>& take);

/// Writes the stream in options.format, and the truth unless `truth` is null. The truth is CSV with header
/// `kind,vertices,closes,vanishes,end` and one row per planted pattern in order of `closes`. Vertices are separated by blanks,
/// times are in microseconds, and `vanishes` is empty if the pattern ends alive. Throws Error(runtime) if a write fails.
PaymentsSummary write_payments(const PaymentsOptions& options, std::FILE* stream, std::FILE* truth = nullptr);
/// The same, to files that are created or overwritten. An empty `truth` writes none.
PaymentsSummary write_payments(const PaymentsOptions& options, const std::filesystem::path& stream,
                               const std::filesystem::path& truth = {});

}  // namespace deltamatch::generate
