// Updates of edges with keys: each record of a key makes a new version of its edge.
#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>

#include "graph/batch_resolver.hpp"

namespace deltamatch::graph {

/// Prefetches for the updates before `step`, in stages, in a graph of the model `keyed`.
void BatchResolver::fetch_keyed(std::size_t step) {
  const EdgeTable& table = *graph_->edge_table;
  const EdgeKeys& keys = table.keys();
  const auto at = [&](std::size_t behind, auto&& stage) {
    if (step >= behind && step - behind < updates_.size()) stage(step - behind);
  };
  at(0, [&](std::size_t i) { keys.fetch_entry(key_hashes_[i] = updates_[i].key() ? keys.hash(*updates_[i].key()) : 0); });
  at(8, [&](std::size_t i) {
    const Slot slot = keys.peek(key_hashes_[i]);
    if (slot == no_slot) return;
    keys.fetch(slot);
    table.fetch(slot);
  });
  at(16, [&](std::size_t i) {
    const Slot slot = keys.peek(key_hashes_[i]);
    if (slot != no_slot) keys.fetch_text(slot);
  });
}

/// Reads an insertion in a graph of the model `keyed`: the edge with this key gets a new version. `like` has its ends and
/// label.
void BatchResolver::read_keyed(const Update& update, std::uint32_t index, const Edge& like) {
  EdgeKeys& keys = graph_->edge_table->keys();
  const EdgeKeys::Place place = keys.find(*update.key(), key_hashes_[index]);
  const Slot before = keys.now(place);
  if (timely(update) && (deletions_->newest(update) > update.time || loses_to(before, update))) {
    ++result_.ignored.superseded;
    return;
  }
  const Slot slot = create_slot(update, like);
  keys.touch(place, slot, true);
  if (before != no_slot) drop_slot(edge_of(before), index);
  entries_.push_back({{like.tail, like.head, slot}, index});
}

/// Whether an edge lives, at this point of the batch, and is newer than a record of it.
bool BatchResolver::loses_to(Slot live, const Update& update) const {
  return live != no_slot && graph_->edge_table->time(live) > update.time;
}

/// Reads a deletion in a graph of the model `keyed`, or an insertion that makes the edge a self-loop. The key alone says which
/// edge.
std::optional<RejectReason> BatchResolver::delete_keyed(const Update& update, std::uint32_t index) {
  const std::optional<Id> name = update.key();
  if (!name) return RejectReason::missing_key;
  EdgeKeys& keys = graph_->edge_table->keys();
  const EdgeKeys::Place place = keys.find(*name, key_hashes_[index]);
  const Slot before = keys.now(place);
  if (timely(update)) {
    if (!passed(*update.time)) deletions_->note(update);
    if (loses_to(before, update)) {
      if (update.kind == UpdateKind::delete_edge) ++result_.ignored.superseded;
      return std::nullopt;
    }
  }
  if (before == no_slot) {
    if (update.kind == UpdateKind::delete_edge) ++result_.ignored.absent_delete;
    return std::nullopt;
  }
  keys.touch(place, no_slot, update.kind == UpdateKind::delete_edge);
  drop_slot(edge_of(before), index);
  return std::nullopt;
}

/// Counts the records of each key, and leaves out edges whose last version in the batch equals the one before it.
///
/// Of the records that name a key, each but the last is superseded. The last is superseded too if it inserts, and the deletion
/// of a vertex then removed the edge again.
void BatchResolver::net_keys() {
  const EdgeTable& table = *graph_->edge_table;
  boost::unordered_flat_set<Slot> unchanged;
  const auto late = [&](Slot slot) {
    return window_ != nullptr && !std::ranges::binary_search(result_.net.inserted, netting_.now(origin(edge_of(slot))));
  };
  for (const EdgeKeys::Version& edge : table.keys().versions()) {
    const bool undone = edge.now == no_slot && !edge.deleted;
    result_.ignored.superseded += edge.records - (edge.records > 0 && !undone ? 1 : 0);
    const Slot before = edge.before;
    if (edge.now == no_slot || before == no_slot || late(edge.now)) continue;
    const Edge a = edge_of(before);
    const Edge b = edge_of(edge.now);
    const Edge b_before = origin(b);
    const bool same = a.tail == b_before.tail && a.head == b_before.head && table.alike(before, edge.now);
    if (same && netting_.now(a) == a) {
      ++result_.ignored.duplicate_insert;
      unchanged.insert(before);
      unchanged.insert(edge.now);
    } else {
      result_.replaced = true;
    }
  }
  if (unchanged.empty()) return;
  NetBatch& net = result_.net;
  std::erase_if(net.removed, [&](const Edge& edge) { return unchanged.contains(edge.which); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < net.inserted.size(); ++i) {
    if (unchanged.contains(net.inserted[i].which)) continue;
    net.inserted[kept] = net.inserted[i];
    if (!net.inserted_times.empty()) net.inserted_times[kept] = net.inserted_times[i];
    ++kept;
  }
  net.inserted.resize(kept);
  if (!net.inserted_times.empty()) net.inserted_times.resize(kept);
}

}  // namespace deltamatch::graph
