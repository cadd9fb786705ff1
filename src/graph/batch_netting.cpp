#include "graph/batch_netting.hpp"

#include <algorithm>
#include <ranges>

namespace deltamatch::graph {

namespace {

// Edges that a thread looks for at a time.
constexpr std::size_t find_grain = 256;

}  // namespace

void BatchNetting::run(std::span<const Update> updates, const BatchLookUp& look_up, std::vector<EdgeUpdate>& entries,
                       std::span<const std::uint32_t> unknown_deletes, Origins&& origins, ResolvedBatch& result) {
  updates_ = updates;
  origins_ = std::move(origins);
  result_ = &result;
  resolve(unknown_deletes, entries);
  sort(look_up, entries);
  if (result.rebound) find_last_updates(entries);
  find_live(entries);
  for (std::size_t begin = 0; begin < entries.size();) {
    std::size_t end = begin + 1;
    while (end < entries.size() && entries[end].edge == entries[begin].edge) ++end;
    net(std::span(entries).subspan(begin, end - begin), live_[begin] != 0);
    begin = end;
  }
  if (window_ != nullptr && result.watermark) expire();
}

void BatchNetting::clear() noexcept {
  refreshes_.clear();
  last_update_.clear();
  origins_.clear();
}

// A deletion whose vertices or label were unknown when it was read deletes nothing; it still is an earlier update of its edge
// where that edge is inserted later in the batch.
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

/// Those that the look-up has told have their order already.
void BatchNetting::sort(const BatchLookUp& look_up, std::vector<EdgeUpdate>& entries) {
  foreseen_.assign(updates_.size(), 0);
  std::size_t others = 0;
  for (const EdgeUpdate& entry : entries) {
    if (look_up.foresaw(*graph_, entry)) {
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
    if (foreseen_[entry.index] == 0) continue;
    for (; other != entries.end() && *other < entry; ++other) merged_.push_back(*other);
    merged_.push_back(entry);
  }
  merged_.insert(merged_.end(), other, entries.end());
  entries.swap(merged_);
}

// The edge as the stream knows it: by the number that its ends had when the batch began.
Edge BatchNetting::original(const Edge& edge) const {
  const auto first = [&](VertexId vertex) {
    for (auto at = origins_.find(vertex); at != origins_.end(); at = origins_.find(vertex)) vertex = at->second;
    return vertex;
  };
  return graph_->ranked(first(edge.tail), first(edge.head), edge.label);
}

void BatchNetting::find_last_updates(std::span<const EdgeUpdate> entries) {
  for (const EdgeUpdate& entry : entries) {
    auto& last = last_update_[original(entry.edge)];
    last = std::max(last, entry.index);
  }
}

// Each search waits for memory: nearly all that netting takes.
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

void BatchNetting::net(std::span<const EdgeUpdate> entries, bool live) {
  const Edge& edge = entries.front().edge;
  const std::uint32_t last = entries.back().index;
  const std::uint32_t stream_last = result_->rebound ? last_update_[original(edge)] : last;
  bool deleted = false;
  bool stamped = false;
  Timestamp time = 0;  // the largest insert time since the last deletion
  for (const std::uint32_t index : entries | std::views::transform(&EdgeUpdate::index)) {
    const Update& update = updates_[index];
    if (index != stream_last && update.kind != UpdateKind::delete_vertex) ++result_->ignored.superseded;
    if (!inserts(index)) {
      deleted = true;
      stamped = false;
    } else if (update.time && (!stamped || *update.time > time)) {
      stamped = true;
      time = *update.time;
    }
  }
  if (!inserts(last)) {
    if (live) {
      result_->net.removed.push_back(edge);
    } else if (updates_[last].kind == UpdateKind::delete_edge && last == stream_last &&
               !(result_->rebound && graph_->contains(original(edge)))) {
      ++result_->ignored.absent_delete;
    }
    return;
  }
  const bool timed = graph_->timed();
  const Timestamp before = live && timed ? *graph_->time(edge) : 0;
  Timestamp after = stamped ? time : 0;
  if (live && timed && !deleted) after = std::max(after, before);
  if (window_ != nullptr && result_->watermark && window_->dead(after, *result_->watermark)) {
    ++result_->ignored.late;
    if (live && deleted) result_->net.removed.push_back(edge);
  } else if (live) {
    ++result_->ignored.duplicate_insert;
    if (timed && after != before) {
      if (window_ != nullptr && after < before) window_->note(edge, after);
      refreshes_.push_back({edge, after});
    }
  } else {
    if (window_ != nullptr) window_->note(edge, after);
    result_->net.inserted.push_back(edge);
    if (timed) result_->net.inserted_times.push_back(after);
  }
}

// Edges that the new watermark leaves behind, unless this batch refreshes or deletes them.
void BatchNetting::expire() {
  expired_.clear();
  window_->collect(*graph_, *result_->watermark, expired_);
  std::vector<Edge>& removed = result_->net.removed;
  const std::size_t explicit_removals = removed.size();
  for (const Edge& edge : expired_) {
    const auto refreshed = std::lower_bound(refreshes_.begin(), refreshes_.end(), edge,
                                            [](const Refresh& refresh, const Edge& wanted) { return refresh.edge < wanted; });
    if (refreshed != refreshes_.end() && refreshed->edge == edge) {
      window_->note(edge, refreshed->time);
      continue;
    }
    if (std::binary_search(removed.begin(), removed.begin() + static_cast<std::ptrdiff_t>(explicit_removals), edge)) continue;
    removed.push_back(edge);
    ++result_->expired;
  }
  std::inplace_merge(removed.begin(), removed.begin() + static_cast<std::ptrdiff_t>(explicit_removals), removed.end());
}

}  // namespace deltamatch::graph
