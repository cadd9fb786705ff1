// The running watermark, and the marks that edges of the net batch get of it.
#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

#include "graph/batch_resolver.hpp"

namespace deltamatch::graph {

/// Notes the running watermark after the record that ends before `last`.
void BatchResolver::note_running(std::size_t last, bool refused, Reading& reading) {
  if (!reading.marks) return;
  const auto& steps = reading.steps;
  for (; steps && reading.step < steps->size() && (*steps)[reading.step].first < last; ++reading.step)
    reading.risen = std::max(reading.risen, std::optional((*steps)[reading.step].time));
  // If the source sets the watermark and states no steps, it rises with the times of the records, up to what was set.
  const bool rises_with_times = reading.sets_watermark && !steps;
  for (std::size_t i = running_.size(); rises_with_times && !refused && i < last; ++i) {
    if (!updates_[i].ahead) reading.risen = std::max(reading.risen, std::min(updates_[i].time, result_.watermark));
  }
  running_.resize(last, (steps || reading.sets_watermark ? reading.risen : result_.watermark).value_or(INT64_MIN));
}

void BatchResolver::see_times(std::span<const Update> record) {
  for (const Update& update : record) {
    if (update.time && !update.ahead && (!result_.watermark || *update.time > *result_.watermark))
      result_.watermark = update.time;
  }
}

/// Counts the insertions of the last record read that came too late.
void BatchResolver::see_lateness(std::span<const Update> record) {
  if (!allowed_lateness_) return;
  Timestamp least = 0;
  if (__builtin_sub_overflow(running_.back(), *allowed_lateness_, &least)) return;
  for (const Update& update : record) {
    if (update.kind == UpdateKind::insert_edge && update.time && *update.time < least) ++result_.out_of_order;
  }
}

/// Gives each edge of the net batch the running watermark after the record that changed it. An edge whose end got a fresh
/// number is changed by the batch as a whole. One that has expired is changed by no record.
void BatchResolver::mark_net() {
  boost::unordered_flat_map<Slot, std::uint32_t> changed_by;
  changed_by.reserve(entries_.size());
  for (const EdgeUpdate& entry : entries_) changed_by[entry.edge.which] = entry.index;
  const Timestamp last = result_.watermark.value_or(INT64_MIN);
  const auto mark = [&](const Edge& edge, Timestamp otherwise) {
    const auto at = changed_by.find(edge.which);
    return at == changed_by.end() ? otherwise : running_[at->second];
  };
  for (const Edge& edge : result_.net.inserted) result_.inserted_marks.push_back(mark(edge, last));
  for (const Edge& edge : result_.net.removed) {
    const bool moves =
        result_.rebound && netting_.now(edge) != edge && !netting_.expired(graph_->edge_table->time(edge.which).value_or(0));
    result_.removed_marks.push_back(mark(edge, moves ? last : INT64_MAX));
  }
}

/// The same for edges without slots, whose removals need no marks.
void BatchResolver::mark_simple() {
  const Timestamp last = result_.watermark.value_or(INT64_MIN);
  std::vector<EdgeUpdate> sorted;
  std::span<const EdgeUpdate> arrivals = netting_.arrivals();
  if (result_.rebound) {
    sorted.assign(arrivals.begin(), arrivals.end());
    std::ranges::sort(sorted);
    arrivals = sorted;
  }
  auto at = arrivals.begin();
  for (const Edge& edge : result_.net.inserted) {
    while (at != arrivals.end() && at->edge < edge) ++at;
    result_.inserted_marks.push_back(at == arrivals.end() || at->edge != edge ? last : running_[at->index]);
  }
}

}  // namespace deltamatch::graph
