// Where a batch is cut: what single records would do otherwise than the whole batch.
#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

#include "graph/batch_resolver.hpp"

namespace deltamatch::graph {

/// Takes only the updates before a cut.
void BatchResolver::cut_at(const Cut& cut) {
  if (cut.at >= updates_.size()) return;
  updates_ = updates_.first(cut.at);
  cut_mark_ = cut.mark;
}

/// Where an edge that the batch inserts expires at the latest. The records alone say so: no record is refused, and each
/// insertion is an edge of its own. So the batch may be cut too early, but what a look-up of ids would find does not matter.
/// O(updates before the cut).
BatchResolver::Cut BatchResolver::first_expiry(const UpdateBatch& batch, std::optional<Timestamp> watermark) const {
  std::optional<Timestamp> oldest;  // of the edges that were not late
  return first_cut(batch, watermark, [&](std::span<const Update> record, Timestamp risen) {
    if (oldest && window_->dead(*oldest, risen)) return true;
    for (const Update& update : record) {
      const std::optional<Timestamp> time = update.time;
      if (update.kind == UpdateKind::insert_edge && time && (!oldest || *time < *oldest) && !window_->dead(*time, risen))
        oldest = time;
    }
    return false;
  });
}

/// Where the watermark has risen by more than `longest_rise_` since the first record.
BatchResolver::Cut BatchResolver::first_rise(const UpdateBatch& batch, std::optional<Timestamp> watermark) const {
  std::optional<Timestamp> first;
  return first_cut(batch, watermark, [&](std::span<const Update>, Timestamp risen) {
    if (!first) first = risen;
    Timestamp rise = 0;
    return __builtin_sub_overflow(risen, *first, &rise) || rise > longest_rise_;
  });
}

/// Where the records end before one for which ends(record, the watermark at it) is true.
template <class Ends>
BatchResolver::Cut BatchResolver::first_cut(const UpdateBatch& batch, std::optional<Timestamp> watermark, Ends&& ends) {
  const std::span<const Update> updates = batch.updates();
  const auto steps = batch.steps();
  std::optional<Timestamp> risen = watermark;
  std::size_t step = 0;
  for (std::size_t first = 0, last = 0; first < updates.size(); first = last) {
    do ++last;
    while (last < updates.size() && updates[last].continues);
    const std::optional<Timestamp> before = risen;
    for (; steps && step < steps->size() && (*steps)[step].first < last; ++step)
      risen = std::max(risen, std::optional((*steps)[step].time));
    for (std::size_t i = first; !steps && i < last; ++i) {
      if (updates[i].ahead) continue;
      risen = std::max(risen, batch.sets_watermark() ? std::min(updates[i].time, batch.watermark()) : updates[i].time);
    }
    if (last == updates.size() && batch.sets_watermark()) risen = std::max(risen, batch.watermark());
    if (risen && ends(updates.subspan(first, last - first), *risen)) return {first, before.value_or(INT64_MIN)};
  }
  return {updates.size(), 0};
}

/// The first update that this batch may not hold, or SIZE_MAX.
std::size_t BatchResolver::conflict() const { return std::min(netting_.conflict(), named_after_death()); }

/// The first record that names a vertex which single records would have forgotten by then, with its label. Either it has lost
/// its last edge in this batch, or only late records have named it. No edge that is not late expires in this batch, because the
/// batch is cut before that. O(updates), but only if edges expire or are late.
std::size_t BatchResolver::named_after_death() const {
  if (graph_->vertex_labels.count() == 1 && graph_->vertex_values.width() == 0) return SIZE_MAX;
  struct Life {
    std::uint32_t ended = 0;       // edges that expire
    Timestamp newest = INT64_MIN;  // of these
    std::size_t known_from = 0;    // the record that names it first, if the batch does so
  };
  boost::unordered_flat_map<VertexId, Life> dying;
  for (const Expired& each : result_.passed) {
    const auto ends = [&](VertexId vertex) {
      Life& life = dying[vertex];
      ++life.ended;
      life.newest = std::max(life.newest, each.time);
    };
    ends(each.edge.tail);
    if (each.edge.tail != each.edge.head) ends(each.edge.head);
  }
  const auto is_late = [&](std::size_t i) {
    const Update& update = updates_[i];
    return update.kind == UpdateKind::insert_edge && update.time && window_->dead(*update.time, running_[i]);
  };
  const auto for_each_end = [&](const Update& update, auto&& visit) {
    const bool edge = update.kind == UpdateKind::insert_edge;
    const bool loop = edge && update.source == update.target;
    if ((!edge && update.kind != UpdateKind::insert_vertex) || (loop && !graph_->keeps_loops())) return;
    visit(origin(graph_->dictionary.find(update.source)));
    if (edge && !loop) visit(origin(graph_->dictionary.find(update.target)));
  };
  const std::size_t read = std::min(updates_.size(), running_.size());
  for (std::size_t i = 0; i < read; ++i) {
    if (!is_late(i)) continue;
    for_each_end(updates_[i], [&](VertexId vertex) {
      if (vertex != invalid_vertex && graph_->degree(vertex) == 0)
        dying.try_emplace(vertex, Life{.known_from = record_around(updates_, i).first});
    });
  }
  boost::unordered::erase_if(dying, [&](const auto& each) { return graph_->degree(each.first) > each.second.ended; });
  std::size_t found = SIZE_MAX;
  for (std::size_t i = 0; i < read && !dying.empty() && found == SIZE_MAX; ++i) {
    const std::size_t record = record_around(updates_, i).first;
    for_each_end(updates_[i], [&](VertexId vertex) {
      const auto at = dying.find(vertex);
      if (at == dying.end() || found != SIZE_MAX) return;
      const bool known = at->second.ended > 0 ? record > 0 : record > at->second.known_from;
      if (known && window_->dead(at->second.newest, running_[record - 1])) {
        found = record;
        return;
      }
      const bool refused = std::ranges::any_of(result_.rejects, [&](const Reject& reject) { return reject.index == i; });
      if (!refused && !is_late(i)) dying.erase(at);  // it has an edge until the end of the batch, or is declared
    });
  }
  return found;
}

}  // namespace deltamatch::graph
