// Decides what a payments stream contains before its first record: the roles of accounts, and every planted record. Internal to
// the payments generator.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "generate/payments.hpp"
#include "generate/random.hpp"

namespace deltamatch::generate {

enum class Party : std::uint8_t { account, merchant, atm };
enum class Flow : std::uint8_t { transfer, payment, refund, payout, cash_out };

struct Node {
  Party party = Party::account;
  std::uint32_t number = 0;
  friend bool operator==(const Node&, const Node&) = default;
};

[[nodiscard]] std::string_view label_of(Party party) noexcept;
[[nodiscard]] std::string_view label_of(Flow flow) noexcept;

/// Makes external ids. A text id is stored in this object and is valid until the next call with the same `slot`.
class Namer {
 public:
  explicit Namer(const PaymentsOptions& options) : options_(options) {}
  [[nodiscard]] Id operator()(const Node& node, int slot = 0);
  /// The key of the n-th payment, from 1. It uses slot 2.
  [[nodiscard]] Id key(std::uint64_t payment);

 private:
  Id text(std::string_view prefix, std::uint64_t number, int slot);

  PaymentsOptions options_;
  char text_[3][32] = {};
};

/// Which transfers of the noise a mule receives.
enum class Inflow : std::uint8_t {
  none,
  small,  ///< 500.00 or less
  large,  ///< 1,000.00 or more, from an account that receives no transfers
  any,    ///< either of these
};

struct OpenMule {
  std::uint32_t account = 0;
  Inflow inflow = Inflow::none;
};

/// The roles of accounts, by account number. Spenders receive no transfers of the noise; receivers do, and pass some on. Each
/// mule belongs to one planted pattern or decoy. The most active spenders and receivers come first.
struct Cast {
  std::vector<std::uint32_t> spenders;
  std::vector<std::uint32_t> receivers;
  std::vector<std::uint32_t> mules;
  std::vector<OpenMule> open_mules;         ///< those that receive transfers of the noise
  std::vector<std::uint32_t> paying_mules;  ///< those that pay merchants in the noise
};

struct PlantedRecord {
  static constexpr std::uint32_t beside = std::numeric_limits<std::uint32_t>::max();

  Timestamp time = 0;
  bool insert = true;
  Flow flow = Flow::transfer;
  Node source;
  Node target;
  std::uint64_t amount = 0;
  std::uint32_t pattern = 0;     ///< index in PaymentsPlan::patterns
  std::uint32_t place = beside;  ///< among the pattern's edges and what it counts; beside: neither
};

struct PaymentsPlan {
  static constexpr Timestamp max_time = std::numeric_limits<Timestamp>::max();
  Cast cast;
  std::vector<PlantedRecord> records;    ///< in order of time
  std::vector<PlantedPattern> patterns;  ///< without keys, which follow from the order of all records
  std::vector<std::uint32_t> edges;      ///< of each pattern; places from this one on are of payments that it counts
};

/// Makes the plan. Throws Error(usage) if the options are invalid or if the stream is too short for the planted patterns.
[[nodiscard]] PaymentsPlan plan_payments(const PaymentsOptions& options, Random& random);

}  // namespace deltamatch::generate
