#include "failure_scenarios.hpp"

#include <deque>
#include <optional>
#include <string_view>

namespace deltamatch::test {
namespace {

using namespace std::string_view_literals;

Update edge(UpdateKind kind, Id source, Id target, std::string_view label = "", std::optional<Timestamp> time = {}) {
  Update update;
  update.kind = kind;
  update.source = source;
  update.target = target;
  update.label = label;
  update.time = time;
  return update;
}
Update insert(Id source, Id target, std::string_view label = "", std::optional<Timestamp> time = {}) {
  return edge(UpdateKind::insert_edge, source, target, label, time);
}
Update erase(Id source, Id target, std::string_view label = "") { return edge(UpdateKind::delete_edge, source, target, label); }
Update vertex(Id id, std::optional<std::string_view> label = {}) {
  Update update;
  update.kind = UpdateKind::insert_vertex;
  update.source = id;
  update.source_label = label;
  return update;
}
Update erase_vertex(Id id) {
  Update update;
  update.kind = UpdateKind::delete_vertex;
  update.source = id;
  return update;
}

/// A record of an edge with a key, attributes or both. What it points to stays for good.
Update with_properties(Update update, std::optional<Id> key, std::vector<AttributeValue> values = {}) {
  struct Kept {
    Properties properties;
    std::vector<AttributeValue> values;
  };
  static std::deque<Kept> all;
  Kept& kept = all.emplace_back(Kept{{}, std::move(values)});
  kept.properties = {key, kept.values};
  update.properties = &kept.properties;
  return update;
}
Update put(Id key, Id source, Id target, std::optional<Timestamp> time, std::vector<AttributeValue> values = {}) {
  return with_properties(insert(source, target, "PAYS", time), key, std::move(values));
}
Update cancel(Id key, std::optional<Timestamp> time = {}) {
  return with_properties(edge(UpdateKind::delete_edge, 0, 0, "", time), key);
}
/// The second of two updates that are one record.
Update and_then(Update update) {
  update.continues = true;
  return update;
}

constexpr const char* undirected_triangle = "(a)--(b)--(c)--(a)";

EngineOptions options_of(bool directed, Timestamp window = 0) {
  EngineOptions options;
  options.directed = directed;
  options.threads = 1;
  options.window = window;
  return options;
}

// Edges expire, are refreshed, die and come back under one watermark. Several are in the bucket that the watermark cuts.
Scenario window_scenario() {
  Updates start;
  for (std::int64_t i = 0; i < 24; ++i) start.push_back(insert(i, (i + 1) % 24, "", 1000 + i));
  Updates batch = {insert(0, 1, "", 1100),   insert(1, 2, "", 1030), insert(2, 3, "", 1031),   erase(7, 8),
                   insert(30, 31, "", 1002), insert(0, 2, "", 7432), insert(31, 30, "", 1033), insert(40, 41, "", 1034)};
  for (std::int64_t i = 50; i < 90; ++i) batch.push_back(insert(i, i + 1, "", 1032 + i % 4));
  for (std::int64_t i = 12; i < 20; ++i) batch.push_back(insert(i, i + 1, "", 1036));
  return {"window",
          options_of(true, 6400),
          {{"(a)-->(b)-->(c)", listing}, {"(a)-->(b)-->(c)-->(d)", counting}},
          start,
          {{insert(2, 0, "", 1050)}, {insert(3, 4, "", 1001)}},
          batch,
          {insert(90, 91, "", 7437), insert(1, 2, "", 7438), insert(9, 92, "", 7437), insert(10, 9, "", 7438)}};
}

Scenario wildcard_scenario() {
  return {"wildcards over derived relations",
          options_of(true),
          {{"(a)-[]->(b)-[]->(c)-[]->(a)", listing}, {"(a)-[:A|B]-(b)-[:B]->(c)", counting}, {"(a:L)-[]-(b)", homomorphisms}},
          {vertex(1, "L"), vertex(2, "M"), insert(1, 2, "A"), insert(2, 3, "B"), insert(3, 1, "A"), insert(3, 1, "B")},
          {{insert(2, 1, "B")}},
          {insert(1, 2, "B"), erase(3, 1, "A"), insert(3, 2, "A"), insert(2, 1, "A"), insert(1, 4, "C"), insert(4, 3, "B")},
          {erase(1, 2, "A"), insert(3, 1, "A"), erase(1, 4, "C")}};
}

Scenario new_label_scenario() {
  return {"a second label starts a derived relation",
          options_of(false),
          {{"(a)-[]-(b)-[]-(c)-[]-(a)", listing}, {"(a)-[]-(b)-[]-(c)", counting}},
          {insert(1, 2, "A"), insert(2, 3, "A"), insert(3, 1, "A"), insert(3, 4, "A")},
          {{insert(4, 5, "A")}},
          {insert(4, 2, "B"), insert(1, 2, "B"), erase(3, 1, "A")},
          {erase(4, 2, "B"), insert(3, 1, "B")}};
}

Scenario relabel_scenario() {
  Update back = insert(2, 5);
  back.source_label = "new";
  return {"a vertex is relabelled within a batch",
          options_of(true),
          {{"(a:old)-->(b)", listing}, {"(a:new)-->(b)", listing}, {"(a)-->(b)-->(c)", counting}},
          {vertex(1, "old"), vertex(2, "old"), insert(1, 2), insert(2, 3), insert(3, 4), insert("t"sv, 2)},
          {},
          {erase(1, 2), vertex(1, "new"), insert(1, 2), erase(2, 3), erase(1, 2), erase("t"sv, 2), back, insert(1, 3),
           vertex(1, "refused"), vertex(9, "old"), vertex(9, "new")},
          {vertex(2, "new"), insert(2, 1), erase(1, 3), insert(9, 1)}};
}

Scenario vertex_deletion_scenario() {
  return {"vertices are deleted and come back",
          options_of(false),
          {{undirected_triangle, listing}, {"(a)--(b)--(c)", counting}},
          {vertex("hub"sv, "H"), insert("hub"sv, 1), insert("hub"sv, 2), insert("hub"sv, 3), insert(1, 2), insert(2, 3),
           insert(1, 3)},
          {},
          {erase_vertex("hub"sv), erase_vertex(17), insert("hub"sv, 1), insert("hub"sv, 3), erase_vertex(2), erase_vertex(3),
           vertex(3, "new"), insert(3, 1), insert(3, "hub"sv)},
          {insert(2, 1), insert("hub"sv, 2), erase_vertex("hub"sv)}};
}

EngineOptions options_with(EdgeModel model, EventOrder order, Timestamp window = 0) {
  EngineOptions options = options_of(true, window);
  options.order = order;
  options.schema.model = model;
  options.schema.edges = {{"amount", {AttributeType::Kind::integer, 0}}, {"note", {AttributeType::Kind::symbol, 0}}};
  return options;
}

// Versions are replaced, moved, cancelled and put back; a record of two updates is refused after its first one.
Scenario keyed_scenario() {
  const auto long_key = "a rather long key that no short string holds"sv;
  Updates batch = {put(1, 1, 2, 20, {std::int64_t{5}, "other"sv}),
                   put(2, 3, 2, 21, {std::int64_t{6}, "same"sv}),
                   cancel(3),
                   put(3, 3, 1, 22, {std::int64_t{8}, "anew"sv}),
                   put(4, 4, 1, 13, {std::int64_t{9}, "same"sv}),
                   cancel("t"sv),
                   cancel(99),
                   insert(1, 4, "PAYS", 23),
                   put(long_key, 2, 4, 24, {std::int64_t{1}, "first seen here"sv}),
                   put(long_key, 4, 2, 25, {std::int64_t{2}, "and again"sv}),
                   put(5, 6, 6, 26),
                   put(10, 2, 7, 27, {std::int64_t{3}}),
                   put(11, 7, 3, 27, {std::int64_t{3}, "kept with it"sv}),
                   and_then(put(12, 7, 8, 27, {"no integer"sv, "refused"sv})),
                   erase_vertex(5),
                   vertex(3, "late"),
                   put(13, 1, 3, 28, {std::int64_t{4}, std::monostate()})};
  return {"keyed edges",
          options_with(EdgeModel::keyed, EventOrder::arrival),
          {{triangle, listing}, {"(a)-->(b)-->(c)", listing}, {"(a)-->(b)-->(c)-->(d)", counting}},
          {put(1, 1, 2, 10, {std::int64_t{5}, "same"sv}), put(2, 2, 3, 11, {std::int64_t{6}, "same"sv}),
           put(3, 3, 1, 12, {std::int64_t{7}, "same"sv}), put(4, 4, 1, 13, {std::int64_t{9}, "same"sv}), put("t"sv, 1, 5, 14)},
          {{put(5, 5, 6, 15, {std::int64_t{1}, std::monostate()})}},
          batch,
          {cancel(1), put(2, 2, 3, 30), put("t"sv, 1, 5, 31), cancel(long_key), put(14, 3, 1, 32), put(15, 1, 2, 33)}};
}

// Records lose against newer ones, deletions are remembered, versions expire and come back.
Scenario keyed_window_scenario() {
  Updates batch = {cancel(0, 1100),     put(0, 0, 1, 1099),       put(1, 1, 2, 7400),   put(2, 2, 3, 900),
                   cancel(3, 900),      put(3, 3, 4, 1090),       put(40, 5, 0, 7410),  cancel(41, 7420),
                   put(41, 5, 1, 7415), put("new"sv, 6, 5, 7430), cancel("new"sv, 7431)};
  Updates start;
  for (std::int64_t i = 0; i < 12; ++i) start.push_back(put(i, i, (i + 1) % 12, 1000 + i, {i, "note"sv}));
  return {"keyed edges by time in a window",
          options_with(EdgeModel::keyed, EventOrder::time, 6400),
          {{"(a)-->(b)-->(c)", listing}, {"(a)-->(b)-->(c)-->(d)", counting}},
          start,
          {{cancel(11, 1200)}, {put(11, 11, 0, 1199)}},
          batch,
          {put(0, 0, 1, 1101), put(41, 5, 1, 7421), put("new"sv, 6, 5, 7431), put(1, 1, 2, 7399), put(50, 2, 0, 7500)}};
}

Update erase_event(Id source, Id target, std::optional<Timestamp> time = {}) {
  return edge(UpdateKind::delete_edge, source, target, "PAYS", time);
}
Update event(Id source, Id target, std::optional<Timestamp> time, std::vector<AttributeValue> values = {}) {
  return with_properties(insert(source, target, "PAYS", time), std::nullopt, std::move(values));
}

// Parallel events; deletions take the newest one, also of this batch, and a vertex takes its events along.
Scenario events_scenario() {
  return {"events",
          options_with(EdgeModel::events, EventOrder::arrival),
          {{triangle, listing}, {"(a)-->(b)-->(c)", listing}, {"(a)-->(b)-->(c)-->(d)", counting}},
          {event(1, 2, 10, {std::int64_t{1}, "a"sv}), event(1, 2, 12), event(2, 3, 11), event(3, 1, 12), event("x"sv, 1, 13)},
          {{event(1, 2, 11)}, {erase_event(1, 2)}},
          {event(1, 2, 20, {std::int64_t{2}, "b"sv}), erase_event(1, 2), erase_event(1, 2), event(2, 3, 21), event(3, 1, 22),
           erase_event(2, 3, 15), erase_event(7, 8), event(7, 8, 23), and_then(event(8, 8, 23)), event(3, 7, 24),
           event(2, 3, 25, {"no integer"sv, "refused"sv}), erase_vertex("x"sv), event("x"sv, 2, 26), vertex(3, "late"),
           event(3, 1, 27)},
          {erase_event(1, 2), erase_event(2, 3), erase_event(3, 1), event(1, 2, 30), event(3, 1, 31)}};
}

// A deletion that finds no event waits for one. Events expire.
Scenario events_window_scenario() {
  Updates start;
  for (std::int64_t i = 0; i < 12; ++i) start.push_back(event(i % 6, (i + 1) % 6, 1000 + i));
  return {"events by time in a window",
          options_with(EdgeModel::events, EventOrder::time, 6400),
          {{"(a)-->(b)-->(c)", listing}, {"(a)-->(b)-->(c)-->(d)", counting}},
          start,
          {{erase_event(9, 8, 1300)}},
          {erase_event(0, 1, 1003), erase_event(0, 2, 7400), event(0, 2, 7399), event(0, 2, 7401), event(9, 8, 1299),
           event(9, 8, 1298), event(1, 9, 7408), erase_event(4, 9, 7409), event(2, 9, 900), event(9, 2, 7407)},
          {event(4, 9, 7408), erase_event(0, 2, 7500), event(9, 8, 1300), event(2, 0, 7420), erase_event(1, 9)}};
}

}  // namespace

UpdateBatch batch_of(const Updates& updates) {
  UpdateBatch batch;
  for (const Update& update : updates) batch.add(update);
  return batch;
}

Scenario directed_scenario() {
  return {"directed",
          options_of(true),
          {{triangle, listing}, {triangle, counting}, {"(a)-->(b)-->(c)-->(d)", homomorphisms}},
          {insert(1, 2), insert(2, 3), insert(3, 1), insert(3, 4), insert("x"sv, 4)},
          {{insert(4, 1), insert(4, "x"sv)}},
          {erase(1, 2), insert(2, 4), insert(1, 3), insert("y"sv, "a rather long id that no short string holds"sv),
           insert("y"sv, "x"sv), insert(7, 7), erase(8, 9), insert(4, 2), insert(2, 1), insert(1, 4)},
          {insert(1, 2), erase(2, 4), insert("y"sv, 1)}};
}

Scenario undirected_scenario() {
  return {"undirected",
          options_of(false),
          {{undirected_triangle, listing},
           {"(a)--(b), (a)--(c), (a)--(d), (b)--(e)", counting},
           {"(a)--(b)--(c)--(d)--(a)", {MatchMode::edge_distinct, CountMode::embeddings, true}}},
          {insert(1, 2), insert(3, 2), insert(3, 4), insert(4, 1)},
          {},
          {insert(1, 3), erase(2, 1), insert(2, 4), insert(2, 4), insert(1, 5), insert(5, 2), insert(5, 3)},
          {insert(1, 2), erase(1, 3), erase(4, 3)}};
}

std::vector<Scenario> failure_scenarios() {
  return {directed_scenario(),     undirected_scenario(), window_scenario(),          wildcard_scenario(),
          new_label_scenario(),    relabel_scenario(),    vertex_deletion_scenario(), keyed_scenario(),
          keyed_window_scenario(), events_scenario(),     events_window_scenario()};
}

}  // namespace deltamatch::test
