#include "generate/payments.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "generate/payments_plan.hpp"

namespace deltamatch::generate {
namespace {

constexpr Timestamp day = 86'400LL * 1'000'000;
constexpr std::uint64_t most_small = 500'00;     // of transfers
constexpr std::uint64_t least_large = 1'000'00;  // of transfers
constexpr std::uint64_t least_refund = 500'00;   // from which on a full refund is a round trip

struct Record {
  bool insert = true;
  Flow flow = Flow::transfer;
  Node source;
  Node target;
  std::uint64_t amount = 0;   // nothing, if it deletes
  std::uint64_t payment = 0;  // the number of the payment that it deletes
};

// Draws from a list whose first entries are the most active.
class WeightedMembers {
 public:
  WeightedMembers(std::vector<std::uint32_t> members, double exponent)
      : members_(std::move(members)),
        draw_(power_law_weights(static_cast<std::uint32_t>(members_.size()), 1, 1 / (exponent - 1))) {}
  std::uint32_t operator()(Random& random) const { return members_[draw_(random)]; }
  [[nodiscard]] std::size_t size() const { return members_.size(); }

 private:
  std::vector<std::uint32_t> members_;
  AliasTable draw_;
};

// A sample of the latest payments, for refunds and charge-backs. With one that is taken, all entries of its account and
// merchant go. So no payment is charged back that came before a refund between the two. And a deletion finds its edge also if
// equal ends are one edge.
class RecentPayments {
 public:
  struct Entry {
    std::uint32_t account;
    std::uint32_t merchant;
    Timestamp time;
    std::uint64_t amount;
    std::uint64_t number;
  };

  void add(const Entry& entry, Random& random) {
    if (entries_.size() < capacity) {
      entries_.push_back(entry);
    } else {
      entries_[random.below(capacity)] = entry;
    }
  }
  /// Takes a random entry; nullopt if it is of this time, or of `age` before or more.
  [[nodiscard]] std::optional<Entry> take(Timestamp now, Timestamp age, Random& random) {
    if (entries_.empty()) return std::nullopt;
    const Entry entry = entries_[random.below(entries_.size())];
    if (entry.time == now || entry.time + age <= now) return std::nullopt;
    std::erase_if(entries_, [&](const Entry& e) { return e.account == entry.account && e.merchant == entry.merchant; });
    return entry;
  }

 private:
  static constexpr std::size_t capacity = 8192;
  std::vector<Entry> entries_;
};

std::vector<std::uint32_t> shuffled(std::uint32_t count, Random& random) {
  std::vector<std::uint32_t> numbers(count);
  for (std::uint32_t i = 0; i < count; ++i) numbers[i] = i;
  random.shuffle(std::span(numbers));
  return numbers;
}

// Everyday payments. payments.hpp says what they must not contain, and why they do not.
class Background {
 public:
  Background(const PaymentsOptions& options, const Cast& cast, Random& random)
      : options_(options),
        random_(random),
        spenders_(cast.spenders, options.exponent),
        receivers_(cast.receivers, options.exponent),
        merchants_(shuffled(options.merchants, random), options.exponent),
        mules_(cast.mules),
        open_mules_(cast.open_mules),
        paying_mules_(cast.paying_mules) {}

  /// `number`: that of the payment which this record is, unless it deletes one.
  Record next(Timestamp now, std::uint64_t number) {
    if (random_.chance(options_.charge_backs)) {
      if (const auto entry = recent_.take(now, day, random_))
        return {false, Flow::payment, account(entry->account), merchant(entry->merchant), 0, entry->number};
    }
    const std::uint64_t share = random_.below(100);
    if (share < 25) return transfer();
    if (share < 35) return {true, Flow::cash_out, account(spenders_(random_)), atm(), amount(14)};
    if (share < 41) {
      const Node shop = merchant(merchants_(random_));
      return {true, Flow::payout, shop, account(anyone(mules_)), amount(14)};
    }
    if (share < 44) {
      if (const auto entry = recent_.take(now, day / 2, random_)) return refund(*entry);
    }
    return payment(now, number);
  }

 private:
  static Node account(std::uint32_t number) { return {Party::account, number}; }
  static Node merchant(std::uint32_t number) { return {Party::merchant, number}; }
  Node atm() { return {Party::atm, static_cast<std::uint32_t>(random_.below(options_.atms))}; }

  // From 1.00 up to 2^magnitudes, with each power of two as likely.
  std::uint64_t amount(unsigned magnitudes) {
    const std::uint64_t magnitude = random_.below(magnitudes);
    return (std::uint64_t{100} << magnitude) + random_.below(std::uint64_t{100} << magnitude);
  }
  std::uint64_t small() { return std::min(amount(9), most_small); }
  std::uint64_t large() { return least_large + random_.below(9'000'00); }

  std::uint32_t anyone(const std::vector<std::uint32_t>& mules) {
    const std::uint64_t place = random_.below(spenders_.size() + receivers_.size() + mules.size());
    if (place < spenders_.size()) return spenders_(random_);
    if (place < spenders_.size() + receivers_.size()) return receivers_(random_);
    return mules[place - spenders_.size() - receivers_.size()];
  }

  Record payment(Timestamp now, std::uint64_t number) {
    const std::uint32_t payer = anyone(paying_mules_);
    const std::uint32_t shop = merchants_(random_);
    std::uint64_t price = amount(12);
    if (price >= least_refund) price -= price % 2;
    recent_.add({payer, shop, now, price, number}, random_);
    return {true, Flow::payment, account(payer), merchant(shop), price};
  }

  Record refund(const RecentPayments::Entry& entry) {
    std::uint64_t back = entry.amount;
    if (back >= least_refund) {
      back = back * (100 + random_.below(800)) / 1000;
      if (back >= least_refund) back = back / 4 * 4 + 3;
    }
    return {true, Flow::refund, merchant(entry.merchant), account(entry.account), back};
  }

  Record transfer() {
    if (!open_mules_.empty() && random_.below(16) == 0) return to_mule(open_mules_[random_.below(open_mules_.size())]);
    const bool passed_on = random_.below(4) == 0;
    std::uint32_t source = passed_on ? receivers_(random_) : spenders_(random_);
    std::uint32_t target = receivers_(random_);
    while (target == source) target = receivers_(random_);
    if (!passed_on) return {true, Flow::transfer, account(source), account(target), random_.below(2) == 0 ? small() : large()};
    if (source > target) std::swap(source, target);  // so receivers cannot form a ring
    constexpr std::array<std::uint64_t, 4> round = {1'000'00, 2'000'00, 5'000'00, 10'000'00};
    return {true, Flow::transfer, account(source), account(target), random_.below(2) == 0 ? small() : round[random_.below(4)]};
  }

  // What an account passes on to a mule is small. Otherwise it could be the second payment of a chain.
  Record to_mule(const OpenMule& mule) {
    const bool much = mule.inflow == Inflow::large || (mule.inflow == Inflow::any && random_.below(2) == 0);
    const bool passed_on = !much && random_.below(4) == 0;
    return {true, Flow::transfer, account(passed_on ? receivers_(random_) : spenders_(random_)), account(mule.account),
            much ? large() : small()};
  }

  const PaymentsOptions& options_;
  Random& random_;
  WeightedMembers spenders_;
  WeightedMembers receivers_;
  WeightedMembers merchants_;
  const std::vector<std::uint32_t>& mules_;
  const std::vector<OpenMule>& open_mules_;
  const std::vector<std::uint32_t>& paying_mules_;
  RecentPayments recent_;
};

// How a payment came about. It follows from its number, so that it takes nothing from the random sequence.
std::string_view channel_of(Flow flow, std::uint64_t payment) {
  constexpr std::array<std::string_view, 4> transfers = {"web", "app", "app", "branch"};
  constexpr std::array<std::string_view, 4> others = {"card", "card", "web", "app"};
  if (flow == Flow::cash_out) return "atm";
  return (flow == Flow::transfer ? transfers : others)[mix(payment) % 4];
}

// Counts and numbers records, keeps their times, and passes them on with their external ids.
class Emitter {
 public:
  Emitter(const PaymentsOptions& options, const std::function<void(const PaymentRecord&)>& take)
      : take_(take), namer_(options) {}

  /// Returns the number of the payment.
  std::uint64_t emit(const Record& record, Timestamp time) {
    if (summary.inserts + summary.deletes == 0) summary.first_time = time;
    summary.last_time = time;
    ++(record.insert ? summary.inserts : summary.deletes);
    const std::uint64_t payment = record.insert ? summary.inserts : record.payment;
    Properties properties;
    properties.key = namer_.key(payment);
    Update update;
    update.kind = record.insert ? UpdateKind::insert_edge : UpdateKind::delete_edge;
    update.source = namer_(record.source, 0);
    update.target = namer_(record.target, 1);
    update.label = label_of(record.flow);
    update.source_label = label_of(record.source.party);
    update.target_label = label_of(record.target.party);
    update.time = time;
    update.properties = &properties;
    take_({update, record.amount, record.insert ? channel_of(record.flow, payment) : std::string_view()});
    return payment;
  }
  [[nodiscard]] std::string key(std::uint64_t payment) {
    const Id id = namer_.key(payment);
    return id.is_text() ? std::string(id.text()) : std::to_string(id.number());
  }

  PaymentsSummary summary;

 private:
  const std::function<void(const PaymentRecord&)>& take_;
  Namer namer_;
};

}  // namespace

PaymentsSummary generate_payments(const PaymentsOptions& options, const std::function<void(const PaymentRecord&)>& take) {
  Random random(options.seed);
  PaymentsPlan plan = plan_payments(options, random);
  Background background(options, plan.cast, random);
  Emitter emitter(options, take);

  std::vector<std::vector<std::uint64_t>> payments(plan.patterns.size());  // the numbers of each pattern's payments
  auto planted = plan.records.begin();
  const auto emit_planted_until = [&](Timestamp time) {
    for (; planted != plan.records.end() && planted->time <= time; ++planted) {
      auto& numbers = payments[planted->pattern];
      Record record{planted->insert, planted->flow, planted->source, planted->target, planted->amount};
      if (!record.insert) record.payment = numbers.at(planted->place);
      const std::uint64_t number = emitter.emit(record, planted->time);
      if (!record.insert || planted->place == PlantedRecord::beside) continue;
      numbers.resize(std::max(numbers.size(), planted->place + std::size_t{1}));
      numbers[planted->place] = number;
    }
  };
  const std::uint64_t records = options.updates - plan.records.size();
  const std::uint64_t mean_gap = records == 0 ? 0 : static_cast<std::uint64_t>(options.duration) / records;
  Timestamp now = options.start;
  for (std::uint64_t i = 0; i < records; ++i) {
    now += static_cast<Timestamp>(random.exponential(mean_gap));
    emit_planted_until(now);
    emitter.emit(background.next(now, emitter.summary.inserts + 1), now);
  }
  emit_planted_until(PaymentsPlan::max_time);

  for (std::size_t i = 0; i < payments.size(); ++i) {
    PlantedPattern& pattern = plan.patterns[i];
    for (std::size_t place = 0; place < payments[i].size(); ++place)
      (place < plan.edges[i] ? pattern.keys : pattern.counted).push_back(emitter.key(payments[i][place]));
  }
  std::ranges::sort(plan.patterns, {}, [](const PlantedPattern& p) { return std::tie(p.closes, p.name); });
  emitter.summary.planted = std::move(plan.patterns);
  return std::move(emitter.summary);
}

}  // namespace deltamatch::generate
