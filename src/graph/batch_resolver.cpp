#include "graph/batch_resolver.hpp"

#include <algorithm>
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
  result_.inserted_marks.clear();
  result_.removed_marks.clear();
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
    netting_.note_in_window();
    result_.cut = updates_.size() < batch.size() && result_.consumed == updates_.size();
    if (graph_->model() == EdgeModel::keyed) net_keys();
    if (marks_) graph_->edge_table ? mark_net() : mark_simple();
    if (window_ != nullptr) list_forgettable();
    list_edge_labels();
    retiring_.reserve(doomed_.size() + forgettable_.size() + 2 * result_.net.removed.size());
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
  const bool worthwhile = 2 * (look_up_.sorted().size() + look_up_.loops()) >= updates_.size();
  foresees_ = worthwhile && graph_->model() == EdgeModel::simple && deletions_ == nullptr;
  if (!foresees_) return;
  const std::size_t grain = workers_->grain(updates_.size(), foresee_grain);
  portions_.resize((updates_.size() + grain - 1) / grain);
  workers_->for_each(updates_.size(), grain, [&](unsigned, std::size_t begin, std::size_t end) {
    Portion& portion = portions_[begin / grain];
    portion.others.clear();
    portion.newest.reset();
    portion.loops = 0;
    portion.deletes_vertex = false;
    while (begin > 0 && begin < end && updates_[begin].continues) ++begin;  // the portion before has this record
    for (std::size_t first = begin, last = begin; first < end; first = last) {
      bool foreseen = true;
      std::uint32_t loops = 0;
      std::optional<Timestamp> newest;
      do {
        const Update& update = updates_[last];
        const bool loop = look_up_[last].label == BatchLookUp::loop;
        foreseen = foreseen && (loop || is_foreseen(update, look_up_[last]));
        loops += loop ? 1 : 0;
        portion.deletes_vertex = portion.deletes_vertex || update.kind == UpdateKind::delete_vertex;
        if (!update.ahead) newest = std::max(newest, update.time);
        ++last;
      } while (last < updates_.size() && updates_[last].continues);
      if (foreseen) {
        std::fill(foreseen_.begin() + static_cast<std::ptrdiff_t>(first), foreseen_.begin() + static_cast<std::ptrdiff_t>(last),
                  1);
        portion.loops += loops;
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
      result_.ignored.self_loop += portion.loops;
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
    for (std::size_t i = first; foreseen_[first] != 0 && i < last; ++i)
      result_.ignored.self_loop += look_up_[i].label == BatchLookUp::loop ? 1 : 0;
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

/// A live edge with a slot, with the numbers that its ends have at this point of the batch.
Edge BatchResolver::edge_of(Slot slot) const noexcept {
  const EdgeTable& table = *graph_->edge_table;
  return {table.tail(slot), table.head(slot), slot};
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

/// Returns the number of a label, a new one if needed. Nullopt if the label would exceed the limit.
std::optional<LabelId> BatchResolver::intern(LabelTable& table, std::string_view text, std::vector<LabelId>& fresh) const {
  if (const std::optional<LabelId> known = table.find(text)) return known;
  if (table.count() > label_limit_) return std::nullopt;  // the empty label does not count
  if (fresh.size() == fresh.capacity()) fresh.reserve(2 * fresh.size() + 8);
  fresh.push_back(table.intern(text));
  return fresh.back();
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

void BatchResolver::list_forgettable() {
  for (const Undo& undo : undo_) {
    if (undo.kind == Undo::Kind::created || undo.kind == Undo::Kind::rebound) forgettable_.push_back(undo.other);
  }
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
  const auto forget = [&](VertexId vertex) {
    if (!graph_->dictionary.alive(vertex) || graph_->dictionary.declared(vertex) || graph_->degree(vertex) > 0) return;
    release(vertex);
  };
  for (const VertexId vertex : forgettable_) forget(vertex);
  for (const VertexId vertex : graph_->emptied()) {
    if (window_ != nullptr) forget(vertex);
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
