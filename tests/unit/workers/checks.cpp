#include "unit/workers/checks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace deltamatch::ingest::workers {

void violate(std::string what) { throw Violation{std::move(what)}; }

Checks::Checks(const Layout& layout, const Broker& broker)
    : layout_(layout), broker_(&broker), published_(layout.slots), bindings_(layout.slots), seen_(layout.alert_partitions) {}

void Checks::before_cut(const Cut& cut) const {
  const auto open = broker_->open(layout_.leader_id(), Layout::cuts);
  if (open.size() != 1 || !(open.front().cut == cut)) violate("a transaction holds another cut than its leader committed");
  if (cut.batch() != cuts() + 1) violate(fmt::format("cut {} is committed after cut {}", cut.batch(), cuts()));
  Graph graph;
  for (const CommitPoint& mark : marks_) graph.take(mark);
  const std::uint64_t before = graph.end;
  graph.take(cut.mark);
  if (graph.end < before) violate("a cut ends before the one before it");
  if (cut.mark.digest != graph.digest()) violate(fmt::format("the leader's graph is not that of cut {}", cut.batch()));
}

void Checks::after_cut(const Cut& cut) {
  const std::uint64_t begin = end();
  marks_.push_back(cut.mark);
  for (Slot slot = 0; slot < layout_.slots; ++slot) {
    std::vector<Alert>& part = parts_[{cut.batch(), slot}];
    part = published_of(part_of(begin, end(), slot, layout_.slots), bindings_[slot]);
    for (const Alert& alert : part) ++expected_[{alert.match, alert.sign}];
  }
}

std::uint64_t Checks::end() const {
  return marks_.empty() ? 0 : static_cast<std::uint64_t>(marks_.back().ends.at(input_partition));
}

void Checks::before_part(Slot slot, std::uint64_t batch) {
  const auto done = broker_->open(slot, layout_.progress(slot));
  if (done.size() != 1 || done.front().number != batch) violate("a transaction holds other progress than its worker committed");
  const std::uint64_t before = published_[slot];
  if (batch <= before) violate(fmt::format("slot {} of batch {} is published twice", slot, batch));
  if (batch != before + 1) violate(fmt::format("slot {} is published up to {}, then {}", slot, before, batch));
  if (batch > cuts()) violate(fmt::format("slot {} of batch {} is published, and there is no such cut", slot, batch));
  for (Slot other = 0; other < layout_.slots; ++other) {
    if (published_[other] + 1 >= batch) continue;
    violate(fmt::format("batch {} begins in slot {}, before slot {} ends the one before", batch, slot, other));
  }
  std::vector<Alert> alerts;
  for (std::size_t partition = layout_.alerts(0); partition < layout_.partitions(); ++partition) {
    for (const Payload& record : broker_->open(slot, partition)) alerts.push_back(record.alert);
  }
  std::vector<Alert> wanted = parts_.at({batch, slot});
  const auto by_match = [](const Alert& alert) { return std::pair(alert.match, alert.sign); };
  std::ranges::sort(alerts, {}, by_match);
  std::ranges::sort(wanted, {}, by_match);
  if (alerts != wanted) {
    violate(fmt::format("slot {} of batch {} has {} alerts instead of {}", slot, batch, alerts.size(), wanted.size()));
  }
  published_[slot] = batch;
}

void Checks::look_at_alerts() {
  for (std::size_t partition = 0; partition < seen_.size(); ++partition) {
    while (const Payload* record = broker_->read(layout_.alerts(0) + partition, seen_[partition])) {
      const Alert& alert = record->alert;
      if (++visible_[{alert.match, alert.sign}] > 1) {
        violate(fmt::format("the alert {}{} is visible twice", alert.sign, alert.match));
      }
      if (alert.sign == '-' && !visible_.contains({alert.match, '+'})) {
        violate(fmt::format("-{} is visible before +{}", alert.match, alert.match));
      }
    }
  }
}

void Checks::at_the_end(std::uint64_t records) const {
  if (end() != records) violate("the input is not cut to its end");
  for (Slot slot = 0; slot < layout_.slots; ++slot) {
    if (published_[slot] == cuts()) continue;
    violate(fmt::format("slot {} is published up to batch {} of {}", slot, published_[slot], cuts()));
  }
  if (visible_ != expected_) violate("an alert never became visible");
}

}  // namespace deltamatch::ingest::workers
