// Writes queries as text. Edges are written in their order. An edge continues the path if it begins at the path's end. If the
// edges mention the vertices in another order than the query's, all vertices are listed first, as paths of their own.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/word.hpp"
#include "condition/counted.hpp"
#include "condition/literal.hpp"
#include "condition/text.hpp"
#include "deltamatch/query.hpp"
#include "query/label_expression.hpp"

namespace deltamatch {
namespace query {
namespace {

std::string quantifier_text(const QueryEdge& edge) {
  if (!edge.quantifier) return "";
  const auto [least, most] = *edge.quantifier;
  return least == most ? fmt::format("{{{}}}", least) : fmt::format("{{{},{}}}", least, most);
}

class Writer {
 public:
  explicit Writer(const Query& query) : query_(query), mentioned_(query.vertices.size()) {}

  std::string write() {
    if (query_.edges.empty() || !edges_mention_in_order()) {
      for (std::uint32_t v = 0; v < query_.vertices.size(); ++v) start_path(v);
    }
    for (const QueryEdge& edge : query_.edges) {
      std::string inner = name_of(edge) + labels_text(edge.labels);
      if (edge.each) inner += " WHERE " + condition::to_text(*edge.each, query_);
      const std::string element = inner.empty() ? "" : fmt::format("[{}]", inner);
      const std::string bounds = quantifier_text(edge);
      if (leftwards(edge, end_)) {
        if (end_ != edge.target) start_path(edge.target);
        text_ += fmt::format("<-{}-{}", element, bounds);
        mention(edge.source);
      } else {
        if (end_ != edge.source) start_path(edge.source);
        text_ += fmt::format("-{}-{}{}", element, edge.directed ? ">" : "", bounds);
        mention(edge.target);
      }
    }
    if (query_.where) text_ += " WHERE " + condition::to_text(*query_.where, query_);
    if (query_.within) text_ += " WITHIN " + condition::to_text(Literal(*query_.within));
    return std::move(text_);
  }

 private:
  /// The name of an edge. Without a label and without a condition on it, a plain name would look like a forgotten colon.
  [[nodiscard]] std::string name_of(const QueryEdge& edge) const {
    if (edge.name.empty()) return "";
    std::string name = quoted_word(edge.name);
    const auto speaks = [&](const std::optional<Expression>& node) { return node && speaks_of(*node, edge); };
    const bool idle = edge.labels.empty() && !speaks(query_.where) &&
                      std::ranges::none_of(query_.edges, [&](const QueryEdge& path) { return speaks(path.each); });
    return idle && name[0] != '`' ? "`" + name + "`" : name;
  }

  /// Whether a condition reads the edge.
  [[nodiscard]] bool speaks_of(const Expression& node, const QueryEdge& edge) const {
    bool found = false;
    condition::for_each_mention(node, [&](Element::Kind kind, std::uint32_t index) {
      found = found || (kind == Element::Kind::edge && &query_.edges[index] == &edge);
    });
    return found;
  }

  /// Whether an edge is written right to left after a path with this end.
  static bool leftwards(const QueryEdge& edge, std::optional<std::uint32_t> end) {
    return edge.directed && end != edge.source && (end == edge.target || edge.target < edge.source);
  }

  [[nodiscard]] bool edges_mention_in_order() const {
    std::uint32_t next = 0;
    std::optional<std::uint32_t> end;
    for (const QueryEdge& edge : query_.edges) {
      const bool back = leftwards(edge, end);
      for (const std::uint32_t v : {back ? edge.target : edge.source, back ? edge.source : edge.target}) {
        if (v > next) return false;
        if (v == next) ++next;
        end = v;
      }
    }
    return true;
  }

  void start_path(std::uint32_t v) {
    if (!text_.empty()) text_ += ", ";
    mention(v);
  }

  /// Writes a vertex. Its labels are written at its first mention.
  void mention(std::uint32_t v) {
    const QueryVertex& vertex = query_.vertices[v];
    text_ += fmt::format("({}{})", quoted_word(vertex.name), mentioned_[v] ? "" : labels_text(vertex.labels));
    mentioned_[v] = true;
    end_ = v;
  }

  const Query& query_;
  std::string text_;
  std::vector<bool> mentioned_;
  std::optional<std::uint32_t> end_;  // the end of the last path
};

}  // namespace
}  // namespace query

std::string to_pattern(const Query& query) {
  validate(query, "query");
  return query::Writer(query).write();
}

}  // namespace deltamatch
