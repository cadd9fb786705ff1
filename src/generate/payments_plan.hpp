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
  [[nodiscard]] std::string text(const Node& node);
  /// Compares ids in the order that Id defines.
  [[nodiscard]] bool less(const Node& a, const Node& b) { return (*this)(a, 0) < (*this)(b, 1); }

 private:
  PaymentsOptions options_;
  char text_[2][24] = {};
};

/// The roles of accounts, by account number. Spenders cash out and receive no background transfers; receivers are the reverse.
/// Each mule belongs to one planted pattern. The most active spenders and receivers come first.
struct Cast {
  std::vector<std::uint32_t> spenders;
  std::vector<std::uint32_t> receivers;
  std::vector<std::uint32_t> mules;
  std::vector<std::uint32_t> open_mules;  ///< mules that receive background transfers
};

struct PlantedRecord {
  Timestamp time = 0;
  bool insert = true;
  Flow flow = Flow::transfer;
  Node source;
  Node target;
  std::uint64_t amount = 0;
};

/// The planted patterns before the end of the stream is known. `vanishes` is max_time if a pattern never vanishes.
struct PaymentsPlan {
  static constexpr Timestamp max_time = std::numeric_limits<Timestamp>::max();
  Cast cast;
  std::vector<PlantedRecord> records;    ///< in order of time
  std::vector<PlantedPattern> patterns;  ///< in order of `closes`
};

/// Makes the plan. Throws Error(usage) if the options are invalid or if the stream is too short for the planted patterns.
[[nodiscard]] PaymentsPlan plan_payments(const PaymentsOptions& options, Random& random);

}  // namespace deltamatch::generate
