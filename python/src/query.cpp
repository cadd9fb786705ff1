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

#include "ingest/batch/late_records.hpp"
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
  std::set<std::string> asked;  ///< those of which it asks whether there is a value

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
    for (const Expression& operand : expression.operands) {
      if (expression.kind == Expression::Kind::is_null && !operand.name.empty()) asked.insert(operand.name);
      look(operand);
    }
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
      .def_prop_ro("allows_lateness", [](const Pattern& pattern) { return ingest::allows_lateness(pattern.query); })
      .def_prop_ro("attributes",
                   [](const Pattern& pattern) {
                     const Attributes read(pattern.query);
                     return std::pair(read.edges, read.vertices);
                   })
      .def_prop_ro(
          "needed",
          [](const Pattern& pattern) {
            Attributes read(pattern.query);
            for (const std::string& name : read.asked) read.edges.erase(name);
            return read.edges;
          },
          "The attributes of edges that it reads, and of which it does not ask whether there is a value.");
}

}  // namespace deltamatch::python
