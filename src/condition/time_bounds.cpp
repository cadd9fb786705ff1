#include "condition/time_bounds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "condition/literal.hpp"
#include "condition/normal.hpp"
#include "condition/text.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch::condition {
namespace {

using Kind = Expression::Kind;
__extension__ using Wide = __int128;

constexpr std::size_t epoch = 0;

/// plus - minus + constant, where plus and minus are times. Every side that is none is the epoch.
struct Difference {
  std::size_t plus = epoch;
  std::size_t minus = epoch;
  Wide constant = 0;
};

/// a + sign * b, or nullopt if it has more than two times.
std::optional<Difference> sum(const Difference& a, const Difference& b, int sign) {
  const std::size_t plus = sign > 0 ? b.plus : b.minus;
  const std::size_t minus = sign > 0 ? b.minus : b.plus;
  Difference result{epoch, epoch, a.constant + sign * b.constant};
  std::vector<std::size_t> added;
  std::vector<std::size_t> taken;
  for (const std::size_t x : {a.plus, plus}) {
    if (x != epoch) added.push_back(x);
  }
  for (const std::size_t x : {a.minus, minus}) {
    if (x == epoch) continue;
    const auto same = std::find(added.begin(), added.end(), x);
    if (same != added.end()) {
      added.erase(same);
    } else {
      taken.push_back(x);
    }
  }
  if (added.size() > 1 || taken.size() > 1) return std::nullopt;
  if (!added.empty()) result.plus = added.front();
  if (!taken.empty()) result.minus = taken.front();
  return result;
}

/// The expression as a difference of times; nullopt if it is none.
std::optional<Difference> difference_of(const Expression& node) {  // NOLINT(misc-no-recursion): find_flaw bounds the depth
  switch (node.kind) {
    case Kind::attribute:
      if (node.element.kind != Element::Kind::edge || node.name != "time") return std::nullopt;
      return Difference{node.element.index + 1, epoch, 0};
    case Kind::literal:
      if (const auto* duration = std::get_if<Duration>(&node.literal)) return Difference{epoch, epoch, duration->microseconds};
      if (const auto* instant = std::get_if<Instant>(&node.literal)) return Difference{epoch, epoch, instant->microseconds};
      return std::nullopt;
    case Kind::negate: {
      const auto operand = difference_of(node.operands[0]);
      return operand ? sum({}, *operand, -1) : std::nullopt;
    }
    case Kind::add:
    case Kind::subtract: {
      const auto left = difference_of(node.operands[0]);
      const auto right = difference_of(node.operands[1]);
      if (!left || !right) return std::nullopt;
      return sum(*left, *right, node.kind == Kind::add ? 1 : -1);
    }
    default:
      return std::nullopt;
  }
}

/// A bound x - y <= limit, and the term that says so.
struct Bound {
  std::size_t x;
  std::size_t y;
  Wide limit;
  std::size_t term;
};

class Collector {
 public:
  explicit Collector(const Query& query) : query_(query) {
    for (const Expression& conjunct : conjuncts(query)) add(conjunct);
    if (query.within) {
      terms_.push_back("WITHIN " + to_text(Literal(*query.within)));
      for (std::size_t x = 1; x <= query.edges.size(); ++x) {
        for (std::size_t y = 1; y <= query.edges.size(); ++y) {
          if (x != y) bounds_.push_back({x, y, Wide{query.within->microseconds} - 1, terms_.size() - 1});
        }
      }
    }
  }

  [[nodiscard]] const std::vector<Bound>& bounds() const noexcept { return bounds_; }
  [[nodiscard]] const std::vector<std::string>& terms() const noexcept { return terms_; }

 private:
  void add(const Expression& conjunct) {
    const bool negated = conjunct.kind == Kind::logical_not;
    const Expression& comparison = negated ? conjunct.operands[0] : conjunct;
    const bool less = comparison.kind == Kind::less;
    if (!less && comparison.kind != Kind::less_equal && (comparison.kind != Kind::equal || negated)) return;
    const auto left = difference_of(comparison.operands[0]);
    const auto right = difference_of(comparison.operands[1]);
    if (!left || !right) return;
    const auto difference = sum(*left, *right, -1);
    if (!difference || (difference->plus == epoch && difference->minus == epoch)) return;
    terms_.push_back(to_text(conjunct, query_));
    if (!negated) bound(*difference, less ? 1 : 0);  // left - right < 0, or <= 0
    if (negated || comparison.kind == Kind::equal) {
      bound({difference->minus, difference->plus, -difference->constant}, negated && !less ? 1 : 0);  // the other way round
    }
  }

  /// difference + slack <= 0.
  void bound(const Difference& difference, int slack) {
    bounds_.push_back({difference.plus, difference.minus, -difference.constant - slack, terms_.size() - 1});
  }

  const Query& query_;
  std::vector<Bound> bounds_;
  std::vector<std::string> terms_;
};

/// Bellman's and Ford's algorithm: the terms on a negative cycle; empty if there is none.
std::vector<std::size_t> contradiction(const std::vector<Bound>& bounds, std::size_t size) {
  std::vector<Wide> distance(size, 0);
  std::vector<const Bound*> last(size, nullptr);
  std::size_t changed = size;
  for (std::size_t round = 0; round <= size; ++round) {
    changed = size;
    for (const Bound& bound : bounds) {
      if (distance[bound.y] + bound.limit >= distance[bound.x]) continue;
      distance[bound.x] = distance[bound.y] + bound.limit;
      last[bound.x] = &bound;
      changed = bound.x;
    }
    if (changed == size) return {};
  }
  for (std::size_t step = 0; step < size; ++step) changed = last[changed]->y;  // now on the cycle
  std::vector<std::size_t> terms;
  std::size_t at = changed;
  do {
    terms.push_back(last[at]->term);
    at = last[at]->y;
  } while (at != changed);
  std::sort(terms.begin(), terms.end());
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
  return terms;
}

/// a + b, with `none` for every sum that is not below it.
std::int64_t path(std::int64_t a, std::int64_t b) noexcept {
  if (a == TimeBounds::none || b == TimeBounds::none) return TimeBounds::none;
  const Wide result = Wide{a} + b;
  if (result >= TimeBounds::none) return TimeBounds::none;
  return static_cast<std::int64_t>(std::max<Wide>(result, std::numeric_limits<std::int64_t>::min()));
}

}  // namespace

TimeBounds::TimeBounds(std::size_t edges) : size_(edges + 1), cells_(size_ * size_, none), bound_(edges) {
  for (std::size_t x = 0; x < size_; ++x) cells_[x * size_ + x] = 0;
}

bool has_possible_times(const Query& query) { return contradiction(Collector(query).bounds(), query.edges.size() + 1).empty(); }

TimeBounds time_bounds(const Query& query, std::string_view where) {
  const Collector collector(query);
  TimeBounds result(query.edges.size());
  const std::size_t size = result.size_;
  if (const auto terms = contradiction(collector.bounds(), size); !terms.empty()) {
    std::vector<std::string_view> texts;
    texts.reserve(terms.size());
    for (const std::size_t term : terms) texts.emplace_back(collector.terms()[term]);
    throw Error(ErrorKind::configuration, where, fmt::format("no times satisfy {}", fmt::join(texts, " and ")),
                "leave one of them out, or turn it round");
  }
  for (const Bound& bound : collector.bounds()) {
    std::int64_t& cell = result.cells_[bound.x * size + bound.y];
    const Wide least = std::numeric_limits<std::int64_t>::min();
    if (bound.limit < cell) cell = static_cast<std::int64_t>(std::max(bound.limit, least));
  }
  for (std::size_t edge = 0; edge < query.edges.size(); ++edge) {
    for (std::size_t y = 0; y < size; ++y) {
      const bool bounds = result.at(edge + 1, y) != TimeBounds::none || result.at(y, edge + 1) != TimeBounds::none;
      if (y != edge + 1 && bounds) result.bound_[edge] = 1;
    }
    result.any_ = result.any_ || result.binds(edge);
  }
  for (std::size_t via = 0; via < size; ++via) {
    for (std::size_t x = 0; x < size; ++x) {
      for (std::size_t y = 0; y < size; ++y) {
        std::int64_t& cell = result.cells_[x * size + y];
        cell = std::min(cell, path(result.at(x, via), result.at(via, y)));
      }
    }
  }
  return result;
}

}  // namespace deltamatch::condition
