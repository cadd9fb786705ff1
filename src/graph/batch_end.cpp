// How a batch ends: it is committed or undone, or a record of it is taken back.
#include <algorithm>

#include "graph/batch_resolver.hpp"

namespace deltamatch::graph {

namespace {

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

void BatchResolver::forget_live_times() noexcept {
  clear(live_times_);
  timed_entries_ = 0;
}

void BatchResolver::forget_events() noexcept {
  events_indexed_ = false;
  clear(live_events_);
}

}  // namespace deltamatch::graph
