#include "graph/time_lists.hpp"

#include <algorithm>
#include <cstring>

namespace deltamatch::graph {

namespace {

constexpr std::uint32_t least_capacity = 4;
constexpr std::size_t words_of_entry = sizeof(TimeLists::Entry) / sizeof(std::uint32_t);
constexpr std::uint32_t kept_capacity = 16;  // of an empty list; it may soon hold as many again

Timestamp time_of(const DataGraph& graph, Slot slot) noexcept {
  return graph.edge_table->time(slot).value_or(TimeLists::no_time);
}

bool earlier(const TimeLists::Entry& entry, Timestamp time) noexcept { return entry.time < time; }

/// Finds relations. It skips the look-up if the labels are the same as before.
class LastRelation {
 public:
  LastRelation(const DataGraph& graph, Direction direction) noexcept : graph_(&graph), direction_(direction) {}
  RelationId find(LabelId label, VertexId neighbour) noexcept {
    const LabelId neighbour_label = graph_->dictionary.label(neighbour);
    if (relation_ == no_relation || label != label_ || neighbour_label != neighbour_label_) {
      relation_ = graph_->relations().find(direction_, label, neighbour_label);
      label_ = label;
      neighbour_label_ = neighbour_label;
    }
    return relation_;
  }

 private:
  const DataGraph* graph_;
  Direction direction_;
  LabelId label_ = empty_label;
  LabelId neighbour_label_ = empty_label;
  RelationId relation_ = no_relation;
};

/// Finds the relations under which an edge stands in lists: one for each end, or one for a self-loop.
class RelationsOfEdge {
 public:
  explicit RelationsOfEdge(const DataGraph& graph) noexcept
      : out_(graph, graph.directed() ? Direction::out : Direction::both),
        in_(graph, graph.directed() ? Direction::in : Direction::both),
        loop_(graph, Direction::loop) {}
  /// Calls visit(vertex, neighbour, relation) for each list.
  template <class Visit>
  void for_each(const Edge& edge, LabelId label, Visit&& visit) {
    if (edge.tail == edge.head) return visit(edge.tail, edge.head, loop_.find(label, edge.head));
    visit(edge.tail, edge.head, out_.find(label, edge.head));
    visit(edge.head, edge.tail, in_.find(label, edge.tail));
  }

 private:
  LastRelation out_;
  LastRelation in_;
  LastRelation loop_;
};

}  // namespace

void TimeLists::build(const DataGraph& graph) {
  rows_.clear();
  arena_ = std::make_unique<Arena>();
  newest_ = no_time;
  const EdgeTable& table = *graph.edge_table;
  std::vector<Edge> edges;
  edges.reserve(graph.edges());
  for (Slot slot = 0; slot < table.slots(); ++slot) {
    if (table.live(slot)) edges.push_back({table.tail(slot), table.head(slot), slot});
  }
  const auto arrived = [&](const Edge& edge) { return table.ordinal(edge.which); };
  if (!std::ranges::is_sorted(edges, {}, arrived)) std::ranges::sort(edges, {}, arrived);
  make_room(graph.base());
  insert(graph, edges);
}

/// Gives the list of each relation room for the edges that are settled.
void TimeLists::make_room(const Adjacency& settled) {
  rows_.resize(settled.vertices());
  for (VertexId vertex = 0; vertex < rows_.size(); ++vertex) {
    settled.for_each_list(vertex, [&](RelationId relation, std::span<const std::uint32_t> entries, const std::uint32_t*) {
      if (!entries.empty() && lists(relation)) allocate(list_of(vertex, relation), static_cast<std::uint32_t>(entries.size()));
    });
  }
}

/// Prefetches what a loop over edges changes: rows first, and later the entries of these rows that `which` names.
template <class Which>
void TimeLists::prefetch_ahead(std::span<const Edge> edges, std::size_t at, Which&& which) const noexcept {
  constexpr std::size_t rows_ahead = 16;
  constexpr std::size_t entries_ahead = 8;
  if (at + rows_ahead < edges.size()) {
    prefetch(edges[at + rows_ahead].tail);
    prefetch(edges[at + rows_ahead].head);
  }
  if (at + entries_ahead >= edges.size()) return;
  for (const VertexId vertex : {edges[at + entries_ahead].tail, edges[at + entries_ahead].head}) {
    if (vertex >= rows_.size()) continue;
    for (const List& list : rows_[vertex].first) fetch_line_to_write(list.entries + which(list));
  }
}

void TimeLists::insert(const DataGraph& graph, std::span<const Edge> edges) {
  arena_->recycle();
  const EdgeTable& table = *graph.edge_table;
  RelationsOfEdge lists_of(graph);
  if (rows_.size() < graph.dictionary.capacity()) rows_.resize(graph.dictionary.capacity());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    prefetch_ahead(edges, i, [](const List& list) { return list.end; });
    const Edge& edge = edges[i];
    const Timestamp time = time_of(graph, edge.which);
    lists_of.for_each(edge, table.label(edge.which), [&](VertexId vertex, VertexId neighbour, RelationId relation) {
      if (!lists(relation)) return;
      newest_ = std::max(newest_, time);
      add(list_of(vertex, relation), {time, neighbour, edge.which});
    });
  }
}

void TimeLists::remove(const DataGraph& graph, std::span<const Edge> edges) {
  RelationsOfEdge lists_of(graph);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    prefetch_ahead(edges, i, [](const List& list) { return list.begin; });
    const Edge& edge = edges[i];
    const Timestamp time = time_of(graph, edge.which);
    lists_of.for_each(edge, graph.edge_table->label(edge.which), [&](VertexId vertex, VertexId neighbour, RelationId relation) {
      if (lists(relation)) take(list_of(vertex, relation), {time, neighbour, edge.which});
    });
  }
}

TimeLists::List& TimeLists::list_of(VertexId vertex, RelationId relation) {
  Row& row = rows_[vertex];
  for (List& list : row.first) {
    if (list.relation == no_relation) list.relation = relation;
    if (list.relation == relation) return list;
  }
  if (!row.more) row.more = std::make_unique<std::vector<List>>();
  const auto found = std::ranges::find(*row.more, relation, &List::relation);
  if (found != row.more->end()) return *found;
  row.more->emplace_back().relation = relation;
  return row.more->back();
}

void TimeLists::add(List& list, const Entry& entry) {
  if (list.end == list.capacity) make_room(list);
  Entry* at = list.entries + list.end;
  if (list.end > list.begin && at[-1].time > entry.time) {
    Entry* const begin = list.entries + list.begin;
    Entry* const place =
        std::upper_bound(begin, at, entry.time, [](Timestamp time, const Entry& other) { return time < other.time; });
    std::memmove(place + 1, place, static_cast<std::size_t>(at - place) * sizeof(Entry));
    at = place;
  }
  *at = entry;
  ++list.end;
}

/// Moves the entries to the beginning of the memory if at most half of it is used, else to twice as much.
void TimeLists::make_room(List& list) {
  const std::uint32_t count = list.end - list.begin;
  if (list.capacity == 0 || 2 * count > list.capacity) {
    List larger = list;
    allocate(larger, std::max(least_capacity, 2 * list.capacity));
    std::copy_n(list.entries + list.begin, count, larger.entries);
    if (list.capacity != 0) give_back(list);
    list = larger;
  } else {
    std::memmove(list.entries, list.entries + list.begin, count * sizeof(Entry));
  }
  list.begin = 0;
  list.end = count;
}

void TimeLists::allocate(List& list, std::uint32_t capacity) {
  const std::size_t words = Arena::block_words(capacity * words_of_entry);
  list.entries = reinterpret_cast<Entry*>(arena_->allocate(words));
  list.capacity = static_cast<std::uint32_t>(words / words_of_entry);
}

void TimeLists::give_back(List& list) noexcept {
  arena_->give_back(reinterpret_cast<std::uint32_t*>(list.entries), Arena::block_words(list.capacity * words_of_entry));
  list.entries = nullptr;
  list.capacity = 0;
}

void TimeLists::take(List& list, const Entry& entry) noexcept {
  Entry* const begin = list.entries + list.begin;
  Entry* const end = list.entries + list.end;
  Entry* at = begin;
  if (at->slot != entry.slot) {
    at = std::lower_bound(begin, end, entry.time, earlier);
    while (at->slot != entry.slot) ++at;
  }
  if (at - begin < end - at) {
    std::memmove(begin + 1, begin, static_cast<std::size_t>(at - begin) * sizeof(Entry));
    ++list.begin;
  } else {
    std::memmove(at, at + 1, static_cast<std::size_t>(end - at - 1) * sizeof(Entry));
    --list.end;
  }
  if (list.begin != list.end) return;
  list.begin = list.end = 0;
  if (list.capacity <= kept_capacity) return;
  give_back(list);
}

std::size_t TimeLists::bytes() const noexcept {
  std::size_t lists = 0;
  for (const Row& row : rows_) lists += row.more ? row.more->capacity() : 0;
  return rows_.capacity() * sizeof(Row) + lists * sizeof(List) + arena_->bytes();
}

}  // namespace deltamatch::graph
