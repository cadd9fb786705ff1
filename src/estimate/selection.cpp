#include "estimate/selection.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

namespace deltamatch::estimate {

namespace {

// Candidates are told apart by the leading bits of their priority, as a float: 16 buckets for each power of two.
constexpr unsigned bucket_shift = 19;
constexpr std::size_t buckets = std::size_t{1} << (31 - bucket_shift);
// A budget is full when less than this share is left.
constexpr std::size_t least_share = 1024;
// What a batch counts in the mean of the batches before.
constexpr double newest_share = 0.25;
// Moving a list into the cache takes as long as reading so many bytes over the bus, whatever its size: a tenth of a microsecond
// of bookkeeping, a row and a copy.
constexpr double move_bytes = 0x1p12;
// Batches for which what fills free room stays, at least.
constexpr double batches_stayed = 16;
// Batches without a look-up after which a vertex is forgotten.
constexpr unsigned most_unseen = 8;
// Shape of the gamma distribution of a list's look-ups around what its length makes expect. (Measured on a graph of 31 M edges:
// 0.03 trusts single findings so much that matching takes half as long again; from 0.3 on it makes little difference.)
constexpr double prior_shape = 1;
// Batches after which the longest lists are looked for anew.
constexpr unsigned renewal = 64;
// Vertices that a thread sums up at a time.
constexpr std::size_t sum_grain = 4096;
// Parts of a loop for each thread.
constexpr std::size_t parts_per_thread = 4;
// Fewer candidates are not worth waking a thread for.
constexpr std::size_t least_part = 2048;
// Where sums must not depend on threads, parts do not.
constexpr std::size_t merged_part = 8192;

struct Candidate {
  StoredVertex at{};
  std::size_t bytes = 0;  // 0: none
  double priority = 0;    // above 0

  [[nodiscard]] std::size_t bucket() const noexcept {
    return std::bit_cast<std::uint32_t>(static_cast<float>(priority)) >> bucket_shift;
  }
};

// What is saved of the bus, less what moving takes, for the room.
Candidate saving(const StoredVertex& at, std::size_t bytes, double times, double moving) {
  if (bytes == 0) return {};
  const double saved = times * (static_cast<double>(bytes) + miss_bytes) - moving;
  return saved > 0 ? Candidate{at, bytes, saved / static_cast<double>(bytes)} : Candidate{};
}

bool better(const Candidate& a, const Candidate& b) noexcept {
  return a.priority != b.priority ? a.priority > b.priority : a.at < b.at;
}

// A loop in parts that follow each other, so that what they find can be put together in order.
class Parts {
 public:
  Parts(std::size_t size, Workers* workers) noexcept
      : size_(size),
        count_(workers == nullptr ? 1 : std::clamp(size / least_part, std::size_t{1}, parts_per_thread * workers->size())),
        workers_(workers) {}
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  // Calls body(part, i) for every position.
  template <class Body>
  void for_each(Body&& body) const {
    const auto run = [&](unsigned, std::size_t first, std::size_t last) {
      for (std::size_t part = first; part < last; ++part) {
        const std::size_t end = size_ * (part + 1) / count_;
        for (std::size_t i = size_ * part / count_; i < end; ++i) body(part, i);
      }
    };
    workers_ == nullptr ? run(0, 0, count_) : workers_->for_each(count_, 1, run);
  }

 private:
  std::size_t size_;
  std::size_t count_;
  Workers* workers_;
};

const StoredVertex& vertex_of(const StoredVertex& at) noexcept { return at; }
template <class Item>
const StoredVertex& vertex_of(const Item& item) noexcept {
  return item.at;
}

// Two ranges that ascend by vertex, merged in parts: part p of `parts()` puts what it has of both at merged[begin(p)] and
// behind, and there is room for as much as stands in both.
template <class A, class B>
class Merge {
 public:
  Merge(std::span<const A> a, std::span<const B> b) : a_(a), b_(b), parts_(std::max(a.size(), b.size()) / merged_part + 1) {}
  [[nodiscard]] std::size_t parts() const noexcept { return parts_; }
  [[nodiscard]] std::size_t size() const noexcept { return a_.size() + b_.size(); }
  // Calls both(a, b) for every vertex of part `part`, in order; a or b is null where it is not there. What that returns goes to
  // `merged`, and behind it copies of the last that take no bytes.
  template <class Item, class Both>
  void run(std::size_t part, std::vector<Item>& merged, Both&& both) const {
    auto [a, b] = begin(part);
    const auto [a_end, b_end] = begin(part + 1);
    std::size_t to = a + b;
    while (a < a_end || b < b_end) {
      const bool of_a = a < a_end && (b == b_end || vertex_of(a_[a]) <= vertex_of(b_[b]));
      const bool of_b = b < b_end && (a == a_end || vertex_of(b_[b]) <= vertex_of(a_[a]));
      merged[to++] = both(of_a ? &a_[a] : nullptr, of_b ? &b_[b] : nullptr);
      a += of_a ? 1 : 0;
      b += of_b ? 1 : 0;
    }
    for (const std::size_t last = to - 1; to < a_end + b_end; ++to) {
      merged[to] = merged[last];
      merged[to].bytes = 0;
    }
  }

 private:
  // Positions in both at which a part begins.
  [[nodiscard]] std::pair<std::size_t, std::size_t> begin(std::size_t part) const {
    if (part == parts_) return {a_.size(), b_.size()};
    if (a_.size() >= b_.size()) return {at(a_, part), below(b_, a_, at(a_, part))};
    return {below(a_, b_, at(b_, part)), at(b_, part)};
  }
  template <class Items>
  [[nodiscard]] std::size_t at(const Items& items, std::size_t part) const noexcept {
    return items.size() * part / parts_;
  }
  // How many of `items` come before others[at].
  template <class Items, class Others>
  [[nodiscard]] static std::size_t below(const Items& items, const Others& others, std::size_t at) noexcept {
    if (at == 0 || items.empty()) return 0;
    const auto before = [](const auto& item, const StoredVertex& vertex) { return vertex_of(item) < vertex; };
    return static_cast<std::size_t>(std::lower_bound(items.begin(), items.end(), vertex_of(others[at]), before) -
                                    items.begin());
  }

  std::span<const A> a_;
  std::span<const B> b_;
  std::size_t parts_;
};

// Takes the best of candidate(0) to candidate(n - 1), which ascend by vertex. Bucket by bucket, so that only the candidates at
// the border of what fits are sorted: what is in a better bucket fits as a whole.
template <class CandidateAt>
Selection fill(std::size_t n, const CandidateAt& candidate, std::size_t budget, Workers* workers) {
  struct Found {
    std::vector<std::size_t> bytes;  // by bucket
    std::vector<StoredVertex> inside;
    std::vector<Candidate> border;
  };
  Selection selection;
  const Parts parts(n, workers);
  std::vector<Found> found(parts.count());
  std::vector<Candidate> border;
  std::size_t ascending = 0;  // of those taken, how many are in order
  std::size_t end = buckets;  // of the buckets that are left
  // Again where what did not fit leaves room for lesser candidates.
  while (end > 0 && budget - selection.bytes > budget / least_share) {
    const std::size_t left = budget - selection.bytes;
    for (Found& part : found) part.bytes.assign(buckets, 0);
    parts.for_each([&](std::size_t part, std::size_t i) {
      const Candidate one = candidate(i);
      if (one.bytes > 0 && one.bytes <= left && one.bucket() < end) found[part].bytes[one.bucket()] += one.bytes;
    });
    std::size_t first = end;  // of the buckets that fit as a whole
    for (std::size_t sum = 0; first > 0; --first) {
      for (const Found& part : found) sum += part.bytes[first - 1];
      if (sum > left) break;
    }
    for (Found& part : found) {
      part.inside.clear();
      part.border.clear();
    }
    parts.for_each([&](std::size_t part, std::size_t i) {
      const Candidate one = candidate(i);
      if (one.bytes == 0 || one.bytes > left || one.bucket() >= end) return;
      if (one.bucket() >= first) found[part].inside.push_back(one.at);
      if (one.bucket() + 1 == first) found[part].border.push_back(one);
    });
    border.clear();
    for (const Found& part : found) {
      for (std::size_t b = first; b < end; ++b) selection.bytes += part.bytes[b];
      selection.hot.insert(selection.hot.end(), part.inside.begin(), part.inside.end());
      border.insert(border.end(), part.border.begin(), part.border.end());
    }
    if (end == buckets) ascending = selection.hot.size();
    std::sort(border.begin(), border.end(), better);
    for (const Candidate& one : border) {
      if (one.bytes > budget - selection.bytes) continue;
      selection.hot.push_back(one.at);
      selection.bytes += one.bytes;
    }
    end = first == 0 ? 0 : first - 1;
  }
  const auto rest = selection.hot.begin() + static_cast<std::ptrdiff_t>(ascending);
  std::sort(rest, selection.hot.end());
  std::inplace_merge(selection.hot.begin(), rest, selection.hot.end());
  return selection;
}

// The stores that hold lists which some reading uses.
std::array<const graph::Adjacency*, graph::store_kinds> stores_of(const graph::DataGraph& graph) {
  std::array<const graph::Adjacency*, graph::store_kinds> stores{};
  for (const graph::Resolved& where : graph.resolved()) {
    if (where.store != nullptr) stores[static_cast<std::size_t>(where.kind())] = where.store;
  }
  return stores;
}

}  // namespace

Selection select(std::span<const Access> accesses, const BytesOf& bytes, std::size_t budget, Workers* workers) {
  const auto candidate = [&](std::size_t i) { return saving(accesses[i].at, bytes(accesses[i].at), accesses[i].times, 0); };
  return fill(accesses.size(), candidate, budget, workers);
}

double Outlook::times(double usual, double found) const noexcept {
  return usual <= 0 ? 0 : (prior_shape + found / of_one) / (prior_shape / usual + 1 / of_one);
}

Selection Selector::select(const Outlook& outlook, const BytesOf& bytes, std::size_t budget) {
  const Merge<Expected, Heat> merge(outlook.lists, heat_);
  together_.resize(merge.size());
  workers_->for_each(merge.parts(), 1, [&](unsigned, std::size_t first, std::size_t last) {
    for (std::size_t part = first; part < last; ++part) {
      merge.run(part, together_, [&](const Expected* now, const Heat* before) {
        Heat heat = before != nullptr ? *before : Heat{now->at, now->bytes, 0, now->usual, 0, false, false};
        if (before != nullptr) {
          heat.unseen = now == nullptr ? before->unseen + 1 : 0;
          heat.bytes = now != nullptr ? now->bytes : heat.unseen <= most_unseen ? bytes(heat.at) : 0;
        }
        heat.known = std::exchange(heat.kept, false);
        heat.times = outlook.times(heat.usual, now == nullptr ? 0 : now->found);
        heat.usual += (heat.times - heat.usual) * newest_share;
        return heat;
      });
    }
  });
  const auto candidate = [&](std::size_t i) {
    const Heat& heat = together_[i];
    return saving(heat.at, heat.bytes, heat.times, heat.known ? 0 : move_bytes);
  };
  Selection selection = fill(together_.size(), candidate, budget, workers_);
  keep(selection.hot);
  if (budget - selection.bytes > budget / least_share) {
    const auto rest = [&](std::size_t i) {
      const Heat& heat = together_[i];
      return heat.kept ? Candidate{} : saving(heat.at, heat.bytes, heat.times, move_bytes / batches_stayed);
    };
    const Selection more = fill(together_.size(), rest, budget - selection.bytes, workers_);
    keep(more.hot);
    const auto first = static_cast<std::ptrdiff_t>(selection.hot.size());
    selection.hot.insert(selection.hot.end(), more.hot.begin(), more.hot.end());
    std::inplace_merge(selection.hot.begin(), selection.hot.begin() + first, selection.hot.end());
    selection.bytes += more.bytes;
  }
  heat_.clear();
  std::ranges::copy_if(together_, std::back_inserter(heat_), &Heat::kept);
  return selection;
}

void Selector::keep(std::span<const StoredVertex> hot) noexcept {
  auto heat = together_.begin();
  for (const StoredVertex& at : hot) {
    while (heat->at != at || heat->bytes == 0) ++heat;
    heat->kept = true;
  }
}

std::size_t Prior::length_of(std::size_t bytes) noexcept {
  const auto doubling = static_cast<std::size_t>(std::bit_width(bytes)) - 1;
  const std::size_t rest = doubling < 2 ? 0 : bytes >> (doubling - 2) & (lengths_per_doubling - 1);
  return doubling * lengths_per_doubling + rest;
}

void Prior::count_lengths(const graph::DataGraph& graph, const BytesOf& bytes) {
  std::vector<decltype(lengths_)> counted(workers_->size());
  workers_->for_each(graph.base().vertices(), sum_grain, [&](unsigned worker, std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      for (std::size_t s = 0; s < graph::store_kinds; ++s) {
        const std::size_t size = bytes({static_cast<VertexId>(v), static_cast<graph::StoreKind>(s)});
        if (size == 0) continue;
        counted[worker][length_of(size)].counted.add({1, static_cast<double>(size)});
      }
    }
  });
  lengths_ = {};
  for (const auto& part : counted) {
    for (std::size_t i = 0; i < lengths_.size(); ++i) lengths_[i].counted.add(part[i].counted);
  }
}

Outlook Prior::temper(const graph::DataGraph& graph, std::span<const Access> accesses, const BytesOf& bytes,
                      std::size_t budget) {
  if (batches_++ % renewal == 0 || graph.edges() / 2 > edges_) {
    longest_ = select_by_degree(graph, bytes, budget, workers_).hot;
    count_lengths(graph, bytes);
    edges_ = graph.edges();
  }
  const double all = accesses.empty() ? 0 : find(accesses, bytes);
  if (all == 0) return {};
  double all_bytes = 0;
  for (const Length& length : lengths_) all_bytes += length.lists().bytes;
  const Outlook outlook{expected_, all / static_cast<double>(accesses.size())};
  for (Length& length : lengths_) {
    const Lists lists = length.lists();
    length.mean = lists.count == 0 ? 0 : outlook.times(all * lists.bytes / all_bytes, length.times) / lists.count;
  }
  workers_->for_each(expected_.size(), sum_grain, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Expected& one = expected_[i];
      if (one.bytes == 0) continue;
      one.usual = lengths_[length_of(one.bytes)].mean;
      if (one.usual > 0) continue;
      // One that has outgrown all that were counted: alone of its length, and not found.
      const auto own = static_cast<double>(one.bytes);
      one.usual = outlook.times(all * own / (all_bytes + own), 0);
    }
  });
  return outlook;
}

// Puts together what was found and what is long, and adds up by length what was found. Returns all look-ups.
double Prior::find(std::span<const Access> accesses, const BytesOf& bytes) {
  const Merge<Access, StoredVertex> merge(accesses, longest_);
  expected_.resize(merge.size());
  std::vector<Lengths> found(merge.parts());
  std::vector<double> sums(merge.parts());
  workers_->for_each(merge.parts(), 1, [&](unsigned, std::size_t first, std::size_t last) {
    for (std::size_t part = first; part < last; ++part) {
      merge.run(part, expected_, [&](const Access* access, const StoredVertex* longest) {
        const StoredVertex& at = access != nullptr ? access->at : *longest;
        const Expected one{at, bytes(at), access != nullptr ? access->times : 0, 0};
        sums[part] += one.found;
        if (access != nullptr && one.bytes > 0) {
          Length& length = found[part][length_of(one.bytes)];
          length.found.add({1, static_cast<double>(one.bytes)});
          length.times += one.found;
        }
        return one;
      });
    }
  });
  for (std::size_t l = 0; l < lengths_.size(); ++l) {
    lengths_[l].found = {};
    lengths_[l].times = 0;
    for (const Lengths& part : found) {
      lengths_[l].found.add(part[l].found);
      lengths_[l].times += part[l].times;
    }
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

Selection select_by_degree(const graph::DataGraph& graph, const BytesOf& bytes, std::size_t budget, Workers* workers) {
  const auto candidate = [&, stores = stores_of(graph)](std::size_t i) {
    const std::size_t s = i % graph::store_kinds;
    const StoredVertex at{static_cast<VertexId>(i / graph::store_kinds), static_cast<graph::StoreKind>(s)};
    const graph::Adjacency* store = stores[s];
    const std::size_t size = store == nullptr || at.vertex >= store->vertices() ? 0 : bytes(at);
    return Candidate{at, size, static_cast<double>(size)};
  };
  return fill(graph::store_kinds * graph.base().vertices(), candidate, budget, workers);
}

Selection select_within(const graph::DataGraph& graph, std::span<const match::PassWork> passes, unsigned hops,
                        const BytesOf& bytes, std::size_t budget, Workers* workers) {
  const auto stores = stores_of(graph);
  // Lent lists, which may number vertices in their own way, stand in for the graph's.
  const graph::Adjacency* lent = stores[static_cast<std::size_t>(graph::StoreKind::lent)];
  const graph::Adjacency& along = lent == nullptr ? graph.base() : *lent;
  Selection selection;
  // By vertex: 1 + its hop. Threads that reach a vertex at once write the same.
  std::vector<std::uint8_t> reached(graph.base().vertices());
  const auto reach = [&](VertexId vertex, unsigned hop) {
    const std::atomic_ref<std::uint8_t> mark(reached[vertex]);
    if (mark.load(std::memory_order_relaxed) == 0) mark.store(static_cast<std::uint8_t>(hop + 1), std::memory_order_relaxed);
  };
  for (const match::PassWork& pass : passes) {
    for (const graph::Edge& edge : pass.anchors) {
      reach(edge.tail, 0);
      reach(edge.head, 0);
    }
    for (const VertexId root : pass.roots) reach(root, 0);
  }
  const Parts all(reached.size(), workers);
  std::vector<std::vector<VertexId>> found(all.count());
  std::vector<VertexId> frontier;
  // Edges of the batch lead to its ends, which are reached already: settled lists are enough.
  for (unsigned hop = 0;; ++hop) {
    for (auto& part : found) part.clear();
    all.for_each([&](std::size_t part, std::size_t vertex) {
      if (reached[vertex] == hop + 1) found[part].push_back(static_cast<VertexId>(vertex));
    });
    frontier.clear();
    for (const auto& part : found) frontier.insert(frontier.end(), part.begin(), part.end());
    for (const VertexId vertex : frontier) {
      for (std::size_t s = 0; s < stores.size(); ++s) {
        if (stores[s] == nullptr || vertex >= stores[s]->vertices()) continue;
        const StoredVertex at{vertex, static_cast<graph::StoreKind>(s)};
        const std::size_t size = bytes(at);
        if (size == 0) continue;
        if (size > budget - selection.bytes) return selection;
        selection.hot.push_back(at);
        selection.bytes += size;
      }
    }
    if (hop == hops || frontier.empty()) return selection;
    Parts(frontier.size(), workers).for_each([&](std::size_t, std::size_t i) {
      along.for_each_list(frontier[i], [&](graph::RelationId, std::span<const std::uint32_t> ids, const std::uint32_t*) {
        for (const VertexId neighbour : ids) reach(neighbour, hop + 1);
      });
    });
  }
}

unsigned hops_of(std::span<const match::QueryTask> tasks) {
  unsigned most = 0;
  for (const match::QueryTask& task : tasks) {
    const plan::BoundQuery& query = *task.query;
    const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << query.vertices()) - 1);
    // The lists of the last vertices are needed only between two of them; like VSGM, take them along.
    const auto hops_from = [&](std::uint32_t reached) {
      unsigned hops = 0;
      for (; reached != all; ++hops) {
        std::uint32_t next = reached;
        for (std::uint32_t rest = reached; rest != 0; rest &= rest - 1) {
          next |= query.neighbours(static_cast<std::uint32_t>(std::countr_zero(rest)));
        }
        reached = next;
      }
      return hops;
    };
    for (const plan::BoundEdge& edge : query.edges) most = std::max(most, hops_from(1U << edge.source | 1U << edge.target));
    if (task.plans->rooted) most = std::max(most, hops_from(1U << task.plans->rooted->vertex));
  }
  return most;
}

std::vector<TopLists> top_lists(std::vector<Accessed>& truth, std::span<const double> shares) {
  std::sort(truth.begin(), truth.end(),
            [](const Accessed& a, const Accessed& b) { return std::tie(a.times, a.cached) > std::tie(b.times, b.cached); });
  double all = 0;
  for (const Accessed& one : truth) all += one.times;
  std::vector<TopLists> found;
  for (const double share : shares) {
    const auto wanted = static_cast<std::size_t>(std::max(1.0, std::ceil(share * static_cast<double>(truth.size()))));
    const std::size_t size = std::min(wanted, truth.size());
    TopLists top{share, 1, 1, 0};
    if (size > 0) {
      double times = 0;
      double cached = 0;
      for (std::size_t i = 0; i < size; ++i) {
        times += truth[i].times;
        cached += truth[i].cached ? 1 : 0;
        top.bytes += static_cast<double>(truth[i].bytes);
      }
      top.accesses = times / all;
      top.coverage = cached / static_cast<double>(size);
    }
    found.push_back(top);
  }
  return found;
}

}  // namespace deltamatch::estimate
