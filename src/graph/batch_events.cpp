// Updates of events: a deletion takes the newest of parallel edges.
#include <algorithm>
#include <utility>

#include "base/prefetch.hpp"
#include "graph/batch_resolver.hpp"

namespace deltamatch::graph {

/// The same in a graph of the model `events`. It finds the settled edges among which a deletion chooses.
void BatchResolver::fetch_events(std::size_t step) {
  const auto deletion = [&](std::size_t behind) -> const BatchLookUp::Ends* {
    if (step < behind || step - behind >= updates_.size()) return nullptr;
    if (updates_[step - behind].kind != UpdateKind::delete_edge) return nullptr;
    const BatchLookUp::Ends& ends = look_up_[step - behind];
    const bool known = ends.source != invalid_vertex && ends.target != invalid_vertex && ends.label != BatchLookUp::no_label;
    return known ? &ends : nullptr;
  };
  const auto candidates = [&](std::size_t behind) -> Candidates& { return candidates_[(step - behind) % candidates_.size()]; };
  Edge edge;
  const auto next = [&](std::size_t ahead) -> const Edge* {  // as prefetch_lists_ahead counts
    const BatchLookUp::Ends* const ends = deletion(DataGraph::prefetch_lead - ahead);
    if (ends != nullptr) edge = graph_->ranked(ends->source, ends->target, ends->label);
    return ends != nullptr ? &edge : nullptr;
  };
  graph_->prefetch_lists_ahead(next, 0);
  constexpr std::size_t find = DataGraph::prefetch_lead;
  constexpr std::size_t read = find + 6;
  if (step >= find) candidates(find) = {};
  if (const BatchLookUp::Ends* const ends = deletion(find); ends != nullptr) {
    const Edge like = graph_->ranked(ends->source, ends->target, ends->label);
    candidates(find) = {like, graph_->parallel_edges(like.tail, like.head, like.which)};
    fetch_line(candidates(find).tags.data());
  }
  if (deletion(read) == nullptr) return;
  const std::span<const std::uint32_t> tags = candidates(read).tags;
  for (const std::uint32_t tag : tags.first(std::min<std::size_t>(tags.size(), 4))) graph_->edge_table->fetch(tag >> 1);
}

/// Reads an update in a graph of the model `events`. `like` has the ends of the edge and its label.
void BatchResolver::read_event(const Update& update, std::uint32_t index, const Edge& like) {
  if (update.kind == UpdateKind::insert_edge) {
    const Slot slot = create_slot(update, like);
    entries_.push_back({{like.tail, like.head, slot}, index});
    if (timely(update) && !passed(*update.time) && deletions_->meet(update)) {
      drop_slot({like.tail, like.head, slot}, index);
    } else if (events_indexed_) {
      live_events_[origin(like)].push_back(slot);
    }
    return;
  }
  const std::optional<Edge> edge = newest_event(like, update.time, index);
  if (!edge) {
    delete_unknown(index);
    return;
  }
  drop_slot(*edge, index);
}

/// The newest live edge with these ends and this label that is not newer than `time`: by time, then by ordinal. Edges without a
/// time are the oldest.
std::optional<Edge> BatchResolver::newest_event(const Edge& like, std::optional<Timestamp> time, std::uint32_t index) {
  const EdgeTable& table = *graph_->edge_table;
  std::optional<Slot> newest;
  const auto consider = [&](Slot slot) {
    if (table.is_dropped(slot) || (time && table.time(slot) > time)) return;
    if (deletions_ != nullptr && table.time(slot) && passed(*table.time(slot))) return;
    const auto age = [&](Slot of) { return std::pair(table.time(of), table.ordinal(of)); };
    if (!newest || age(slot) > age(*newest)) newest = slot;
  };
  index_events();
  const Edge settled = origin(like);
  if (const auto created = live_events_.find(settled); created != live_events_.end()) {
    std::ranges::for_each(created->second, consider);
  }
  const Candidates& found = candidates_[index % candidates_.size()];
  const std::span<const std::uint32_t> tags =
      found.like == settled ? found.tags : graph_->parallel_edges(settled.tail, settled.head, settled.which);
  for (const std::uint32_t tag : tags) consider(static_cast<Slot>(tag >> 1));
  if (!newest) return std::nullopt;
  return Edge{like.tail, like.head, *newest};
}

/// Indexes the edges that the batch has created so far. Only batches that delete edges need that.
void BatchResolver::index_events() {
  if (events_indexed_) return;
  events_indexed_ = true;
  for (const EdgeUpdate& entry : entries_) {
    if (!inserts(entry)) continue;
    const Edge edge = origin(entry.edge);
    live_events_[{edge.tail, edge.head, graph_->edge_table->label(edge.which)}].push_back(edge.which);
  }
}

}  // namespace deltamatch::graph
