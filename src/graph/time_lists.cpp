#include "graph/time_lists.hpp"

#include <algorithm>
#include <cstring>

namespace deltamatch::graph {

namespace {

constexpr std::uint32_t least_capacity = 4;
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

}  // namespace

void TimeLists::build(const DataGraph& graph) {
  rows_.clear();
  newest_ = no_time;
  const EdgeTable& table = *graph.edge_table;
  std::vector<Slot> slots;
  slots.reserve(graph.edges());
  for (Slot slot = 0; slot < table.slots(); ++slot) {
    if (table.live(slot)) slots.push_back(slot);
  }
  const auto arrived = [&](Slot slot) { return table.ordinal(slot); };
  if (!std::ranges::is_sorted(slots, {}, arrived)) std::ranges::sort(slots, {}, arrived);
  std::vector<Edge> edges;
  edges.reserve(slots.size());
  for (const Slot slot : slots) edges.push_back({table.tail(slot), table.head(slot), slot});
  make_room(graph, edges);
  insert(graph, edges);
}

/// Gives each list, all of which are empty, room for its edges.
void TimeLists::make_room(const DataGraph& graph, std::span<const Edge> edges) {
  rows_.resize(graph.dictionary.capacity());
  LastRelation out(graph, graph.directed() ? Direction::out : Direction::both);
  LastRelation in(graph, graph.directed() ? Direction::in : Direction::both);
  LastRelation loop(graph, Direction::loop);
  for (const Edge& edge : edges) {
    const LabelId label = graph.edge_table->label(edge.which);
    const bool loops = edge.tail == edge.head;
    ++list_of(edge.tail, (loops ? loop : out).find(label, edge.head)).capacity;
    if (!loops) ++list_of(edge.head, in.find(label, edge.tail)).capacity;
  }
  const auto allocate = [](List& list) {
    if (list.capacity != 0) list.entries = std::make_unique_for_overwrite<Entry[]>(list.capacity);
  };
  for (Row& row : rows_) {
    std::ranges::for_each(row.first, allocate);
    std::ranges::for_each(row.more, allocate);
  }
}

void TimeLists::insert(const DataGraph& graph, std::span<const Edge> edges) {
  const EdgeTable& table = *graph.edge_table;
  LastRelation out(graph, graph.directed() ? Direction::out : Direction::both);
  LastRelation in(graph, graph.directed() ? Direction::in : Direction::both);
  LastRelation loop(graph, Direction::loop);
  if (rows_.size() < graph.dictionary.capacity()) rows_.resize(graph.dictionary.capacity());
  for (const Edge& edge : edges) {
    const Timestamp time = time_of(graph, edge.which);
    const LabelId label = table.label(edge.which);
    newest_ = std::max(newest_, time);
    const bool loops = edge.tail == edge.head;
    add(list_of(edge.tail, (loops ? loop : out).find(label, edge.head)), {time, edge.head, edge.which});
    if (!loops) add(list_of(edge.head, in.find(label, edge.tail)), {time, edge.tail, edge.which});
  }
}

void TimeLists::remove(const DataGraph& graph, std::span<const Edge> edges) {
  LastRelation out(graph, graph.directed() ? Direction::out : Direction::both);
  LastRelation in(graph, graph.directed() ? Direction::in : Direction::both);
  LastRelation loop(graph, Direction::loop);
  for (const Edge& edge : edges) {
    const Timestamp time = time_of(graph, edge.which);
    const LabelId label = graph.edge_table->label(edge.which);
    const bool loops = edge.tail == edge.head;
    take(list_of(edge.tail, (loops ? loop : out).find(label, edge.head)), {time, edge.head, edge.which});
    if (!loops) take(list_of(edge.head, in.find(label, edge.tail)), {time, edge.tail, edge.which});
  }
}

TimeLists::List& TimeLists::list_of(VertexId vertex, RelationId relation) {
  Row& row = rows_[vertex];
  for (List& list : row.first) {
    if (list.relation == no_relation) list.relation = relation;
    if (list.relation == relation) return list;
  }
  const auto found = std::ranges::find(row.more, relation, &List::relation);
  if (found != row.more.end()) return *found;
  row.more.emplace_back().relation = relation;
  return row.more.back();
}

void TimeLists::add(List& list, const Entry& entry) {
  if (list.end == list.capacity) make_room(list);
  Entry* at = list.entries.get() + list.end;
  if (list.end > list.begin && at[-1].time > entry.time) {
    Entry* const begin = list.entries.get() + list.begin;
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
    const std::uint32_t capacity = std::max(least_capacity, 2 * list.capacity);
    auto larger = std::make_unique_for_overwrite<Entry[]>(capacity);
    std::copy_n(list.entries.get() + list.begin, count, larger.get());
    list.entries = std::move(larger);
    list.capacity = capacity;
  } else {
    std::memmove(list.entries.get(), list.entries.get() + list.begin, count * sizeof(Entry));
  }
  list.begin = 0;
  list.end = count;
}

void TimeLists::take(List& list, const Entry& entry) noexcept {
  Entry* const begin = list.entries.get() + list.begin;
  Entry* const end = list.entries.get() + list.end;
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
  list.entries.reset();
  list.capacity = 0;
}

std::size_t TimeLists::bytes() const noexcept {
  std::size_t entries = 0;
  std::size_t lists = 0;
  for (const Row& row : rows_) {
    for (const List& list : row.first) entries += list.capacity;
    for (const List& list : row.more) entries += list.capacity;
    lists += row.more.capacity();
  }
  return rows_.capacity() * sizeof(Row) + lists * sizeof(List) + entries * sizeof(Entry);
}

}  // namespace deltamatch::graph
