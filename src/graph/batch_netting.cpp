#include "graph/batch_netting.hpp"

#include <algorithm>
#include <ranges>
#include <tuple>
#include <utility>

namespace deltamatch::graph {

namespace {

// Number of updates that a thread nets at a time. Their edges stay in the first cache.
constexpr std::size_t net_grain = 512;

}  // namespace

void BatchNetting::run(std::span<const Update> updates, const BatchLookUp& look_up, std::span<std::uint8_t> foreseen,
                       EdgeUpdates& entries, std::span<const std::uint32_t> unknown_deletes, const Origins& origins,
                       const Expiry& expiry, ResolvedBatch& result) {
  updates_ = updates;
  foreseen_ = foreseen;
  expiry_ = expiry;
  result_ = &result;
  result.passed.clear();
  resolve(unknown_deletes, entries);
  sort(look_up, entries);
  std::span<const EdgeUpdate> known = look_up.sorted();
  if (result.rebound) {
    merged_.clear();
    merge(known, entries, [&](const EdgeUpdate& entry) { merged_.push_back(entry); });
    entries.swap(merged_);
    known = {};
    name_by_origin(origins, entries);
  }
  cut_ranges(known, entries);
  const std::size_t ranges = ranges_.size() - 1;
  shares_.resize(ranges + 1);  // no more, because all are visited: a small batch may follow a large one
  for (Share& share : shares_) share.clear();
  workers_->for_each(ranges, 1, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const Range& first = ranges_[r];
      const Range& next = ranges_[r + 1];
      net_range(known.subspan(first.foreseen, next.foreseen - first.foreseen),
                std::span(entries).subspan(first.entry, next.entry - first.entry), shares_[r]);
    }
  });
  if (result.rebound) move_untouched(entries, shares_[ranges]);
  gather();
  if (result.rebound) put_in_order();
  if (window_ != nullptr && expiry_.at) expire();
}

void BatchNetting::clear() noexcept {
  refreshes_.clear();
  arrivals_.clear();
  moved_.clear();
}

// A deletion whose vertices or label were unknown when it was read deletes nothing. It still is an earlier update of its edge
// if that edge is inserted later in the batch.
void BatchNetting::resolve(std::span<const std::uint32_t> unknown_deletes, EdgeUpdates& entries) {
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
void BatchNetting::sort(const BatchLookUp& look_up, EdgeUpdates& entries) {
  std::erase_if(entries, [&](const EdgeUpdate& entry) {
    const bool known = look_up.predicted(*graph_, entry);
    if (known) foreseen_[entry.index] = 1;
    return known;
  });
  sort_.run(entries, graph_->dictionary.capacity(), *workers_);
}

template <class Take>
void BatchNetting::merge(std::span<const EdgeUpdate> foreseen, std::span<const EdgeUpdate> entries, Take&& take) const {
  auto other = entries.begin();
  for (const EdgeUpdate& entry : foreseen) {
    if (entry.index >= foreseen_.size() || foreseen_[entry.index] == 0) continue;
    for (; other != entries.end() && *other < entry; ++other) take(*other);
    take(entry);
  }
  for (; other != entries.end(); ++other) take(*other);
}

/// Cuts the updates into ranges, between edges.
void BatchNetting::cut_ranges(std::span<const EdgeUpdate> foreseen, std::span<const EdgeUpdate> entries) {
  const std::span<const EdgeUpdate> longer = foreseen.size() >= entries.size() ? foreseen : entries;
  ranges_.assign(1, Range{});
  const std::size_t grain = workers_->grain(longer.size(), net_grain);
  for (std::size_t at = grain; at < longer.size(); at += grain) {
    while (at < longer.size() && longer[at].edge == longer[at - 1].edge) ++at;
    if (at == longer.size()) break;
    const auto begin_in = [&](std::span<const EdgeUpdate> updates) {
      return static_cast<std::size_t>(std::ranges::lower_bound(updates, longer[at].edge, {}, &EdgeUpdate::edge) -
                                      updates.begin());
    };
    ranges_.push_back({begin_in(foreseen), begin_in(entries)});
  }
  ranges_.push_back({foreseen.size(), entries.size()});
}

void BatchNetting::Share::clear() noexcept {
  entries.clear();
  begins.clear();
  net.clear();
  ignored = {};
  refreshes.clear();
  arrivals.clear();
  noted.clear();
  conflict = SIZE_MAX;
}

void BatchNetting::net_range(std::span<const EdgeUpdate> foreseen, std::span<const EdgeUpdate> entries, Share& share) const {
  merge(foreseen, entries, [&](const EdgeUpdate& entry) {
    if (share.entries.empty() || share.entries.back().edge != entry.edge)
      share.begins.push_back(static_cast<std::uint32_t>(share.entries.size()));
    share.entries.push_back(entry);
  });
  find_live(share);
  for (std::size_t i = 0; i < share.begins.size(); ++i) {
    const std::size_t begin = share.begins[i];
    const std::size_t end = i + 1 < share.begins.size() ? share.begins[i + 1] : share.entries.size();
    net(std::span(share.entries).subspan(begin, end - begin), share.live[i], share);
  }
}

/// Puts what the ranges net to one after the other.
void BatchNetting::gather() {
  conflict_ = SIZE_MAX;
  const auto append = [](auto& all, const auto& some) { all.insert(all.end(), some.begin(), some.end()); };
  NetBatch& net = result_->net;
  for (const Share& share : shares_) {
    append(net.inserted, share.net.inserted);
    append(net.inserted_times, share.net.inserted_times);
    append(net.removed, share.net.removed);
    append(refreshes_, share.refreshes);
    append(arrivals_, share.arrivals);
    result_->ignored += share.ignored;
    conflict_ = std::min(conflict_, share.conflict);
  }
}

void BatchNetting::note_in_window() {
  if (window_ == nullptr) return;
  noted_.assign(updates_.size(), nullptr);
  for (const Share& share : shares_) {
    for (const Noted& noted : share.noted) {
      if (noted.index == no_update) {
        window_->note(noted.edge, noted.time);
      } else {
        noted_[noted.index] = &noted;
      }
    }
  }
  for (const Noted* const noted : noted_) {
    if (noted != nullptr) window_->note(noted->edge, noted->time);
  }
}

/// Returns the number under which a vertex from before the batch continues.
VertexId BatchNetting::now(VertexId vertex) const {
  const auto at = moved_.find(vertex);
  return at == moved_.end() ? vertex : at->second;
}

/// Renames edges in the entries by the numbers that their ends had when the batch began. So all updates of an edge are side by
/// side, however its ends have changed.
void BatchNetting::name_by_origin(const Origins& origins, EdgeUpdates& entries) {
  for (const auto& [fresh, before] : origins) moved_.emplace(before, fresh);
  const auto before = [&](VertexId vertex) {
    const auto at = origins.find(vertex);
    return at == origins.end() ? vertex : at->second;
  };
  for (EdgeUpdate& entry : entries) {
    entry.edge = graph_->ranked(before(entry.edge.tail), before(entry.edge.head), entry.edge.which);
  }
  sort_.run(entries, graph_->dictionary.capacity(), *workers_);
}

/// Edges of rebound vertices that no update names continue under the fresh numbers. Edges that the watermark has passed do not;
/// `expire` handles them.
void BatchNetting::move_untouched(std::span<const EdgeUpdate> entries, Share& moved) const {
  for (const auto& [before, fresh] : moved_) {
    const VertexId vertex = before;
    graph_->for_each_edge(vertex, true, [&](const Edge& edge, Timestamp time) {
      if (edge.head == vertex && edge.tail != vertex && moved_.contains(edge.tail)) return;  // the other end handles it
      const auto touched = std::lower_bound(entries.begin(), entries.end(), edge,
                                            [](const EdgeUpdate& entry, const Edge& wanted) { return entry.edge < wanted; });
      if (touched != entries.end() && touched->edge == edge) return;
      if (expired(time)) return;
      moved.net.removed.push_back(edge);
      insert(now(edge), time, no_update, moved);
    });
  }
}

void BatchNetting::insert(const Edge& edge, Timestamp time, std::uint32_t index, Share& share) const {
  if (window_ != nullptr) share.noted.push_back({edge, time, index});
  share.net.inserted.push_back(edge);
  if (graph_->timed()) share.net.inserted_times.push_back(time);
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

// Searching takes nearly all the time of netting.
void BatchNetting::find_live(Share& share) const {
  share.live.resize(share.begins.size());
  graph_->find_edges(
      share.begins.size(), [&](std::size_t i) -> const Edge& { return share.entries[share.begins[i]].edge; },
      [&](std::size_t i, std::optional<Timestamp> time) { share.live[i] = time; });
}

bool BatchNetting::gone_before(Timestamp time, std::uint32_t index) const noexcept {
  if (window_ == nullptr || expiry_.running.empty()) return false;
  const std::size_t record = record_around(updates_, index).first;
  return record > 0 && window_->dead(time, expiry_.running[record - 1]);
}

std::size_t BatchNetting::end_of(Timestamp time) const noexcept {
  const auto at = std::ranges::partition_point(expiry_.running, [&](Timestamp mark) { return !window_->dead(time, mark); });
  return static_cast<std::size_t>(at - expiry_.running.begin());
}

void BatchNetting::net_slot(std::span<const EdgeUpdate> entries, bool live, Share& share) const {
  const Edge& edge = entries.front().edge;
  if (graph_->model() == EdgeModel::events) {  // an insertion that the batch deletes again
    for (const EdgeUpdate& entry : entries.first(entries.size() - 1)) {
      if (updates_[entry.index].kind != UpdateKind::delete_vertex) ++share.ignored.superseded;
    }
  }
  if (live) {
    share.net.removed.push_back(edge);
    return;
  }
  if (entries.size() > 1) return;
  const Timestamp time = graph_->edge_table->time(edge.which).value_or(0);
  if (late(time, entries.front().index)) {
    ++share.ignored.late;
    return;
  }
  if (!expiry_.running.empty() && expired(time)) {
    share.conflict = std::min(share.conflict, end_of(time));
    ++share.ignored.late;
    return;
  }
  insert(result_->rebound ? now(edge) : edge, time, entries.front().index, share);
}

void BatchNetting::net(std::span<const EdgeUpdate> entries, std::optional<Timestamp> settled, Share& share) const {
  const bool live = settled.has_value();
  if (graph_->edge_table) return net_slot(entries, live, share);
  const Edge& edge = entries.front().edge;
  const std::uint32_t last = entries.back().index;
  const bool timed = graph_->timed();
  const Timestamp before = settled.value_or(0);
  bool deleted = false;
  bool stamped = live && timed;
  Timestamp time = before;  // the largest insert time of the edge's present life
  std::uint32_t arrival = last;
  bool too_late = false;  // the last insertion began no life
  const bool by_record = !expiry_.running.empty();
  for (const std::uint32_t index : entries | std::views::transform(&EdgeUpdate::index)) {
    const Update& update = updates_[index];
    if (index != last && update.kind != UpdateKind::delete_vertex) ++share.ignored.superseded;
    if (!inserts(index)) {
      deleted = true;
      stamped = false;
      continue;
    }
    if (!update.time) continue;
    if (stamped && gone_before(time, index)) share.conflict = std::min(share.conflict, record_around(updates_, index).first);
    too_late = by_record && !stamped && late(*update.time, index);
    if (!stamped) arrival = index;
    if (too_late || (stamped && *update.time <= time)) continue;
    stamped = true;
    time = *update.time;
  }
  if (!inserts(last)) {
    if (live) {
      share.net.removed.push_back(edge);
    } else if (updates_[last].kind == UpdateKind::delete_edge) {
      ++share.ignored.absent_delete;
    }
    return;
  }
  const Timestamp after = stamped ? time : 0;
  if (too_late || expired(after)) {
    const bool lives_on = by_record && live && !deleted;  // until the watermark passes it in this batch
    if (by_record && !too_late && !lives_on) share.conflict = std::min(share.conflict, end_of(after));
    if (lives_on && after != before) share.refreshes.push_back({edge, after});
    ++(lives_on ? share.ignored.duplicate_insert : share.ignored.late);
    if (live && deleted) share.net.removed.push_back(edge);
    return;
  }
  const Edge after_batch = result_->rebound ? now(edge) : edge;
  if (live && after_batch == edge) {
    ++share.ignored.duplicate_insert;
    if (timed && after != before) {
      if (window_ != nullptr && after < before) share.noted.push_back({edge, after, last});
      share.refreshes.push_back({edge, after});
    }
    return;
  }
  if (live) share.net.removed.push_back(edge);
  insert(after_batch, after, last, share);
  if (by_record) share.arrivals.push_back({after_batch, arrival});
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
