#include "condition/text.hpp"

#include <fmt/format.h>

#include <string_view>

#include "base/word.hpp"
#include "condition/counted.hpp"
#include "condition/literal.hpp"

namespace deltamatch::condition {
namespace {

using Kind = Expression::Kind;

/// How tightly a kind binds its operands.
enum class Strength : std::uint8_t { disjunction, conjunction, negation, comparison, sum, product, sign, atom };

Strength strength_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::logical_or:
      return Strength::disjunction;
    case Kind::logical_and:
      return Strength::conjunction;
    case Kind::logical_not:
      return Strength::negation;
    case Kind::less:
    case Kind::less_equal:
    case Kind::greater:
    case Kind::greater_equal:
    case Kind::equal:
    case Kind::not_equal:
    case Kind::in:
    case Kind::is_null:
      return Strength::comparison;
    case Kind::add:
    case Kind::subtract:
      return Strength::sum;
    case Kind::multiply:
      return Strength::product;
    case Kind::negate:
      return Strength::sign;
    case Kind::literal:
    case Kind::attribute:
    case Kind::id:
    case Kind::least:
    case Kind::greatest:
    case Kind::previous:
    case Kind::first:
    case Kind::last:
    case Kind::sum:
    case Kind::minimum:
    case Kind::maximum:
    case Kind::steps:
    case Kind::count:
      break;
  }
  return Strength::atom;
}

std::string_view sign_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::logical_or:
      return " OR ";
    case Kind::logical_and:
      return " AND ";
    case Kind::less:
      return " < ";
    case Kind::less_equal:
      return " <= ";
    case Kind::greater:
      return " > ";
    case Kind::greater_equal:
      return " >= ";
    case Kind::equal:
      return " = ";
    case Kind::not_equal:
      return " <> ";
    case Kind::add:
      return " + ";
    case Kind::subtract:
      return " - ";
    default:
      return " * ";
  }
}

std::string_view function_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::previous:
      return "prev";
    case Kind::first:
      return "first";
    case Kind::last:
      return "last";
    case Kind::sum:
      return "sum";
    case Kind::minimum:
      return "min";
    case Kind::maximum:
      return "max";
    default:
      return kind == Kind::least ? "least" : "greatest";
  }
}

class Writer {
 public:
  explicit Writer(const Query& query) : query_(query) {}

  std::string write(const Expression& node) const {
    switch (node.kind) {
      case Kind::literal:
        return to_text(node.literal);
      case Kind::attribute:
        return fmt::format("{}.{}", name(node.element), quoted_condition_word(node.name));
      case Kind::id:
        return fmt::format("id({})", name(node.element));
      case Kind::count:
        return count(node.pattern[0]);
      case Kind::negate:
        return sign(operand(node.operands[0], Strength::atom));
      case Kind::logical_not:
        return "NOT " + operand(node.operands[0], Strength::negation);
      case Kind::is_null:
        return operand(node.operands[0], Strength::sum) + " IS NULL";
      case Kind::in:
        return membership(node);
      case Kind::previous:
      case Kind::first:
      case Kind::last:
        return fmt::format("{}({}).{}", function_of(node.kind), name(node.element), quoted_condition_word(node.name));
      case Kind::sum:
      case Kind::minimum:
      case Kind::maximum:
        return fmt::format("{}({}.{})", function_of(node.kind), name(node.element), quoted_condition_word(node.name));
      case Kind::steps:
        return fmt::format("count({})", name(node.element));
      case Kind::least:
      case Kind::greatest:
        return listed(node);
      default:
        return joined(node);
    }
  }

 private:
  /// In parentheses, unless it binds at least as tightly as `least`.
  [[nodiscard]] std::string operand(const Expression& node, Strength least) const {
    return strength_of(node.kind) < least ? "(" + write(node) + ")" : write(node);
  }

  /// The text of a value with a minus sign. Two signs in a row are no pattern.
  static std::string sign(const std::string& text) { return text.starts_with('-') ? "-(" + text + ")" : "-" + text; }

  [[nodiscard]] std::string joined(const Expression& node) const {
    const Strength own = strength_of(node.kind);
    const auto tighter = static_cast<Strength>(static_cast<std::uint8_t>(own) + 1);
    const bool leftmost_as_is = own == Strength::sum || own == Strength::product;  // a - b - c is (a - b) - c
    std::string text = operand(node.operands[0], leftmost_as_is ? own : tighter);
    for (std::size_t i = 1; i < node.operands.size(); ++i) {
      text += sign_of(node.kind);
      text += operand(node.operands[i], tighter);
    }
    return text;
  }

  [[nodiscard]] std::string membership(const Expression& node) const {
    std::string text = operand(node.operands[0], Strength::sum) + " IN [";
    for (std::size_t i = 1; i < node.operands.size(); ++i) {
      if (i > 1) text += ", ";
      text += to_text(node.operands[i].literal);
    }
    return text + "]";
  }

  [[nodiscard]] std::string listed(const Expression& node) const {
    std::string text;
    for (const Expression& operand : node.operands) text += (text.empty() ? "" : ", ") + write(operand);
    return fmt::format("{}({})", function_of(node.kind), text);
  }

  /// COUNT { DISTINCT s | (s)-[t:T]->(hub) WHERE t.amount > 5 }. Own vertices are mentioned in their order.
  [[nodiscard]] std::string count(const CountedPattern& pattern) const {
    const Query whole = extended(query_, pattern);
    std::string text = "COUNT { ";
    for (std::size_t i = 0; i < pattern.distinct.size(); ++i) {
      text += (i == 0 ? "DISTINCT " : ", ") + quoted_word(whole.vertices[pattern.distinct[i]].name);
    }
    if (!pattern.distinct.empty()) text += " | ";
    std::uint32_t mentioned = pattern.first_vertex;
    const auto labels = [](const LabelSet& set) {
      std::string result;
      for (const std::string& label : set) result.append(result.empty() ? ":" : "|").append(quoted_word(label));
      return result;
    };
    const auto vertex = [&](std::uint32_t v) {
      const bool first = v == mentioned;
      if (first) ++mentioned;
      return fmt::format("({}{})", quoted_word(whole.vertices[v].name), first ? labels(whole.vertices[v].labels) : "");
    };
    for (std::size_t e = 0; e < pattern.edges.size(); ++e) {
      const QueryEdge& edge = pattern.edges[e];
      const std::string inner = (edge.name.empty() ? "" : backquoted_or_plain(pattern, edge)) + labels(edge.labels);
      const std::string element = inner.empty() ? "" : "[" + inner + "]";
      const bool leftwards = edge.target < edge.source && edge.target >= mentioned;
      if (e > 0) text += ", ";
      if (leftwards && edge.directed) {
        text += vertex(edge.target) + "<-" + element + "-" + vertex(edge.source);
      } else {
        const std::uint32_t from = leftwards ? edge.target : edge.source;
        text += vertex(from) + "-" + element + (edge.directed ? "->" : "-");
        text += vertex(leftwards ? edge.source : edge.target);
      }
    }
    if (!pattern.where.empty()) text += " WHERE " + Writer(whole).write(pattern.where[0]);
    return text + " }";
  }

  /// The name of an edge. Without a label and a condition on it, a plain name would look like a forgotten colon.
  [[nodiscard]] static std::string backquoted_or_plain(const CountedPattern& pattern, const QueryEdge& edge) {
    const auto index = pattern.first_edge + static_cast<std::uint32_t>(&edge - pattern.edges.data());
    bool idle = edge.labels.empty();
    for (const Expression& condition : pattern.where) {
      for_each_element(condition, [&](Element::Kind kind, std::uint32_t mentioned) {
        idle = idle && !(kind == Element::Kind::edge && mentioned == index);
      });
    }
    const std::string name = quoted_word(edge.name);
    return idle && name[0] != '`' ? "`" + name + "`" : name;
  }

  [[nodiscard]] std::string name(const Element& element) const {
    return quoted_condition_word(element.kind == Element::Kind::vertex ? query_.vertices[element.index].name
                                                                       : query_.edges[element.index].name);
  }

  const Query& query_;
};

}  // namespace

std::string to_text(const Expression& expression, const Query& query) { return Writer(query).write(expression); }

}  // namespace deltamatch::condition
