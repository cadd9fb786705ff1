// Parses conditions by recursive descent into a postfix program, and evaluates it over intervals. A complete subgraph is the
// case of intervals with one value each, so one evaluator is enough.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

#include "deltamatch/error.hpp"
#include "mine/small_graph.hpp"

namespace deltamatch {
namespace {

using Op = Condition::Op;
using Step = Condition::Step;

constexpr std::array<std::pair<std::string_view, Op>, 7> features = {{{"vertices", Op::vertices},
                                                                      {"edges", Op::edges},
                                                                      {"missing", Op::missing},
                                                                      {"min_degree", Op::min_degree},
                                                                      {"max_degree", Op::max_degree},
                                                                      {"triangles", Op::triangles},
                                                                      {"leaves", Op::leaves}}};

/// Checks types while parsing: comparisons take numbers and give truth values; logic takes and gives truth values.
class Parser {
 public:
  Parser(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  std::vector<Step> run() {
    skip_space();
    const std::size_t begin = at_;
    expect(disjunction(), Type::truth, begin);
    if (at_ != text_.size()) fail_here();
    return std::move(steps_);
  }

 private:
  enum class Type { number, truth };
  static constexpr unsigned max_depth = 64;

  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    throw Error(ErrorKind::usage, std::string(where_) + ", column " + std::to_string(at + 1), what,
                "write something like 'edges >= 5 and max_degree <= 3'");
  }

  [[noreturn]] void fail_here() const { fail(at_, "'" + std::string(text_.substr(at_, 1)) + "' is not expected here"); }

  void expect(Type type, Type wanted, std::size_t at) const {
    if (type == wanted) return;
    fail(at, wanted == Type::truth ? "a comparison is needed here, but this is a number"
                                   : "a number is needed here, but this is a comparison");
  }

  void emit(Op op, std::int32_t value = 0) {
    if (steps_.size() == Condition::max_steps)
      fail(at_, "the condition has more than " + std::to_string(Condition::max_steps) + " parts");
    steps_.push_back({op, value});
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  static bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

  [[nodiscard]] std::string_view word() const {
    std::size_t end = at_;
    while (end < text_.size() && in_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  bool take_word(std::string_view wanted) {
    if (word() != wanted) return false;
    at_ += wanted.size();
    skip_space();
    return true;
  }

  bool take(std::string_view symbol) {
    if (text_.substr(at_, symbol.size()) != symbol) return false;
    at_ += symbol.size();
    skip_space();
    return true;
  }

  /// Parses one level of left-associative operators: `operand` op `operand` …, all of `type`.
  template <class Operand, class Match>
  Type chain(Type type, Operand&& operand, Match&& match) {
    const std::size_t first = at_;
    const Type left = operand();
    while (const std::optional<Op> op = match()) {
      expect(left, type, first);
      const std::size_t second = at_;
      expect(operand(), type, second);
      emit(*op);
    }
    return left;
  }

  Type disjunction() {
    return chain(
        Type::truth, [&] { return conjunction(); },
        [&]() -> std::optional<Op> { return take_word("or") ? std::optional(Op::logical_or) : std::nullopt; });
  }

  Type conjunction() {
    return chain(
        Type::truth, [&] { return negation(); },
        [&]() -> std::optional<Op> { return take_word("and") ? std::optional(Op::logical_and) : std::nullopt; });
  }

  Type negation() {
    if (!take_word("not")) return comparison();
    const std::size_t begin = at_;
    if (++depth_ > max_depth) fail(begin, "the condition is nested too deeply");
    expect(negation(), Type::truth, begin);
    --depth_;
    emit(Op::logical_not);
    return Type::truth;
  }

  Type comparison() {
    const std::size_t first = at_;
    const Type left = sum();
    struct Comparison {
      std::string_view symbol;
      Op op;
      bool negated;
    };
    constexpr std::array<Comparison, 7> comparisons = {{{"<=", Op::less_equal, false},
                                                        {">=", Op::less, true},
                                                        {"!=", Op::equal, true},
                                                        {"==", Op::equal, false},
                                                        {"<", Op::less, false},
                                                        {">", Op::less_equal, true},
                                                        {"=", Op::equal, false}}};
    for (const auto& [symbol, op, negated] : comparisons) {
      if (!take(symbol)) continue;
      expect(left, Type::number, first);
      const std::size_t second = at_;
      expect(sum(), Type::number, second);
      emit(op);
      if (negated) emit(Op::logical_not);
      return Type::truth;
    }
    // A number may stand alone only in parentheses. Anything else that follows is the mistake, not the number.
    const bool ends = at_ == text_.size() || text_[at_] == ')' || word() == "and" || word() == "or";
    if (left == Type::number && !ends) fail_here();
    return left;
  }

  Type sum() {
    return chain(
        Type::number, [&] { return product(); },
        [&]() -> std::optional<Op> {
          if (take("+")) return Op::add;
          return take("-") ? std::optional(Op::subtract) : std::nullopt;
        });
  }

  Type product() {
    return chain(
        Type::number, [&] { return operand(); },
        [&]() -> std::optional<Op> { return take("*") ? std::optional(Op::multiply) : std::nullopt; });
  }

  Type operand() {
    const std::size_t begin = at_;
    if (take("(")) {
      if (++depth_ > max_depth) fail(begin, "the condition is nested too deeply");
      const Type inner = disjunction();
      --depth_;
      if (!take(")")) fail(at_, "a closing parenthesis is missing");
      return inner;
    }
    const std::string_view found = word();
    if (found.empty())
      fail(at_, at_ == text_.size() ? "the condition ends where a feature or a number is needed"
                                    : "a feature or a number is needed here");
    if (std::isdigit(static_cast<unsigned char>(found.front())) != 0) {
      std::int32_t value = 0;
      const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
      if (error != std::errc() || end != found.data() + found.size() || value > 1'000'000) {
        fail(begin, "'" + std::string(found) + "' is not a whole number up to 1000000");
      }
      at_ += found.size();
      skip_space();
      emit(Op::constant, value);
      return Type::number;
    }
    for (const auto& [name, op] : features) {
      if (name == found) {
        take_word(name);
        emit(op);
        return Type::number;
      }
    }
    std::string known;
    for (const auto& [name, op] : features) known += (known.empty() ? "" : ", ") + std::string(name);
    fail(begin, "'" + std::string(found) + "' is not known; the features are " + known);
  }

  std::string_view text_;
  std::string_view where_;
  std::size_t at_ = 0;
  unsigned depth_ = 0;
  std::vector<Step> steps_;
};

/// All values from `least` to `most`; a truth value is 0 or 1. The type is double, so products of sums of constants cannot
/// overflow. It represents the features exactly.
struct Interval {
  double least = 0;
  double most = 0;
};

/// The ranges of the features of a connected graph of k vertices that contains a graph with features `f`.
std::array<Interval, features.size()> reachable(const mine::Features& f, int k) {
  const int more = k - f.vertices;
  const int pairs = k * (k - 1) / 2;
  const int new_pairs = pairs - f.vertices * (f.vertices - 1) / 2;
  const int new_triples = k * (k - 1) * (k - 2) / 6 - f.vertices * (f.vertices - 1) * (f.vertices - 2) / 6;
  const Interval edges{static_cast<double>(f.edges + more), static_cast<double>(f.edges + new_pairs)};
  if (more == 0) {
    const auto just = [](int value) { return Interval{static_cast<double>(value), static_cast<double>(value)}; };
    return {just(k),           just(f.edges), just(pairs - f.edges), just(f.min_degree), just(f.max_degree),
            just(f.triangles), just(f.leaves)};
  }
  return {{{static_cast<double>(k), static_cast<double>(k)},
           edges,
           {pairs - edges.most, pairs - edges.least},
           {1, static_cast<double>(std::min(f.min_degree + more, k - 1))},
           {static_cast<double>(f.max_degree), static_cast<double>(k - 1)},
           {static_cast<double>(f.triangles), static_cast<double>(f.triangles + new_triples)},
           {0, static_cast<double>(k)}}};
}

Interval truth(bool certain, bool possible) { return {certain ? 1.0 : 0.0, possible ? 1.0 : 0.0}; }

Interval combine(Op op, const Interval& a, const Interval& b) {
  switch (op) {
    case Op::add:
      return {a.least + b.least, a.most + b.most};
    case Op::subtract:
      return {a.least - b.most, a.most - b.least};
    case Op::multiply: {
      const auto [least, most] = std::minmax({a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most});
      return {least, most};
    }
    case Op::less:
      return truth(a.most < b.least, a.least < b.most);
    case Op::less_equal:
      return truth(a.most <= b.least, a.least <= b.most);
    case Op::equal:
      return truth(a.least == a.most && a.least == b.least && b.least == b.most, a.least <= b.most && b.least <= a.most);
    case Op::logical_and:
      return {std::min(a.least, b.least), std::min(a.most, b.most)};
    default:  // logical_or
      return {std::max(a.least, b.least), std::max(a.most, b.most)};
  }
}

Interval evaluate(std::span<const Step> program, std::span<const Interval> values) {
  std::array<Interval, Condition::max_steps> stack;
  std::size_t top = 0;
  for (const Step& step : program) {
    if (step.op == Op::constant) {
      stack[top++] = {static_cast<double>(step.value), static_cast<double>(step.value)};
    } else if (step.op <= Op::leaves) {
      stack[top++] = values[static_cast<std::size_t>(step.op) - static_cast<std::size_t>(Op::vertices)];
    } else if (step.op == Op::logical_not) {
      stack[top - 1] = {1 - stack[top - 1].most, 1 - stack[top - 1].least};
    } else {
      --top;
      stack[top - 1] = combine(step.op, stack[top - 1], stack[top]);
    }
  }
  return stack[0];
}

}  // namespace

Condition Condition::parse(std::string_view text, std::string_view where) {
  Condition condition;
  condition.steps_ = Parser(text, where).run();
  return condition;
}

bool Condition::holds(unsigned vertices, std::uint32_t key) const { return may_hold(vertices, key, vertices); }

bool Condition::may_hold(unsigned vertices, std::uint32_t key, unsigned k) const {
  const auto values = reachable(mine::features_of(vertices, key), static_cast<int>(k));
  return evaluate(steps_, values).most > 0;
}

}  // namespace deltamatch
