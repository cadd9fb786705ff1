#include "query.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "query/recognise.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace deltamatch::python {
namespace {

/// The attributes that a query reads: of edges, and of vertices. The time of an edge is none.
class Attributes {
 public:
  explicit Attributes(const Query& query) {
    if (query.where) look(*query.where);
    look(query.edges);
  }
  std::set<std::string> edges;
  std::set<std::string> vertices;

 private:
  void look(const std::vector<QueryEdge>& queried) {
    for (const QueryEdge& edge : queried) {
      if (edge.each) look(*edge.each);
    }
  }
  void look(const Expression& expression) {
    if (!expression.name.empty()) {
      const bool of_edge = expression.element.kind == Element::Kind::edge;
      if (!of_edge) vertices.insert(expression.name);
      if (of_edge && expression.name != "time") edges.insert(expression.name);
    }
    for (const Expression& operand : expression.operands) look(operand);
    for (const CountedPattern& pattern : expression.pattern) {
      look(pattern.edges);
      for (const Expression& where : pattern.where) look(where);
    }
  }
};

}  // namespace

void bind_query(nb::module_& module) {
  nb::class_<Pattern>(module, "Pattern", "A parsed pattern.")
      .def_static(
          "parse",
          [](const std::string& text, const std::string& name, const std::string& where, bool directed) {
            return Pattern{query::parse_query_text(text, name, directed, where), where};
          },
          "text"_a, "name"_a, "where"_a, "directed"_a)
      .def_static(
          "recognised", [](const std::string& text) { return query::recognise_query(text) != query::QueryForm::neither; },
          "text"_a, "Whether a text begins like a pattern or a t/v/e graph.")
      .def_prop_ro("name", [](const Pattern& pattern) { return pattern.query.name; })
      .def_prop_ro("where", [](const Pattern& pattern) { return pattern.where; })
      .def_prop_ro("text", [](const Pattern& pattern) { return to_pattern(pattern.query); })
      .def_prop_rw(
          "within",
          [](const Pattern& pattern) {
            return pattern.query.within ? std::optional(pattern.query.within->microseconds) : std::nullopt;
          },
          [](Pattern& pattern, std::int64_t microseconds) {
            pattern.query.within = Duration{microseconds};
            validate(pattern.query, pattern.where);
          })
      .def_prop_ro(
          "allows_lateness",
          [](const Pattern& pattern) { return pattern.query.within || pattern.query.emit_final || pattern.query.once; })
      .def_prop_ro("attributes", [](const Pattern& pattern) {
        const Attributes read(pattern.query);
        return std::pair(read.edges, read.vertices);
      });
}

}  // namespace deltamatch::python
