#include "generate/payments.hpp"

#include <algorithm>
#include <utility>

#include "generate/payments_plan.hpp"

namespace deltamatch::generate {
namespace {

struct Record {
  bool insert = true;
  Flow flow = Flow::transfer;
  Node source;
  Node target;
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

// A sample of the latest payments, for refunds and charge-backs. An entry's edge exists as long as the entry is younger than
// the window. If an edge is deleted, all its entries are dropped.
class RecentPayments {
 public:
  struct Entry {
    std::uint32_t account;
    std::uint32_t merchant;
    Timestamp time;
  };

  void add(const Entry& entry, Random& random) {
    if (entries_.size() < capacity) {
      entries_.push_back(entry);
    } else {
      entries_[random.below(capacity)] = entry;
    }
  }
  /// Draws a random entry of an existing edge; nullopt if the drawn entry is too old.
  [[nodiscard]] std::optional<Entry> draw(Timestamp now, Timestamp window, Random& random) const {
    if (entries_.empty()) return std::nullopt;
    const Entry& entry = entries_[random.below(entries_.size())];
    if (window != 0 && entry.time + window <= now) return std::nullopt;
    return entry;
  }
  void drop(const Entry& gone) {
    std::erase_if(entries_, [&](const Entry& e) { return e.account == gone.account && e.merchant == gone.merchant; });
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
        open_mules_(cast.open_mules) {}

  Record next(Timestamp now) {
    if (random_.chance(options_.charge_backs)) {
      if (const auto entry = recent_.draw(now, options_.window, random_)) {
        recent_.drop(*entry);
        return {false, Flow::payment, account(entry->account), merchant(entry->merchant)};
      }
    }
    const std::uint64_t share = random_.below(100);
    if (share < 25) return transfer();
    if (share < 35) return {true, Flow::cash_out, account(spenders_(random_)), atm()};
    if (share < 41) {
      const Node shop = merchant(merchants_(random_));
      return {true, Flow::payout, shop, account(anyone())};
    }
    if (share < 44) {
      if (const auto entry = recent_.draw(now, options_.window, random_))
        return {true, Flow::refund, merchant(entry->merchant), account(entry->account)};
    }
    return payment(now);
  }

 private:
  static Node account(std::uint32_t number) { return {Party::account, number}; }
  static Node merchant(std::uint32_t number) { return {Party::merchant, number}; }
  Node atm() { return {Party::atm, static_cast<std::uint32_t>(random_.below(options_.atms))}; }

  std::uint32_t anyone() {
    const std::uint64_t place = random_.below(spenders_.size() + receivers_.size() + mules_.size());
    if (place < spenders_.size()) return spenders_(random_);
    if (place < spenders_.size() + receivers_.size()) return receivers_(random_);
    return mules_[place - spenders_.size() - receivers_.size()];
  }

  Record payment(Timestamp now) {
    const std::uint32_t payer = anyone();
    const std::uint32_t shop = merchants_(random_);
    recent_.add({payer, shop, now}, random_);
    return {true, Flow::payment, account(payer), merchant(shop)};
  }

  Record transfer() {
    const bool passed_on = random_.below(4) == 0;
    std::uint32_t source = passed_on ? receivers_(random_) : spenders_(random_);
    if (!open_mules_.empty() && random_.below(16) == 0)
      return {true, Flow::transfer, account(source), account(open_mules_[random_.below(open_mules_.size())])};
    std::uint32_t target = receivers_(random_);
    while (target == source) target = receivers_(random_);
    if (passed_on && source > target) std::swap(source, target);  // so receivers cannot form a ring
    return {true, Flow::transfer, account(source), account(target)};
  }

  const PaymentsOptions& options_;
  Random& random_;
  WeightedMembers spenders_;
  WeightedMembers receivers_;
  WeightedMembers merchants_;
  const std::vector<std::uint32_t>& mules_;
  const std::vector<std::uint32_t>& open_mules_;
  RecentPayments recent_;
};

// Counts records, keeps their times, and passes them on with their external ids.
class Emitter {
 public:
  Emitter(const PaymentsOptions& options, const std::function<void(const PaymentRecord&)>& take)
      : take_(take), namer_(options) {}

  void emit(const Record& record, Timestamp time, std::uint64_t amount) {
    if (summary.inserts + summary.deletes == 0) summary.first_time = time;
    summary.last_time = time;
    ++(record.insert ? summary.inserts : summary.deletes);
    Update update;
    update.kind = record.insert ? UpdateKind::insert_edge : UpdateKind::delete_edge;
    update.source = namer_(record.source, 0);
    update.target = namer_(record.target, 1);
    update.label = label_of(record.flow);
    update.source_label = label_of(record.source.party);
    update.target_label = label_of(record.target.party);
    update.time = time;
    take_({update, amount});
  }

  PaymentsSummary summary;

 private:
  const std::function<void(const PaymentRecord&)>& take_;
  Namer namer_;
};

}  // namespace

PaymentsSummary generate_payments(const PaymentsOptions& options, const std::function<void(const PaymentRecord&)>& take) {
  Random random(options.seed);
  const PaymentsPlan plan = plan_payments(options, random);
  Background background(options, plan.cast, random);
  Emitter emitter(options, take);

  auto planted = plan.records.begin();
  const auto emit_planted_until = [&](Timestamp time) {
    for (; planted != plan.records.end() && planted->time <= time; ++planted)
      emitter.emit({planted->insert, planted->flow, planted->source, planted->target}, planted->time, planted->amount);
  };
  const std::uint64_t records = options.updates - plan.records.size();
  const std::uint64_t mean_gap = records == 0 ? 0 : static_cast<std::uint64_t>(options.duration) / records;
  Timestamp now = options.start;
  for (std::uint64_t i = 0; i < records; ++i) {
    now += static_cast<Timestamp>(random.exponential(mean_gap));
    emit_planted_until(now);
    const std::uint64_t magnitude = random.below(14);
    const std::uint64_t amount = (std::uint64_t{100} << magnitude) + random.below(std::uint64_t{100} << magnitude);
    emitter.emit(background.next(now), now, amount);
  }
  emit_planted_until(PaymentsPlan::max_time);

  PaymentsSummary summary = std::move(emitter.summary);
  summary.planted = plan.patterns;
  for (PlantedPattern& pattern : summary.planted) {
    if (pattern.vanishes <= summary.last_time) continue;
    pattern.vanishes = 0;
    pattern.end = PlantedEnd::alive;
  }
  return summary;
}

}  // namespace deltamatch::generate
