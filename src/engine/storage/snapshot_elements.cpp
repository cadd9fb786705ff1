#include "engine/storage/snapshot_elements.hpp"

namespace deltamatch::engine {

ElementFields fields_of_vertices(const graph::DataGraph& graph) noexcept {
  namespace field = encoding::field;
  return {field::source_label, field::text_source | field::implied | (graph.schema().vertices.empty() ? 0 : field::attributes)};
}

ElementFields fields_of_edges(const graph::DataGraph& graph) noexcept {
  namespace field = encoding::field;
  if (graph.model() == EdgeModel::simple) return {field::label | (graph.timed() ? field::time : 0), 0};
  const std::uint64_t attributes = graph.schema().edges.empty() ? 0 : field::attributes;
  if (graph.model() == EdgeModel::events) return {field::label, field::time | attributes};
  return {field::label | field::key, field::text_key | field::time | attributes};
}

bool has_values(const graph::AttributeTable& table, std::size_t row) noexcept {
  for (std::size_t i = 0; i < table.width(); ++i) {
    if (table.word(row, i)) return true;
  }
  return false;
}

std::span<const AttributeValue> stored_values(const graph::AttributeTable& table, std::size_t row,
                                              std::vector<AttributeValue>& values) {
  if (!has_values(table, row)) return {};
  values.resize(table.width());
  table.values(row, values);
  return values;
}

void ElementReader::begin_run(UpdateKind kind) {
  const encoding::Run run = encoding::take_run(*in_);
  if (run.head.kind != kind) in_->refuse("an update of another kind");
  const bool vertices = kind == UpdateKind::insert_vertex;
  if (const auto reason = unreadable(run.head, vertices ? encoding::field::implied : 0)) in_->refuse_later(*reason);
  if (!fields_.allow(run.head.fields))
    in_->refuse(vertices ? "a vertex with fields that it cannot have" : "an edge with fields that it cannot have");
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
  if ((flags & text_flag) != 0) return {in_->text(), label, (flags & declared_flag) != 0, {}};
  last_id_ = encoding::advance(last_id_, in_->signed_number());
  return {last_id_, label, (flags & declared_flag) != 0, {}};
}

/// Tail, head, label; under a window the time. The tail is the difference to the one before, and so is the head if the tail is
/// the same. The time is a difference, too.
StoredEdge ElementReader::older_edge() {
  StoredEdge edge;
  edge.tail = last_.tail + static_cast<std::int64_t>(in_->number(max_vertices));
  edge.head = (edge.tail == last_.tail ? last_.head : 0) + static_cast<std::int64_t>(in_->number(max_vertices));
  edge.label = labels_.take(*in_);
  if ((fields_.always & encoding::field::time) != 0)
    edge.time = encoding::advance(last_.time.value_or(0), in_->signed_number());
  return last_ = edge;
}

}  // namespace deltamatch::engine
