// What records do to vertices: they create, label, relabel, describe and delete them.
#include <algorithm>
#include <string>
#include <utility>

#include "deltamatch/labels.hpp"
#include "graph/batch_resolver.hpp"

namespace deltamatch::graph {

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

}  // namespace deltamatch::graph
