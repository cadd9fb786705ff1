#include "estimate/selection.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>
#include <tuple>

namespace deltamatch::estimate {

namespace {

// Candidates are told apart by the leading bits of their priority, as a float: 16 buckets for each power of two.
constexpr unsigned bucket_shift = 19;
constexpr std::size_t buckets = std::size_t{1} << (31 - bucket_shift);
// A budget is full when less than this share is left.
constexpr std::size_t least_share = 1024;
// What a look-up of the batch before counts, and one of a vertex that was not selected then: it must show itself by more than
// chance before it takes the place of another.
constexpr double fading = 0.75;
constexpr double first_share = 0.5;
// Moving a list into the cache takes as long as reading so many bytes over the bus, whatever its size: half a microsecond of
// bookkeeping, a row and a copy.
constexpr double move_bytes = 0x1p13;
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

struct Candidate {
  StoredVertex at{};
  std::size_t bytes = 0;  // 0: none
  double priority = 0;    // above 0

  [[nodiscard]] std::size_t bucket() const noexcept {
    return std::bit_cast<std::uint32_t>(static_cast<float>(priority)) >> bucket_shift;
  }
};

// The bus that caching a vertex saves, for the room that it takes.
Candidate saving(const StoredVertex& at, double times, const BytesOf& bytes) {
  const std::size_t size = bytes(at);
  if (size == 0) return {};
  return {at, size, times * (1 + miss_bytes / static_cast<double>(size))};
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
  const auto candidate = [&](std::size_t i) { return saving(accesses[i].at, accesses[i].times, bytes); };
  return fill(accesses.size(), candidate, budget, workers);
}

Selection Selector::select(std::span<const Access> accesses, const BytesOf& bytes, std::size_t budget) {
  together_.clear();
  auto before = heat_.begin();
  const auto remember = [&](const Heat& heat) {
    if (heat.unseen < most_unseen) together_.push_back({heat.at, heat.times * fading, heat.unseen + 1, true});
  };
  for (const Access& access : accesses) {
    for (; before != heat_.end() && before->at < access.at; ++before) remember(*before);
    const bool known = before != heat_.end() && before->at == access.at;
    together_.push_back({access.at, access.times + (known ? before++->times * fading : 0), 0, known});
  }
  for (; before != heat_.end(); ++before) remember(*before);
  const auto candidate = [&](std::size_t i) {
    const Heat& heat = together_[i];
    if (heat.known) return saving(heat.at, heat.times, bytes);
    const Candidate fresh = saving(heat.at, heat.times * first_share, bytes);
    return fresh.priority * static_cast<double>(fresh.bytes) < move_bytes ? Candidate{} : fresh;
  };
  Selection selection = fill(together_.size(), candidate, budget, workers_);
  heat_.clear();
  auto known = together_.begin();
  for (const StoredVertex& at : selection.hot) {
    while (known->at != at) ++known;
    heat_.push_back(*known);
  }
  return selection;
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

std::span<const Access> Prior::temper(const graph::DataGraph& graph, std::span<const Access> accesses, const BytesOf& bytes,
                                      std::size_t budget) {
  if (batches_++ % renewal == 0 || graph.edges() / 2 > edges_) {
    longest_ = select_by_degree(graph, bytes, budget, workers_).hot;
    count_lengths(graph, bytes);
    edges_ = graph.edges();
  }
  expected_.clear();
  double all = 0;
  for (Length& length : lengths_) {
    length.found = {};
    length.times = 0;
  }
  for (const Access& access : accesses) {
    all += access.times;
    const std::size_t size = bytes(access.at);
    if (size == 0) continue;
    Length& length = lengths_[length_of(size)];
    length.found.add({1, static_cast<double>(size)});
    length.times += access.times;
  }
  if (all == 0) return expected_;
  double all_bytes = 0;
  for (const Length& length : lengths_) all_bytes += length.lists().bytes;
  const double of_one = all / static_cast<double>(accesses.size());  // look-ups that one finding stands for
  const auto posterior = [&](double mean, double times) {
    return (prior_shape + times / of_one) / (prior_shape / mean + 1 / of_one);
  };
  for (Length& length : lengths_) {
    const Lists lists = length.lists();
    length.mean = lists.count == 0 ? 0 : posterior(all * lists.bytes / all_bytes, length.times) / lists.count;
  }
  const auto expect = [&](const StoredVertex& at, double times) {
    const std::size_t size = bytes(at);
    if (size == 0) return;
    double mean = lengths_[length_of(size)].mean;
    if (mean == 0) {  // one that has outgrown all that were counted: alone of its length, and not found
      const auto own = static_cast<double>(size);
      mean = posterior(all * own / (all_bytes + own), 0);
    }
    expected_.push_back({at, posterior(mean, times)});
  };
  auto longest = longest_.begin();
  for (const Access& access : accesses) {
    for (; longest != longest_.end() && *longest < access.at; ++longest) expect(*longest, 0);
    if (longest != longest_.end() && *longest == access.at) ++longest;
    expect(access.at, access.times);
  }
  for (; longest != longest_.end(); ++longest) expect(*longest, 0);
  return expected_;
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
