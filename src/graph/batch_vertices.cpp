// The vertices that a batch creates, gives up or changes, as the resolver knows them before the batch is committed.
#include <algorithm>
#include <iterator>

#include "graph/batch_resolver.hpp"

namespace deltamatch::graph {

namespace {

void sort_unique(std::vector<VertexId>& vertices) {
  std::ranges::sort(vertices);
  vertices.erase(std::ranges::unique(vertices).begin(), vertices.end());
}

}  // namespace

VertexChanges BatchResolver::vertex_changes() const {
  VertexChanges changes;
  std::vector<VertexId> created;
  for (const Undo& undo : undo_) {
    if (undo.kind == Undo::Kind::created || undo.kind == Undo::Kind::rebound) created.push_back(undo.other);
  }
  sort_unique(created);
  std::vector<VertexId> gone = doomed_;
  const std::vector<VertexId> touched = ends_of_deleted();
  const auto leave = [&](VertexId vertex) {
    const bool aged = retains_ && !std::ranges::binary_search(touched, vertex) && !std::ranges::binary_search(created, vertex);
    if (!aged && graph_->dictionary.alive(vertex) && !graph_->dictionary.declared(vertex) && edges_after(vertex) == 0)
      gone.push_back(vertex);
  };
  std::ranges::for_each(forgettable_, leave);
  if (window_ != nullptr) std::ranges::for_each(graph_->emptied(), leave);
  sort_unique(gone);
  std::ranges::set_difference(created, gone, std::back_inserter(changes.arriving));
  std::ranges::set_difference(gone, created, std::back_inserter(changes.leaving));
  list_former(created, changes.former);
  return changes;
}

/// Lists the vertices without settled edges that changed under their numbers. Others change so only if nobody can tell. The
/// first change of a vertex tells what it was.
void BatchResolver::list_former(std::span<const VertexId> created, std::vector<VertexChanges::Former>& former) const {
  std::vector<const Undo*> undone;
  for (const Undo& undo : undo_) {
    const bool changes = undo.kind == Undo::Kind::labelled || undo.kind == Undo::Kind::valued;
    const bool has_edges = undo.vertex < graph_->base().vertices() && graph_->degree(undo.vertex) > 0;
    if (changes && !has_edges && !std::ranges::binary_search(created, undo.vertex)) undone.push_back(&undo);
  }
  std::ranges::stable_sort(undone, {}, &Undo::vertex);
  bool labelled = false;
  for (const Undo* undo : undone) {
    if (former.empty() || former.back().vertex != undo->vertex) {
      former.push_back({undo->vertex, graph_->dictionary.label(undo->vertex), {}});
      labelled = false;
    }
    if (undo->kind == Undo::Kind::valued) {
      if (former.back().values.empty()) former.back().values = old_values_[undo->other];
    } else if (!labelled) {
      former.back().label = undo->other;
      labelled = true;
    }
  }
}

/// The ends of edges that records delete, if edges are kept for conditions.
std::vector<VertexId> BatchResolver::ends_of_deleted() const {
  std::vector<VertexId> ends;
  for (std::size_t i = 0; retains_ && i < result_.removed_marks.size(); ++i) {
    if (result_.removed_marks[i] == INT64_MAX) continue;
    ends.push_back(result_.net.removed[i].tail);
    ends.push_back(result_.net.removed[i].head);
  }
  sort_unique(ends);
  return ends;
}

std::uint32_t BatchResolver::edges_after(VertexId vertex) const {
  return vertex < graph_->base().vertices() ? graph_->degree_after(vertex) : 0;
}

}  // namespace deltamatch::graph
