// The CPU matcher: anchors are shared out to threads, a heavy one in several shares.
#include <algorithm>

#include "base/checked.hpp"
#include "match/concern.hpp"
#include "match/matcher.hpp"
#include "match/summation.hpp"

namespace deltamatch::match {

namespace {

// Pieces of work that a thread takes at a time, where all are light: many, since what it prefetches for the next ones is lost
// if another takes them, but no more than leave so many turns for each thread.
constexpr std::size_t most_grain = 512;
constexpr std::size_t turns = 32;
constexpr std::size_t cached_bytes = std::size_t{32} << 20;
// An anchor whose ends have more neighbours than this is split, one share for so many.
constexpr std::uint32_t share_degree = 2048;
constexpr std::uint32_t max_shares = 64;
// The same of a root, from which paths go on from all of its neighbours.
constexpr std::uint32_t share_root_degree = 512;

struct Piece {
  std::uint32_t anchor;
  PlanRef plan;
  Share share;
};

class Recorder final : public FoundSink {
 public:
  void open(Records& records, std::uint32_t plan, const QueryTask& task, Pass pass) noexcept {
    records_ = &records;
    plan_ = plan;
    task_ = &task;
    pass_ = pass;
  }
  void found(const Found& match) override {
    records_->plans.push_back(plan_);
    records_->words.insert(records_->words.end(), match.vertices.begin(), match.vertices.end());
    records_->words.insert(records_->words.end(), match.tags.begin(), match.tags.end());
    if (task_->beyond_limit != nullptr && records_->plans.size() > task_->limit) {
      task_->beyond_limit->store(true, std::memory_order_relaxed);
    } else if (task_->taker != nullptr && records_->plans.size() >= taker_portion) {
      task_->taker->take(*records_, pass_);
      records_->clear();
    }
  }

 private:
  Records* records_ = nullptr;
  std::uint32_t plan_ = 0;
  const QueryTask* task_ = nullptr;
  Pass pass_ = Pass::whole;
};

// What a share of a heavy anchor sums up to: of use once all shares of the anchor are there.
struct ShareSum {
  __extension__ __int128 sum = 0;
  bool done = false;
};

struct Worker {
  Scratch scratch;
  TablePool<std::uint64_t> narrow;
  TablePool<Count> wide;
  std::vector<QueryResult> results;
  Recorder recorder;
};

class CpuMatcher final : public Matcher {
 public:
  explicit CpuMatcher(Workers& workers) : workers_(&workers), state_(workers.size()) {}

  void match(const graph::DataGraph& graph, std::span<const PassWork> passes, std::span<const QueryTask> tasks,
             std::span<QueryResult> results, const StopFlag* stop, MatchSteps& /*steps*/) override {
    for (std::size_t p = 0; p < passes.size(); ++p) {
      const auto into = results.subspan(p * tasks.size(), tasks.size());
      begins_ = passes[p].begins;
      if (!passes[p].anchors.empty()) match_pass(graph, passes[p].pass, passes[p].anchors, tasks, into, stop);
      if (!passes[p].roots.empty()) match_roots(graph, passes[p].roots, tasks, into, stop);
    }
  }
  [[nodiscard]] bool takes_root(const plan::RootedPlan& plan,
                                std::span<const graph::Resolved> resolved) const noexcept override {
    return !must_walk(plan.count, resolved);
  }
  [[nodiscard]] std::size_t bytes() const noexcept override {
    std::size_t sum = pieces_.capacity() * sizeof(Piece) + shares_.capacity() * sizeof(ShareSum);
    for (const Worker& worker : state_) {
      sum += worker.scratch.bytes() + worker.narrow.bytes() + worker.wide.bytes();
      for (const QueryResult& result : worker.results) {
        sum += (result.records.words.capacity() + result.records.plans.capacity()) * sizeof(std::uint32_t);
      }
    }
    return sum;
  }

 private:
  void match_pass(const graph::DataGraph& graph, Pass pass, std::span<const graph::Edge> anchors,
                  std::span<const QueryTask> tasks, std::span<QueryResult> results, const StopFlag* stop) {
    const std::vector<graph::Resolved> resolved = graph.resolved();
    plan_pieces(graph, anchors, tasks, resolved);
    run_pieces(graph, pass, resolved, tasks, results, stop,
               [&](std::size_t i, bool first, Worker& worker, Partial& partial, Summation& summation) {
                 if (first || pieces_[i].anchor != pieces_[i - 1].anchor) {
                   fetch_ends(graph.base(), anchors, pieces_[i].anchor);
                   fetch_neighbours(graph.base(), anchors, pieces_[i].anchor);
                 }
                 run(i, anchors[pieces_[i].anchor], pass, tasks, worker, partial, summation, stop);
               });
  }

  void match_roots(const graph::DataGraph& graph, std::span<const VertexId> roots, std::span<const QueryTask> tasks,
                   std::span<QueryResult> results, const StopFlag* stop) {
    const std::vector<graph::Resolved> resolved = graph.resolved();
    plan_pieces(graph, roots, tasks, resolved);
    run_pieces(graph, Pass::whole, resolved, tasks, results, stop,
               [&](std::size_t i, bool, Worker& worker, Partial& partial, Summation& summation) {
                 const Piece& piece = pieces_[i];
                 PlanResult& result = worker.results[piece.plan.task].plans[0];
                 if (piece.share.index == 0) ++result.anchors;
                 partial.begin(roots[piece.anchor]);
                 const Summation::Signed sum = summation.run(*tasks[piece.plan.task].plans->rooted, piece.share, stop);
                 if (stop == nullptr || !stop->load(std::memory_order_relaxed)) keep(i, sum, result);
               });
  }

  /// Runs every piece in some thread: run(piece, whether it is the first of those that the thread takes, ...).
  template <class Run>
  void run_pieces(const graph::DataGraph& graph, Pass pass, std::span<const graph::Resolved> resolved,
                  std::span<const QueryTask> tasks, std::span<QueryResult> results, const StopFlag* stop, Run&& run_piece) {
    for (Worker& worker : state_) {
      worker.narrow.resize(graph.base().vertices());
      worker.wide.resize(graph.base().vertices());
      worker.results.resize(tasks.size());
      for (std::size_t t = 0; t < tasks.size(); ++t) {
        worker.results[t].plans.assign(tasks[t].plans->plans.size(), {});
        worker.results[t].records.clear();
      }
    }
    const std::size_t grain = split_ ? 1 : std::clamp<std::size_t>(pieces_.size() / (turns * workers_->size()), 1, most_grain);
    workers_->for_each(pieces_.size(), grain, [&](unsigned index, std::size_t begin, std::size_t end) {
      Worker& worker = state_[index];
      Partial partial(Lists(graph.base(), resolved, graph.directed(), pass), worker.scratch);
      Summation summation(partial, worker.narrow, worker.wide);
      for (std::size_t i = begin; i < end; ++i) {
        if (stop != nullptr && stop->load(std::memory_order_relaxed)) return;
        if (begins_ != nullptr) (*begins_)(pieces_[i].anchor);
        run_piece(i, i == begin, worker, partial, summation);
      }
    });
    add_shares(results);
    for (const Worker& worker : state_) {
      for (std::size_t t = 0; t < tasks.size(); ++t) merge(worker.results[t], results[t]);
    }
  }

  template <class Fetch>
  static void for_ends_at(std::span<const graph::Edge> anchors, std::size_t at, Fetch fetch) noexcept {
    if (at >= anchors.size()) return;
    fetch(anchors[at].tail);
    fetch(anchors[at].head);
  }

  /// Fetches the ends of the anchors behind `at`: first their rows, later what these lead to.
  static void fetch_ends(const graph::Adjacency& base, std::span<const graph::Edge> anchors, std::size_t at) noexcept {
    for_ends_at(anchors, at + 14, [&](VertexId vertex) { base.prefetch(vertex); });
    for_ends_at(anchors, at + 9, [&](VertexId vertex) { base.prefetch_block(vertex); });
  }

  /// The same of their neighbours, once they are near themselves; unless the graph is so small that the caches hold it.
  static void fetch_neighbours(const graph::Adjacency& base, std::span<const graph::Edge> anchors, std::size_t at) noexcept {
    if (base.bytes() < cached_bytes) return;
    for_ends_at(anchors, at + 5, [&](VertexId vertex) { base.prefetch_neighbours(vertex); });
    for_ends_at(anchors, at + 2, [&](VertexId vertex) { base.prefetch_neighbour_blocks(vertex); });
  }

  void run(std::size_t at, const graph::Edge& anchor, Pass pass, std::span<const QueryTask> tasks, Worker& worker,
           Partial& partial, Summation& summation, const StopFlag* stop) {
    const Piece& piece = pieces_[at];
    const QueryTask& task = tasks[piece.plan.task];
    QueryResult& into = worker.results[piece.plan.task];
    PlanResult& result = into.plans[piece.plan.plan];
    if (piece.share.index == 0) ++result.anchors;
    partial.begin(task.plans->plans[piece.plan.plan], anchor);
    // Sums, worked from both sides of the anchor, cost less than walking into dead ends: where they tell that an anchor leads
    // to no match, nothing is listed. (Not so signed shares of an inclusion and exclusion one by one, nor sums that order
    // constraints restrict where the list has none.)
    const bool tells = piece.share.of == 1 && (ordered(task) || !task.plans->plans[piece.plan.plan].count.ordered);
    if (!piece.plan.walk && (!task.list || tells)) {
      const Summation::Signed sum = summation.run(piece.share, stop);
      if (stop != nullptr && stop->load(std::memory_order_relaxed)) return;
      if (task.list) {
        if (sum == 0) return;
      } else {
        keep(at, sum, result);
        return;
      }
    }
    Enumerator enumerator(partial, *task.query, ordered(task), stop);
    worker.recorder.open(into.records, piece.plan.plan, task, pass);
    result.found = checked_add(result.found, enumerator.run(piece.share, task.list ? &worker.recorder : nullptr));
  }

  /// What a piece sums up to.
  void keep(std::size_t at, Summation::Signed sum, PlanResult& result) {
    if (pieces_[at].share.of > 1) {
      shares_[at] = {sum, true};
    } else {
      add(result.sum, sum);
    }
  }

  static void add(Summation::Signed& total, Summation::Signed sum) {
    if (__builtin_add_overflow(total, sum, &total)) throw_count_overflow();
  }

  // Single shares may be negative, so an anchor counts once all its shares are summed.
  void add_shares(std::span<QueryResult> results) {
    for (std::size_t first = 0; first < shares_.size(); first += pieces_[first].share.of) {
      const auto group = std::span(shares_).subspan(first, pieces_[first].share.of);
      if (!std::all_of(group.begin(), group.end(), [](const ShareSum& share) { return share.done; })) continue;
      const PlanRef& plan = pieces_[first].plan;
      for (const ShareSum& share : group) add(results[plan.task].plans[plan.plan].sum, share.sum);
    }
  }

  void plan_pieces(const graph::DataGraph& graph, std::span<const graph::Edge> anchors, std::span<const QueryTask> tasks,
                   std::span<const graph::Resolved> resolved) {
    pieces_.clear();
    split_ = false;
    Concern concern(graph, tasks, resolved);
    const bool may_split = workers_->size() > 1 && graph.base().degree_bound() >= 2 * share_degree;
    for (std::uint32_t i = 0; i < anchors.size(); ++i) {
      const graph::Edge& anchor = anchors[i];
      const auto plans = concern.of(anchor);
      if (plans.empty()) continue;
      std::uint32_t shares = 1;
      if (may_split) {
        fetch_ends(graph.base(), anchors, i);
        const std::uint32_t degree = std::max(graph.degree(anchor.tail), graph.degree(anchor.head));
        shares = std::clamp(degree / share_degree, 1u, max_shares);
        split_ = split_ || shares > 1;
      }
      for (const PlanRef& plan : plans) {
        for (std::uint32_t s = 0; s < shares; ++s) pieces_.push_back({i, plan, {s, shares}});
      }
    }
    shares_.assign(split_ ? pieces_.size() : 0, {});
  }

  void plan_pieces(const graph::DataGraph& graph, std::span<const VertexId> roots, std::span<const QueryTask> tasks,
                   std::span<const graph::Resolved> resolved) {
    pieces_.clear();
    split_ = false;
    for (std::uint32_t t = 0; t < tasks.size(); ++t) {
      if (!tasks[t].plans->rooted) continue;
      for (std::uint32_t i = 0; i < roots.size(); ++i) {
        if (!may_be_root(tasks[t], roots[i], resolved)) continue;
        const std::uint32_t shares =
            workers_->size() == 1 ? 1 : std::clamp(graph.degree(roots[i]) / share_root_degree, 1u, max_shares);
        split_ = split_ || shares > 1;
        for (std::uint32_t s = 0; s < shares; ++s) pieces_.push_back({i, {t, 0, false}, {s, shares}});
      }
    }
    shares_.assign(split_ ? pieces_.size() : 0, {});
  }

  static void merge(const QueryResult& from, QueryResult& into) {
    for (std::size_t p = 0; p < from.plans.size(); ++p) {
      add(into.plans[p].sum, from.plans[p].sum);
      into.plans[p].found = checked_add(into.plans[p].found, from.plans[p].found);
      into.plans[p].anchors += from.plans[p].anchors;
    }
    into.records.words.insert(into.records.words.end(), from.records.words.begin(), from.records.words.end());
    into.records.plans.insert(into.records.plans.end(), from.records.plans.begin(), from.records.plans.end());
  }

  Workers* workers_;
  std::vector<Worker> state_;
  const std::function<void(std::size_t)>* begins_ = nullptr;  // of the pass
  std::vector<Piece> pieces_;
  std::vector<ShareSum> shares_;  // by piece, where anchors are split
  bool split_ = false;            // some anchor is heavy: its shares must not end up with one thread
};

}  // namespace

std::unique_ptr<Matcher> make_cpu_matcher(Workers& workers) { return std::make_unique<CpuMatcher>(workers); }

Count total(const QueryTask& task, std::span<const PlanResult> results) {
  // Plans that are divided alike are added up first: static plans are exact only together.
  const auto& plans = task.plans->plans;
  const bool classes = ordered(task);
  Count sum = 0;
  if (task.plans->rooted && !task.list) {
    sum = static_cast<Count>(results[0].sum) / task.plans->rooted->count.divisor;
    return classes && task.query->count == CountMode::embeddings ? checked_mul(sum, task.query->group.order()) : sum;
  }
  for (std::size_t p = 0; p < results.size(); ++p) {
    __extension__ __int128 raw = 0;
    bool first = true;
    for (std::size_t q = 0; q < results.size(); ++q) {
      if (plans[q].count.divisor != plans[p].count.divisor) continue;
      first = first && q >= p;
      if (__builtin_add_overflow(raw, results[q].sum, &raw)) throw_count_overflow();
    }
    if (first) sum = checked_add(sum, static_cast<Count>(raw) / plans[p].count.divisor);
    sum = checked_add(sum, classes ? results[p].found : checked_mul(results[p].found, plans[p].orbit));
  }
  if (classes && task.query->count == CountMode::embeddings) sum = checked_mul(sum, task.query->group.order());
  return sum;
}

}  // namespace deltamatch::match
