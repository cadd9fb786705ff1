#include "query/condition_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/word.hpp"
#include "condition/literal.hpp"

namespace deltamatch::query {
namespace {

using Kind = Expression::Kind;

constexpr std::string_view value_remedy =
    "a value is an attribute (t.amount, t.time), id(a), a number, a text in quotes, a duration (24h), TRUE, FALSE or NULL";
constexpr std::string_view duration_remedy = "durations are written 24h (us, ms, s, m, h, d, w) or duration('PT24H')";
constexpr std::string_view number_remedy =
    "numbers have at most 18 digits behind the point, and stay below 2^63 without it; durations end in us, ms, s, m, h, d or w";
constexpr std::string_view instant_remedy = "write datetime('2026-01-31T10:00:00Z') or datetime('2026-01-31')";
constexpr std::size_t max_depth = 100;
constexpr std::size_t max_nodes = 1000;

/// Words of other languages, and what to do instead.
struct Foreign {
  std::string_view word;
  std::string_view remedy;
};
constexpr std::string_view text_remedy = "text is compared with =, <> and IN";
constexpr std::string_view function_remedy =
    "conditions know id(a), duration('PT24H') and datetime('2026-01-31'); least and greatest; COUNT and EXISTS { ... }; "
    "and of a path count, first, last, sum, min, max and prev";
constexpr std::string_view count_remedy = "write COUNT { (s)-->(a) } >= 3, with the pattern in braces";
constexpr std::array<Foreign, 6> other_functions{
    {{"AVG", "compare the sum: sum(t.amount) >= 100 * count(t)"},
     {"EXISTS", "write EXISTS { (b)-->(a) }, with the pattern in braces; of an attribute, t.amount IS NOT NULL"},
     {"LENGTH", "write count(t), the number of steps of the path t"},
     {"SIZE", "write count(t), the number of steps of the path t, or COUNT { (s)-->(a) } >= 3"},
     {"DEGREE", count_remedy},
     {"SHORTESTPATH", "write bounds behind one edge: (a)-[t]->{2,3}(b)"}}};
constexpr std::array<Foreign, 12> foreign{{{"STARTS", text_remedy},
                                           {"ENDS", text_remedy},
                                           {"CONTAINS", text_remedy},
                                           {"LIKE", text_remedy},
                                           {"XOR", "write (x OR y) AND NOT (x AND y)"},
                                           {"BETWEEN", "write 10 <= t.amount <= 20"},
                                           {"NOT", "NOT stands before a condition: NOT t.channel IN ['web']"},
                                           {"RETURN", "leave it out: a match reports all of its vertices and edges"},
                                           {"WITH", "leave it out: a pattern is one step"},
                                           {"ORDER", "leave it out: matches are reported as they appear"},
                                           {"LIMIT", "leave it out: a limit is an option of the command"},
                                           {"WHERE", "a pattern has one WHERE: join conditions by AND"}}};

struct Function {
  std::string_view word;
  Kind kind;
  Mention::Use use;
  bool attribute_behind;  ///< the attribute may also stand behind the parenthesis
  std::string_view remedy;
};
constexpr std::array<Function, 10> functions{
    {{"ID", Kind::id, Mention::Use::vertex, false, "write id(a)"},
     {"COUNT", Kind::steps, Mention::Use::path, false, "write count(t), the number of steps of the path t"},
     {"FIRST", Kind::first, Mention::Use::path, true, "write first(t).amount"},
     {"LAST", Kind::last, Mention::Use::path, true, "write last(t).amount"},
     {"PREV", Kind::previous, Mention::Use::previous, true, "write prev(t).amount"},
     {"SUM", Kind::sum, Mention::Use::path, false, "write sum(t.amount)"},
     {"MIN", Kind::minimum, Mention::Use::path, false, "write min(t.amount)"},
     {"MAX", Kind::maximum, Mention::Use::path, false, "write max(t.amount)"},
     {"LEAST", Kind::least, Mention::Use::attribute, false, "write least(t.amount, u.amount)"},
     {"GREATEST", Kind::greatest, Mention::Use::attribute, false, "write greatest(t.amount, u.amount)"}}};

/// A duration of several parts, or with a fraction, in one unit: "1h30m" and "1.5h" are "90m". Empty if it is neither.
std::string in_one_unit(std::string_view text) {
  constexpr std::array<std::string_view, 7> units{"w", "d", "h", "m", "s", "ms", "us"};
  std::int64_t total = 0;
  while (!text.empty()) {
    const std::size_t digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits > 15) return {};  // also without a unit: npos
    std::int64_t number = condition::read_duration(fmt::format("{}us", text.substr(0, digits)))->microseconds;
    text.remove_prefix(digits);
    std::int64_t parts = 1;  // of a whole
    if (text[0] == '.') {
      text.remove_prefix(1);
      const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
      if (end == 0 || end > 3) return {};
      for (const char c : text.substr(0, end)) {
        number = 10 * number + (c - '0');
        parts *= 10;
      }
      text.remove_prefix(end);
    }
    const std::size_t end = std::min(text.find_first_of("0123456789."), text.size());
    const auto unit = condition::read_duration(fmt::format("1{}", text.substr(0, end)));
    if (!unit || number > std::numeric_limits<std::int64_t>::max() / 4 / unit->microseconds) return {};
    if (number * unit->microseconds % parts != 0) return {};
    total += number * unit->microseconds / parts;
    if (total > std::numeric_limits<std::int64_t>::max() / 2) return {};
    text.remove_prefix(end);
  }
  for (const std::string_view unit : units) {
    const std::int64_t size = condition::read_duration(fmt::format("1{}", unit))->microseconds;
    if (total % size == 0) return fmt::format("{}{}", total / size, unit);
  }
  return {};
}

/// A unit that the language does not know, and how it writes it.
struct OtherUnit {
  std::string_view word;
  std::string_view unit;
  std::int64_t times;
};
constexpr auto other_units = std::to_array<OtherUnit>({{"us", "us", 1},    {"usec", "us", 1}, {"microsecond", "us", 1},
                                                       {"ms", "ms", 1},    {"msec", "ms", 1}, {"millisecond", "ms", 1},
                                                       {"s", "s", 1},      {"sec", "s", 1},   {"second", "s", 1},
                                                       {"m", "m", 1},      {"min", "m", 1},   {"minute", "m", 1},
                                                       {"h", "h", 1},      {"hr", "h", 1},    {"hour", "h", 1},
                                                       {"d", "d", 1},      {"day", "d", 1},   {"w", "w", 1},
                                                       {"wk", "w", 1},     {"week", "w", 1},  {"mo", "d", 30},
                                                       {"month", "d", 30}, {"y", "d", 365},   {"yr", "d", 365},
                                                       {"year", "d", 365}});

/// What to write in place of a number and an unknown unit: "24hours" is "24h". Empty if nobody knows.
std::string in_known_unit(std::string_view digits, std::string_view word) {
  const auto named = [&](const OtherUnit& other) {
    const auto same = [&](std::string_view text) {
      return std::ranges::equal(text, other.word,
                                [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
    };
    return same(word) ||
           (other.word.size() > 1 && word.size() > 1 && (word.back() | 0x20) == 's' && same(word.substr(0, word.size() - 1)));
  };
  const auto* const other = std::ranges::find_if(other_units, named);
  constexpr std::size_t most_digits = 12;
  if (other == other_units.end() || digits.size() > most_digits) return {};
  const auto number = condition::read_duration(fmt::format("{}us", digits));
  std::string known = number ? fmt::format("{}{}", number->microseconds * other->times, other->unit) : std::string();
  return condition::read_duration(known) ? known : std::string();
}

/// Refuses a duration whose unit the language does not know.
[[noreturn]] void refuse_unit(const Tokens& tokens, std::size_t offset, std::string_view digits, std::string_view word) {
  const std::string known = in_known_unit(digits, word);
  tokens.fail_at(
      offset, fmt::format("unknown unit '{}'", shown(std::string(word))),
      known.empty() ? std::string(duration_remedy) : fmt::format("write {}; the units are us, ms, s, m, h, d and w", known));
}

/// The day that a text names, as 2026-02-31 or 31.02.2026. It need not exist.
std::optional<std::chrono::year_month_day> named_day(std::string_view text) {
  std::array<unsigned, 3> parts{};
  std::array<std::size_t, 3> sizes{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (part != 0 && (at == end || std::string_view("-./").find(*at++) == std::string_view::npos)) return std::nullopt;
    const auto [rest, code] = std::from_chars(at, end, parts[part]);
    if (code != std::errc()) return std::nullopt;
    sizes[part] = static_cast<std::size_t>(rest - at);
    at = rest;
  }
  constexpr std::size_t of_year = 4;
  if (sizes[0] != of_year) std::swap(parts[0], parts[2]);
  if (std::max(sizes[0], sizes[2]) != of_year || sizes[1] > 2) return std::nullopt;
  return std::chrono::year_month_day(std::chrono::year(static_cast<int>(parts[0])), std::chrono::month(parts[1]),
                                     std::chrono::day(parts[2]));
}

Expression node(Kind kind, std::vector<Expression> operands) { return {kind, {}, {}, {}, std::move(operands)}; }
template <typename... Operands>
Expression node_of(Kind kind, Operands... operands) {
  std::vector<Expression> list;
  (list.push_back(std::move(operands)), ...);
  return node(kind, std::move(list));
}
Expression literal(Literal value) { return {Kind::literal, std::move(value), {}, {}, {}}; }

class ConditionParser {
 public:
  /// `counted` may be null where no condition stands.
  ConditionParser(Tokens& tokens, std::vector<Mention>& mentions, CountedPatterns* counted = nullptr)
      : tokens_(tokens), mentions_(mentions), counted_patterns_(counted) {}

  Expression condition() {
    return nested([this] {
      return chain("OR", Kind::logical_or, [this] { return chain("AND", Kind::logical_and, [this] { return negation(); }); });
    });
  }

  /// A literal, with its sign. `what` is expected.
  Expression constant(std::string_view what) {
    const bool negative = tokens_.is(TokenKind::minus);
    const std::size_t offset = tokens_.now().offset;
    if (negative) tokens_.advance();
    if (negative) {
      if (const auto number = negative_number()) return literal(*number);
    }
    auto value = literal_here();
    if (!value) tokens_.fail_expected(what, "write a number, a text in quotes, a duration, TRUE or FALSE");
    if (negative) {
      if (auto* duration = std::get_if<Duration>(&*value)) {
        duration->microseconds = -duration->microseconds;
      } else {
        tokens_.fail_at(offset, "a sign before a value that is no number", "leave the sign out");
      }
    }
    return literal(std::move(*value));
  }

 private:
  template <typename Part>
  Expression nested(const Part& part) {
    if (++depth_ > max_depth) {
      tokens_.fail("a condition that is nested too deeply", fmt::format("nest at most {} parentheses", max_depth));
    }
    Expression result = part();
    --depth_;
    return result;
  }

  template <typename Part>
  Expression chain(std::string_view keyword, Kind kind, const Part& part) {
    Expression first = part();
    if (!tokens_.is_keyword(keyword)) return first;
    std::vector<Expression> parts;
    parts.push_back(std::move(first));
    while (tokens_.is_keyword(keyword)) {
      tokens_.advance();
      parts.push_back(part());
    }
    return counted(node(kind, std::move(parts)));
  }

  Expression negation() {
    std::size_t times = 0;
    for (; tokens_.is_keyword("NOT"); tokens_.advance()) ++times;
    if (begins_path()) {
      tokens_.fail("a path in a condition",
                   fmt::format("write {}EXISTS {{ (b)-->(a) }}, with the path in braces", times % 2 == 1 ? "NOT " : ""));
    }
    Expression result = comparison();
    if (times > max_depth) tokens_.fail("too many NOT before one condition", "two of them cancel out");
    for (; times > 0; --times) result = counted(node_of(Kind::logical_not, std::move(result)));
    return result;
  }

  /// Whether a path stands here: a vertex and an edge. No value in parentheses is followed by the signs of an edge.
  [[nodiscard]] bool begins_path() const {
    if (!tokens_.is(TokenKind::left_parenthesis)) return false;
    const std::string_view rest = tokens_.source().text().substr(tokens_.now().offset);
    const std::size_t end = rest.find_first_of("()", 1);
    if (end == std::string_view::npos || rest[end] != ')') return false;
    if (rest.substr(1, end - 1).find_first_of(".<>='\"") != std::string_view::npos) return false;
    const std::string_view behind = rest.substr(end + 1);
    return std::ranges::any_of(std::array{"--", "-[", "<--", "<-["},
                               [&](const char* edge) { return behind.starts_with(edge); });
  }

  [[nodiscard]] std::optional<Kind> comparison_here() const {
    switch (tokens_.now().kind) {
      case TokenKind::equal:
        return Kind::equal;
      case TokenKind::not_equal:
        return Kind::not_equal;
      case TokenKind::less:
        return Kind::less;
      case TokenKind::less_equal:
        return Kind::less_equal;
      case TokenKind::greater:
        return Kind::greater;
      case TokenKind::greater_equal:
        return Kind::greater_equal;
      default:
        return std::nullopt;
    }
  }

  Expression comparison() {
    Expression left = sum();
    if (tokens_.is_keyword("IN")) return membership(std::move(left));
    if (tokens_.is_keyword("IS")) return null_test(std::move(left));
    std::vector<Expression> comparisons;
    while (const auto kind = comparison_here()) {
      tokens_.advance();
      if (*kind == Kind::equal && tokens_.is(TokenKind::equal)) tokens_.fail("unexpected '=='", "write =");
      Expression right = sum();
      comparisons.push_back(counted(node_of(*kind, std::move(left), right)));
      left = std::move(right);
    }
    if (comparisons.empty()) return left;
    if (comparisons.size() == 1) return std::move(comparisons.front());
    return counted(node(Kind::logical_and, std::move(comparisons)));
  }

  Expression membership(Expression left) {
    tokens_.advance();
    tokens_.expect(TokenKind::left_bracket, "'['", "write t.channel IN ['web', 'mobile']");
    std::vector<Expression> operands;
    operands.push_back(std::move(left));
    while (true) {
      operands.push_back(counted(constant("a value")));
      if (!tokens_.is(TokenKind::comma)) break;
      tokens_.advance();
    }
    tokens_.expect(TokenKind::right_bracket, "',' or ']'", "write t.channel IN ['web', 'mobile']");
    return counted(node(Kind::in, std::move(operands)));
  }

  Expression null_test(Expression left) {
    tokens_.advance();
    const bool negated = tokens_.is_keyword("NOT");
    if (negated) tokens_.advance();
    if (!tokens_.is_keyword("NULL")) tokens_.fail_expected("NULL", "write t.amount IS NULL or t.amount IS NOT NULL");
    tokens_.advance();
    Expression result = counted(node_of(Kind::is_null, std::move(left)));
    return negated ? counted(node_of(Kind::logical_not, std::move(result))) : result;
  }

  Expression sum() {
    Expression left = product();
    while (tokens_.is(TokenKind::plus) || tokens_.is(TokenKind::minus)) {
      const Kind kind = tokens_.is(TokenKind::plus) ? Kind::add : Kind::subtract;
      tokens_.advance();
      left = deeper(counted(node_of(kind, std::move(left), product())));
    }
    return left;
  }

  Expression product() {
    Expression left = factor();
    while (tokens_.is(TokenKind::star)) {
      tokens_.advance();
      left = deeper(counted(node_of(Kind::multiply, std::move(left), factor())));
    }
    return left;
  }

  Expression factor() {
    if (tokens_.is(TokenKind::minus)) {
      tokens_.advance();
      if (tokens_.is(TokenKind::minus))
        tokens_.fail("two signs in a row", "put the second part in parentheses, or leave both out");
      if (const auto number = negative_number()) return counted(literal(*number));
      Expression operand = atom();
      if (operand.kind == Kind::literal) {
        auto* number = std::get_if<Decimal>(&operand.literal);
        if (number != nullptr && number->digits != std::numeric_limits<std::int64_t>::min()) {
          number->digits = -number->digits;
          return operand;
        }
        if (auto* duration = std::get_if<Duration>(&operand.literal)) {
          duration->microseconds = -duration->microseconds;
          return operand;
        }
      }
      return counted(node_of(Kind::negate, std::move(operand)));
    }
    return atom();
  }

  Expression atom() {
    if (tokens_.is(TokenKind::left_parenthesis)) {
      tokens_.advance();
      Expression inner = condition();
      tokens_.expect(TokenKind::right_parenthesis, "')'", "close the parenthesis");
      return inner;
    }
    if (auto value = literal_here()) return counted(literal(std::move(*value)));
    if (!tokens_.is(TokenKind::word)) tokens_.fail_expected("a value", value_remedy);
    const Token name = tokens_.take();
    if (tokens_.is(TokenKind::left_parenthesis)) return function(name);
    if (tokens_.is(TokenKind::left_brace) && counted_patterns_ != nullptr && !name.backquoted) {
      if (same_word(name.text, "COUNT")) return count();
      if (same_word(name.text, "EXISTS")) return node_of(Kind::greater_equal, count(), counted(literal(Decimal{1, 0})));
    }
    if (tokens_.is(TokenKind::colon)) {
      tokens_.fail_at(name.offset, "a label in a condition", "write the label in the path: (a:Account) or -[t:TRANSFER]->");
    }
    if (const auto remedy = foreign_remedy(name); !remedy.empty() && !tokens_.is(TokenKind::dot)) {
      tokens_.fail_at(name.offset, fmt::format("unexpected '{}'", shown(name.text)), remedy);
    }
    return counted({Kind::attribute, {}, mention(name, Mention::Use::attribute), attribute_of(name), {}});
  }

  /// The name of an attribute, with the point before it. `element` stands before that.
  std::string attribute_of(const Token& element) {
    tokens_.expect(TokenKind::dot, fmt::format("'.' after '{}'", shown(element.text)), value_remedy);
    if (!tokens_.is(TokenKind::word)) tokens_.fail_expected("the name of an attribute", "write t.amount or t.time");
    Token attribute = tokens_.take();
    if (tokens_.is(TokenKind::dot)) {
      tokens_.fail("a path into an attribute", "give the nested field a name of its own where attributes are declared");
    }
    if (attribute.text.empty()) tokens_.fail_at(attribute.offset, "an empty name", "write t.amount or t.time");
    return std::move(attribute.text);
  }

  /// COUNT { ... } or EXISTS { ... }, after the word.
  Expression count() { return counted({Kind::count, {}, {Element::Kind::vertex, counted_patterns_->parse_counted()}, {}, {}}); }

  /// A function, after its name.
  Expression function(const Token& name) {
    const auto* known = std::find_if(functions.begin(), functions.end(),
                                     [&](const Function& f) { return !name.backquoted && same_word(name.text, f.word); });
    if (known == functions.end()) {
      const auto* other = std::ranges::find_if(
          other_functions, [&](const Foreign& f) { return !name.backquoted && same_word(name.text, f.word); });
      tokens_.fail_at(name.offset, fmt::format("unknown function '{}'", shown(name.text)),
                      other == other_functions.end() ? function_remedy : other->remedy);
    }
    tokens_.advance();
    if (known->kind == Kind::steps && (tokens_.is(TokenKind::left_parenthesis) || tokens_.is(TokenKind::star)))
      tokens_.fail("a pattern that is counted in parentheses", count_remedy);
    if (known->kind == Kind::least || known->kind == Kind::greatest) return extreme(*known);
    if (!tokens_.is(TokenKind::word))
      tokens_.fail_expected(known->kind == Kind::id ? "the name of a vertex" : "the name of an edge", known->remedy);
    const Token element = tokens_.take();
    const bool whole = known->kind == Kind::id || known->kind == Kind::steps;
    const bool inside = !whole && (!known->attribute_behind || tokens_.is(TokenKind::dot));
    std::string attribute = inside ? attribute_of(element) : "";
    tokens_.expect(TokenKind::right_parenthesis, "')'", known->remedy);
    if (!whole && !inside) attribute = attribute_of(element);
    return counted({known->kind, {}, mention(element, known->use), std::move(attribute), {}});
  }

  /// least(x, y) or greatest(x, y), after the parenthesis.
  Expression extreme(const Function& known) {
    std::vector<Expression> operands;
    while (true) {
      operands.push_back(nested([this] { return sum(); }));
      if (!tokens_.is(TokenKind::comma)) break;
      tokens_.advance();
    }
    if (operands.size() < 2) tokens_.fail_expected("','", known.remedy);
    tokens_.expect(TokenKind::right_parenthesis, "',' or ')'", known.remedy);
    return counted(node(known.kind, std::move(operands)));
  }

  /// The literal at this place, which is taken; nullopt if there is none.
  std::optional<Literal> literal_here() {
    const Token& token = tokens_.now();
    if (token.kind == TokenKind::text) return tokens_.take().text;
    if (token.kind == TokenKind::number) return number();
    if (tokens_.is_keyword("TRUE") || tokens_.is_keyword("FALSE")) {
      const bool value = tokens_.is_keyword("TRUE");
      tokens_.advance();
      return value;
    }
    if (tokens_.is_keyword("NULL")) {
      tokens_.advance();
      return std::monostate();
    }
    if (tokens_.is_keyword("DURATION")) return call(duration_remedy, condition::read_iso_duration);
    if (tokens_.is_keyword("DATETIME")) return call(instant_remedy, condition::read_instant);
    return std::nullopt;
  }

  /// The number behind a minus sign, which is taken, with this sign. Nullopt: there is none, or it has a unit.
  std::optional<Decimal> negative_number() {
    if (!tokens_.is(TokenKind::number)) return std::nullopt;
    const auto value = condition::read_negative_decimal(tokens_.now().text);
    if (value) tokens_.advance();
    return value;
  }

  Literal number() {
    if (const auto value = condition::read_decimal(tokens_.now().text)) {
      tokens_.advance();
      return *value;
    }
    if (const auto value = condition::read_duration(tokens_.now().text)) {
      tokens_.advance();
      return *value;
    }
    const std::string_view text = tokens_.now().text;
    const std::size_t unit = std::min(text.find_first_not_of("0123456789"), text.size());
    if (unit > 0 && condition::read_duration(fmt::format("1{}", text.substr(unit))))
      tokens_.fail(fmt::format("the duration '{}' is too long", shown(text)), "write at most 106751991d");
    if (unit > 0 && unit < text.size() && text.find_first_of("0123456789.", unit) == std::string_view::npos)
      refuse_unit(tokens_, tokens_.now().offset, text.substr(0, unit), text.substr(unit));
    if (const std::string whole = in_one_unit(text); !whole.empty())
      tokens_.fail(fmt::format("the duration '{}' is not one whole number and a unit", shown(text)),
                   fmt::format("write {}", whole));
    tokens_.fail(fmt::format("'{}' is no number that can be compared", shown(text)), number_remedy);
  }

  /// A function of one text.
  template <typename Read>
  Literal call(std::string_view remedy, const Read& read) {
    tokens_.advance();
    tokens_.expect(TokenKind::left_parenthesis, "'('", remedy);
    if (!tokens_.is(TokenKind::text)) tokens_.fail_expected("a text in quotes", remedy);
    const auto value = read(tokens_.now().text);
    if (!value) {
      const auto day = named_day(tokens_.now().text);
      tokens_.fail(
          fmt::format("'{}' cannot be read{}", shown(tokens_.now().text), day && !day->ok() ? ": there is no such day" : ""),
          remedy);
    }
    tokens_.advance();
    tokens_.expect(TokenKind::right_parenthesis, "')'", remedy);
    return *value;
  }

  Element mention(const Token& name, Mention::Use use) {
    mentions_.push_back({name.text, name.offset, use});
    return {Element::Kind::vertex, static_cast<std::uint32_t>(mentions_.size() - 1)};
  }

  Expression counted(Expression expression) {
    if (++nodes_ > max_nodes) {
      tokens_.fail("a condition that is too long", fmt::format("write at most {} values and operators", max_nodes));
    }
    return expression;
  }

  /// Limits how deep sums and products nest to the left.
  Expression deeper(Expression expression) {
    if (++terms_ > max_depth) tokens_.fail("too many terms in a condition", fmt::format("add at most {} terms", max_depth));
    return expression;
  }

  Tokens& tokens_;
  std::vector<Mention>& mentions_;
  CountedPatterns* counted_patterns_;
  std::size_t depth_ = 0;
  std::size_t nodes_ = 0;
  std::size_t terms_ = 0;
};

}  // namespace

std::string_view foreign_remedy(const Token& token) noexcept {
  if (token.kind != TokenKind::word || token.backquoted) return {};
  const auto found =
      std::find_if(foreign.begin(), foreign.end(), [&](const Foreign& f) { return same_word(token.text, f.word); });
  return found == foreign.end() ? std::string_view() : found->remedy;
}

Expression parse_condition(Tokens& tokens, std::vector<Mention>& mentions, CountedPatterns& counted) {
  return ConditionParser(tokens, mentions, &counted).condition();
}

std::vector<Expression> parse_properties(Tokens& tokens, Element element) {
  std::vector<Expression> result;
  std::vector<Mention> none;
  while (true) {
    if (!tokens.is(TokenKind::word)) tokens.fail_expected("the name of an attribute", "write {channel: 'web'}");
    Token name = tokens.take();
    tokens.expect(TokenKind::colon, "':'", "write {channel: 'web'}");
    const std::size_t offset = tokens.now().offset;
    Expression value = ConditionParser(tokens, none).constant("a value");
    if (std::holds_alternative<std::monostate>(value.literal)) {
      tokens.fail_at(offset, "a comparison with NULL, which is never true", "write WHERE t.channel IS NULL");
    }
    result.push_back(
        node_of(Kind::equal, Expression{Kind::attribute, {}, element, std::move(name.text), {}}, std::move(value)));
    if (!tokens.is(TokenKind::comma)) return result;
    tokens.advance();
  }
}

Duration parse_period(Tokens& tokens, std::string_view keyword) {
  std::vector<Mention> none;
  const std::size_t offset = tokens.now().offset;
  const Expression value = ConditionParser(tokens, none).constant("a duration");
  const auto* duration = std::get_if<Duration>(&value.literal);
  const auto* number = std::get_if<Decimal>(&value.literal);
  if (number != nullptr && number->digits > 0 && number->scale == 0 && tokens.is(TokenKind::word)) {
    const std::string whole = in_known_unit(fmt::format("{}", number->digits), tokens.now().text);
    if (!whole.empty()) tokens.fail_at(offset, "a blank before the unit of a duration", "write " + whole);
  }
  if (duration == nullptr || duration->microseconds <= 0)
    tokens.fail_at(offset, fmt::format("{} needs a positive duration", keyword), duration_remedy);
  if (tokens.is(TokenKind::number)) {
    const std::string whole = in_one_unit(fmt::format("{}us{}", duration->microseconds, tokens.now().text));
    tokens.fail_at(offset, "a duration in two parts", whole.empty() ? std::string(duration_remedy) : "write " + whole);
  }
  return *duration;
}

}  // namespace deltamatch::query
