#include "property/draw_paths.hpp"

#include <array>
#include <optional>
#include <utility>

#include "property/draw.hpp"

namespace deltamatch::property {
namespace {

using Kind = Expression::Kind;

Expression node(Kind kind, std::vector<Expression> operands) { return {kind, {}, {}, {}, std::move(operands)}; }
Expression constant(Literal literal) { return {Kind::literal, std::move(literal), {}, {}, {}}; }

template <typename T>
const T& pick(const std::vector<T>& from) {
  return from[static_cast<std::size_t>(*below(static_cast<int>(from.size())))];
}

bool is_number(const AttributeType& type) {
  using enum AttributeType::Kind;
  return type.kind == integer || type.kind == decimal || type.kind == real;
}

class Conditions {
 public:
  Conditions(const Schema& schema, const Query& query) : schema_(schema), query_(query) {}

  /// A condition on each step of the path `inside`, or on the whole match.
  Expression draw(std::optional<std::uint32_t> inside) const {
    std::vector<Expression> parts;
    for (int i = 1 + *below(2); i > 0; --i) {
      Expression part = comparison(inside);
      parts.push_back(*below(5) == 0 ? node(Kind::logical_not, {part}) : part);
    }
    if (parts.size() == 1) return parts[0];
    const Expression joined = node(*below(3) == 0 ? Kind::logical_or : Kind::logical_and, parts);
    return *below(5) == 0 ? node(Kind::logical_not, {joined}) : joined;
  }

  /// A comparison of the last edge with any, or of the length of a path with a number. No times contradict it.
  Expression beside(std::optional<std::uint32_t> inside) const {
    const Kind kind = *rc::gen::element(Kind::less, Kind::less_equal, Kind::greater, Kind::not_equal);
    const auto last = static_cast<std::uint32_t>(query_.edges.size() - 1);
    const bool timed = schema_.model != EdgeModel::simple;
    const int choice = *below(4);
    if (choice == 0 || !timed || query_.edges[last].quantifier)
      return node(kind, {read_path(Kind::steps, ""), constant(Decimal{1 + *below(4), 0})});
    const auto other = static_cast<std::uint32_t>(*below(static_cast<int>(last)));
    if (choice == 1 && !schema_.edges.empty()) {
      const Attribute& attribute = pick(schema_.edges);
      if (is_number(attribute.type))
        return node(kind, {read(Kind::attribute, last, attribute.name), read_of(attribute, other, inside)});
    }
    return node(kind, {read(Kind::attribute, last, "time"), read_of({"time", {AttributeType::Kind::time}}, other, inside)});
  }

 private:
  Expression comparison(std::optional<std::uint32_t> inside) const {
    const Kind kind = *rc::gen::element(Kind::less, Kind::less_equal, Kind::greater, Kind::not_equal);
    const bool timed = schema_.model != EdgeModel::simple;
    switch (*below(6)) {
      case 0:
        return node(kind, {read_path(Kind::steps, ""), constant(Decimal{1 + *below(4), 0})});
      case 1:
      case 2:
        if (timed && inside && *below(2) == 0)
          return node(Kind::greater, {read(Kind::attribute, *inside, "time"), read(Kind::previous, *inside, "time")});
        if (timed) return node(kind, {time(inside), time(inside)});
        break;
      case 3:
      case 4:
        if (timed && !schema_.edges.empty()) return attribute_test(kind, inside);
        break;
      default:
        break;
    }
    if (!schema_.vertices.empty() && *below(2) == 0) return node(Kind::is_null, {vertex_read(pick(schema_.vertices).name)});
    const Expression id{Kind::id, {}, vertex(), {}, {}};
    return node(kind, {id, Expression{Kind::id, {}, vertex(), {}, {}}});
  }

  Expression attribute_test(Kind kind, std::optional<std::uint32_t> inside) const {
    const Attribute& attribute = pick(schema_.edges);
    const auto value = [&] { return read_any(attribute, inside); };
    if (*below(6) == 0) return node(Kind::is_null, {value()});
    using enum AttributeType::Kind;
    if (attribute.type.kind == symbol)
      return node(Kind::equal, {value(), constant(std::string(*below(2) == 0 ? "web" : "atm"))});
    if (attribute.type.kind == boolean) return node(Kind::equal, {value(), *below(2) == 0 ? value() : constant(true)});
    if (attribute.type.kind == AttributeType::Kind::time)
      return node(kind, {value(), *below(2) == 0 ? value() : constant(Instant{3})});
    if (*below(3) == 0) return node(kind, {value(), constant(Decimal{*below(80), static_cast<std::uint8_t>(*below(3))})});
    if (*below(3) == 0) return node(kind, {node(Kind::least, {value(), value(), constant(Decimal{2, 0})}), value()});
    return node(kind, {value(), node(Kind::multiply, {constant(Decimal{5 + *below(10), 1}), value()})});
  }

  Expression time(std::optional<std::uint32_t> inside) const {
    const Expression plain = read_any({"time", {AttributeType::Kind::time}}, inside);
    return *below(3) != 0 ? plain : node(Kind::add, {plain, constant(Duration{*below(8)})});
  }

  /// A value of an attribute of any edge. Inside a path, often of its steps.
  Expression read_any(const Attribute& attribute, std::optional<std::uint32_t> inside) const {
    const bool own = inside && *below(3) != 0;
    const auto edge = own ? *inside : static_cast<std::uint32_t>(*below(static_cast<int>(query_.edges.size())));
    return read_of(attribute, edge, inside);
  }

  /// A value of an attribute of one edge, or of a path.
  Expression read_of(const Attribute& attribute, std::uint32_t edge, std::optional<std::uint32_t> inside) const {
    if (!query_.edges[edge].quantifier) return read(Kind::attribute, edge, attribute.name);
    std::vector<Kind> kinds = {Kind::first, Kind::last};
    if (inside == edge) kinds.insert(kinds.end(), {Kind::attribute, Kind::attribute, Kind::previous, Kind::previous});
    if (is_number(attribute.type)) kinds.insert(kinds.end(), {Kind::sum, Kind::sum});
    if (is_number(attribute.type) || attribute.type.kind == AttributeType::Kind::time)
      kinds.insert(kinds.end(), {Kind::minimum, Kind::maximum});
    return read(pick(kinds), edge, attribute.name);
  }

  Expression read_path(Kind kind, const std::string& name) const {
    std::vector<std::uint32_t> paths;
    for (std::uint32_t e = 0; e < query_.edges.size(); ++e) {
      if (query_.edges[e].quantifier) paths.push_back(e);
    }
    return read(kind, pick(paths), name);
  }

  static Expression read(Kind kind, std::uint32_t edge, const std::string& name) {
    return {kind, {}, {Element::Kind::edge, edge}, name, {}};
  }
  [[nodiscard]] Element vertex() const {
    return {Element::Kind::vertex, static_cast<std::uint32_t>(*below(static_cast<int>(query_.vertices.size())))};
  }
  [[nodiscard]] Expression vertex_read(const std::string& name) const { return {Kind::attribute, {}, vertex(), name, {}}; }

  const Schema& schema_;
  const Query& query_;
};

struct Shape {
  std::uint32_t vertices;
  std::vector<std::array<std::uint32_t, 4>> edges;  ///< source, target, and the bounds; 0 and 0 if it is no path
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {1, {{0, 0, 3, 4}}},                              // rings
      {1, {{0, 0, 3, 3}}},                              //
      {2, {{0, 0, 3, 4}, {0, 1, 0, 0}}},                // a ring with a tail
      {2, {{0, 1, 1, 3}}},                              // a path
      {2, {{0, 1, 2, 4}}},                              //
      {2, {{0, 1, 2, 3}, {1, 0, 0, 0}}},                // a path that is closed
      {3, {{0, 1, 1, 2}, {1, 2, 1, 2}}},                // two paths in a row: lengths 1+2 and 2+1 have one form
      {3, {{0, 1, 0, 0}, {1, 2, 1, 3}}},                // an edge and a path
      {3, {{0, 1, 1, 3}, {2, 1, 0, 0}}},                //
      {2, {{0, 1, 2, 2}, {0, 1, 2, 3}}},                // two paths side by side
      {3, {{0, 1, 1, 2}, {1, 2, 0, 0}, {2, 0, 1, 2}}},  // a triangle of which two edges are paths
  };
  return all;
}

}  // namespace

void draw_paths(const Schema& schema, const std::vector<std::string>& labels, bool directed, Standing& standing) {
  const Shape& shape = pick(shapes());
  const auto draw_labels = [&](const std::vector<std::string>& pool) {
    return *below(2) == 0 ? LabelSet{} : LabelSet{pick(pool)};
  };
  Query query;
  query.name = standing.query.name;
  query.within = standing.query.within;
  for (std::uint32_t v = 0; v < shape.vertices; ++v) {
    const LabelSet drawn = v < standing.query.vertices.size() ? standing.query.vertices[v].labels : LabelSet{};
    query.vertices.push_back({"v" + std::to_string(v), drawn});
  }
  const bool any_way = !directed || *below(5) == 0;
  for (const auto& [source, target, least, most] : shape.edges) {
    QueryEdge edge{source, target, draw_labels(labels), !any_way, "t" + std::to_string(query.edges.size())};
    if (most != 0) edge.quantifier = {least, most};
    query.edges.push_back(std::move(edge));
  }
  const Conditions conditions(schema, query);
  if (*below(2) == 0) query.where = conditions.draw(std::nullopt);
  for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
    if (query.edges[e].quantifier && *below(2) == 0) query.edges[e].each = conditions.draw(e);
  }
  standing.query = std::move(query);
}

Expression draw_path_comparison(const Schema& schema, const Query& query, std::optional<std::uint32_t> inside) {
  return Conditions(schema, query).beside(inside);
}

}  // namespace deltamatch::property
