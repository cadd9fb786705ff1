#include "generate/payments_draft.hpp"

#include <algorithm>
#include <numeric>

namespace deltamatch::generate {
namespace {

// In turn, so that each of them is planted even if few are.
std::size_t ring_length(Miss miss, std::uint32_t number) noexcept { return miss == Miss::too_long ? 7 : 3 + (number - 1) % 4; }

// From 10 to 24, in an order that visits large and small numbers early.
std::size_t senders(Miss miss, std::uint32_t number) noexcept {
  if (miss == Miss::too_few || miss == Miss::sender_twice) return least_senders - 1;
  return least_senders + (miss == Miss::nothing ? (number - 1) % 15 * 7 % 15 : 0);
}

// Why a refund is unpaid.
enum class Unpaid : std::uint8_t { nothing_paid, paid_less, paid_later, paid_long_before, charged_back, another_paid };
Unpaid unpaid_by(std::uint32_t number) noexcept { return static_cast<Unpaid>((number - 1) % 6); }

class Drafter {
 public:
  Drafter(Miss miss, std::uint32_t number, Random& random) : miss_(miss), number_(number), random_(random) {}

  // A ring loses less than 10 % in each hop, so that it contains no chain.
  Draft transfers_in_a_row(bool ring) {
    const std::size_t count = ring ? ring_length(miss_, number_) : 3;
    const auto hop = [&](std::uint64_t amount) { return ring ? part(amount, 905, 1000) : part(amount, 805, 895); };
    const std::size_t missing = between(1, count - 1);
    std::vector<std::uint64_t> amounts = {between(2'500'00, 9'999'99)};
    if (miss_ == Miss::too_small) amounts[0] = ring ? between(900'00, 1'000'00) : between(900'00, 999'99);
    while (amounts.size() < count) {
      const std::uint64_t before = amounts.back();
      std::uint64_t amount = hop(before);
      if (amounts.size() == missing) {
        if (miss_ == Miss::grows) amount = part(before, 1005, 1200);
        if (miss_ == Miss::loses_too_little) amount = part(before, 905, 1000);
        if (miss_ == Miss::loses_too_much) amount = part(before, 500, 795);
      }
      amounts.push_back(amount);
    }
    const std::vector<Timestamp> times = times_in_a_row(count);
    draft_.accounts.assign(ring ? count : count + 1, miss_ == Miss::too_small ? Inflow::none
                                                     : ring                   ? Inflow::any
                                                                              : Inflow::small);
    for (std::size_t i = 0; i < count; ++i) add(Flow::transfer, i, ring && i + 1 == count ? 0 : i + 1, times[i], amounts[i]);
    draft_.edges = count;
    draft_.fresh_until = day;
    return std::move(draft_);
  }

  // Accounts: the collector, the senders, and the account to which the money leaves.
  Draft smurfing() {
    const std::size_t count = senders(miss_, number_);
    std::vector<std::uint64_t> amounts(count);
    for (std::uint64_t& amount : amounts) amount = between(500'01, 999'99);
    std::vector<Timestamp> times(count);
    for (Timestamp& time : times) time = span(0, 49 * minute);
    std::vector<std::size_t> order(count);  // some sender is the first, some other one misses the condition
    std::iota(order.begin(), order.end(), std::size_t{0});
    random_.shuffle(std::span(order));
    times[order[0]] = 0;
    Timestamp out = span(50 * minute, hour - 1);
    if (miss_ == Miss::too_small) amounts[order[1]] = between(400'00, 500'00);
    if (miss_ == Miss::too_large) amounts[order[1]] = between(1'000'00, 1'500'00);
    if (miss_ == Miss::out_of_order) times[order[1]] = out + span(minute, 30 * minute);
    if (miss_ == Miss::too_slow) {
      const Timestamp later = span(10 * minute, 40 * minute);
      for (std::size_t i = 1; i < count; ++i) times[order[i]] += later;
      out += later;
    }
    draft_.accounts.assign(count + 2, Inflow::none);
    draft_.accounts[0] = Inflow::any;
    const std::uint64_t sum = std::accumulate(amounts.begin(), amounts.end(), std::uint64_t{0});
    add(Flow::transfer, 0, count + 1, out, part(sum, 905, 1000));
    for (std::size_t i = 0; i < count; ++i) add(Flow::transfer, i + 1, 0, times[i], amounts[i]);
    if (miss_ == Miss::sender_twice) {
      const Timestamp again = span(0, 49 * minute);
      add(Flow::transfer, order[1] + 1, 0, again, between(500'01, 999'99));
    }
    draft_.edges = 1;
    draft_.counted = draft_.payments.size() - 1;
    draft_.fresh_until = day - longest_batch;  // counts are compared at the ends of batches, and edges age until then
    return std::move(draft_);
  }

  // A larger payment comes before each refund that is without its own payment, or may be. So none is unpaid. It is the younger
  // of the two, so that it still counts when the other one is charged back.
  Draft round_trip() {
    const std::uint64_t amount =
        refunded(miss_ == Miss::too_small ? 300'00 : 500'00, miss_ == Miss::too_small ? 499'00 : 9'999'00);
    const std::uint64_t back = miss_ == Miss::loses_too_much ? part(amount, 500, 990) / 4 * 4 + 3 : amount;
    Timestamp paid = 0;
    Timestamp refund = miss_ == Miss::too_slow ? span(day, longest_draft) : span(minute, 12 * hour);
    Timestamp larger = refund - span(minute / 2, minute);
    if (miss_ == Miss::out_of_order) {
      paid = refund;
      refund = minute;
      larger = 0;
    }
    draft_.accounts = {Inflow::any};
    draft_.shop = true;
    add(Flow::payment, 0, 1, paid, amount);
    add(Flow::refund, 1, 0, refund, back);
    draft_.edges = 2;
    draft_.fresh_until = paid + day;
    if (miss_ != Miss::too_small && miss_ != Miss::loses_too_much) add(Flow::payment, 0, 1, larger, more_than(amount));
    return std::move(draft_);
  }

  // Vertices: the customer, perhaps another one, and the shop.
  Draft unpaid_refund() {
    const std::uint64_t amount =
        refunded(miss_ == Miss::too_small ? 300'00 : 500'00, miss_ == Miss::too_small ? 499'00 : 9'999'00);
    draft_.accounts.assign(accounts_of(PlantedKind::unpaid_refund, miss_, number_), Inflow::any);
    draft_.shop = true;
    const std::size_t shop = draft_.accounts.size();
    const Timestamp before = span(minute, 6 * hour);
    const auto refund = [&](Timestamp time) { add(Flow::refund, shop, 0, time, amount); };
    const auto payment = [&](std::size_t account, Timestamp time, std::uint64_t paid) {
      add(Flow::payment, account, shop, time, paid);
    };
    const Unpaid why = miss_ == Miss::nothing ? unpaid_by(number_) : Unpaid::nothing_paid;
    if (miss_ == Miss::paid || why == Unpaid::charged_back || why == Unpaid::another_paid) {
      refund(before);
      payment(why == Unpaid::another_paid ? 1 : 0, 0, more_than(amount));
      if (why == Unpaid::charged_back) draft_.charge_backs.push_back({1, span(minute, 12 * hour)});
    } else if (why == Unpaid::paid_less) {
      refund(before);
      payment(0, 0, part(amount, 500, 990) / 2 * 2);
    } else if (why == Unpaid::paid_later) {
      refund(0);
      payment(0, before, more_than(amount));
    } else if (why == Unpaid::paid_long_before) {
      refund(span(day, longest_draft));
      payment(0, 0, more_than(amount));
    } else {
      refund(0);
    }
    draft_.edges = 1;
    draft_.counted = draft_.payments.size() - 1;
    draft_.fresh_until = draft_.payments[0].time + day;
    return std::move(draft_);
  }

 private:
  std::uint64_t between(std::uint64_t least, std::uint64_t most) { return least + random_.below(most - least + 1); }
  Timestamp span(Timestamp least, Timestamp most) {
    return static_cast<Timestamp>(between(static_cast<std::uint64_t>(least), static_cast<std::uint64_t>(most)));
  }
  std::uint64_t part(std::uint64_t amount, std::uint64_t least, std::uint64_t most) {  // in thousandths
    return amount * between(least, most) / 1000;
  }
  // payments.hpp says what the last digits are for.
  std::uint64_t refunded(std::uint64_t least, std::uint64_t most) { return between(least, most) / 4 * 4 + 1; }
  std::uint64_t more_than(std::uint64_t refunded) { return refunded + 1 + between(0, refunded / 2) / 2 * 2; }

  void add(Flow flow, std::size_t source, std::size_t target, Timestamp time, std::uint64_t amount) {
    draft_.payments.push_back({flow, static_cast<std::uint8_t>(source), static_cast<std::uint8_t>(target), time, amount});
  }

  // Within 12 hours, so that a day has room for a charge-back.
  std::vector<Timestamp> times_in_a_row(std::size_t count) {
    std::vector<Timestamp> times = {0};
    while (times.size() < count) times.push_back(times.back() + span(minute, 12 * hour / static_cast<Timestamp>(count - 1)));
    if (miss_ == Miss::too_slow) {
      const Timestamp later = span(day, longest_draft) - times.back();
      for (std::size_t i = between(1, count - 1); i < count; ++i) times[i] += later;
    }
    if (miss_ == Miss::out_of_order) {
      const std::size_t swapped = between(1, count - 2);
      std::swap(times[swapped], times[swapped + 1]);
    }
    return times;
  }

  const Miss miss_;
  const std::uint32_t number_;
  Random& random_;
  Draft draft_;
};

}  // namespace

Timestamp Draft::closes() const {
  return std::ranges::max_element(payments.begin(), payments.begin() + static_cast<std::ptrdiff_t>(edges), {},
                                  &DraftPayment::time)
      ->time;
}

std::size_t accounts_of(PlantedKind kind, Miss miss, std::uint32_t number) noexcept {
  switch (kind) {
    case PlantedKind::ring:
      return ring_length(miss, number);
    case PlantedKind::smurfing:
      return senders(miss, number) + 2;
    case PlantedKind::refund_round_trip:
      return 1;
    case PlantedKind::fee_chain:
      return 4;
    case PlantedKind::unpaid_refund:
      return miss == Miss::nothing && unpaid_by(number) == Unpaid::another_paid ? 2 : 1;
  }
  return 0;
}

Draft draw_draft(PlantedKind kind, Miss miss, std::uint32_t number, Random& random) {
  Drafter drafter(miss, number, random);
  switch (kind) {
    case PlantedKind::ring:
      return drafter.transfers_in_a_row(true);
    case PlantedKind::smurfing:
      return drafter.smurfing();
    case PlantedKind::refund_round_trip:
      return drafter.round_trip();
    case PlantedKind::fee_chain:
      return drafter.transfers_in_a_row(false);
    case PlantedKind::unpaid_refund:
      return drafter.unpaid_refund();
  }
  return {};
}

std::vector<std::uint8_t> draw_recalled(const Draft& draft, Random& random) {
  if (draft.counted < least_senders || random.below(2) == 0) return {static_cast<std::uint8_t>(random.below(draft.edges))};
  std::vector<std::uint8_t> counted(draft.counted);
  std::iota(counted.begin(), counted.end(), static_cast<std::uint8_t>(draft.edges));
  random.shuffle(std::span(counted));
  counted.resize(draft.counted - least_senders + 1);
  return counted;
}

}  // namespace deltamatch::generate
