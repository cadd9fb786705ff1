#include "search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace counter {
namespace {

constexpr double likely_joined = 0.1;                     // chance that a neighbour is joined to another place's image as well
constexpr std::uint32_t orders_tried = 8;                 // for each first vertex
constexpr std::size_t least_slots = std::size_t{1} << 8;  // in a memory, 32 bytes each
constexpr std::size_t most_slots = std::size_t{1} << 21;
constexpr std::uint32_t steps_between_looks = 4096;

bool regards(Pair pair, Demands demands) { return pair == Pair::joined || (demands == Demands::all && pair != Pair::any); }

/// Each next vertex is one that is joined to the most earlier ones. `seed` decides ties.
Order draw_order(const Pattern& pattern, std::uint32_t first, std::uint32_t seed) {
  Order order{first};
  std::vector<bool> placed(pattern.size());
  placed[first] = true;
  while (order.size() < pattern.size()) {
    std::uint32_t best = 0;
    std::uint64_t best_worth = 0;
    for (std::uint32_t v = 0; v < pattern.size(); ++v) {
      if (placed[v]) continue;
      std::uint64_t joined = 0;
      for (const std::uint32_t u : order) joined += pattern.pair(u, v) == Pair::joined;
      if (joined == 0) continue;
      seed = seed * 1664525u + 1013904223u;
      const std::uint64_t worth = (seed % 3 == 0 ? 1 : joined) << 32 | (seed | 1u);
      if (worth > best_worth) best_worth = worth, best = v;
    }
    if (best_worth == 0) throw std::invalid_argument("a pattern that is not connected");
    placed[best] = true;
    order.push_back(best);
  }
  return order;
}

/// An estimate of the number of images of the places together.
double images(const Graph& graph, const Pattern& pattern, const Order& order, const std::vector<std::uint32_t>& places) {
  double total = 1;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::uint32_t vertex = order[places[i]];
    auto of_one = static_cast<double>(graph.bearers(pattern.labels[vertex]).size());
    double likely = 1;
    for (std::size_t j = 0; j < i; ++j) {
      if (pattern.pair(order[places[j]], vertex) != Pair::joined) continue;
      of_one = std::min(of_one, graph.fan(pattern.labels[order[places[j]]], pattern.labels[vertex]) / likely);
      likely *= likely_joined;
    }
    total *= of_one * likely;
  }
  return total;
}

Search make_search(const Graph& graph, const Pattern& pattern, Order order, Demands demands) {
  const std::size_t size = order.size();
  Search search{std::move(order), std::vector<std::vector<std::uint32_t>>(size), 0};
  std::vector<std::uint64_t> near(size, 0);  // earlier places, as bits
  for (std::size_t v = 0; v < size; ++v) {
    for (std::size_t u = 0; u < v; ++u) {
      if (regards(pattern.pair(search.order[u], search.order[v]), demands)) near[v] |= std::uint64_t{1} << u;
    }
  }
  std::vector<std::size_t> above(size, 0);
  for (std::size_t v = size; v-- > 1;) {
    above[v] = static_cast<std::size_t>(63 - __builtin_clzll(near[v]));
    near[above[v]] |= near[v] & ~(std::uint64_t{1} << above[v]);
  }
  std::vector<double> visits(size, 1);
  for (std::uint32_t v = 0; v < size; ++v) {
    for (std::uint32_t u = 0; u < v; ++u) {
      if ((near[v] >> u & 1u) != 0) search.context[v].push_back(u);
    }
    std::vector<std::uint32_t> with = search.context[v];
    if (v > 0) {
      const auto parent = static_cast<std::uint32_t>(above[v]);
      std::vector<std::uint32_t> of_parent = search.context[parent];
      of_parent.push_back(parent);
      const double most =
          visits[parent] * std::max(1.0, images(graph, pattern, search.order, of_parent) /
                                             std::max(1.0, images(graph, pattern, search.order, search.context[parent])));
      visits[v] = std::min(most, images(graph, pattern, search.order, with));
    }
    const double before = std::max(1e-9, images(graph, pattern, search.order, with));
    with.push_back(v);
    search.cost += visits[v] * (1 + images(graph, pattern, search.order, with) / before);
  }
  return search;
}

struct TooManySteps {};

struct Lists {
  std::array<Graph::List, 32> lists{};
  std::size_t size = 0;

  void add(Graph::List list) { lists.at(size++) = list; }
  Graph::List take_shortest() {
    const auto last = lists.begin() + static_cast<std::ptrdiff_t>(size);
    const auto shorter = [](const Graph::List& one, const Graph::List& other) { return one.size() < other.size(); };
    const auto found = std::min_element(lists.begin(), last, shorter);
    const Graph::List shortest = *found;
    *found = lists[--size];
    return shortest;
  }
  [[nodiscard]] bool all_hold(std::uint32_t vertex) const {
    return std::all_of(lists.begin(), end(), [&](const Graph::List& list) { return list.holds(vertex); });
  }
  [[nodiscard]] bool none_holds(std::uint32_t vertex) const {
    return std::none_of(lists.begin(), end(), [&](const Graph::List& list) { return list.holds(vertex); });
  }
  [[nodiscard]] std::array<Graph::List, 32>::const_iterator end() const {
    return lists.begin() + static_cast<std::ptrdiff_t>(size);
  }
};

/// Stores counts by key. It grows up to a bound; then new counts replace old ones.
class Memory {
 public:
  __extension__ using Key = unsigned __int128;

  [[nodiscard]] const Number* find(Key key) const {
    const Slot& slot = slots_[place(key)];
    return slot.count >= 0 && slot.key == key ? &slot.count : nullptr;
  }
  void keep(Key key, Number count) {
    if (++kept_ > slots_.size() && slots_.size() < most_slots) {
      const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(4 * slots_.size()));
      for (const Slot& slot : before) {
        if (slot.count >= 0) slots_[place(slot.key)] = slot;
      }
    }
    slots_[place(key)] = {key, count};
  }

 private:
  struct Slot {
    Key key = 0;
    Number count = -1;  // none yet
  };

  [[nodiscard]] std::size_t place(Key key) const {
    std::uint64_t mixed =
        (static_cast<std::uint64_t>(key) ^ static_cast<std::uint64_t>(key >> 64) * 0xBF58476D1CE4E5B9u) * 0x9E3779B97F4A7C15u;
    mixed ^= mixed >> 32;
    return mixed * 0xD6E8FEB86659FD93u >> 32 & (slots_.size() - 1);
  }

  std::vector<Slot> slots_ = std::vector<Slot>(least_slots);
  std::size_t kept_ = 0;
};

class Walk {
 public:
  Walk(const Graph& graph, const Pattern& pattern, const Search& search, std::uint64_t steps, Clock::time_point end)
      : graph_(&graph), steps_left_(steps), end_(end), image_(search.order.size()), nodes_(search.order.size()) {
    for (std::uint32_t v = 0; v < nodes_.size(); ++v) {
      Node& node = nodes_[v];
      node.label = pattern.labels[search.order[v]];
      node.context = search.context[v];
      for (std::uint32_t u = 0; u < v; ++u) {
        const Pair pair = pattern.pair(search.order[u], search.order[v]);
        if (pair == Pair::joined) node.joined.push_back(u);
        if (pair == Pair::distinct || pair == Pair::apart) node.distinct.push_back(u);
        if (pair == Pair::apart) node.apart.push_back(u);
      }
      if (v == 0) continue;
      Node& parent = nodes_[node.context.back()];
      parent.below.push_back(v);
      const bool fits = static_cast<double>(node.context.size()) * std::log2(graph.vertices() + 1) < 128;
      node.remembers = fits && node.context.size() < parent.context.size() + 1;
      if (node.remembers) node.memory.emplace();
    }
  }

  Outcome run() {
    Outcome outcome;
    const std::vector<std::uint32_t>& firsts = graph_->bearers(nodes_[0].label);
    std::size_t done = 0;
    try {
      for (; done < firsts.size(); ++done) outcome.count = sum(outcome.count, below(nodes_[0], 0, firsts[done]));
      outcome.share = 1;
    } catch (const TooManySteps&) {
      outcome.share = static_cast<double>(done) / static_cast<double>(firsts.size());
    }
    return outcome;
  }

 private:
  struct Node {
    std::uint32_t label = 0;
    std::vector<std::uint32_t> joined, distinct, apart, context, below;
    Lists within, without;   // lists of the images of `joined` and `apart`
    bool remembers = false;  // whether the same context occurs more than once
    std::optional<Memory> memory;
  };

  Number count(Node& node) {
    if (!node.remembers) return add_up(node);
    Memory::Key key = 0;
    for (const std::uint32_t place : node.context) key = key * graph_->vertices() + image_[place];
    if (const Number* known = node.memory->find(key)) return *known;
    const Number total = add_up(node);
    node.memory->keep(key, total);
    return total;
  }

  /// Adds up all images of the place for the current context, each with what is below it.
  Number add_up(Node& node) {
    const auto place = static_cast<std::size_t>(&node - nodes_.data());
    Number total = 0;
    Lists &within = node.within, &without = node.without;
    within.size = without.size = 0;
    for (const std::uint32_t other : node.joined) within.add(graph_->neighbours(image_[other], node.label));
    for (const std::uint32_t other : node.apart) without.add(graph_->neighbours(image_[other], node.label));
    const Graph::List shortest = within.take_shortest();
    if (node.below.empty() && within.size == 0 && without.size == 0) {
      return static_cast<Number>(shortest.size() - taken(node, shortest));
    }
    for (const std::uint32_t* at = shortest.first; at != shortest.last; ++at) {
      if (steps_left_-- == 0) throw TooManySteps();
      if (steps_left_ % steps_between_looks == 0 && Clock::now() > end_) throw TimeUp();
      const std::uint32_t vertex = *at;
      if (!within.all_hold(vertex) || !without.none_holds(vertex)) continue;
      const bool used =
          std::any_of(node.distinct.begin(), node.distinct.end(), [&](std::uint32_t other) { return image_[other] == vertex; });
      if (!used) total = sum(total, below(node, place, vertex));
    }
    return total;
  }

  /// How many vertices of the list are already images from which the place's image must differ.
  std::size_t taken(const Node& node, Graph::List list) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < node.distinct.size(); ++i) {
      const std::uint32_t vertex = image_[node.distinct[i]];
      const auto again = [&](std::uint32_t earlier) { return image_[earlier] == vertex; };
      const auto here = node.distinct.begin() + static_cast<std::ptrdiff_t>(i);
      count += list.holds(vertex) && std::none_of(node.distinct.begin(), here, again);
    }
    return count;
  }

  Number below(const Node& node, std::size_t place, std::uint32_t vertex) {
    image_[place] = vertex;
    Number product = 1;
    for (const std::uint32_t next : node.below) {
      const Number factor = count(nodes_[next]);
      if (factor == 0) return 0;
      if (__builtin_mul_overflow(product, factor, &product)) throw std::overflow_error("a count beyond 127 bits");
    }
    return product;
  }

  static Number sum(Number one, Number other) {
    Number total;
    if (__builtin_add_overflow(one, other, &total)) throw std::overflow_error("a count beyond 127 bits");
    return total;
  }

  const Graph* graph_;
  std::uint64_t steps_left_;
  Clock::time_point end_;
  std::vector<std::uint32_t> image_;
  std::vector<Node> nodes_;
};

}  // namespace

Search best_search(const Graph& graph, const Pattern& pattern, Demands demands) {
  Search best;
  best.cost = std::numeric_limits<double>::infinity();
  for (std::uint32_t first = 0; first < pattern.size(); ++first) {
    for (std::uint32_t seed = 0; seed < orders_tried; ++seed) {
      Search search = make_search(graph, pattern, draw_order(pattern, first, seed), demands);
      if (search.cost < best.cost || best.order.empty()) best = std::move(search);
    }
  }
  return best;
}

Outcome run_search(const Graph& graph, const Pattern& pattern, const Search& search, std::uint64_t steps,
                   Clock::time_point end) {
  return Walk(graph, pattern, search, steps, end).run();
}

}  // namespace counter
