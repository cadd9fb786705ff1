#include "generate/payments_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <tuple>

#include "deltamatch/error.hpp"
#include "generate/payments_draft.hpp"

namespace deltamatch::generate {
namespace {

// The accounts of `count` patterns or decoys. They repeat after 60: so many numbers hold 4 lengths of rings, 15 numbers of
// senders and 6 reasons of an unpaid refund alike.
std::uint64_t mules_of(PlantedKind kind, Miss miss, std::uint32_t count) {
  constexpr std::uint32_t period = 60;
  const auto first = [&](std::uint32_t some) {
    std::uint64_t sum = 0;
    for (std::uint32_t number = 1; number <= some; ++number) sum += accounts_of(kind, miss, number);
    return sum;
  };
  return count / period * first(period) + first(count % period);
}

std::uint64_t mules_needed(const PaymentsOptions& options) {
  std::uint64_t sum = 0;
  for (std::size_t index = 0; index < planted_kind_count; ++index) {
    const auto kind = static_cast<PlantedKind>(index);
    sum += mules_of(kind, Miss::nothing, options.planted[index]);
    for (const Miss miss : misses_of(kind)) sum += mules_of(kind, miss, options.decoys);
  }
  return sum;
}

// Shuffles the account numbers. Otherwise they would depend on activity, because activity falls with the place in the lists.
// Transfers go from lower to higher numbers.
Cast make_cast(const PaymentsOptions& options, Random& random) {
  std::vector<std::uint32_t> numbers(options.accounts);
  std::iota(numbers.begin(), numbers.end(), 0U);
  random.shuffle(std::span(numbers));
  const auto mules = numbers.begin() + static_cast<std::ptrdiff_t>(mules_needed(options));
  const auto spenders = mules + (numbers.end() - mules) / 2;
  return {{mules, spenders}, {spenders, numbers.end()}, {numbers.begin(), mules}, {}, {}};
}

// Plants one pattern or decoy: its payments, then perhaps charge-backs of some, or a small payment beside them.
class Planter {
 public:
  Planter(const PaymentsOptions& options, Random& random, PaymentsPlan& plan)
      : options_(options), random_(random), plan_(plan), next_mule_(plan.cast.mules.begin()) {}

  void plant(PlantedKind kind, Miss miss, std::uint32_t number) {
    PlantedPattern pattern;
    pattern.kind = kind;
    pattern.misses = miss;
    pattern.name = fmt::format("{}{}{}-{}", planted_name(kind), miss == Miss::nothing ? "" : "-", miss_name(miss), number);
    const Draft draft = draw_draft(kind, miss, number, random_);
    const std::vector<Node> nodes = make_nodes(draft, kind != PlantedKind::unpaid_refund);
    const Timestamp first =
        options_.start + static_cast<Timestamp>(random_.below(static_cast<std::uint64_t>(options_.duration - longest_draft)));
    pattern.closes = first + draft.closes();
    for (std::uint32_t i = 0; i < draft.payments.size(); ++i) {
      const bool belongs = i < draft.edges + draft.counted;
      add(draft, nodes, i, belongs ? i : PlantedRecord::beside, first + draft.payments[i].time, draft.payments[i].amount, true);
    }
    for (const DraftChargeBack& gone : draft.charge_backs)
      add(draft, nodes, gone.payment, gone.payment, first + gone.time, 0, false);
    const bool transfers = kind == PlantedKind::ring || kind == PlantedKind::fee_chain;
    if (transfers && random_.chance(options_.repeated))
      add(draft, nodes, 0, PlantedRecord::beside, first + draft.payments[1].time, 1'00 + random_.below(300'00), true);
    if (miss == Miss::nothing && random_.chance(options_.recalled)) recall(draft, nodes, first, pattern);
    plan_.patterns.push_back(std::move(pattern));
    plan_.edges.push_back(static_cast<std::uint32_t>(draft.edges));
  }

 private:
  std::vector<Node> make_nodes(const Draft& draft, bool pay) {
    std::vector<Node> nodes;
    for (const Inflow inflow : draft.accounts) {
      nodes.push_back({Party::account, *next_mule_++});
      if (inflow != Inflow::none) plan_.cast.open_mules.push_back({nodes.back().number, inflow});
      if (pay) plan_.cast.paying_mules.push_back(nodes.back().number);
    }
    if (draft.shop) nodes.push_back({Party::merchant, static_cast<std::uint32_t>(random_.below(options_.merchants))});
    return nodes;
  }

  // A record between the ends of a payment.
  void add(const Draft& draft, const std::vector<Node>& nodes, std::size_t ends, std::uint32_t place, Timestamp time,
           std::uint64_t amount, bool insert) {
    const DraftPayment& payment = draft.payments[ends];
    plan_.records.push_back({time, insert, payment.flow, nodes[payment.source], nodes[payment.target], amount,
                             static_cast<std::uint32_t>(plan_.patterns.size()), place});
  }

  // The match vanishes with the last of the charge-backs. It must not have aged until then.
  void recall(const Draft& draft, const std::vector<Node>& nodes, Timestamp first, PlantedPattern& pattern) {
    const Timestamp earliest = pattern.closes + longest_batch;
    const auto after = [&](Timestamp end) {
      return earliest + static_cast<Timestamp>(random_.below(static_cast<std::uint64_t>(end - earliest)));
    };
    const Timestamp last = after(first + draft.fresh_until);
    if (last > options_.start + options_.duration || !draft.charge_backs.empty()) return;
    const std::vector<std::uint8_t> gone = draw_recalled(draft, random_);
    for (const std::uint8_t payment : gone)
      add(draft, nodes, payment, payment, payment == gone.back() ? last : after(last + 1), 0, false);
    pattern.recalled = last;
  }

  const PaymentsOptions& options_;
  Random& random_;
  PaymentsPlan& plan_;
  std::vector<std::uint32_t>::const_iterator next_mule_;
};

}  // namespace

std::string_view planted_name(PlantedKind kind) noexcept {
  constexpr std::array<std::string_view, planted_kind_count> names = {"ring", "smurfing", "refund_round_trip", "fee_chain",
                                                                      "unpaid_refund"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view miss_name(Miss miss) noexcept {
  constexpr std::array<std::string_view, miss_count> names = {
      "",      "out_of_order",     "too_small",      "too_large", "too_slow",     "too_long",
      "grows", "loses_too_little", "loses_too_much", "too_few",   "sender_twice", "paid"};
  return names[static_cast<std::size_t>(miss)];
}

std::span<const Miss> misses_of(PlantedKind kind) noexcept {
  using enum Miss;
  static constexpr std::array ring = {out_of_order, too_small, too_slow, too_long, grows, loses_too_much};
  static constexpr std::array smurfing = {out_of_order, too_small, too_large, too_slow, too_few, sender_twice};
  static constexpr std::array round_trip = {out_of_order, too_small, too_slow, loses_too_much};
  static constexpr std::array chain = {out_of_order, too_small, too_slow, loses_too_little, loses_too_much};
  static constexpr std::array unpaid = {too_small, paid};
  switch (kind) {
    case PlantedKind::ring:
      return ring;
    case PlantedKind::smurfing:
      return smurfing;
    case PlantedKind::refund_round_trip:
      return round_trip;
    case PlantedKind::fee_chain:
      return chain;
    case PlantedKind::unpaid_refund:
      return unpaid;
  }
  return {};
}

std::string_view label_of(Party party) noexcept {
  constexpr std::array<std::string_view, 3> names = {"Account", "Merchant", "Atm"};
  return names[static_cast<std::size_t>(party)];
}

std::string_view label_of(Flow flow) noexcept {
  constexpr std::array<std::string_view, 5> names = {"TRANSFER", "PAYMENT", "REFUND", "PAYOUT", "CASH_OUT"};
  return names[static_cast<std::size_t>(flow)];
}

Id Namer::text(std::string_view prefix, std::uint64_t number, int slot) {
  char* const begin = text_[slot];
  char* const digits = std::ranges::copy(prefix, begin).out;
  const char* const end = std::to_chars(digits, begin + sizeof text_[0], number).ptr;
  return std::string_view(begin, static_cast<std::size_t>(end - begin));
}

Id Namer::operator()(const Node& node, int slot) {
  constexpr std::array<std::string_view, 3> prefixes = {"acct-", "shop-", "atm-"};
  if (options_.ids == IdStyle::number) {
    const std::uint64_t before = node.party == Party::account    ? 0
                                 : node.party == Party::merchant ? options_.accounts
                                                                 : std::uint64_t{options_.accounts} + options_.merchants;
    return static_cast<std::int64_t>(before + node.number);
  }
  return text(prefixes[static_cast<std::size_t>(node.party)], node.number, slot);
}

Id Namer::key(std::uint64_t payment) {
  if (options_.ids == IdStyle::number) return static_cast<std::int64_t>(payment);
  return text("tx-", payment, 2);
}

void validate(const PaymentsOptions& options) {
  const auto require = [](bool holds, std::string_view what, std::string_view remedy) {
    if (!holds) throw Error(ErrorKind::usage, "generate payments", what, remedy);
  };
  const auto is_share = [](double share) { return share >= 0 && share <= 1; };
  constexpr Timestamp most = Timestamp{1} << 60;
  require(options.updates <= std::uint64_t{1} << 40, "there are too many updates", "give at most 2^40");
  require(options.accounts >= 16 && options.accounts <= 1U << 30, "the number of accounts is out of range", "give 16 to 2^30");
  require(options.merchants >= 1 && options.merchants <= 1U << 30, "the number of merchants is out of range", "give 1 to 2^30");
  require(options.atms >= 1 && options.atms <= 1U << 30, "the number of cash machines is out of range", "give 1 to 2^30");
  const std::uint64_t mules = mules_needed(options);
  require(mules <= options.accounts / 2, "planted patterns and decoys take more than half of the accounts",
          "plant fewer or raise the accounts");
  require(options.exponent > 2 && options.exponent <= 10, "the exponent is out of range", "give more than 2, at most 10");
  require(is_share(options.charge_backs), "the share of charge-backs is out of range", "give a share from 0 to 1");
  require(is_share(options.recalled), "the share of recalled patterns is out of range", "give a share from 0 to 1");
  require(is_share(options.repeated), "the share of patterns with repeated payments is out of range",
          "give a share from 0 to 1");
  require(options.start >= 0 && options.start <= most, "the start is out of range",
          "give microseconds since 1970, at most 2^60");
  require(options.duration >= 1'000 && options.duration <= most / 1024, "the duration is out of range",
          "give 1 ms to 35 years");
  require(mules == 0 || options.duration > longest_draft, "the duration is too short for planted patterns",
          "give more than 36 hours, or plant none");
  require(options.updates <= static_cast<std::uint64_t>(options.duration), "there are more updates than microseconds",
          "lengthen the duration");
}

PaymentsPlan plan_payments(const PaymentsOptions& options, Random& random) {
  validate(options);
  PaymentsPlan plan;
  plan.cast = make_cast(options, random);
  Planter planter(options, random, plan);
  for (std::size_t index = 0; index < planted_kind_count; ++index) {
    const auto kind = static_cast<PlantedKind>(index);
    for (std::uint32_t i = 0; i < options.planted[index]; ++i) planter.plant(kind, Miss::nothing, i + 1);
    for (const Miss miss : misses_of(kind)) {
      for (std::uint32_t i = 0; i < options.decoys; ++i) planter.plant(kind, miss, i + 1);
    }
  }
  // The keys are total. Otherwise libraries would order ties differently, because the sort is unstable.
  std::ranges::sort(plan.records, {}, [](const PlantedRecord& r) { return std::tuple(r.time, r.pattern, r.place, r.insert); });
  if (options.updates < 2 * plan.records.size())
    throw Error(ErrorKind::usage, "generate payments", "planted patterns and decoys take more than half of the updates",
                "plant fewer or raise --records");
  return plan;
}

}  // namespace deltamatch::generate
