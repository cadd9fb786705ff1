#include "graph/batch_resolver.hpp"

#include <algorithm>

#include "base/prefetch.hpp"
#include "deltamatch/labels.hpp"

namespace deltamatch::graph {

namespace {

// How far ahead of an update what it looks up is prefetched.
constexpr std::size_t fetch_lead = 24;

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

}  // namespace deltamatch::graph
