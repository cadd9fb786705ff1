#include "counter.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "search.hpp"

namespace counter {
namespace {

constexpr std::uint64_t all_steps = std::numeric_limits<std::uint64_t>::max();
constexpr double cheap = 1e5;        // estimated number of images to try
constexpr double much = 1.0 / 32;    // share of a search done so far; beyond it, a comparison is not worth its time
constexpr double worth_trading = 4;  // factor by which a search with all demands may take longer than one without them
constexpr std::uint32_t most_renumberings = 720;

/// The labels and pairs of a pattern whose vertices are in this order.
std::string text_of(const Pattern& pattern, const std::vector<std::uint32_t>& order) {
  std::string text;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t label = pattern.labels[order[i]];
    text.append(reinterpret_cast<const char*>(&label), sizeof(label));
    for (std::size_t j = 0; j < i; ++j) text += static_cast<char>(pattern.pair(order[i], order[j]));
  }
  return text;
}

/// A text that is the same only for patterns that differ at most in their vertex numbers. Rarely, such patterns have different
/// texts. Vertices are told apart by their surroundings. If few numberings remain, the smallest text is used.
std::string key_of(const Pattern& pattern) {
  const std::size_t size = pattern.size();
  std::vector<std::uint64_t> colour(pattern.labels.begin(), pattern.labels.end());
  for (std::size_t round = 0; round < 3; ++round) {
    std::vector<std::uint64_t> next(size);
    for (std::size_t v = 0; v < size; ++v) {
      next[v] = colour[v] * 0x9E3779B97F4A7C15u;
      for (std::size_t u = 0; u < size; ++u) {
        std::uint64_t mixed = (colour[u] + 0x632BE59BD9B4E019u) * (2 * static_cast<std::uint64_t>(pattern.pair(u, v)) + 3);
        mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9u;
        if (u != v) next[v] += mixed ^ mixed >> 32;
      }
    }
    colour = next;
  }
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t u, std::uint32_t v) { return std::pair(colour[u], u) < std::pair(colour[v], v); });
  std::uint64_t numberings = 1;
  std::vector<std::pair<std::size_t, std::size_t>> alike;  // [first, last) of equal colour
  for (std::size_t first = 0, last = 0; first < size; first = last) {
    for (last = first; last < size && colour[order[last]] == colour[order[first]]; ++last) {
      numberings = std::min<std::uint64_t>(most_renumberings + 1, numberings * (last - first + 1));
    }
    if (last - first > 1) alike.emplace_back(first, last);
  }
  std::string least = text_of(pattern, order);
  if (numberings > most_renumberings) return least;
  const auto at = [&](std::size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
  while (true) {  // goes through all numberings, like an odometer with a wheel per class
    std::size_t wheel = 0;
    while (wheel < alike.size() && !std::next_permutation(at(alike[wheel].first), at(alike[wheel].second))) ++wheel;
    if (wheel == alike.size()) return least;
    least = std::min(least, text_of(pattern, order));
  }
}

/// Removes demands that always hold. Returns false if one cannot be met.
bool settle(const Graph& graph, Pattern& pattern) {
  for (std::size_t v = 0; v < pattern.size(); ++v) {
    for (std::size_t u = 0; u < v; ++u) {
      const bool can_join = graph.fan(pattern.labels[u], pattern.labels[v]) > 0;
      const bool can_coincide = pattern.labels[u] == pattern.labels[v];
      const Pair pair = pattern.pair(u, v);
      if (pair == Pair::joined && !can_join) return false;
      if (pair == Pair::apart && !can_join) pattern.set(u, v, Pair::distinct);
      if (pattern.pair(u, v) == Pair::distinct && !can_coincide) pattern.set(u, v, Pair::any);
    }
  }
  return true;
}

/// The pattern in which u and v are the same vertex, with the demands of both. Returns nothing if these contradict each other.
std::optional<Pattern> merged(const Pattern& pattern, std::size_t u, std::size_t v) {
  if (pattern.labels[u] != pattern.labels[v]) return std::nullopt;
  std::vector<std::size_t> kept;
  std::vector<std::uint32_t> labels;
  for (std::size_t w = 0; w < pattern.size(); ++w) {
    if (w == v) continue;
    kept.push_back(w);
    labels.push_back(pattern.labels[w]);
  }
  Pattern less(std::move(labels));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) less.set(i, j, pattern.pair(kept[i], kept[j]));
  }
  const auto place = static_cast<std::size_t>(std::find(kept.begin(), kept.end(), u) - kept.begin());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i == place) continue;
    const Pair one = pattern.pair(kept[i], u), other = pattern.pair(kept[i], v);
    const auto either = [&](Pair pair) { return one == pair || other == pair; };
    if (either(Pair::joined) && either(Pair::apart)) return std::nullopt;
    for (const Pair pair : {Pair::distinct, Pair::apart, Pair::joined}) {  // the last demand in this list implies the others
      if (either(pair)) less.set(i, place, pair);
    }
  }
  return less;
}

/// The demands that a search of joined pairs does not check, because the first vertex is not in the other's context.
std::vector<std::pair<std::size_t, std::size_t>> out_of_sight(const Pattern& pattern, const Search& search) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t v = pattern.size(); v-- > 0;) {
    for (std::uint32_t u = 0; u < v; ++u) {
      const Pair pair = pattern.pair(search.order[u], search.order[v]);
      if (pair != Pair::distinct && pair != Pair::apart) continue;
      if (std::find(search.context[v].begin(), search.context[v].end(), u) == search.context[v].end()) {
        pairs.emplace_back(search.order[u], search.order[v]);
      }
    }
  }
  return pairs;
}

Number minus(Number one, Number other) {
  Number difference;
  if (__builtin_sub_overflow(one, other, &difference)) throw std::overflow_error("a count beyond 127 bits");
  return difference;
}

}  // namespace

Clock::time_point Clock::now() {
  timespec time{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0) throw std::runtime_error("the system tells no processor time");
  return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

std::string to_string(Number number) {
  std::string text;
  const bool negative = number < 0;
  do {
    const auto digit = static_cast<int>(number % 10);
    text.insert(text.begin(), static_cast<char>('0' + (negative ? -digit : digit)));
    number /= 10;
  } while (number != 0);
  return negative ? "-" + text : text;
}

Pattern embedding_pattern(std::vector<std::uint32_t> labels, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges,
                          bool induced) {
  Pattern pattern(std::move(labels));
  for (std::size_t v = 0; v < pattern.size(); ++v) {
    for (std::size_t u = 0; u < v; ++u) pattern.set(u, v, induced ? Pair::apart : Pair::distinct);
  }
  for (const auto& [u, v] : edges) pattern.set(u, v, Pair::joined);
  return pattern;
}

Number Counter::count(const Pattern& pattern, Clock::time_point end) {
  const auto time = end - Clock::now();
  Pattern settled = pattern;
  const std::string key = settle(*graph_, settled) ? key_of(settled) : std::string();
  const auto tried = tried_.find(key);
  if (tried != tried_.end() && time <= tried->second) throw TimeUp();
  end_ = end;
  try {
    return count(settled);
  } catch (const TimeUp&) {
    tried_[key] = time;
    throw;
  }
}

Number Counter::count(Pattern pattern) {
  if (!settle(*graph_, pattern)) return 0;
  std::string key = key_of(pattern);
  const auto found = counted_.find(key);
  if (found != counted_.end()) return found->second;
  if (Clock::now() > end_) throw TimeUp();
  const Search whole = best_search(*graph_, pattern, Demands::all);
  Outcome outcome = run_search(*graph_, pattern, whole, pilot_, end_);
  if (outcome.share < 1) {
    Pattern without = pattern;
    std::replace_if(without.pairs.begin(), without.pairs.end(), [](Pair pair) { return pair != Pair::joined; }, Pair::any);
    const Search bare = best_search(*graph_, without, Demands::joined);
    const auto pairs = out_of_sight(pattern, bare);
    // The pilot may miss the vertices with the most neighbours. The estimate does not know how often neighbours are joined.
    const auto trades = [&] {
      return pilot_ == 0 || whole.cost > std::max(cheap, worth_trading * bare.cost) ||
             (outcome.share < much && outcome.share * worth_trading <= run_search(*graph_, without, bare, pilot_, end_).share);
    };
    if (!pairs.empty() && trades()) {
      outcome.count = trade(pattern, pairs[0]);
    } else {
      outcome = run_search(*graph_, pattern, whole, all_steps, end_);
    }
  }
  counted_.emplace(std::move(key), outcome.count);
  return outcome.count;
}

/// The count without the demand on the pair, minus the images that violate the demand.
Number Counter::trade(Pattern pattern, std::pair<std::size_t, std::size_t> pair) {
  const auto [u, v] = pair;
  Number total = 0;
  if (const auto same = merged(pattern, u, v)) total = minus(total, count(*same));
  if (pattern.pair(u, v) == Pair::apart) {
    pattern.set(u, v, Pair::joined);
    total = minus(total, count(pattern));
  }
  pattern.set(u, v, Pair::any);
  return minus(count(pattern), minus(0, total));
}

}  // namespace counter
