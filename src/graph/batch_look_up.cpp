#include "graph/batch_look_up.hpp"

#include <boost/sort/pdqsort/pdqsort.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

namespace deltamatch::graph {
namespace {

// How many updates lie between the stages of a look-up.
constexpr std::size_t stage = 8;
constexpr std::size_t all_stages = 3 * stage;

constexpr std::size_t stop_interval = 64;  // updates between looks at the stop flag

bool is_edge(const Update& update) noexcept {
  return update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
}

}  // namespace

void sort_edge_updates(std::vector<EdgeUpdate>& updates) {
  __extension__ using Key = unsigned __int128;
  const auto key = [](const EdgeUpdate& update) {
    const std::uint64_t ends = std::uint64_t{update.edge.tail} << 32 | update.edge.head;
    return static_cast<Key>(ends) << 64 | (std::uint64_t{update.edge.label} << 32 | update.index);
  };
  boost::sort::pdqsort_branchless(updates.begin(), updates.end(),
                                  [&](const EdgeUpdate& a, const EdgeUpdate& b) { return key(a) < key(b); });
}

// Ids are looked up in stages, each some updates behind the one before, so that their misses overlap.
void BatchLookUp::fetch(const DataGraph& graph, std::span<const Update> updates, std::size_t step) {
  const Dictionary& dictionary = graph.dictionary;
  if (step < updates.size()) {
    Ends& ends = ends_[step];
    dictionary.fetch_slot(ends.source_hash = dictionary.hash(updates[step].source));
    if (is_edge(updates[step])) dictionary.fetch_slot(ends.target_hash = dictionary.hash(updates[step].target));
  }
  if (const std::size_t i = step - stage; step >= done_ + stage && i < updates.size()) {
    dictionary.fetch_key(ends_[i].source_hash);
    if (is_edge(updates[i])) dictionary.fetch_key(ends_[i].target_hash);
  }
  if (const std::size_t i = step - 2 * stage; step >= done_ + 2 * stage && i < updates.size()) {
    dictionary.fetch_text(ends_[i].source_hash);
    if (is_edge(updates[i])) dictionary.fetch_text(ends_[i].target_hash);
  }
}

void BatchLookUp::find(const DataGraph& graph, const Update& update, Ends& ends) {
  ends.source = graph.dictionary.find(update.source, ends.source_hash);
  ends.target = invalid_vertex;
  ends.label = no_label;
  if (!is_edge(update)) return;
  ends.target = graph.dictionary.find(update.target, ends.target_hash);
  if (update.label.empty()) {
    ends.label = empty_label;
  } else if (last_label_ != no_label && graph.edge_labels.text(last_label_) == update.label) {
    ends.label = last_label_;
  } else if (const std::optional<LabelId> label = graph.edge_labels.find(update.label)) {
    ends.label = last_label_ = *label;
  }
}

void BatchLookUp::run(const DataGraph& graph, const UpdateBatch& batch, const std::stop_token& stop) {
  const std::span<const Update> updates = batch.updates();
  if (!knows(graph, batch)) {
    edition_ = batch.edition();
    numbering_ = graph.dictionary.numbering();
    done_ = 0;
    in_order_ = false;
  }
  if (done_ < updates.size()) {
    ends_.resize(updates.size());
    in_order_ = false;
    for (std::size_t step = done_; step < done_ + all_stages; ++step) fetch(graph, updates, step);
    for (; done_ < updates.size(); ++done_) {
      if (done_ % stop_interval == 0 && stop.stop_requested()) return;
      fetch(graph, updates, done_ + all_stages);
      find(graph, updates[done_], ends_[done_]);
    }
  }
  if (in_order_ || stop.stop_requested()) return;
  sorted_.clear();
  sorted_.reserve(updates.size());
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const Ends& ends = ends_[i];
    if (ends.label == no_label || ends.source == invalid_vertex || ends.target == invalid_vertex) continue;
    sorted_.push_back({graph.ranked(ends.source, ends.target, ends.label), static_cast<std::uint32_t>(i)});
  }
  sort_edge_updates(sorted_);
  in_order_ = true;
}

void BatchLookUp::finish(const DataGraph& graph, const UpdateBatch& batch) {
  const struct End {
    std::uint64_t& edition;
    ~End() { edition = 0; }
  } end{edition_};
  run(graph, batch, {});
}

}  // namespace deltamatch::graph
