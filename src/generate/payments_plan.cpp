#include "generate/payments_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <tuple>

#include "deltamatch/error.hpp"

namespace deltamatch::generate {
namespace {

constexpr Timestamp minute = 60LL * 1'000'000;
constexpr Timestamp hour = 60 * minute;
constexpr Timestamp day = 24 * hour;
constexpr Timestamp longest_decoy = day + 12 * hour;

struct Payment {
  Flow flow;
  std::uint8_t source;  // index of a vertex
  std::uint8_t target;
  Timestamp time;  // since the first payment of the pattern
  std::uint64_t amount;
};

// The payments of a planted pattern or decoy, in the order of the pattern's edges.
struct Draft {
  std::vector<Inflow> accounts;  // one for each
  bool merchant = false;         // follows the accounts
  std::uint8_t alike_first = 0;  // accounts [alike_first, alike_last) are listed in the order of their ids
  std::uint8_t alike_last = 0;
  std::vector<Payment> payments;
};

// Draws the payments of patterns and decoys. A planted one keeps well within each condition, a decoy misses one of them. Some
// decoys miss it by nothing: the first payment is 1,000 and not above.
class Drafter {
 public:
  explicit Drafter(Random& random) : random_(random) {}

  Draft operator()(PlantedKind kind, Miss miss) {
    switch (kind) {
      case PlantedKind::ring:
        return three_transfers(miss, true);
      case PlantedKind::smurfing:
        return smurfing(miss);
      case PlantedKind::refund_round_trip:
        return round_trip(miss);
      case PlantedKind::fee_chain:
        return three_transfers(miss, false);
    }
    return {};
  }

 private:
  std::uint64_t between(std::uint64_t least, std::uint64_t most) { return least + random_.below(most - least + 1); }
  Timestamp span(Timestamp least, Timestamp most) {
    return static_cast<Timestamp>(between(static_cast<std::uint64_t>(least), static_cast<std::uint64_t>(most)));
  }
  std::uint64_t part(std::uint64_t amount, std::uint64_t least, std::uint64_t most) {  // in thousandths
    return amount * between(least, most) / 1000;
  }

  // A ring loses less than 10 % in each hop, so that it contains no chain.
  Draft three_transfers(Miss miss, bool ring) {
    const auto hop = [&](std::uint64_t amount) { return ring ? part(amount, 905, 1000) : part(amount, 805, 895); };
    std::array<std::uint64_t, 3> amounts = {between(2'500'00, 9'999'99), 0, 0};
    if (miss == Miss::too_small) amounts[0] = ring ? between(900'00, 1'000'00) : between(900'00, 999'99);
    const std::size_t missing = between(1, 2);
    for (std::size_t i = 1; i < 3; ++i) {
      amounts[i] = hop(amounts[i - 1]);
      if (i != missing) continue;
      if (miss == Miss::grows) amounts[i] = part(amounts[i - 1], 1005, 1200);
      if (miss == Miss::loses_too_little) amounts[i] = part(amounts[i - 1], 905, 1000);
      if (miss == Miss::loses_too_much) amounts[i] = part(amounts[i - 1], 500, 795);
    }
    std::array<Timestamp, 3> times = {0, span(minute, 6 * hour), 0};
    times[2] = miss == Miss::too_slow ? span(day, longest_decoy) : times[1] + span(minute, 6 * hour);
    if (miss == Miss::out_of_order) std::swap(times[1], times[2]);
    Draft draft;
    draft.accounts.assign(ring ? 3 : 4, miss == Miss::too_small ? Inflow::none : ring ? Inflow::any : Inflow::small);
    for (std::uint8_t i = 0; i < 3; ++i) {
      const auto target = static_cast<std::uint8_t>(ring && i == 2 ? 0 : i + 1);
      draft.payments.push_back({Flow::transfer, i, target, times[i], amounts[i]});
    }
    return draft;
  }

  // Accounts: the collector, four senders, and the account to which the money leaves.
  Draft smurfing(Miss miss) {
    std::array<std::uint64_t, 4> amounts{};
    for (std::uint64_t& amount : amounts) amount = miss == Miss::too_small ? between(400'00, 500'00) : between(501'00, 999'99);
    if (miss == Miss::too_large) amounts[between(0, 3)] = between(1'000'00, 1'500'00);
    const std::uint64_t sum = std::accumulate(amounts.begin(), amounts.end(), std::uint64_t{0});

    std::array<Timestamp, 4> times{};
    for (Timestamp& time : times) time = span(0, 49 * minute);
    const std::size_t first = between(0, 3);
    times[first] = 0;
    Timestamp out = span(50 * minute, hour - 1);
    if (miss == Miss::out_of_order) std::swap(out, times[(first + 1) % 4]);
    if (miss == Miss::too_slow) {
      const Timestamp later = span(10 * minute, 40 * minute);
      for (Timestamp& time : times) time += later;
      times[first] = 0;
      out += later;
    }
    Draft draft;
    draft.accounts.assign(6, Inflow::none);
    draft.accounts[0] = Inflow::large;
    draft.alike_first = 1;
    draft.alike_last = 5;
    for (std::uint8_t i = 0; i < 4; ++i)
      draft.payments.push_back({Flow::transfer, static_cast<std::uint8_t>(i + 1), 0, times[i], amounts[i]});
    const std::uint64_t leaves = miss == Miss::loses_too_much ? part(sum, 600, 895) : part(sum, 905, 1000);
    draft.payments.push_back({Flow::transfer, 0, 5, out, leaves});
    return draft;
  }

  // payments.hpp says what the last digits are for.
  Draft round_trip(Miss miss) {
    const std::uint64_t drawn = miss == Miss::too_small ? between(300'00, 499'00) : between(500'00, 9'999'00);
    const std::uint64_t amount = drawn / 4 * 4 + 1;
    const std::uint64_t back = miss == Miss::loses_too_much ? part(amount, 500, 990) / 4 * 4 + 3 : amount;
    std::array<Timestamp, 2> times = {0, miss == Miss::too_slow ? span(day, longest_decoy) : span(minute, 12 * hour)};
    if (miss == Miss::out_of_order) std::swap(times[0], times[1]);
    Draft draft;
    draft.accounts = {Inflow::any};
    draft.merchant = true;
    draft.payments = {{Flow::payment, 0, 1, times[0], amount}, {Flow::refund, 1, 0, times[1], back}};
    return draft;
  }

  Random& random_;
};

constexpr std::array<std::uint32_t, planted_kind_count> accounts_of = {3, 6, 1, 4};

std::uint64_t mules_needed(const PaymentsOptions& options) {
  std::uint64_t sum = 0;
  for (std::size_t kind = 0; kind < planted_kind_count; ++kind) {
    const std::uint64_t decoys = misses_of(static_cast<PlantedKind>(kind)).size() * std::uint64_t{options.decoys};
    sum += (options.planted[kind] + decoys) * accounts_of[kind];
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
  return {{mules, spenders}, {spenders, numbers.end()}, {numbers.begin(), mules}, {}};
}

// Plants one pattern or decoy: its payments, then perhaps a charge-back of one of them, or a small payment beside them.
class Planter {
 public:
  Planter(const PaymentsOptions& options, Random& random, PaymentsPlan& plan)
      : options_(options), random_(random), plan_(plan), namer_(options), next_mule_(plan.cast.mules.begin()) {}

  void plant(PlantedKind kind, Miss miss, std::uint32_t number) {
    PlantedPattern pattern;
    pattern.kind = kind;
    pattern.misses = miss;
    pattern.name = fmt::format("{}{}{}-{}", planted_name(kind), miss == Miss::nothing ? "" : "-", miss_name(miss), number);
    const Draft draft = Drafter(random_)(kind, miss);
    const std::vector<Node> nodes = make_nodes(draft);
    const Timestamp first =
        options_.start + static_cast<Timestamp>(random_.below(static_cast<std::uint64_t>(options_.duration - longest_decoy)));
    for (std::uint32_t edge = 0; edge < draft.payments.size(); ++edge) {
      const Payment& payment = draft.payments[edge];
      pattern.closes = std::max(pattern.closes, first + payment.time);
      add(draft, nodes, edge, edge, first + payment.time, payment.amount, true);
    }
    const bool transfers = kind == PlantedKind::ring || kind == PlantedKind::fee_chain;
    if (transfers && random_.chance(options_.repeated))
      add(draft, nodes, 0, PlantedRecord::beside, first + draft.payments[1].time, 1'00 + random_.below(300'00), true);
    if (miss == Miss::nothing && kind != PlantedKind::smurfing && random_.chance(options_.recalled))
      recall(draft, nodes, first, pattern);
    plan_.patterns.push_back(std::move(pattern));
  }

 private:
  std::vector<Node> make_nodes(const Draft& draft) {
    std::vector<Node> nodes;
    for (const Inflow inflow : draft.accounts) {
      nodes.push_back({Party::account, *next_mule_++});
      if (inflow != Inflow::none) plan_.cast.open_mules.push_back({nodes.back().number, inflow});
    }
    if (draft.merchant) nodes.push_back({Party::merchant, static_cast<std::uint32_t>(random_.below(options_.merchants))});
    std::sort(nodes.begin() + draft.alike_first, nodes.begin() + draft.alike_last,
              [this](const Node& a, const Node& b) { return namer_.less(a, b); });
    return nodes;
  }

  // A record between the ends of a payment.
  void add(const Draft& draft, const std::vector<Node>& nodes, std::size_t ends, std::uint32_t edge, Timestamp time,
           std::uint64_t amount, bool insert) {
    const Payment& payment = draft.payments[ends];
    plan_.records.push_back({time, insert, payment.flow, nodes[payment.source], nodes[payment.target], amount,
                             static_cast<std::uint32_t>(plan_.patterns.size()), edge});
  }

  // The match must not have aged when the charge-back comes.
  void recall(const Draft& draft, const std::vector<Node>& nodes, Timestamp first, PlantedPattern& pattern) {
    const auto edge = static_cast<std::uint32_t>(random_.below(draft.payments.size()));
    const Timestamp earliest = pattern.closes + 3 * hour;
    const Timestamp time = earliest + static_cast<Timestamp>(random_.below(static_cast<std::uint64_t>(first + day - earliest)));
    if (time > options_.start + options_.duration) return;
    add(draft, nodes, edge, edge, time, 0, false);
    pattern.recalled = time;
  }

  const PaymentsOptions& options_;
  Random& random_;
  PaymentsPlan& plan_;
  Namer namer_;
  std::vector<std::uint32_t>::const_iterator next_mule_;
};

}  // namespace

std::string_view planted_name(PlantedKind kind) noexcept {
  constexpr std::array<std::string_view, planted_kind_count> names = {"ring", "smurfing", "refund_round_trip", "fee_chain"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view miss_name(Miss miss) noexcept {
  constexpr std::array<std::string_view, miss_count> names = {"",         "out_of_order", "too_small",        "too_large",
                                                              "too_slow", "grows",        "loses_too_little", "loses_too_much"};
  return names[static_cast<std::size_t>(miss)];
}

std::span<const Miss> misses_of(PlantedKind kind) noexcept {
  using enum Miss;
  static constexpr std::array ring = {out_of_order, too_small, too_slow, grows, loses_too_much};
  static constexpr std::array smurfing = {out_of_order, too_small, too_large, too_slow, loses_too_much};
  static constexpr std::array refund = {out_of_order, too_small, too_slow, loses_too_much};
  static constexpr std::array chain = {out_of_order, too_small, too_slow, loses_too_little, loses_too_much};
  switch (kind) {
    case PlantedKind::ring:
      return ring;
    case PlantedKind::smurfing:
      return smurfing;
    case PlantedKind::refund_round_trip:
      return refund;
    case PlantedKind::fee_chain:
      return chain;
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
  require(mules == 0 || options.duration > longest_decoy, "the duration is too short for planted patterns",
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
  std::ranges::sort(plan.records, {}, [](const PlantedRecord& r) { return std::tuple(r.time, r.pattern, r.edge, r.insert); });
  if (options.updates < 2 * plan.records.size())
    throw Error(ErrorKind::usage, "generate payments", "planted patterns and decoys take more than half of the updates",
                "plant fewer or raise --records");
  return plan;
}

}  // namespace deltamatch::generate
