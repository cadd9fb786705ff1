#include "graph/batch_look_up.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace deltamatch::graph {
namespace {

// Number of updates between the stages of a look-up.
constexpr std::size_t stage = 8;
constexpr std::size_t all_stages = 3 * stage;

constexpr std::size_t stop_interval = 64;  // updates between checks of the stop flag

// Number of updates that a thread looks up at a time. It finishes fewer before another one has started.
constexpr std::size_t look_up_grain = 256;

// Looks up ids in stages. Each stage is some updates behind the one before, so that cache misses overlap.
class StagedLookUp {
 public:
  StagedLookUp(const DataGraph& graph, std::span<const Update> updates, std::span<BatchLookUp::Ends> ends)
      : graph_(&graph), updates_(updates), ends_(ends) {}

  [[nodiscard]] std::size_t size() const noexcept { return updates_.size(); }

  // Prefetches for one step. Call it with 0, 1, ... up to all_stages beyond the update that is to be found.
  void fetch(std::size_t step) const {
    const Dictionary& dictionary = graph_->dictionary;
    if (step < updates_.size()) {
      BatchLookUp::Ends& ends = ends_[step];
      const unsigned ids = ids_of(updates_[step]);
      if (ids > 0) dictionary.fetch_slot(ends.source_hash = dictionary.hash(updates_[step].source));
      if (ids > 1) dictionary.fetch_slot(ends.target_hash = dictionary.hash(updates_[step].target));
    }
    if (const std::size_t i = step - stage; step >= stage && i < updates_.size()) {
      const unsigned ids = ids_of(updates_[i]);
      if (ids > 0) dictionary.fetch_key(ends_[i].source_hash);
      if (ids > 1) dictionary.fetch_key(ends_[i].target_hash);
    }
    if (const std::size_t i = step - 2 * stage; step >= 2 * stage && i < updates_.size()) {
      const Update& update = updates_[i];
      const unsigned ids = ids_of(update);
      if (ids > 0 && update.source.is_text()) dictionary.fetch_text(ends_[i].source_hash);
      if (ids > 1 && update.target.is_text()) dictionary.fetch_text(ends_[i].target_hash);
    }
  }

  void find(std::size_t i) {
    const Update& update = updates_[i];
    BatchLookUp::Ends& ends = ends_[i];
    const unsigned ids = ids_of(update);
    if (ids == 2 && drops_loops_ && update.source == update.target) {
      ends.source = ends.target = invalid_vertex;
      ends.label = BatchLookUp::loop;
      return;
    }
    ends.source = ids > 0 ? graph_->dictionary.find(update.source, ends.source_hash) : invalid_vertex;
    ends.target = invalid_vertex;
    ends.label = BatchLookUp::no_label;
    if (ids < 2) return;
    ends.target = graph_->dictionary.find(update.target, ends.target_hash);
    if (update.label.empty()) {
      ends.label = empty_label;
    } else if (last_label_ != BatchLookUp::no_label && graph_->edge_labels.text(last_label_) == update.label) {
      ends.label = last_label_;
    } else if (const std::optional<LabelId> label = graph_->edge_labels.find(update.label)) {
      ends.label = last_label_ = *label;
    }
  }

 private:
  /// How many ids of an update count. In the model `keyed` the key alone says which edge a deletion means.
  [[nodiscard]] unsigned ids_of(const Update& update) const noexcept {
    const bool deletes = update.kind == UpdateKind::delete_edge;
    if (deletes && graph_->model() == EdgeModel::keyed) return 0;
    return deletes || update.kind == UpdateKind::insert_edge ? 2 : 1;
  }

  const DataGraph* graph_;
  std::span<const Update> updates_;
  std::span<BatchLookUp::Ends> ends_;
  bool drops_loops_ = graph_->model() == EdgeModel::simple && !graph_->keeps_loops();
  LabelId last_label_ = BatchLookUp::no_label;
};

}  // namespace

void BatchLookUp::open(const DataGraph& graph, const UpdateBatch& batch) {
  if (!knows(graph, batch)) {
    edition_ = batch.edition();
    numbering_ = graph.dictionary.numbering();
    labels_ = graph.edge_labels.edition();
    done_ = 0;
    in_order_ = false;
  }
  if (ends_.size() == batch.updates().size() && done_ == ends_.size()) return;
  ends_.resize(batch.updates().size());
  in_order_ = false;
}

/// Looks up the updates from `begin` to `end`. Returns the position at which it stopped.
std::size_t BatchLookUp::look_up(const DataGraph& graph, std::span<const Update> updates, std::size_t begin, std::size_t end,
                                 const std::stop_token& stop) {
  StagedLookUp look(graph, updates.subspan(begin, end - begin), std::span(ends_).subspan(begin, end - begin));
  for (std::size_t step = 0; step < all_stages; ++step) look.fetch(step);
  for (std::size_t i = 0; i < look.size(); ++i) {
    if (i % stop_interval == 0 && stop.stop_requested()) return begin + i;
    look.fetch(i + all_stages);
    look.find(i);
  }
  return end;
}

void BatchLookUp::put_in_order(const DataGraph& graph, Workers& workers) {
  sorted_.clear();
  loops_ = 0;
  in_order_ = true;
  if (graph.model() != EdgeModel::simple) return;  // edges get their slots later
  in_order_ = false;
  sorted_.reserve(done_);
  for (std::size_t i = 0; i < done_; ++i) {
    const Ends& ends = ends_[i];
    loops_ += ends.label == loop ? 1 : 0;
    if (ends.label == no_label || ends.source == invalid_vertex || ends.target == invalid_vertex) continue;
    sorted_.push_back({graph.ranked(ends.source, ends.target, ends.label), static_cast<std::uint32_t>(i)});
  }
  sort_.run(sorted_, graph.dictionary.capacity(), workers);
  in_order_ = true;
}

void BatchLookUp::run(const DataGraph& graph, const UpdateBatch& batch, const std::stop_token& stop) {
  open(graph, batch);
  done_ = look_up(graph, batch.updates(), done_, batch.updates().size(), stop);
  if (in_order_ || done_ < batch.updates().size() || stop.stop_requested()) return;
  Workers alone(1);
  put_in_order(graph, alone);
}

void BatchLookUp::finish(const DataGraph& graph, const UpdateBatch& batch, std::size_t count, Workers& workers) {
  const struct End {
    std::uint64_t& edition;
    ~End() { edition = 0; }
  } end{edition_};
  open(graph, batch);
  const std::span<const Update> updates = batch.updates();
  if (done_ < count) {
    workers.for_each(
        count - done_, workers.grain(count - done_, look_up_grain),
        [&](unsigned, std::size_t begin, std::size_t stop) { look_up(graph, updates, done_ + begin, done_ + stop, {}); });
    done_ = count;
    in_order_ = false;
  }
  if (!in_order_) put_in_order(graph, workers);
}

}  // namespace deltamatch::graph
