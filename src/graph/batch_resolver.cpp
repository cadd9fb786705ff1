#include "graph/batch_resolver.hpp"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <string>
#include <utility>

#include "base/prefetch.hpp"
#include "deltamatch/labels.hpp"

namespace deltamatch::graph {

namespace {

// Number of updates that a thread foresees at a time.
constexpr std::size_t foresee_grain = 512;

// How far ahead of an update what it looks up is prefetched.
constexpr std::size_t fetch_lead = 24;

/// Clears a table of one batch. A table that is much larger than the batch needed would be slow: clearing visits all of it, and
/// look-ups miss the cache.
template <class Table>
void clear(Table& table) noexcept {
  constexpr std::size_t spare = 8;
  constexpr std::size_t small = 1024;
  if (table.bucket_count() > spare * table.size() + small) {
    table = Table();
  } else {
    table.clear();
  }
}

}  // namespace

const ResolvedBatch& BatchResolver::resolve(const UpdateBatch& batch, OnReject on_reject, std::optional<Timestamp> watermark,
                                            Relabelling relabelling, const StopFlag* stop) {
  stop_ = stop;
  relabelling_ = relabelling;
  watermark_ = watermark;
  if (batch.size() > UINT32_MAX / 2)
    throw Error("batch", "a batch has more than 2^31 updates", "cut the stream into smaller batches");
  result_.net.clear();
  result_.rejects.clear();
  result_.expired = 0;
  const bool looked_up_ahead = look_up_.knows(*graph_, batch);
  try {
    // This comes first. A call that fails forgets the look-up, and undo forgets the vertices for which it is out of date.
    const bool cuts = by_record_ && window_ != nullptr && !retains_;
    cut_mark_.reset();
    updates_ = batch.updates();
    if (cuts) cut_at(first_expiry(batch, watermark));
    if (longest_rise_ > 0) cut_at(first_rise(batch, watermark));
    look_up_.finish(*graph_, batch, updates_.size(), *workers_);
    throw_if_stopped(stop);
    labels_hold_ = look_up_.labels_hold(*graph_);
    entries_.reserve(updates_.size());
    undo_.reserve(8 * updates_.size());  // room for every undo step
    doomed_.reserve(2 * updates_.size());
    read_retired(looked_up_ahead);
    retiring_.reserve(2 * updates_.size());  // for undo
    for (;;) {
      foresee();
      while (!read_all(batch, on_reject, watermark)) undo();
      throw_if_stopped(stop);
      netting_.run(updates_, look_up_, foreseen_, entries_, unknown_deletes_, origins_, expiry(watermark), result_);
      const std::size_t at = cuts ? conflict() : SIZE_MAX;
      if (at == 0 || at > result_.consumed || at >= updates_.size()) break;
      undo();
      result_.net.clear();
      result_.rejects.clear();
      result_.expired = 0;
      cut_at({at, running_[at - 1]});
    }
    result_.cut = updates_.size() < batch.size() && result_.consumed == updates_.size();
    if (graph_->model() == EdgeModel::keyed) net_keys();
    if (marks_) graph_->edge_table ? mark_net() : mark_simple();
    if (window_ != nullptr) list_forgettable();
    list_edge_labels();
    retiring_.reserve(doomed_.size() + forgettable_.size());
    throw_if_stopped(stop);
  } catch (...) {
    undo();
    throw;
  }
  return result_;
}

/// Finds the records that the look-up alone tells: insertions and deletions of edges between vertices of before the batch that
/// state nothing new. All threads do so. Reading the others must then not change what these rely on.
void BatchResolver::foresee() {
  surprised_ = false;
  foreseen_.assign(updates_.size(), 0);
  portions_.resize(1);
  portions_.front() = {};
  const bool worthwhile = 2 * look_up_.sorted().size() >= updates_.size();
  foresees_ = worthwhile && graph_->model() == EdgeModel::simple && deletions_ == nullptr;
  if (!foresees_) return;
  const std::size_t grain = workers_->grain(updates_.size(), foresee_grain);
  portions_.resize((updates_.size() + grain - 1) / grain);
  workers_->for_each(updates_.size(), grain, [&](unsigned, std::size_t begin, std::size_t end) {
    Portion& portion = portions_[begin / grain];
    portion.others.clear();
    portion.newest.reset();
    portion.deletes_vertex = false;
    while (begin > 0 && begin < end && updates_[begin].continues) ++begin;  // the portion before has this record
    for (std::size_t first = begin, last = begin; first < end; first = last) {
      bool foreseen = true;
      std::optional<Timestamp> newest;
      do {
        const Update& update = updates_[last];
        foreseen = foreseen && is_foreseen(update, look_up_[last]);
        portion.deletes_vertex = portion.deletes_vertex || update.kind == UpdateKind::delete_vertex;
        if (!update.ahead) newest = std::max(newest, update.time);
        ++last;
      } while (last < updates_.size() && updates_[last].continues);
      if (foreseen) {
        std::fill(foreseen_.begin() + static_cast<std::ptrdiff_t>(first), foreseen_.begin() + static_cast<std::ptrdiff_t>(last),
                  1);
        portion.newest = std::max(portion.newest, newest);
      } else {
        portion.others.push_back(static_cast<std::uint32_t>(first));
      }
    }
  });
  if (std::ranges::any_of(portions_, &Portion::deletes_vertex)) forget_foreseen();
}

/// Whether reading an update only means that it counts for its edge, if the vertices and labels stay as they were.
bool BatchResolver::is_foreseen(const Update& update, const BatchLookUp::Ends& ends) const {
  const bool edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
  if (!edge || update.properties != nullptr || ends.source == invalid_vertex || ends.target == invalid_vertex) return false;
  if (ends.source == ends.target || ends.label == BatchLookUp::no_label) return false;
  if (!labels_hold_ && ends.label != empty_label) return false;
  if (window_ != nullptr && update.kind == UpdateKind::insert_edge && !update.time) return false;
  const auto same = [&](VertexId vertex, const std::optional<std::string_view>& label) {
    return (!label || *label == label_text(vertex)) && (retired_.empty() || !retired_.contains(vertex));
  };
  return same(ends.source, update.source_label) && same(ends.target, update.target_label);
}

/// From now on, all records of the batch are read in order.
void BatchResolver::forget_foreseen() noexcept {
  foresees_ = false;
  std::ranges::fill(foreseen_, 0);
}

/// Reads all records. Returns false if everything must be read again. Either a refused record cannot be undone alone, and is
/// then among the rejects. Or a record has changed what foreseen ones rely on, so none is foreseen any more.
bool BatchResolver::read_all(const UpdateBatch& batch, OnReject on_reject, std::optional<Timestamp> watermark) {
  result_.ignored = {};
  result_.out_of_order = 0;
  result_.rebound = false;
  result_.replaced = false;
  result_.consumed = updates_.size();
  std::optional<Timestamp> stated = batch.watermark();
  if (cut_mark_) stated = *cut_mark_ == INT64_MIN ? std::nullopt : std::min(stated, cut_mark_);
  result_.watermark = std::max(stated, watermark);  // nullopt is less than any time
  running_.clear();
  const bool by_record = by_record_ && window_ != nullptr && !retains_;
  const bool marks = marks_ || by_record || deletions_ != nullptr;
  if (marks) running_.reserve(updates_.size());
  Reading reading{on_reject, marks, batch.sets_watermark(), batch.steps(), watermark};
  const auto end_of_record = [&](std::size_t first) {
    do ++first;
    while (first < updates_.size() && updates_[first].continues);
    return first;
  };
  if (marks || !foresees_) {
    fetch_edges(0, 0);
    for (std::size_t first = 0; first < updates_.size();) {
      const std::size_t last = end_of_record(first);
      if (!foresees_) fetch_edges(first, last);
      const Next next = visit(first, last, reading);
      if (next == Next::again) return false;
      if (next == Next::stop) break;
      first = last;
    }
    // What comes after a record that stops the batch does not count.
    std::fill(foreseen_.begin() + static_cast<std::ptrdiff_t>(result_.consumed), foreseen_.end(), 0);
  } else {  // only the other records are visited
    for (const Portion& portion : portions_) {
      for (const std::uint32_t first : portion.others) {
        const Next next = visit(first, end_of_record(first), reading);
        if (next == Next::stop) forget_foreseen();
        if (next != Next::go_on) return false;
      }
      if (!batch.sets_watermark()) result_.watermark = std::max(result_.watermark, portion.newest);
    }
  }
  if (by_record && batch.sets_watermark() && !running_.empty()) {
    const std::size_t record = record_around(updates_, running_.size() - 1).first;
    std::fill(running_.begin() + static_cast<std::ptrdiff_t>(record), running_.end(), result_.watermark.value_or(INT64_MIN));
  }
  return true;
}

/// Prefetches what reading the updates some way behind [begin, end) will look up: keys, and the edges among which deletions
/// choose. Call it with consecutive ranges; an empty first one starts over.
void BatchResolver::fetch_edges(std::size_t begin, std::size_t end) {
  if (!graph_->edge_table) return;
  const auto fetch = [&](std::size_t step) { graph_->model() == EdgeModel::keyed ? fetch_keyed(step) : fetch_events(step); };
  if (begin == end) {
    key_hashes_.resize(updates_.size());
    candidates_.fill({});
    for (std::size_t step = 0; step < fetch_lead; ++step) fetch(step);
  }
  for (std::size_t i = begin; i < end; ++i) fetch(i + fetch_lead);
}

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

/// Reads a record, unless it is foreseen or known to be refused, and follows the watermark.
BatchResolver::Next BatchResolver::visit(std::size_t first, std::size_t last, Reading& reading) {
  throw_if_stopped(stop_, reading.records++);
  const std::size_t passed = reading.passed;
  bool refused = passed < result_.rejects.size() && result_.rejects[passed].index < last;  // known from reading all before
  if (!refused && foreseen_[first] == 0) {
    const std::optional<Reject> reject = read_record(first, last);
    if (foresees_ && (surprised_ || result_.rebound || !deleted_.empty())) {
      forget_foreseen();
      result_.rejects.clear();
      return Next::again;
    }
    if (reject) {
      result_.rejects.push_back(*reject);
      if (irrevocable_) return Next::again;
      refused = true;
    }
  }
  if (!refused) {
    if (!reading.sets_watermark) see_times(updates_.subspan(first, last - first));
    note_running(last, false, reading);
    see_lateness(updates_.subspan(first, last - first));
    return Next::go_on;
  }
  note_running(last, true, reading);
  ++reading.passed;
  if (reading.on_reject == OnReject::skip) return Next::go_on;
  result_.consumed = first;
  return Next::stop;
}

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

/// Reads a record. If an update is refused, the updates before it in the record are undone.
std::optional<Reject> BatchResolver::read_record(std::size_t first, std::size_t last) {
  const Checkpoint before{entries_.size(),
                          unknown_deletes_.size(),
                          undo_.size(),
                          result_.ignored.absent_delete,
                          result_.ignored.self_loop,
                          result_.ignored.superseded,
                          fresh_vertex_labels_.size(),
                          fresh_edge_labels_.size(),
                          graph_->edge_table ? graph_->edge_table->mark() : EdgeTable::Mark{},
                          deletions_ != nullptr ? deletions_->changes() : 0,
                          result_.rebound};
  irrevocable_ = false;
  for (std::size_t i = first; i < last; ++i) {
    if (const auto reason = read(updates_[i], static_cast<std::uint32_t>(i))) {
      if (!irrevocable_) take_back(before);
      return Reject{i, *reason};
    }
  }
  return std::nullopt;
}

void BatchResolver::take_back(const Checkpoint& to) {
  for (; indexed_ > to.entries; --indexed_) {
    const Edge& edge = entries_[indexed_ - 1].edge;
    index_[origin(edge.tail)].pop_back();
    index_[origin(edge.head)].pop_back();
  }
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(to.entries), entries_.end());
  unknown_deletes_.resize(to.unknown_deletes);
  result_.ignored.absent_delete = to.absent_deletes;
  result_.ignored.self_loop = to.self_loops;
  result_.ignored.superseded = to.superseded;
  if (deletions_ != nullptr) deletions_->take_back(to.deletions);
  if (timed_entries_ > to.entries) forget_live_times();
  result_.rebound = to.rebound;
  const auto spare = [&](VertexId vertex) {  // usually the last one
    const auto at = std::find(doomed_.rbegin(), doomed_.rend(), vertex);
    doomed_.erase(std::next(at).base());
  };
  for (; undo_.size() > to.undo; undo_.pop_back()) {
    const Undo& done = undo_.back();
    revert(done);
    if (done.kind == Undo::Kind::valued) old_values_.pop_back();
    if (done.kind == Undo::Kind::deleted) {
      deleted_.erase(done.vertex);
      spare(done.vertex);
    } else if (done.kind == Undo::Kind::revived) {
      deleted_.insert(done.vertex);
      doomed_.push_back(done.vertex);
    } else if (done.kind == Undo::Kind::rebound) {
      origins_.erase(done.other);
      if (!deleted_.contains(done.vertex)) spare(done.vertex);  // it was relabelled
    }
  }
  take_labels_back(to.vertex_labels, to.edge_labels);
  if (!graph_->edge_table) return;
  if (graph_->edge_table->created().size() > to.edges.created) forget_events();
  graph_->edge_table->take_back(to.edges);
}

void BatchResolver::forget_events() noexcept {
  events_indexed_ = false;
  clear(live_events_);
}

/// Frees the labels of what is undone. Nothing else has them, so the batch continues as if they had never come.
void BatchResolver::take_labels_back(std::size_t vertex_labels, std::size_t edge_labels) noexcept {
  for (; fresh_vertex_labels_.size() > vertex_labels; fresh_vertex_labels_.pop_back()) {
    graph_->vertex_labels.free(fresh_vertex_labels_.back());
  }
  for (; fresh_edge_labels_.size() > edge_labels; fresh_edge_labels_.pop_back()) {
    graph_->edge_labels.free(fresh_edge_labels_.back());
  }
  last_label_ = empty_label;
}

/// Takes over the vertices that the batch before has released, if this batch's ids were looked up before that.
void BatchResolver::read_retired(bool looked_up_ahead) {
  retired_.clear();
  if (looked_up_ahead) retired_.insert(retiring_.begin(), retiring_.end());
  retiring_.clear();
}

/// Returns what the dictionary would. The look-up is still right if no vertex was rebound and the vertex has not been released
/// since.
VertexId BatchResolver::find(const Id& id, std::uint32_t hash, VertexId looked_up) const {
  const bool current = looked_up != invalid_vertex && !result_.rebound && (retired_.empty() || !retired_.contains(looked_up));
  return current ? looked_up : graph_->dictionary.find(id, hash);
}

std::optional<RejectReason> BatchResolver::read(const Update& update, std::uint32_t index) {
  switch (update.kind) {
    case UpdateKind::insert_edge:
    case UpdateKind::delete_edge:
      return read_edge(update, index);
    case UpdateKind::insert_vertex:
    case UpdateKind::delete_vertex:
      return read_vertex(update, index);
  }
  return RejectReason::bad_operation;
}

std::optional<RejectReason> BatchResolver::read_edge(const Update& update, std::uint32_t index) {
  const bool insert = update.kind == UpdateKind::insert_edge;
  const bool keyed = graph_->model() == EdgeModel::keyed;
  if (keyed && !insert) return delete_keyed(update, index);
  const bool loop = update.source == update.target;
  if (loop && !graph_->keeps_loops()) {
    ++result_.ignored.self_loop;
    return keyed && update.key() ? delete_keyed(update, index) : std::nullopt;
  }
  if (keyed && !update.key()) return RejectReason::missing_key;
  if (insert && update.properties != nullptr && find_misfit(graph_->schema().edges, update.properties->attributes))
    return RejectReason::bad_value;
  if (insert && window_ != nullptr && !update.time) return RejectReason::missing_time;
  const BatchLookUp::Ends& ends = look_up_[index];
  Mention source = mention(update.source, find(update.source, ends.source_hash, ends.source), update.source_label);
  if (loop && !may_be_one(update)) return RejectReason::label_conflict;
  if (loop && insert && !source.conflict && !settle(source))
    return RejectReason::label_limit;  // the vertex is known from now on
  Mention target = mention(update.target, find(update.target, ends.target_hash, ends.target), update.target_label);
  if (source.conflict || target.conflict) return RejectReason::label_conflict;
  if (insert && ((!loop && !settle(source)) || !settle(target))) return RejectReason::label_limit;
  if (!insert && graph_->model() == EdgeModel::simple && timely(update) && !passed(*update.time)) deletions_->note(update);
  const VertexId head = target.vertex;
  const VertexId tail = loop ? head : source.vertex;
  const auto gone = [&](VertexId vertex) { return vertex == invalid_vertex || deleted_.contains(vertex); };
  if (!insert && (gone(tail) || gone(head))) {
    delete_unknown(index);
    return std::nullopt;
  }
  const std::optional<LabelId> label = edge_label(update, ends.label);
  if (!label) {
    if (insert) return RejectReason::label_limit;
    delete_unknown(index);
    return std::nullopt;
  }
  const Edge like = graph_->ranked(tail, head, *label);
  switch (graph_->model()) {
    case EdgeModel::simple:
      read_simple(update, index, like);
      break;
    case EdgeModel::keyed:
      read_keyed(update, index, like);
      break;
    case EdgeModel::events:
      read_event(update, index, like);
      break;
  }
  return std::nullopt;
}

/// Whether what a self-loop states of its two ends can be true of one vertex: the same labels, or those of one end alone.
bool BatchResolver::may_be_one(const Update& update) {
  return !update.source_label || !update.target_label ||
         canonical_labels(*update.source_label) == canonical_labels(*update.target_label);
}

/// Reads an update in a graph of the model `simple`.
void BatchResolver::read_simple(const Update& update, std::uint32_t index, const Edge& like) {
  if (timely(update)) {
    const bool insert = update.kind == UpdateKind::insert_edge;
    if ((insert ? deletions_->newest(update) : live_time(like)) > update.time) {
      ++result_.ignored.superseded;
      return;
    }
  }
  entries_.push_back({like, index});
}

/// The newest time of an edge's present life, at this point of the batch. Nullopt: it has none.
std::optional<Timestamp> BatchResolver::live_time(const Edge& edge) {
  const auto settled = [&](const Edge& of) { return graph_->timed() ? graph_->time(of) : std::nullopt; };
  for (; timed_entries_ < entries_.size(); ++timed_entries_) {
    const EdgeUpdate& entry = entries_[timed_entries_];
    const Edge of = origin(entry.edge);
    auto at = live_times_.find(of);
    if (at == live_times_.end()) at = live_times_.emplace(of, settled(of)).first;
    at->second = inserts(entry) ? std::max(at->second, updates_[entry.index].time) : std::nullopt;
  }
  const Edge of = origin(edge);
  const auto at = live_times_.find(of);
  return at == live_times_.end() ? settled(of) : at->second;
}

void BatchResolver::forget_live_times() noexcept {
  clear(live_times_);
  timed_entries_ = 0;
}

/// Whether the window had passed a time before the record that is being read. So what a record finds does not depend on when
/// edges are removed.
bool BatchResolver::passed(Timestamp time) const noexcept {
  if (window_ == nullptr) return false;
  const std::optional<Timestamp> mark = running_.empty() ? watermark_ : std::optional(running_.back());
  return mark && window_->dead(time, *mark);
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

Slot BatchResolver::create_slot(const Update& update, const Edge& like) {
  EdgeTable& table = *graph_->edge_table;
  words_.clear();
  if (table.values().width() > 0 && update.properties != nullptr) table.values().read(update.properties->attributes, words_);
  try {
    return table.create({like.tail, like.head, like.which, update.time, update.key(), 0}, words_);
  } catch (...) {
    table.values().drop(words_);
    throw;
  }
}

/// Records that the update at `index` ends the life of an edge with a slot.
void BatchResolver::drop_slot(const Edge& edge, std::uint32_t index) {
  entries_.push_back({edge, index});
  graph_->edge_table->drop(edge.which);
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

/// A live edge with a slot, with the numbers that its ends have at this point of the batch.
Edge BatchResolver::edge_of(Slot slot) const noexcept {
  const EdgeTable& table = *graph_->edge_table;
  return {table.tail(slot), table.head(slot), slot};
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
  result_.inserted_marks.clear();
  result_.removed_marks.clear();
  for (const Edge& edge : result_.net.inserted) result_.inserted_marks.push_back(mark(edge, last));
  for (const Edge& edge : result_.net.removed) {
    const bool moves =
        result_.rebound && netting_.now(edge) != edge && !netting_.expired(graph_->edge_table->time(edge.which).value_or(0));
    result_.removed_marks.push_back(mark(edge, moves ? last : INT64_MAX));
  }
}

/// The same for edges without slots, whose removals need no marks.
void BatchResolver::mark_simple() {
  result_.inserted_marks.clear();
  result_.removed_marks.clear();
  const Timestamp last = result_.watermark.value_or(INT64_MIN);
  std::vector<EdgeUpdate> arrivals(netting_.arrivals().begin(), netting_.arrivals().end());
  std::ranges::sort(arrivals);
  for (const Edge& edge : result_.net.inserted) {
    const auto at = std::ranges::lower_bound(arrivals, edge, {}, &EdgeUpdate::edge);
    result_.inserted_marks.push_back(at == arrivals.end() || at->edge != edge ? last : running_[at->index]);
  }
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

/// A deletion that finds no edge, or whose vertices or label are unknown. In the model `simple`, its edge may still be inserted
/// later in the batch.
void BatchResolver::delete_unknown(std::uint32_t index) {
  if (graph_->model() == EdgeModel::simple) {
    unknown_deletes_.push_back(index);
    return;
  }
  ++result_.ignored.absent_delete;
  if (timely(updates_[index]) && !passed(*updates_[index].time)) deletions_->wait(updates_[index]);
}

/// Returns the number of an edge's label. Nullopt if it would exceed the limit, or if a deletion names an unknown label.
std::optional<LabelId> BatchResolver::edge_label(const Update& update, LabelId looked_up) {
  if (looked_up != BatchLookUp::no_label && (labels_hold_ || looked_up == empty_label)) return looked_up;
  if (update.kind == UpdateKind::delete_edge) return graph_->edge_labels.find(update.label);
  return intern(graph_->edge_labels, update.label, fresh_edge_labels_);
}

std::optional<RejectReason> BatchResolver::read_vertex(const Update& update, std::uint32_t index) {
  const BatchLookUp::Ends& ends = look_up_[index];
  const VertexId known = find(update.source, ends.source_hash, ends.source);
  if (update.kind == UpdateKind::insert_vertex) return declare(update, known);
  const Mention vertex = mention(update.source, known, update.source_label);
  if (vertex.conflict) return RejectReason::label_conflict;
  if (vertex.vertex == invalid_vertex || deleted_.contains(vertex.vertex)) {
    ++result_.ignored.absent_delete;
  } else {
    delete_vertex(vertex.vertex, index);
  }
  return std::nullopt;
}

/// Reads the insertion of a vertex, which may be known.
std::optional<RejectReason> BatchResolver::declare(const Update& update, VertexId known) {
  std::optional<std::string_view> labels = update.source_label;
  std::string changed;
  if (update.changes_labels()) {
    const bool lives = known != invalid_vertex && !deleted_.contains(known);
    changed = labels ? canonical_labels(*labels) : std::string(lives ? label_text(known) : "");
    if (!update.label.empty()) changed = add_labels(changed, update.label);
    if (update.target_label) changed = remove_labels(changed, *update.target_label);
    labels = changed;
  }
  Mention vertex = mention(update.source, known, labels, true);
  if (vertex.conflict && !update.changes_labels()) return RejectReason::label_conflict;
  const auto values = update.properties == nullptr ? std::span<const AttributeValue>() : update.properties->attributes;
  if (find_misfit(graph_->schema().vertices, values)) return RejectReason::bad_value;
  if (!settle(vertex)) return RejectReason::label_limit;
  if (!values.empty()) set_attributes(vertex.vertex, values);
  set_declared(vertex.vertex, true);
  return std::nullopt;
}

// Handles a vertex that was relabelled or got other attributes in this batch, and now takes its first ones again. Its settled
// self continues, as if it had never changed. Returns invalid_vertex if this is not the case.
VertexId BatchResolver::earlier_self(VertexId fresh, LabelId label, std::span<const Word> words) {
  AttributeTable& values = graph_->vertex_values;
  const VertexId old = origin(fresh);
  if (old == fresh || graph_->dictionary.label(old) != label) return invalid_vertex;
  const bool same = values.equal(old, words);
  if (!same && watches_vertices_) return invalid_vertex;
  irrevocable_ = true;
  const bool declared = !deleted_.contains(fresh) && graph_->dictionary.declared(fresh);
  for (EdgeUpdate& entry : entries_) {
    if (entry.edge.tail != fresh && entry.edge.head != fresh) continue;
    entry.edge = graph_->ranked(entry.edge.tail == fresh ? old : entry.edge.tail,
                                entry.edge.head == fresh ? old : entry.edge.head, entry.edge.which);
    if (graph_->edge_table) graph_->edge_table->rename_ends(entry.edge.which, entry.edge.tail, entry.edge.head);
  }
  index_.clear();
  indexed_ = 0;
  std::erase_if(undo_, [&](const Undo& undo) {
    if (undo.vertex == fresh && undo.kind == Undo::Kind::valued) values.drop(old_values_[undo.other]);
    return undo.vertex == fresh || (undo.kind == Undo::Kind::rebound && undo.other == fresh);
  });
  if (!same) {
    values.hold(words);
    replace_values(old, words);
  }
  values.clear(fresh);
  graph_->dictionary.undo_rebind(old, fresh);
  origins_.erase(fresh);
  for (const VertexId vertex : {old, fresh}) {
    deleted_.erase(vertex);
    std::erase(doomed_, vertex);
    std::erase(forgettable_, vertex);
  }
  set_declared(old, declared);
  if (window_ != nullptr) forgettable_.push_back(old);
  return old;
}

void BatchResolver::set_declared(VertexId vertex, bool declared) {
  if (graph_->dictionary.declared(vertex) == declared) return;
  undo_.push_back({declared ? Undo::Kind::declared : Undo::Kind::undeclared, vertex, vertex});
  graph_->dictionary.set_declared(vertex, declared);
}

/// Returns the number of a vertex label, if it has one.
std::optional<LabelId> BatchResolver::known_label(std::string_view text) {
  if (text.empty()) return empty_label;
  if (last_label_ == empty_label || graph_->vertex_labels.text(last_label_) != text) {
    const std::optional<LabelId> label = graph_->vertex_labels.find(text);
    if (!label) return std::nullopt;
    last_label_ = *label;
  }
  return last_label_;
}

/// Returns the number of a label, a new one if needed. Nullopt if the label would exceed the limit.
std::optional<LabelId> BatchResolver::intern(LabelTable& table, std::string_view text, std::vector<LabelId>& fresh) const {
  if (const std::optional<LabelId> known = table.find(text)) return known;
  if (table.count() > label_limit_) return std::nullopt;  // the empty label does not count
  if (fresh.size() == fresh.capacity()) fresh.reserve(2 * fresh.size() + 8);
  fresh.push_back(table.intern(text));
  return fresh.back();
}

/// `declares`: a record of the vertex itself states the label.
BatchResolver::Mention BatchResolver::mention(const Id& id, VertexId vertex, const std::optional<std::string_view>& label,
                                              bool declares) {
  Mention mention;
  mention.id = id;
  mention.vertex = vertex;
  mention.label = label.value_or(std::string_view());
  if (mention.vertex == invalid_vertex || (!deleted_.empty() && deleted_.contains(mention.vertex))) {
    mention.fresh = true;
  } else if (label && known_label(*label) != graph_->dictionary.label(mention.vertex)) {
    mention.fresh = restates(mention, declares);
  }
  return mention;
}

/// Whether a known vertex gets the label of the mention, which is not spelled like its own. Says if it must not.
bool BatchResolver::restates(Mention& mention, bool declares) {
  const std::string_view now = label_text(mention.vertex);
  const std::string stated = canonical_labels(mention.label);
  if (stated == now) return false;
  const bool whole_graph = relabelling_ == Relabelling::whole_graph;
  const bool sets = declares && !whole_graph;
  if (!sets && !stated.empty() && includes_labels(now, stated)) return false;
  const bool adds = declares && !graph_->dictionary.declared(mention.vertex) && includes_labels(stated, now);
  mention.conflict = !sets && !adds && keeps_label(mention.vertex);
  return true;
}

/// Creates or relabels the vertex as mentioned. Returns false if its label would exceed the limit.
bool BatchResolver::settle(Mention& mention) {
  if (!mention.fresh) return true;
  std::optional<LabelId> label = known_label(mention.label);
  if (!label) label = intern(graph_->vertex_labels, canonical_labels(mention.label), fresh_vertex_labels_);
  if (!label) return false;
  graph_->dictionary.expect(*label);
  mention.vertex = become(mention, *label);
  return true;
}

/// Returns the mentioned vertex after it got the label.
VertexId BatchResolver::become(const Mention& mention, LabelId label) {
  const VertexId vertex = mention.vertex;
  if (vertex == invalid_vertex) {
    graph_->vertex_values.expect(std::size_t{graph_->dictionary.capacity()} + 1);
    const VertexId created = graph_->dictionary.create(mention.id, label);
    undo_.push_back({Undo::Kind::created, created, created});
    return created;
  }
  const bool deleted = deleted_.contains(vertex);
  AttributeTable& values = graph_->vertex_values;
  std::vector<Word> words(values.width());  // after this
  const bool lost = deleted && !values.equal(vertex, words);
  if (!deleted) values.copy(vertex, words);
  if (const VertexId back = earlier_self(vertex, label, words); back != invalid_vertex) return back;
  const LabelId before = graph_->dictionary.label(vertex);
  if (graph_->degree(vertex) == 0 || (label == before && !(lost && watches_vertices_))) {
    // No settled edge has seen another label, so the vertex stays the same. If it was deleted, it exists again.
    if (label != before) {
      surprised_ = true;
      undo_.push_back({Undo::Kind::labelled, vertex, before});
      graph_->dictionary.set_label(vertex, label);
    }
    if (deleted) {
      deleted_.erase(vertex);
      std::erase(doomed_, vertex);
      undo_.push_back({Undo::Kind::revived, vertex, vertex});
      set_declared(vertex, false);
      if (lost) replace_values(vertex, words);
      if (window_ != nullptr) forgettable_.push_back(vertex);
    }
    return vertex;
  }
  return rebind(vertex, label, deleted);
}

/// Lets a vertex continue under a fresh number. Its old self keeps label and attributes until the batch ends.
VertexId BatchResolver::rebind(VertexId vertex, LabelId label, bool deleted) {
  AttributeTable& values = graph_->vertex_values;
  values.expect(std::size_t{graph_->dictionary.capacity()} + 1);
  const VertexId fresh = graph_->dictionary.rebind(vertex, label);
  undo_.push_back({Undo::Kind::rebound, vertex, fresh});
  origins_.emplace(fresh, vertex);
  result_.rebound = true;
  if (!deleted) {  // its old self is released at the end, and its edges move to the fresh number
    graph_->dictionary.set_declared(fresh, graph_->dictionary.declared(vertex));
    values.share(vertex, fresh);
    doomed_.push_back(vertex);
  }
  return fresh;
}

/// Gives a vertex the attributes of a record. If matches depend on them, it continues under a fresh number.
void BatchResolver::set_attributes(VertexId& vertex, std::span<const AttributeValue> values) {
  AttributeTable& table = graph_->vertex_values;
  table.read(values, words_);
  if (table.equal(vertex, words_)) {
    table.drop(words_);
    return;
  }
  try {
    if (const VertexId back = earlier_self(vertex, graph_->dictionary.label(vertex), words_); back != invalid_vertex) {
      table.drop(words_);
      vertex = back;
      return;
    }
    if (watches_vertices_ && graph_->degree(vertex) > 0) {
      graph_->dictionary.expect(graph_->dictionary.label(vertex));
      vertex = rebind(vertex, graph_->dictionary.label(vertex), false);
    }
    replace_values(vertex, words_);
  } catch (...) {
    table.drop(words_);
    throw;
  }
}

/// Replaces the attributes of a vertex. The uses of the new symbols pass to it. Strong guarantee.
void BatchResolver::replace_values(VertexId vertex, std::span<const Word> words) {
  AttributeTable& table = graph_->vertex_values;
  if (old_values_.size() == old_values_.capacity()) old_values_.reserve(2 * old_values_.size() + 8);
  std::vector<Word> old;
  table.copy(vertex, old);
  undo_.push_back({Undo::Kind::valued, vertex, static_cast<std::uint32_t>(old_values_.size())});
  old_values_.push_back(std::move(old));  // there is room
  table.set(vertex, words);
}

/// Returns the number that the vertex had when the batch began.
VertexId BatchResolver::origin(VertexId vertex) const {
  if (origins_.empty()) return vertex;
  const auto at = origins_.find(vertex);
  return at == origins_.end() ? vertex : at->second;
}

Edge BatchResolver::origin(const Edge& edge) const {
  return origins_.empty() ? edge : graph_->ranked(origin(edge.tail), origin(edge.head), edge.which);
}

const std::vector<std::uint32_t>& BatchResolver::entries_of(VertexId vertex) {
  surprised_ = true;  // foreseen updates have no entries
  for (; indexed_ < entries_.size(); ++indexed_) {
    index_[origin(entries_[indexed_].edge.tail)].push_back(static_cast<std::uint32_t>(indexed_));
    index_[origin(entries_[indexed_].edge.head)].push_back(static_cast<std::uint32_t>(indexed_));
  }
  return index_[origin(vertex)];
}

// Returns the vertex's edges that this batch has touched so far, by origin, each with its latest update.
std::vector<EdgeUpdate> BatchResolver::states_of(VertexId vertex) {
  std::vector<EdgeUpdate> states;
  for (const std::uint32_t entry : entries_of(vertex)) states.push_back({origin(entries_[entry].edge), entries_[entry].index});
  std::sort(states.begin(), states.end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (i + 1 == states.size() || states[i + 1].edge != states[i].edge) states[kept++] = states[i];
  }
  states.resize(kept);
  return states;
}

bool BatchResolver::keeps_label(VertexId vertex) {
  if (graph_->dictionary.label(vertex) == empty_label) return false;
  return (relabelling_ == Relabelling::whole_graph && graph_->dictionary.declared(vertex)) || has_live_edges(vertex);
}

bool BatchResolver::has_live_edges(VertexId vertex) {
  std::uint32_t deleted = 0;
  for (const EdgeUpdate& state : states_of(vertex)) {
    if (inserts(state)) return true;
    if (graph_->contains(state.edge)) ++deleted;
  }
  return graph_->degree(origin(vertex)) > deleted;
}

// Deletes the vertex and the edges that it has at this point of the batch.
void BatchResolver::delete_vertex(VertexId vertex, std::uint32_t index) {
  const std::vector<EdgeUpdate> states = states_of(vertex);
  const auto drop = [&](const Edge& edge) {
    if (!graph_->edge_table) {
      entries_.push_back({edge, index});
      return;
    }
    if (graph_->model() == EdgeModel::keyed) {
      EdgeKeys& keys = graph_->edge_table->keys();
      keys.touch(keys.find(keys.external(edge.which)), no_slot, false);
    }
    drop_slot(edge, index);
  };
  for (const EdgeUpdate& state : states) {
    if (inserts(state)) drop(state.edge);
  }
  graph_->for_each_edge(origin(vertex), true, [&](const Edge& edge, Timestamp) {
    const auto touched = std::lower_bound(states.begin(), states.end(), edge,
                                          [](const EdgeUpdate& state, const Edge& wanted) { return state.edge < wanted; });
    if (touched == states.end() || touched->edge != edge) drop(edge);
  });
  deleted_.insert(vertex);
  doomed_.push_back(vertex);
  undo_.push_back({Undo::Kind::deleted, vertex, vertex});
}

void BatchResolver::list_forgettable() {
  for (const Edge& edge : result_.net.removed) {
    forgettable_.push_back(edge.tail);
    forgettable_.push_back(edge.head);
  }
  for (const Undo& undo : undo_) {
    if (undo.kind == Undo::Kind::created || undo.kind == Undo::Kind::rebound) forgettable_.push_back(undo.other);
  }
  boost::sort::pdqsort(forgettable_.begin(), forgettable_.end());
  forgettable_.erase(std::unique(forgettable_.begin(), forgettable_.end()), forgettable_.end());
}

/// Collects the labels that may lose their last edge when the batch is settled.
void BatchResolver::list_edge_labels() {
  if (graph_->edge_labels.count() == 1) return;
  listed_.resize(std::max(listed_.size(), graph_->edge_labels.size()));
  for (const Edge& edge : result_.net.removed) {
    const LabelId label = graph_->label_of(edge);
    if (label == empty_label || listed_[label]) continue;
    leaving_.push_back(label);
    listed_[label] = true;
  }
}

/// Frees the labels that are not used any more. Which ones depends on the batch alone; the order does not matter.
void BatchResolver::give_back_labels() noexcept {
  for (const Undo& undo : undo_) {
    if (undo.kind == Undo::Kind::labelled) graph_->give_back_vertex_label(undo.other);
  }
  for (const LabelId label : fresh_vertex_labels_) graph_->give_back_vertex_label(label);
  for (const LabelId label : leaving_) graph_->give_back_edge_label(label);
  for (const LabelId label : fresh_edge_labels_) graph_->give_back_edge_label(label);
}

void BatchResolver::commit() noexcept {
  retiring_.clear();
  for (const Refresh& refresh : netting_.refreshes()) graph_->set_time(refresh.edge, refresh.time);
  if (graph_->edge_table) graph_->edge_table->commit(result_.net.inserted, result_.net.removed);
  for (const Undo& undo : undo_) {
    if (undo.kind == Undo::Kind::valued) graph_->vertex_values.drop(old_values_[undo.other]);
  }
  const auto release = [&](VertexId vertex) {
    const LabelId label = graph_->dictionary.label(vertex);
    graph_->vertex_values.clear(vertex);
    graph_->dictionary.release(vertex);
    graph_->give_back_vertex_label(label);
    retiring_.push_back(vertex);  // room is reserved
  };
  for (const VertexId vertex : doomed_) release(vertex);
  for (const VertexId vertex : forgettable_) {
    if (!graph_->dictionary.alive(vertex) || graph_->dictionary.declared(vertex) || graph_->degree(vertex) > 0) continue;
    release(vertex);
  }
  give_back_labels();
  if (window_ != nullptr) window_->commit();
  if (deletions_ != nullptr) deletions_->commit(window_, result_.watermark);
  reset();
}

void BatchResolver::undo() noexcept {
  retiring_.clear();
  std::for_each(undo_.rbegin(), undo_.rend(), [this](const Undo& done) {  // latest first
    revert(done);
    if (done.kind == Undo::Kind::created || done.kind == Undo::Kind::rebound) retiring_.push_back(done.other);  // has room
  });
  take_labels_back(0, 0);
  if (graph_->edge_table) graph_->edge_table->undo();
  if (window_ != nullptr) window_->undo();
  if (deletions_ != nullptr) deletions_->undo();
  reset();
}

/// Undoes the effect of one step on the dictionary.
void BatchResolver::revert(const Undo& done) noexcept {
  switch (done.kind) {
    case Undo::Kind::created:
      graph_->vertex_values.clear(done.vertex);
      graph_->dictionary.release(done.vertex);
      break;
    case Undo::Kind::rebound:
      graph_->vertex_values.clear(done.other);
      graph_->dictionary.undo_rebind(done.vertex, done.other);
      break;
    case Undo::Kind::valued:  // the latest of those left
      graph_->vertex_values.clear(done.vertex);
      graph_->vertex_values.set(done.vertex, old_values_[done.other]);
      break;
    case Undo::Kind::labelled:
      graph_->dictionary.set_label(done.vertex, done.other);
      break;
    case Undo::Kind::declared:
      graph_->dictionary.set_declared(done.vertex, false);
      break;
    case Undo::Kind::undeclared:
      graph_->dictionary.set_declared(done.vertex, true);
      break;
    case Undo::Kind::deleted:
    case Undo::Kind::revived:
      break;
  }
}

void BatchResolver::reset() noexcept {
  for (const LabelId label : leaving_) listed_[label] = false;
  leaving_.clear();
  fresh_vertex_labels_.clear();
  fresh_edge_labels_.clear();
  last_label_ = empty_label;
  undo_.clear();
  entries_.clear();
  unknown_deletes_.clear();
  netting_.clear();
  doomed_.clear();
  forgettable_.clear();
  deleted_.clear();
  origins_.clear();
  index_.clear();
  indexed_ = 0;
  old_values_.clear();
  forget_live_times();
  forget_events();
}

}  // namespace deltamatch::graph
