#include "graph/batch_netting.hpp"

#include <algorithm>
#include <ranges>
#include <tuple>
#include <utility>

namespace deltamatch::graph {

namespace {

// Number of edges that a thread looks for at a time.
constexpr std::size_t find_grain = 256;

}  // namespace

void BatchNetting::run(std::span<const Update> updates, const BatchLookUp& look_up, std::vector<EdgeUpdate>& entries,
                       std::span<const std::uint32_t> unknown_deletes, const Origins& origins, const Expiry& expiry,
                       ResolvedBatch& result) {
  updates_ = updates;
  expiry_ = expiry;
  result_ = &result;
  conflict_ = SIZE_MAX;
  result.passed.clear();
  resolve(unknown_deletes, entries);
  sort(look_up, entries);
  if (result.rebound) name_by_origin(origins, entries);
  find_live(entries);
  for (std::size_t begin = 0; begin < entries.size();) {
    std::size_t end = begin + 1;
    while (end < entries.size() && entries[end].edge == entries[begin].edge) ++end;
    net(std::span(entries).subspan(begin, end - begin), live_[begin] != 0);
    begin = end;
  }
  if (result.rebound) {
    move_untouched(entries);
    put_in_order();
  }
  if (window_ != nullptr && expiry_.at) expire();
}

void BatchNetting::clear() noexcept {
  refreshes_.clear();
  arrivals_.clear();
  moved_.clear();
}

// A deletion whose vertices or label were unknown when it was read deletes nothing. It still is an earlier update of its edge
// if that edge is inserted later in the batch.
void BatchNetting::resolve(std::span<const std::uint32_t> unknown_deletes, std::vector<EdgeUpdate>& entries) {
  std::vector<UnknownEdge> unknown;
  for (const std::uint32_t index : unknown_deletes) {
    const Update& update = updates_[index];
    const VertexId source = graph_->dictionary.find(update.source);
    const VertexId target = graph_->dictionary.find(update.target);
    const auto label = graph_->edge_labels.find(update.label);
    if (source != invalid_vertex && target != invalid_vertex && label) {
      entries.push_back({graph_->ranked(source, target, *label), index});
    } else {
      const bool swap = !graph_->directed() && update.target < update.source;
      unknown.push_back({swap ? update.target : update.source, swap ? update.source : update.target, update.label});
    }
  }
  std::sort(unknown.begin(), unknown.end());
  const auto edges = static_cast<std::uint64_t>(std::unique(unknown.begin(), unknown.end()) - unknown.begin());
  result_->ignored.absent_delete += edges;
  result_->ignored.superseded += unknown.size() - edges;
}

/// Sorts the entries. Those that the look-up knows are sorted already.
void BatchNetting::sort(const BatchLookUp& look_up, std::vector<EdgeUpdate>& entries) {
  foreseen_.assign(updates_.size(), 0);
  std::size_t others = 0;
  for (const EdgeUpdate& entry : entries) {
    if (look_up.predicted(*graph_, entry)) {
      foreseen_[entry.index] = 1;
    } else {
      entries[others++] = entry;
    }
  }
  const std::size_t all = entries.size();
  entries.resize(others);
  sort_edge_updates(entries, spare_, *workers_);
  merged_.clear();
  merged_.reserve(all);
  auto other = entries.begin();
  for (const EdgeUpdate& entry : look_up.sorted()) {
    if (entry.index >= foreseen_.size() || foreseen_[entry.index] == 0) continue;
    for (; other != entries.end() && *other < entry; ++other) merged_.push_back(*other);
    merged_.push_back(entry);
  }
  merged_.insert(merged_.end(), other, entries.end());
  entries.swap(merged_);
}

/// Returns the number under which a vertex from before the batch continues.
VertexId BatchNetting::now(VertexId vertex) const {
  const auto at = moved_.find(vertex);
  return at == moved_.end() ? vertex : at->second;
}

/// Renames edges in the entries by the numbers that their ends had when the batch began. So all updates of an edge are side by
/// side, however its ends have changed.
void BatchNetting::name_by_origin(const Origins& origins, std::vector<EdgeUpdate>& entries) {
  for (const auto& [fresh, before] : origins) moved_.emplace(before, fresh);
  const auto before = [&](VertexId vertex) {
    const auto at = origins.find(vertex);
    return at == origins.end() ? vertex : at->second;
  };
  for (EdgeUpdate& entry : entries) {
    entry.edge = graph_->ranked(before(entry.edge.tail), before(entry.edge.head), entry.edge.which);
  }
  sort_edge_updates(entries, spare_, *workers_);
}

/// Edges of rebound vertices that no update names continue under the fresh numbers. Edges that the watermark has passed do not;
/// `expire` handles them.
void BatchNetting::move_untouched(std::span<const EdgeUpdate> entries) {
  for (const auto& [before, fresh] : moved_) {
    const VertexId vertex = before;
    graph_->for_each_edge(vertex, true, [&](const Edge& edge, Timestamp time) {
      if (edge.head == vertex && edge.tail != vertex && moved_.contains(edge.tail)) return;  // the other end handles it
      const auto touched = std::lower_bound(entries.begin(), entries.end(), edge,
                                            [](const EdgeUpdate& entry, const Edge& wanted) { return entry.edge < wanted; });
      if (touched != entries.end() && touched->edge == edge) return;
      if (expired(time)) return;
      result_->net.removed.push_back(edge);
      insert(now(edge), time);
    });
  }
}

void BatchNetting::insert(const Edge& edge, Timestamp time) {
  if (window_ != nullptr) window_->note(edge, time);
  result_->net.inserted.push_back(edge);
  if (graph_->timed()) result_->net.inserted_times.push_back(time);
}

/// Edges that were moved to new numbers are out of order.
void BatchNetting::put_in_order() {
  NetBatch& net = result_->net;
  std::ranges::sort(net.removed);
  if (net.inserted_times.empty()) {
    std::ranges::sort(net.inserted);
    return;
  }
  std::vector<std::pair<Edge, Timestamp>> timed(net.inserted.size());
  for (std::size_t i = 0; i < timed.size(); ++i) timed[i] = {net.inserted[i], net.inserted_times[i]};
  std::ranges::sort(timed);
  for (std::size_t i = 0; i < timed.size(); ++i) std::tie(net.inserted[i], net.inserted_times[i]) = timed[i];
}

// Each search waits for memory. This takes nearly all the time of netting.
void BatchNetting::find_live(std::span<const EdgeUpdate> entries) {
  live_.resize(entries.size());
  workers_->for_each(entries.size(), find_grain, [&](unsigned, std::size_t begin, std::size_t end) {
    const auto next = [&](std::size_t i) { return i >= begin && i < end ? &entries[i].edge : nullptr; };
    for (std::size_t lead = DataGraph::prefetch_lead; lead > 0; --lead) graph_->prefetch_ahead(next, begin - lead);  // may wrap
    for (std::size_t i = begin; i < end; ++i) {
      graph_->prefetch_ahead(next, i);
      live_[i] = graph_->contains(entries[i].edge) ? 1 : 0;
    }
  });
}

bool BatchNetting::gone_before(Timestamp time, std::uint32_t index) const noexcept {
  if (window_ == nullptr || expiry_.running.empty()) return false;
  const std::size_t record = record_around(updates_, index).first;
  return record > 0 && window_->dead(time, expiry_.running[record - 1]);
}

void BatchNetting::conflict_at_end(Timestamp time) noexcept {
  const auto at = std::ranges::partition_point(expiry_.running, [&](Timestamp mark) { return !window_->dead(time, mark); });
  conflict_ = std::min(conflict_, static_cast<std::size_t>(at - expiry_.running.begin()));
}

void BatchNetting::net_slot(std::span<const EdgeUpdate> entries, bool live) {
  const Edge& edge = entries.front().edge;
  if (graph_->model() == EdgeModel::events) {  // an insertion that the batch deletes again
    for (const EdgeUpdate& entry : entries.first(entries.size() - 1)) {
      if (updates_[entry.index].kind != UpdateKind::delete_vertex) ++result_->ignored.superseded;
    }
  }
  if (live) {
    result_->net.removed.push_back(edge);
    return;
  }
  if (entries.size() > 1) return;
  const Timestamp time = graph_->edge_table->time(edge.which).value_or(0);
  if (late(time, entries.front().index)) {
    ++result_->ignored.late;
    return;
  }
  if (!expiry_.running.empty() && expired(time)) {
    conflict_at_end(time);
    ++result_->ignored.late;
    return;
  }
  insert(result_->rebound ? now(edge) : edge, time);
}

void BatchNetting::net(std::span<const EdgeUpdate> entries, bool live) {
  if (graph_->edge_table) return net_slot(entries, live);
  const Edge& edge = entries.front().edge;
  const std::uint32_t last = entries.back().index;
  const bool timed = graph_->timed();
  const Timestamp before = live && timed ? *graph_->time(edge) : 0;
  bool deleted = false;
  bool stamped = live && timed;
  Timestamp time = before;  // the largest insert time of the edge's present life
  std::uint32_t arrival = last;
  bool too_late = false;  // the last insertion began no life
  const bool by_record = !expiry_.running.empty();
  for (const std::uint32_t index : entries | std::views::transform(&EdgeUpdate::index)) {
    const Update& update = updates_[index];
    if (index != last && update.kind != UpdateKind::delete_vertex) ++result_->ignored.superseded;
    if (!inserts(index)) {
      deleted = true;
      stamped = false;
      continue;
    }
    if (!update.time) continue;
    if (stamped && gone_before(time, index)) conflict_ = std::min(conflict_, record_around(updates_, index).first);
    too_late = by_record && !stamped && late(*update.time, index);
    if (!stamped) arrival = index;
    if (too_late || (stamped && *update.time <= time)) continue;
    stamped = true;
    time = *update.time;
  }
  if (!inserts(last)) {
    if (live) {
      result_->net.removed.push_back(edge);
    } else if (updates_[last].kind == UpdateKind::delete_edge) {
      ++result_->ignored.absent_delete;
    }
    return;
  }
  const Timestamp after = stamped ? time : 0;
  if (too_late || expired(after)) {
    const bool lives_on = by_record && live && !deleted;  // until the watermark passes it in this batch
    if (by_record && !too_late && !lives_on) conflict_at_end(after);
    if (lives_on && after != before) refreshes_.push_back({edge, after});
    ++(lives_on ? result_->ignored.duplicate_insert : result_->ignored.late);
    if (live && deleted) result_->net.removed.push_back(edge);
    return;
  }
  const Edge after_batch = result_->rebound ? now(edge) : edge;
  if (live && after_batch == edge) {
    ++result_->ignored.duplicate_insert;
    if (timed && after != before) {
      if (window_ != nullptr && after < before) window_->note(edge, after);
      refreshes_.push_back({edge, after});
    }
    return;
  }
  if (live) result_->net.removed.push_back(edge);
  insert(after_batch, after);
  if (by_record) arrivals_.push_back({after_batch, arrival});
}

// Removes edges that the new watermark has passed, unless this batch refreshes or deletes them.
void BatchNetting::expire() {
  std::vector<Expired>& passed = result_->passed;
  window_->collect(*graph_, *expiry_.at, passed);
  std::vector<Edge>& removed = result_->net.removed;
  const std::size_t explicit_removals = removed.size();
  std::erase_if(passed, [&](Expired& each) {
    const auto refreshed = std::lower_bound(refreshes_.begin(), refreshes_.end(), each.edge,
                                            [](const Refresh& refresh, const Edge& wanted) { return refresh.edge < wanted; });
    if (refreshed != refreshes_.end() && refreshed->edge == each.edge) {
      each.time = refreshed->time;
      if (!expired(each.time)) {
        window_->note(each.edge, each.time);
        return true;
      }
    }
    const auto end = removed.begin() + static_cast<std::ptrdiff_t>(explicit_removals);
    return std::binary_search(removed.begin(), end, each.edge);
  });
  std::erase_if(refreshes_, [&](const Refresh& refresh) { return expired(refresh.time); });
  for (const Expired& each : passed) removed.push_back(each.edge);
  result_->expired += passed.size();
  std::inplace_merge(removed.begin(), removed.begin() + static_cast<std::ptrdiff_t>(explicit_removals), removed.end());
}

}  // namespace deltamatch::graph
