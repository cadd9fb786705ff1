// The model of a batch. Its records are applied one by one to the current graph. Only then is the result compared with the
// graph before. Nothing here is clever; a batch costs several passes over the whole graph.
#include <algorithm>
#include <limits>
#include <utility>

#include "support/oracle.hpp"

namespace deltamatch::oracle {

Model::Model(bool directed, Timestamp window, const Schema& schema, bool watched, Timestamp retained, bool loops)
    : window_(window), edges_(schema.model), watched_(watched), retained_(retained), loops_(loops) {
  graph_.directed = directed;
  graph_.schema = schema;
}

namespace {

std::span<const AttributeValue> values_of(const Update& update) {
  return update.properties == nullptr ? std::span<const AttributeValue>() : update.properties->attributes;
}

bool fits(const std::vector<Attribute>& attributes, std::span<const AttributeValue> values) {
  if (values.empty()) return true;
  if (values.size() != attributes.size()) return false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::holds_alternative<std::monostate>(values[i])) continue;
    switch (attributes[i].type.kind) {
      case AttributeType::Kind::real:
        if (!std::holds_alternative<double>(values[i])) return false;
        break;
      case AttributeType::Kind::boolean:
        if (!std::holds_alternative<bool>(values[i])) return false;
        break;
      case AttributeType::Kind::symbol:
        if (!std::holds_alternative<std::string_view>(values[i])) return false;
        break;
      default:
        if (!std::holds_alternative<std::int64_t>(values[i])) return false;
    }
  }
  return true;
}

}  // namespace

bool Model::has_edges(const ExternalId& vertex) const {
  return std::any_of(graph_.edges.begin(), graph_.edges.end(),
                     [&](const DataEdge& edge) { return edge.source == vertex || edge.target == vertex; });
}

/// Reading: a label conflict is judged at the record's place in the batch, against the edges that live there. Those are the
/// edges of the graph and of earlier inserts, less earlier deletions. A vertex without a label (or with the empty one, which is
/// the same) may get its first label at any time. A record that states a part of the labels does not contradict them, unless
/// it states the empty one. Expiry comes only at the end of the batch. So an edge that will expire with
/// this batch, or that is dead on arrival, still holds its vertices' labels until then.
bool Model::conflicts(const ExternalId& vertex, const std::optional<std::string_view>& label) const {
  const auto known = graph_.vertices.find(vertex);
  if (!label || known == graph_.vertices.end() || known->second.empty() || !has_edges(vertex)) return false;
  const std::set<std::string> stated = labels_of(*label);
  const std::set<std::string> labels = labels_of(known->second);
  return stated.empty() || !std::includes(labels.begin(), labels.end(), stated.begin(), stated.end());
}

/// Reading: if several reasons apply, those that the record alone shows come first: missing_time, then label_conflict.
/// Deletions must respect labels too. Only insertions of edges need a time, because nothing of a vertex record expires. A
/// self-loop is never refused, and what it says of labels and vertices is ignored.
std::optional<RejectReason> Model::refuse(const Update& update) const {
  const bool of_edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
  const bool keyed = of_edge && edges_ == EdgeModel::keyed;
  // Reading: a deletion by key needs the key only. Its ends and labels are not read.
  if (keyed && update.kind == UpdateKind::delete_edge) {
    return update.key() ? std::nullopt : std::optional(RejectReason::missing_key);
  }
  const bool loop = of_edge && update.source == update.target;
  if (loop && !loops_) return std::nullopt;
  if (keyed && !update.key()) return RejectReason::missing_key;
  if (update.kind == UpdateKind::insert_edge && !fits(graph_.schema.edges, values_of(update))) return RejectReason::bad_value;
  if (update.kind == UpdateKind::insert_edge && (window_ != 0 || retained_ != 0) && !update.time)
    return RejectReason::missing_time;
  // Reading: the two ends of a self-loop are one vertex. So if both are stated, they must be stated alike.
  if (loop && update.source_label && update.target_label && labels_of(*update.source_label) != labels_of(*update.target_label))
    return RejectReason::label_conflict;
  // Reading: an insertion of a vertex sets its labels, so it contradicts nothing.
  const bool declares = update.kind == UpdateKind::insert_vertex;
  if (!declares && conflicts(own(update.source), update.source_label)) return RejectReason::label_conflict;
  if (of_edge && conflicts(own(update.target), update.target_label)) return RejectReason::label_conflict;
  if (update.kind == UpdateKind::insert_vertex && !fits(graph_.schema.vertices, values_of(update)))
    return RejectReason::bad_value;
  return std::nullopt;
}

/// An edge lives iff (largest insert time since its last deletion) + window > watermark.
bool Model::dead(Timestamp time) const {
  __extension__ using Wide = __int128;
  return window_ != 0 && watermark_ && Wide{time} + window_ <= Wide{*watermark_};
}

/// An unknown vertex gets the given labels, or none. A known vertex gets the given labels; without any, its labels stay. They
/// stay too if the given ones are a part of them.
void Model::mention(const ExternalId& vertex, const std::optional<std::string_view>& label) {
  std::string& known = graph_.vertices[vertex];
  if (!label) return;
  const std::set<std::string> stated = labels_of(*label);
  const std::set<std::string> labels = labels_of(known);
  if (stated.empty() || !std::includes(labels.begin(), labels.end(), stated.begin(), stated.end())) known = text_of(stated);
}

/// A record of a vertex sets its labels if it states them. Then it adds some, and removes some.
void Model::declare(const Update& update) {
  std::string& known = graph_.vertices[own(update.source)];
  std::set<std::string> labels = labels_of(update.source_label.value_or(known));
  for (const std::string& added : labels_of(update.label)) labels.insert(added);
  for (const std::string& removed : labels_of(update.target_label.value_or(""))) labels.erase(removed);
  known = text_of(labels);
}

void Model::remove(const DataEdge& edge) {
  graph_.edges.erase(edge);
  time_.erase(edge);
  arrived_.erase(edge);
  departed_.emplace(edge, running_.value_or(std::numeric_limits<Timestamp>::min()));
}

/// Reading: an edge that is kept for conditions is late if it has expired at its own running watermark.
void Model::arrive(const DataEdge& edge) {
  const Timestamp now = running_.value_or(std::numeric_limits<Timestamp>::min());
  arrived_[edge] = now;
  __extension__ using Wide = __int128;
  if (retained_ != 0 && Wide{edge.time.value_or(0)} + retained_ <= Wide{now}) late_.insert(edge);
}

/// Of events that join the same vertices under the same label, a deletion removes the newest that is not newer than itself.
/// Reading: an event without a time is older than all others. Equal times are told apart by the order of insertion.
std::optional<DataEdge> Model::newest(const DataEdge& like, std::optional<Timestamp> time) const {
  std::optional<DataEdge> found;
  for (const DataEdge& edge : graph_.edges) {
    if (edge.source != like.source || edge.target != like.target || edge.label != like.label) continue;
    if (time && edge.time && *edge.time > *time) continue;
    if (!found || std::pair(edge.time, edge.ordinal) > std::pair(found->time, found->ordinal)) found = edge;
  }
  return found;
}

std::optional<DataEdge> Model::with_key(const ExternalId& key) const {
  const auto found =
      std::find_if(graph_.edges.begin(), graph_.edges.end(), [&](const DataEdge& edge) { return edge.key == key; });
  return found == graph_.edges.end() ? std::nullopt : std::optional(*found);
}

/// Reading: the last record of a key counts, whatever its time is, as in a log of changes. An edge that becomes a self-loop
/// leaves the graph. A deletion of a key that no edge has is counted at once.
void Model::take_keyed(const Update& update, Outcome& outcome) {
  const bool insert = update.kind == UpdateKind::insert_edge;
  const bool loop = insert && update.source == update.target && !loops_;
  if (loop) ++outcome.ignored.self_loop;
  if (!update.key()) return;
  const ExternalId key = own(*update.key());
  const auto live = with_key(key);
  if (live) remove(*live);
  if (loop) {
    if (live) keys_[key].undone = true;
    return;
  }
  if (!insert && !live) {
    ++outcome.ignored.absent_delete;
    return;
  }
  keys_[key] = {keys_[key].records + 1, insert, false};
  if (!insert) return;
  mention(own(update.source), update.source_label);
  mention(own(update.target), update.target_label);
  DataEdge edge = graph_.edge(own(update.source), std::string(update.label), own(update.target));
  edge.key = key;
  edge.time = update.time;
  edge.attributes = own(values_of(update));
  time_[edge] = update.time.value_or(0);
  graph_.edges.insert(edge);
  arrive(edge);
}

void Model::take(const Update& update, Touched& touched, Outcome& outcome) {
  // Reading: every record that is not refused moves the watermark, including deletions and vertex records. A refused record has
  // no effect at all.
  if (update.time && !update.ahead) watermark_ = std::max(watermark_.value_or(*update.time), *update.time);
  const ExternalId source = own(update.source);
  const ExternalId target = own(update.target);
  const bool of_edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
  if (of_edge && edges_ == EdgeModel::keyed) return take_keyed(update, outcome);
  if (of_edge && source == target && !loops_) {  // only its time counts
    ++outcome.ignored.self_loop;
    return;
  }
  switch (update.kind) {
    case UpdateKind::insert_vertex:
      declare(update);
      declared_.insert(source);
      if (values_of(update).empty()) return;
      graph_.values.erase(source);
      if (auto values = own(values_of(update)); !values.empty()) graph_.values.emplace(source, std::move(values));
      return;
    case UpdateKind::delete_vertex: {
      if (graph_.vertices.erase(source) == 0) ++outcome.ignored.absent_delete;
      declared_.erase(source);
      graph_.values.erase(source);
      const std::set<DataEdge> live = graph_.edges;
      for (const DataEdge& edge : live) {
        if (edge.source != source && edge.target != source) continue;
        remove(edge);
        if (edge.key) {
          keys_[*edge.key].undone = true;
          continue;
        }
        touched[edge].undone = true;
        touched[edge].was_deleted = true;
      }
      return;
    }
    case UpdateKind::insert_edge: {
      // Reading: an insertion mentions its vertices even if its edge is a duplicate, superseded or dead on arrival.
      mention(source, update.source_label);
      mention(target, update.target_label);
      DataEdge edge = graph_.edge(source, std::string(update.label), target);
      if (edges_ == EdgeModel::events) {
        edge.ordinal = ++insertions_;
        edge.time = update.time;
        edge.attributes = own(values_of(update));
      }
      const Timestamp time = update.time.value_or(0);
      const auto [at, fresh] = time_.emplace(edge, time);
      if (!fresh) at->second = std::max(at->second, time);
      graph_.edges.insert(edge);
      arrive(edge);
      touched[edge] = {touched[edge].updates + 1, true, false, touched[edge].was_deleted};
      return;
    }
    case UpdateKind::delete_edge: {
      // A deletion mentions no vertex: it neither relabels a vertex nor makes one known.
      DataEdge edge = graph_.edge(source, std::string(update.label), target);
      if (edges_ == EdgeModel::events) {
        const auto found = newest(edge, update.time);
        if (!found) {
          ++outcome.ignored.absent_delete;
          return;
        }
        edge = *found;
      }
      remove(edge);
      touched[edge] = {touched[edge].updates + 1, false, false, true};
      return;
    }
  }
}

/// Reading: the counters count records of edges. Of the records that name one edge, each but the last is superseded. The last
/// one is superseded too if it is an insertion that the deletion of a vertex undid. The rest is compared with the graphs before
/// and after:
/// - An insertion of an edge that does not live after the batch is late.
/// - Any other insertion of an edge that is not in I is a duplicate.
/// - A deletion of an edge that did not live before is absent.
///
/// Edges that are deleted with their vertex are no records, so they never count.
void Model::count(const Touched& touched, const DataGraph& before, Outcome& outcome) const {
  Ignored& ignored = outcome.ignored;
  for (const auto& [edge, touch] : touched) {
    if (touch.updates == 0) continue;
    ignored.superseded += touch.updates - 1;
    if (!touch.insert) {
      // A deletion of events names one that lives, or it was counted at once.
      if (edges_ == EdgeModel::simple && !before.edges.contains(edge)) ++ignored.absent_delete;
    } else if (touch.undone) {
      ++ignored.superseded;
    } else if (!graph_.edges.contains(edge)) {
      ++ignored.late;
    } else if (!outcome.inserted.contains(edge)) {
      ++ignored.duplicate_insert;
    }
  }
}

/// Reading: of the records that name a key, each but the last is superseded. The last is superseded too if it inserts, and the
/// edge was undone. If the edge does not live after the batch, its insertion is late. If it is as before, a duplicate.
void Model::count_keys(const DataGraph& before, Outcome& outcome) const {
  Ignored& ignored = outcome.ignored;
  for (const auto& [key, touch] : keys_) {
    if (touch.records == 0) continue;
    ignored.superseded += touch.records - 1;
    if (!touch.insert) continue;
    const auto live = with_key(key);
    if (touch.undone) {
      ++ignored.superseded;
    } else if (!live) {
      ++ignored.late;
    } else if (before.edges.contains(*live) && !outcome.inserted.contains(*live)) {
      ++ignored.duplicate_insert;
    }
  }
}

/// Reading: an edge is expired if it lived before the batch and only the watermark removed it. If the batch deleted it and
/// inserted it again too late, it was deleted.
void Model::expire(const Touched& touched, const DataGraph& before, Outcome& outcome) {
  const std::map<DataEdge, Timestamp> live = time_;
  __extension__ using Wide = __int128;
  for (const auto& [edge, time] : live) {
    const bool outdated = retained_ != 0 && watermark_before_ && before.edges.contains(edge) &&
                          Wide{time} + retained_ <= Wide{*watermark_before_};
    if (!dead(time) && !outdated && !late_.contains(edge)) continue;
    remove(edge);
    const auto touch = touched.find(edge);
    const bool was_deleted = edge.key ? keys_.contains(*edge.key) : touch != touched.end() && touch->second.was_deleted;
    if (before.edges.contains(edge) && !was_deleted) ++outcome.expired;
  }
}

/// Reading: under a window, a vertex without edges is forgotten unless a vertex record declared it. That includes a vertex
/// whose only insertions were dead on arrival or undone within their batch.
void Model::forget() {
  if (window_ == 0 && retained_ == 0) return;
  std::erase_if(graph_.vertices,
                [&](const auto& vertex) { return !declared_.contains(vertex.first) && !has_edges(vertex.first); });
  std::erase_if(graph_.values, [&](const auto& vertex) { return !graph_.vertices.contains(vertex.first); });
}

/// Reading: a record of several updates is applied one update after the other. Each is judged by the result of those before it.
/// If one is refused, nothing of the record has happened.
std::optional<Reject> Model::take_record(std::span<const Update> batch, std::size_t first, std::size_t last, Touched& touched,
                                         Outcome& outcome) {
  const Model model_before = *this;
  const Touched touched_before = touched;
  const Outcome outcome_before = outcome;
  running_ = watermark_;
  for (std::size_t i = first; i < last; ++i) {
    if (batch[i].time && !batch[i].ahead) running_ = std::max(running_.value_or(*batch[i].time), *batch[i].time);
  }
  for (std::size_t i = first; i < last; ++i) {
    if (const auto reason = refuse(batch[i])) {
      *this = model_before;
      touched = touched_before;
      outcome = outcome_before;
      return Reject{i, *reason};
    }
    take(batch[i], touched, outcome);
  }
  return std::nullopt;
}

Outcome Model::apply(std::span<const Update> batch, OnReject on_reject) {
  const DataGraph before = graph_;
  Outcome outcome;
  Touched touched;
  keys_.clear();
  arrived_.clear();
  departed_.clear();
  late_.clear();
  watermark_before_ = watermark_;
  for (std::size_t first = 0, last = 0; first < batch.size(); first = last) {
    do ++last;
    while (last < batch.size() && batch[last].continues);
    if (const auto reject = take_record(batch, first, last, touched, outcome)) {
      outcome.rejects.push_back(*reject);
      if (on_reject == OnReject::stop) break;
    }
    outcome.consumed = last;
  }
  outcome.inserted_at = arrived_;
  outcome.deleted_at = departed_;
  expire(touched, before, outcome);
  forget();
  outcome.watermark = watermark_;

  // Reading: the batch may remove an edge and bring it back with another label at one of its ends. The edge is then deleted and
  // inserted. A match that asks for the old label vanishes, and one that asks for the new label appears. A match that asks for
  // neither stays and is not reported. An edge that comes back under the same labels (its vertex was deleted and named again,
  // say) is in neither set.
  const auto label = [](const DataGraph& graph, const ExternalId& vertex) { return graph.vertices.at(vertex); };
  const auto values = [](const DataGraph& graph, const ExternalId& vertex) {
    const auto at = graph.values.find(vertex);
    return at == graph.values.end() ? std::vector<Stored>() : at->second;
  };
  const auto restated = [&](const DataEdge& edge) {
    if (watched_ && (values(before, edge.source) != values(graph_, edge.source) ||
                     values(before, edge.target) != values(graph_, edge.target))) {
      return true;
    }
    return label(before, edge.source) != label(graph_, edge.source) || label(before, edge.target) != label(graph_, edge.target);
  };
  for (const DataEdge& edge : before.edges) {
    if (!graph_.edges.contains(edge) || restated(edge)) outcome.deleted.insert(edge);
  }
  for (const DataEdge& edge : graph_.edges) {
    if (!before.edges.contains(edge) || restated(edge)) outcome.inserted.insert(edge);
  }
  // Reading: an edge whose ends are stated anew is changed by the batch as a whole.
  for (const DataEdge& edge : outcome.deleted) {
    if (!outcome.inserted.contains(edge)) continue;
    outcome.deleted_at[edge] = outcome.inserted_at[edge] = watermark_.value_or(std::numeric_limits<Timestamp>::min());
  }
  count(touched, before, outcome);
  count_keys(before, outcome);
  return outcome;
}

}  // namespace deltamatch::oracle
