#include "property/draw.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>

#include "property/draw_counts.hpp"
#include "property/draw_paths.hpp"

namespace deltamatch::property {
namespace {

using oracle::ExternalId;

/// What the records of one scenario are drawn from.
struct World {
  std::vector<ExternalId> ids;
  std::vector<std::string> vertex_labels;
  std::vector<std::string> edge_labels;
  std::size_t salt = 0;
  bool timed = false;
  bool late = false;      ///< labels are mostly left out, so they come later than edges
  bool restless = false;  ///< many records of vertices, which change labels
  bool loops = false;     ///< self-loops are kept
  Traits traits;
  Schema schema;

  /// The label that a vertex has in most records.
  [[nodiscard]] const std::string& home(std::size_t vertex) const {
    return vertex_labels[(vertex * 5 + vertex / 2 + salt) % vertex_labels.size()];
  }
};

/// Numbers that a record is made from. Smaller numbers make simpler records.
struct RawRecord {
  int kind = 0;
  int source = 0;
  int target = 0;
  int label = 0;
  int source_mention = 0;
  int target_mention = 0;
  int time = 0;
  int joined = 0;
  int key = 0;
  std::vector<int> values;
};

rc::Gen<std::vector<RawRecord>> raw_records(int kinds) {
  using rc::gen::set;
  return rc::gen::container<std::vector<RawRecord>>(rc::gen::build<RawRecord>(
      set(&RawRecord::kind, below(kinds)), set(&RawRecord::source, below(64)), set(&RawRecord::target, below(64)),
      set(&RawRecord::label, below(64)), set(&RawRecord::source_mention, below(100)),
      set(&RawRecord::target_mention, below(100)), set(&RawRecord::time, below(100)), set(&RawRecord::joined, below(100)),
      set(&RawRecord::key, below(60)), set(&RawRecord::values, rc::gen::container<std::vector<int>>(3, below(40)))));
}

std::vector<ExternalId> draw_ids(bool large) {
  static constexpr auto least = std::numeric_limits<std::int64_t>::min();
  static constexpr auto greatest = std::numeric_limits<std::int64_t>::max();
  static const std::array<std::vector<ExternalId>, 3> pools = {{
      {1, 2, 3, 4, 5, 6, 7, 8, 9},
      {10, "b", 9, "10", -4, "a", greatest, "\xc3\xa9", least},
      {"n3", "n10", "n2", "n", "N", "m1", "n1", "o", "\x7f"},
  }};
  const auto& pool = pools[static_cast<std::size_t>(*below(3))];
  const int count =
      large ? 4 + *below(6) : *rc::gen::weightedElement<int>({{3, 3}, {5, 4}, {4, 5}, {2, 6}, {1, 7}, {1, 8}, {1, 9}});
  return {pool.begin(), pool.begin() + count};
}

World draw_world(const Traits& traits, bool timed) {
  static const std::array<std::vector<std::string>, 6> vertex_pools = {
      {{""}, {"A"}, {"A", "B"}, {"", "A", "B"}, {"A", "B", "A\037B"}, {"", "A\037B", "B\037C", "A"}}};
  static const std::array<std::vector<std::string>, 4> edge_pools = {{{""}, {"x"}, {"x", "y"}, {"", "x", "y"}}};
  World world;
  world.ids = draw_ids(traits.large);
  world.vertex_labels = vertex_pools[static_cast<std::size_t>(*below(6))];
  world.edge_labels = edge_pools[static_cast<std::size_t>(*below(4))];
  world.salt = static_cast<std::size_t>(*below(3));
  world.timed = timed;
  world.late = traits.untidy && *below(3) == 2;
  world.restless = traits.restless || (traits.untidy && traits.vertex_records && *below(3) == 2);
  world.traits = traits;
  world.traits.untidy = traits.untidy && *below(2) == 1;  // bad records leave less room for matches
  return world;
}

/// Up to two attributes, of any types.
std::vector<Attribute> draw_attributes() {
  using Kind = AttributeType::Kind;
  static const std::vector<Attribute> pool = {
      {"amount", {Kind::decimal, 2}}, {"channel", {Kind::symbol}}, {"count", {Kind::integer}}, {"rate", {Kind::real}},
      {"flag", {Kind::boolean}},      {"due", {Kind::time}},       {"fee", {Kind::decimal, 0}}};
  std::vector<Attribute> attributes;
  for (int i = 1 + *below(2); i > 0; --i) {
    const Attribute& one = pool[static_cast<std::size_t>(*below(static_cast<int>(pool.size())))];
    if (std::ranges::find(attributes, one) == attributes.end()) attributes.push_back(one);
  }
  return attributes;
}

/// A value of an attribute, from few; of another type if `untidy` allows it.
oracle::Stored value_of(const AttributeType& type, int raw, bool untidy) {
  static constexpr std::array<const char*, 4> texts = {"web", "atm", "", "branch"};
  if (raw < 8) return {};
  if (untidy && raw == 39) return std::string("odd one out");
  switch (type.kind) {
    case AttributeType::Kind::symbol:
      return std::string(texts[static_cast<std::size_t>(raw) % texts.size()]);
    case AttributeType::Kind::boolean:
      return raw % 2 == 0;
    case AttributeType::Kind::real:
      return (raw % 5) * 0.5;
    case AttributeType::Kind::decimal:
      return std::int64_t{raw % 6} * (type.scale == 2 ? 50 : 1);
    default:
      return std::int64_t{raw % 6};
  }
}

std::vector<oracle::Stored> values_of(const std::vector<Attribute>& attributes, const RawRecord& raw, bool untidy) {
  std::vector<oracle::Stored> values;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    values.push_back(value_of(attributes[i].type, i < raw.values.size() ? raw.values[i] : 0, untidy));
  }
  return values;
}

std::optional<ExternalId> key_of(const World& world, int raw) {
  if (world.schema.model != EdgeModel::keyed || (world.traits.untidy && raw == 59)) return std::nullopt;
  if (raw % 3 == 2) return "k" + std::to_string(raw % 4);
  return std::int64_t{raw % 5};
}

std::optional<std::string> mention(const World& world, std::size_t vertex, int raw) {
  if (world.late && raw % 5 > 1) return std::nullopt;
  if (!world.traits.untidy || raw < 70) return world.home(vertex);
  if (raw < 88) return std::nullopt;
  return world.vertex_labels[static_cast<std::size_t>(raw) % world.vertex_labels.size()];
}

std::optional<Timestamp> time_of(const World& world, std::size_t position, int raw) {
  if (!world.timed || (world.traits.untidy && raw >= 97)) return std::nullopt;
  const auto now = static_cast<Timestamp>(position);
  if (raw >= 94) return now + 9;        // a leap ahead
  if (raw >= 80) return now - raw / 8;  // out of order, perhaps too late
  return now;
}

/// Undoes what the last record did, or does it again, perhaps under another label.
Record make_opposite(const World& world, const RawRecord& raw, const Record& previous) {
  Record record = previous;
  switch (previous.kind) {
    case UpdateKind::insert_edge:
      record.kind = UpdateKind::delete_edge;
      break;
    case UpdateKind::delete_edge:
      record.kind = UpdateKind::insert_edge;
      break;
    case UpdateKind::insert_vertex:
      record.kind = UpdateKind::delete_vertex;
      break;
    case UpdateKind::delete_vertex:
      record.kind = UpdateKind::insert_vertex;
      break;
  }
  const auto vertex = std::find(world.ids.begin(), world.ids.end(), previous.source) - world.ids.begin();
  if (static_cast<std::size_t>(vertex) < world.ids.size()) {
    record.source_label = mention(world, static_cast<std::size_t>(vertex), raw.source_mention);
  }
  return record;
}

/// The record of a vertex, which sets, adds or removes labels if it is restless.
void state_vertex(const World& world, const RawRecord& raw, Record& record) {
  record.kind = UpdateKind::insert_vertex;
  if (raw.time % 4 != 0) record.values = values_of(world.schema.vertices, raw, world.traits.untidy);
  if (!world.restless) return;
  const auto any = [&](int number) {
    return world.vertex_labels[static_cast<std::size_t>(number) % world.vertex_labels.size()];
  };
  if (raw.label % 3 != 1) record.source_label = raw.label % 3 == 0 ? std::optional(any(raw.key)) : std::nullopt;
  if (raw.label % 4 > 1) record.label = any(raw.target);
  if (raw.label % 4 % 2 == 1) record.target_label = any(raw.source_mention);
}

/// Raw kinds by range: below 58 an edge insertion, below 80 a deletion, below 88 the opposite of the last record, below 90 a
/// self-loop. Then below 95 the insertion of a vertex, below 100 its deletion.
Record make_record(const World& world, const RawRecord& raw, const Record* previous) {
  if (raw.kind >= 80 && raw.kind < 88 && previous != nullptr) return make_opposite(world, raw, *previous);
  const std::size_t n = world.ids.size();
  const std::size_t source = static_cast<std::size_t>(raw.source) % n;
  const std::size_t target = (source + 1 + static_cast<std::size_t>(raw.target) % (n - 1)) % n;
  Record record;
  record.source = world.ids[source];
  record.source_label = mention(world, source, raw.source_mention);
  const bool states_vertex = (raw.kind >= 90 && raw.kind < 95) || (world.restless && raw.kind % 5 == 4 && raw.kind < 90);
  if (states_vertex && world.traits.vertex_records) {
    state_vertex(world, raw, record);
    return record;
  }
  if (raw.kind >= 95 && world.traits.vertex_records) {
    record.kind = UpdateKind::delete_vertex;
    if (raw.source_mention % 2 == 0) record.source_label.reset();
    return record;
  }
  record.kind = raw.kind >= 58 && raw.kind < 80 ? UpdateKind::delete_edge : UpdateKind::insert_edge;
  record.label = world.edge_labels[static_cast<std::size_t>(raw.label) % world.edge_labels.size()];
  record.target = world.ids[target];
  record.target_label = mention(world, target, raw.target_mention);
  const bool looped = world.loops && raw.target % 4 == 0;
  if (looped || (raw.kind >= 88 && raw.kind < 90 && world.traits.untidy)) record.target = record.source;
  if (looped && (!world.traits.untidy || raw.target % 8 == 0)) record.target_label = record.source_label;
  record.key = key_of(world, raw.key);
  if (record.kind == UpdateKind::insert_edge) {
    record.values = values_of(world.schema.edges, raw, world.traits.untidy);
  } else if (world.schema.model == EdgeModel::keyed && raw.label % 2 == 0) {  // by key alone
    record.source = record.target = ExternalId();
    record.source_label = record.target_label = std::nullopt;
  }
  return record;
}

std::vector<Record> make_records(const World& world, const std::vector<RawRecord>& raw, std::size_t first) {
  std::vector<Record> records;
  for (const RawRecord& one : raw) {
    Record record = make_record(world, one, records.empty() ? nullptr : &records.back());
    record.time = time_of(world, first + records.size(), one.time);
    record.ahead = record.time && one.time == 96;  // a leap that the watermark does not follow
    record.continues = one.joined >= 75;           // updates of one record
    records.push_back(std::move(record));
  }
  return records;
}

struct Shape {
  std::size_t vertices;
  std::vector<std::array<std::uint32_t, 2>> edges;
};

/// Queries with symmetries, which random ones seldom have.
const std::vector<Shape>& catalogue() {
  static const std::vector<Shape> shapes = {
      {2, {{0, 1}}},                                                  // one edge
      {2, {{0, 1}, {1, 0}}},                                          // there and back
      {3, {{0, 1}, {1, 2}, {2, 0}}},                                  // directed triangle
      {3, {{0, 1}, {1, 2}, {0, 2}}},                                  // transitive triangle
      {3, {{0, 1}, {1, 2}}},                                          // path
      {3, {{1, 0}, {1, 2}}},                                          // fork
      {4, {{0, 1}, {0, 2}, {0, 3}}},                                  // star
      {4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}},                          // 4-cycle
      {4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}},                          // diamond of a flow
      {4, {{0, 1}, {1, 2}, {2, 0}, {2, 3}}},                          // tailed triangle
      {4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}},          // clique
      {5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 2}}},          // two joined triangles
      {5, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}}},          // house
      {5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}},                  // 5-cycle
      {6, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {1, 5}}},                  // double star
      {6, {{0, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 5}, {1, 2}}},  // ladder, closed
      {5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}},                          // 5-path
      {6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}},          // 6-cycle
  };
  return shapes;
}

/// Queries with self-loops.
const std::vector<Shape>& looped_shapes() {
  static const std::vector<Shape> shapes = {
      {1, {{0, 0}}},                                  // one self-loop
      {2, {{0, 0}, {0, 1}}},                          // with a tail
      {2, {{0, 0}, {0, 1}, {1, 1}}},                  // at both ends
      {3, {{0, 0}, {0, 1}, {1, 2}, {2, 2}}},          // at the ends of a path
      {3, {{0, 1}, {1, 2}, {2, 0}, {0, 0}}},          // in a triangle
      {4, {{0, 1}, {0, 2}, {0, 3}, {0, 0}, {1, 1}}},  // in a star
      {4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 0}, {2, 2}}},
  };
  return shapes;
}

Shape draw_shape(const Traits& traits, bool loops) {
  if (loops && *below(2) == 0) {
    return looped_shapes()[static_cast<std::size_t>(*below(static_cast<int>(looped_shapes().size())))];
  }
  if (*below(2) == 0) return catalogue()[static_cast<std::size_t>(*below(static_cast<int>(catalogue().size())))];
  Shape shape;
  shape.vertices = traits.large      ? 2 + static_cast<std::size_t>(*below(7))
                   : traits.counting ? *rc::gen::weightedElement<std::size_t>({{1, 3}, {3, 4}, {4, 5}, {2, 6}})
                                     : *rc::gen::weightedElement<std::size_t>({{3, 2}, {5, 3}, {4, 4}, {2, 5}, {1, 6}});
  const auto count = static_cast<int>(shape.vertices);
  for (int i = 1; i < count; ++i) {
    const int other = *below(i);
    const bool outward = *below(2) == 0;
    shape.edges.push_back({static_cast<std::uint32_t>(outward ? other : i), static_cast<std::uint32_t>(outward ? i : other)});
  }
  for (int extra = *below(traits.large ? 1 + count : 4); extra > 0; --extra) {
    const int source = *below(count);
    const int target = (source + 1 + *below(count - 1)) % count;
    shape.edges.push_back({static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(target)});
  }
  return shape;
}

LabelSet draw_labels(const std::vector<std::string>& pool, bool of_vertices) {
  if (*below(5) == 4) {  // terms: labels that must all be there, and labels that must be absent
    static const std::vector<LabelSet> terms = {{"A\037B"},         {"\036A"},          {"\036"},
                                                {"", "\036B\037A"}, {"\036A\037\036B"}, {"B", "C"}};
    return of_vertices ? terms[static_cast<std::size_t>(*below(static_cast<int>(terms.size())))] : LabelSet{"\036x"};
  }
  const auto pick = [&] { return pool[static_cast<std::size_t>(*below(static_cast<int>(pool.size())))]; };
  const int kind = *below(100);
  if (kind < 40) return {};
  if (kind < 80) return {pick()};
  if (kind >= 97) return {"Z"};  // a label that no datum has
  LabelSet both = {pick(), kind < 90 ? pick() : "Z"};
  std::sort(both.begin(), both.end());
  both.erase(std::unique(both.begin(), both.end()), both.end());
  // An alternative that asks for more than another says nothing: A|A&B is A.
  const auto asks_for_all_of = [](const std::string& more, const std::string& less) {
    const auto [all, some] = std::pair(oracle::labels_of(more), oracle::labels_of(less));
    return !less.empty() && std::ranges::includes(all, some);
  };
  if (both.size() == 2 && asks_for_all_of(both[0], both[1])) both.erase(both.begin());
  if (both.size() == 2 && asks_for_all_of(both[1], both[0])) both.pop_back();
  return both;
}

/// How the labels (or the directions) of one query are drawn. They are all alike, which keeps symmetries, or each is drawn
/// alone.
enum class Style { wildcard, uniform, mixed };

Style draw_style(bool alike) {
  return alike ? *rc::gen::weightedElement<Style>({{3, Style::wildcard}, {1, Style::uniform}, {1, Style::mixed}})
               : *rc::gen::element(Style::wildcard, Style::uniform, Style::mixed);
}

std::vector<LabelSet> draw_label_sets(std::size_t count, const std::vector<std::string>& pool, bool alike, bool of_vertices) {
  const Style style = draw_style(alike);
  std::vector<LabelSet> sets(count);
  if (style == Style::wildcard) return sets;
  if (style == Style::uniform) std::fill(sets.begin(), sets.end(), draw_labels(pool, of_vertices));
  if (style == Style::mixed) std::generate(sets.begin(), sets.end(), [&] { return draw_labels(pool, of_vertices); });
  return sets;
}

bool same(const QueryEdge& a, const QueryEdge& b) {
  const bool ends = a.source == b.source && a.target == b.target;
  const bool crossed = !a.directed && a.source == b.target && a.target == b.source;
  return (ends || crossed) && (a.directed == b.directed || a.source == a.target) && a.labels == b.labels;
}

Query draw_query(const World& world, bool directed) {
  const Shape shape = draw_shape(world.traits, world.loops && !world.traits.counts);
  const std::vector<LabelSet> edge_labels =
      draw_label_sets(shape.edges.size(), world.edge_labels, world.traits.counting, false);
  const int undirected_of_4 = directed ? *rc::gen::weightedElement<int>({{5, 0}, {2, 1}, {1, 4}}) : 4;
  std::vector<QueryEdge> edges;
  for (std::size_t i = 0; i < shape.edges.size(); ++i) {
    const auto [source, target] = shape.edges[i];
    const QueryEdge edge{source, target, edge_labels[i], *below(4) >= undirected_of_4};
    if (std::none_of(edges.begin(), edges.end(), [&](const QueryEdge& other) { return same(edge, other); }))
      edges.push_back(edge);
  }
  return make_query(draw_label_sets(shape.vertices, world.vertex_labels, world.traits.counting, true), edges);
}

using Kind = Expression::Kind;

Expression node(Kind kind, std::vector<Expression> operands) { return {kind, {}, {}, {}, std::move(operands)}; }
Expression constant(Literal literal) { return {Kind::literal, std::move(literal), {}, {}, {}}; }

/// A constant that an attribute of this type may be compared with.
Expression draw_constant(const AttributeType& type) {
  switch (type.kind) {
    case AttributeType::Kind::symbol:
      return constant(*rc::gen::element<std::string>("web", "atm", "", "none has this"));
    case AttributeType::Kind::boolean:
      return constant(*below(2) == 0);
    case AttributeType::Kind::time:
      return constant(Instant{*below(6)});
    default:
      return constant(Decimal{*below(40), static_cast<std::uint8_t>(*below(3))});
  }
}

/// A test of an attribute: against a constant, another element's attribute, a list, or NULL.
std::optional<Expression> draw_attribute_test(const World& world, const Query& query) {
  const bool edge = world.schema.vertices.empty() || (!world.schema.edges.empty() && *below(3) != 0);
  const std::vector<Attribute>& declared = edge ? world.schema.edges : world.schema.vertices;
  if (declared.empty()) return std::nullopt;
  const Attribute& attribute = declared[static_cast<std::size_t>(*below(static_cast<int>(declared.size())))];
  const auto read = [&] {
    const std::size_t elements = edge ? query.edges.size() : query.vertices.size();
    const Element element{edge ? Element::Kind::edge : Element::Kind::vertex,
                          static_cast<std::uint32_t>(*below(static_cast<int>(elements)))};
    return Expression{Kind::attribute, {}, element, attribute.name, {}};
  };
  const bool ordered =
      attribute.type.kind != AttributeType::Kind::symbol && attribute.type.kind != AttributeType::Kind::boolean;
  const Kind kind = ordered ? *rc::gen::element(Kind::less, Kind::less_equal, Kind::greater, Kind::not_equal)
                            : *rc::gen::element(Kind::equal, Kind::not_equal);
  switch (*below(6)) {
    case 0:
      return node(Kind::is_null, {read()});
    case 1:
      return node(Kind::in, {read(), draw_constant(attribute.type), draw_constant(attribute.type)});
    case 2:
      return node(kind, {read(), read()});
    case 3:
      if (ordered && attribute.type.kind != AttributeType::Kind::time) {
        const Expression part = node(Kind::multiply, {constant(Decimal{*below(20), 1}), read()});
        return node(kind, {node(*below(2) == 0 ? Kind::add : Kind::subtract, {read(), part}), read()});
      }
      [[fallthrough]];
    default:
      return node(kind, {read(), draw_constant(attribute.type)});
  }
}

/// A comparison of two times, of their difference, of ids, or of attributes.
Expression draw_comparison(const World& world, const Query& query) {
  if (*below(3) != 0) {
    if (auto test = draw_attribute_test(world, query)) return *below(5) == 0 ? node(Kind::logical_not, {*test}) : *test;
  }
  const auto element = [&](Element::Kind kind, std::size_t count) {
    return Element{kind, static_cast<std::uint32_t>(*below(static_cast<int>(count)))};
  };
  const auto time = [&] {
    const Expression plain{Kind::attribute, {}, element(Element::Kind::edge, query.edges.size()), "time", {}};
    if (*below(3) != 0) return plain;
    return node(*below(2) == 0 ? Kind::add : Kind::subtract, {plain, constant(Duration{*below(8)})});
  };
  const Kind kind = *rc::gen::element(Kind::less, Kind::less_equal, Kind::greater, Kind::equal);
  if (world.schema.model != EdgeModel::simple && *below(5) != 0) return node(kind, {time(), time()});
  const Expression id{Kind::id, {}, element(Element::Kind::vertex, query.vertices.size()), {}, {}};
  const ExternalId& other = world.ids[static_cast<std::size_t>(*below(static_cast<int>(world.ids.size())))];
  if (const auto* text = std::get_if<std::string>(&other)) return node(Kind::not_equal, {id, constant(*text)});
  return node(*below(2) == 0 ? Kind::not_equal : Kind::less, {id, constant(Decimal{std::get<std::int64_t>(other), 0})});
}

/// Gives a query conditions, and sometimes alike edges, unless it is left as it is.
void draw_conditions(const World& world, Standing& standing) {
  Query& query = standing.query;
  if (world.traits.within) query.within = Duration{1 + *below(30)};
  if (*below(4) == 0) return;
  for (std::size_t e = 0; e < query.edges.size(); ++e) query.edges[e].name = "t" + std::to_string(e);
  const bool simple = world.schema.model == EdgeModel::simple;
  if (!simple && standing.options.count == CountMode::embeddings && *below(3) == 0 && query.edges.size() < 5) {
    QueryEdge twin = query.edges[static_cast<std::size_t>(*below(static_cast<int>(query.edges.size())))];
    twin.name = "twin";
    query.edges.push_back(twin);
  }
  if (!simple && *below(3) == 0) query.within = Duration{1 + *below(30)};
  if (!simple && query.edges.size() > 1 && *below(3) == 0) {  // in order
    std::vector<Expression> order;
    for (std::uint32_t e = 0; e + 1 < query.edges.size(); ++e) {
      const auto time = [](std::uint32_t edge) {
        return Expression{Expression::Kind::attribute, {}, {Element::Kind::edge, edge}, "time", {}};
      };
      order.push_back({Expression::Kind::less, {}, {}, {}, {time(e), time(e + 1)}});
    }
    query.where = order.size() == 1 ? order[0] : Expression{Expression::Kind::logical_and, {}, {}, {}, order};
  } else if (*below(4) != 0) {
    std::vector<Expression> parts;
    for (int i = 1 + *below(2); i > 0; --i) parts.push_back(draw_comparison(world, query));
    const auto kind = *below(4) == 0 ? Expression::Kind::logical_or : Expression::Kind::logical_and;
    query.where = parts.size() == 1 ? parts[0] : Expression{kind, {}, {}, {}, parts};
  }
}

Standing draw_standing(const World& world, bool directed, std::size_t number) {
  Standing standing;
  standing.query = draw_query(world, directed);
  standing.query.name += std::to_string(number);
  standing.options.mode = *rc::gen::weightedElement<MatchMode>(
      {{5, MatchMode::isomorphism}, {2, MatchMode::edge_distinct}, {3, MatchMode::homomorphism}});
  const bool embeddings = standing.options.mode != MatchMode::isomorphism || *below(3) == 2;
  standing.options.count = embeddings ? CountMode::embeddings : CountMode::subgraphs;
  standing.options.list = !world.traits.counting && *below(2) == 0;
  if (world.traits.edges != EdgeModel::simple || world.traits.attributes) draw_conditions(world, standing);
  if (world.traits.paths) draw_paths(world.schema, world.edge_labels, directed, standing);
  if (!world.traits.counts || *below(6) == 0) return standing;
  const auto add_counts = [&](Query& query, std::optional<std::uint32_t> inside) {
    draw_counts({directed, world.schema.model != EdgeModel::simple, !world.traits.paths,
                 [&] { return *below(2) == 0 ? LabelSet() : draw_labels(world.vertex_labels, true); },
                 [&] { return *below(2) == 0 ? LabelSet() : draw_labels(world.edge_labels, false); },
                 [&](const Query& whole) {
                   return world.traits.paths ? draw_path_comparison(world.schema, whole, inside)
                                             : draw_comparison(world, whole);
                 }},
                query);
  };
  if (!world.traits.paths || *below(4) != 0) {
    add_counts(standing.query, std::nullopt);
    return standing;
  }
  // A count stands beside each step of a path.
  const auto path =
      std::ranges::find_if(standing.query.edges, [](const QueryEdge& edge) { return edge.quantifier.has_value(); });
  Query beside = standing.query;
  beside.where = path->each;
  add_counts(beside, static_cast<std::uint32_t>(path - standing.query.edges.begin()));
  path->each = std::move(beside.where);
  return standing;
}

}  // namespace

rc::Gen<int> below(int n) { return rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, n)); }

rc::Gen<Scenario> scenarios(const Traits& traits) {
  return rc::gen::exec([traits] {
    Scenario scenario;
    scenario.directed = *below(3) != 2;
    if (traits.windows) scenario.window = *rc::gen::weightedElement<Timestamp>({{4, 0}, {1, 5}, {2, 15}, {2, 40}});
    scenario.schema.model = traits.edges;
    if (traits.edges != EdgeModel::simple && *below(3) == 0) scenario.lateness = 1 + *below(6);
    if (traits.attributes) {
      if (traits.edges != EdgeModel::simple) scenario.schema.edges = draw_attributes();
      if (traits.edges == EdgeModel::simple || *below(2) == 0) scenario.schema.vertices = draw_attributes();
    }
    if (traits.loops) scenario.self_loops = SelfLoops::keep;
    World world = draw_world(traits, scenario.window != 0 || traits.edges != EdgeModel::simple || *below(3) == 0);
    world.schema = scenario.schema;
    world.loops = scenario.self_loops == SelfLoops::keep;
    if (world.traits.untidy && *below(3) == 0) scenario.on_reject = OnReject::stop;
    const int queries = 1 + *below(3);
    for (int i = 0; i < queries; ++i) {
      scenario.queries.push_back(draw_standing(world, scenario.directed, static_cast<std::size_t>(i)));
    }
    // The start is mostly insertions. That gives a graph with matches for the stream to take apart.
    scenario.start = make_records(world, *rc::gen::scale(1.5, raw_records(64)), 0);
    scenario.stream = make_records(world, *raw_records(traits.insertions ? 58 : 100), scenario.start.size());
    scenario.batch_size = *rc::gen::elementOf(std::vector<std::size_t>{1, 2, 3, 5, 8, 16, 1000});
    return scenario;
  });
}

double case_scale() {
  const char* scale = std::getenv("DELTAMATCH_PROPERTY_SCALE");
  return scale == nullptr ? 1 : std::atof(scale);
}

void hold(int cases, const std::function<void()>& property) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  rc::detail::TestMetadata metadata;
  metadata.id = std::string(test->test_suite_name()) + "/" + test->name();
  metadata.description = metadata.id;
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = cases > 1 ? std::max(1, static_cast<int>(cases * case_scale())) : cases;
  const auto result = rc::detail::checkTestable(property, metadata, params);
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  ASSERT_TRUE(result.template is<rc::detail::SuccessResult>()) << message.str();
}

}  // namespace deltamatch::property
