#include "condition/time_bounds_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/word.hpp"
#include "condition/literal.hpp"

namespace deltamatch::condition {
namespace {

constexpr std::size_t epoch = 0;
constexpr std::int64_t none = TimeBounds::none;

/// The shorter text of two values that say the same, and the sign that goes with it.
std::string shorter(std::string_view sign, const Literal& value, std::string_view other_sign, const Literal& other) {
  const std::string text = to_text(value);
  const std::string other_text = to_text(other);
  return other_text.size() < text.size() ? fmt::format("{} {}", other_sign, other_text) : fmt::format("{} {}", sign, text);
}

class Lines {
 public:
  Lines(const TimeBounds& bounds, const Query& query) : bounds_(bounds), query_(query), times_(query.edges.size() + 1) {}

  std::vector<std::string> write() {
    for (std::size_t x = 0; x < times_; ++x) {
      std::size_t first = 0;
      while (!fixed(first, x)) ++first;
      if (first == x) {
        first_.push_back(x);
      } else {
        lines_.push_back(equation(x, first));
      }
    }
    bool all_alike = false;  // some pair is bound by WITHIN alone
    for (std::size_t i = 0; i < first_.size(); ++i) {
      for (std::size_t j = i + 1; j < first_.size(); ++j) {
        if (of_within(first_[i], first_[j])) {
          all_alike = true;
        } else {
          write_pair(first_[i], first_[j]);
        }
      }
    }
    if (all_alike) lines_.push_back(fmt::format("any two edges are less than {} apart", to_text(Literal(*query_.within))));
    return std::move(lines_);
  }

 private:
  /// x - y is at most this. 0 is the epoch, and i + 1 is edge i.
  [[nodiscard]] std::int64_t limit(std::size_t x, std::size_t y) const noexcept {
    if (x == y) return 0;
    if (x == epoch) return bounds_.negated_earliest(y - 1);
    return y == epoch ? bounds_.latest(x - 1) : bounds_.difference(x - 1, y - 1);
  }

  /// Whether the difference of two times is fixed.
  [[nodiscard]] bool fixed(std::size_t x, std::size_t y) const noexcept {
    if (x == y) return true;
    const std::int64_t up = limit(x, y);
    const std::int64_t down = limit(y, x);
    return up != none && down != none && up > std::numeric_limits<std::int64_t>::min() && up == -down;
  }

  [[nodiscard]] bool of_within(std::size_t x, std::size_t y) const noexcept {
    if (x == epoch || !query_.within) return false;
    const std::int64_t span = query_.within->microseconds - 1;
    return limit(x, y) == span && limit(y, x) == span;
  }

  void write_pair(std::size_t x, std::size_t y) {
    for (const auto& [a, b] : {std::pair(x, y), std::pair(y, x)}) {
      const std::int64_t most = limit(a, b);
      if (most == none) continue;
      const bool follows = std::any_of(first_.begin(), first_.end(), [&, a = a, b = b](std::size_t via) {
        std::int64_t sum = 0;
        return via != a && via != b && limit(a, via) != none && limit(via, b) != none &&
               !__builtin_add_overflow(limit(a, via), limit(via, b), &sum) && sum == most;
      });
      if (!follows) lines_.push_back(bound(a, b, most));
    }
  }

  /// x - y <= most.
  [[nodiscard]] std::string bound(std::size_t x, std::size_t y, std::int64_t most) const {
    const std::int64_t more = -std::max(most, -none);  // at least
    if (x == epoch) return fmt::format("{} {}", name(y), shorter(">=", Instant{more}, ">", Instant{more - 1}));
    if (y == epoch) return fmt::format("{} {}", name(x), shorter("<=", Instant{most}, "<", Instant{most + 1}));
    if (most == -1) return fmt::format("{} < {}", name(x), name(y));
    if (most == 0) return fmt::format("{} <= {}", name(x), name(y));
    if (most > 0) return fmt::format("{} - {} {}", name(x), name(y), shorter("<=", Duration{most}, "<", Duration{most + 1}));
    return fmt::format("{} - {} {}", name(y), name(x), shorter(">=", Duration{more}, ">", Duration{more - 1}));
  }

  /// x, which has a fixed difference from an earlier time.
  [[nodiscard]] std::string equation(std::size_t x, std::size_t earlier) const {
    const std::int64_t difference = limit(x, earlier);
    if (earlier == epoch) return fmt::format("{} = {}", name(x), to_text(Literal(Instant{difference})));
    if (difference == 0) return fmt::format("{} = {}", name(earlier), name(x));
    return difference > 0 ? fmt::format("{} - {} = {}", name(x), name(earlier), to_text(Literal(Duration{difference})))
                          : fmt::format("{} - {} = {}", name(earlier), name(x), to_text(Literal(Duration{-difference})));
  }

  [[nodiscard]] std::string name(std::size_t x) const {
    const std::string& own = query_.edges[x - 1].name;
    return own.empty() ? fmt::format("time of edge {}", x - 1) : quoted_condition_word(own) + ".time";
  }

  const TimeBounds& bounds_;
  const Query& query_;
  std::size_t times_;
  std::vector<std::size_t> first_;  // of each class
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> to_lines(const TimeBounds& bounds, const Query& query) { return Lines(bounds, query).write(); }

}  // namespace deltamatch::condition
