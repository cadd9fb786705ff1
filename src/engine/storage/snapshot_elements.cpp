#include "engine/storage/snapshot_elements.hpp"

namespace deltamatch::engine {

void ElementReader::begin_run(UpdateKind kind) {
  const encoding::Run run = encoding::take_run(*in_);
  if (run.head.kind != kind) in_->refuse("an update of another kind");
  const bool vertices = kind == UpdateKind::insert_vertex;
  if (const auto reason = unreadable(run.head, vertices ? encoding::field::implied : 0)) in_->refuse_later(*reason);
  constexpr std::uint64_t not_of_vertex = encoding::field::time | encoding::field::attributes;
  if (vertices && (!run.head.has(encoding::field::source_label) || run.head.has(not_of_vertex))) {
    in_->refuse("a vertex with fields that it cannot have");
  }
  if (run.count == 0 || run.count > left_ || head_ == run.head) in_->refuse("a run that is too long or too short");
  head_ = run.head;
  left_ -= left_in_run_ = run.count;
}

/// Flags (1: the id is a text; 2: the vertex was declared), label, id. An integer id is the difference to the one before.
StoredVertex ElementReader::older_vertex() {
  constexpr std::uint8_t text_flag = 1;
  constexpr std::uint8_t declared_flag = 2;
  const std::uint64_t flags = in_->number(text_flag | declared_flag);
  const LabelId label = labels_.take(*in_);
  if ((flags & text_flag) != 0) return {in_->text(), label, (flags & declared_flag) != 0};
  last_id_ = encoding::advance(last_id_, in_->signed_number());
  return {last_id_, label, (flags & declared_flag) != 0};
}

/// Tail, head, label; under a window the time. The tail is the difference to the one before, and so is the head if the tail is
/// the same. The time is a difference, too.
StoredEdge ElementReader::older_edge(bool timed) {
  StoredEdge edge;
  edge.tail = last_.tail + static_cast<std::int64_t>(in_->number(max_vertices));
  edge.head = (edge.tail == last_.tail ? last_.head : 0) + static_cast<std::int64_t>(in_->number(max_vertices));
  edge.label = labels_.take(*in_);
  if (timed) edge.time = encoding::advance(last_.time, in_->signed_number());
  return last_ = edge;
}

}  // namespace deltamatch::engine
