// The CPU matcher. Threads share the anchors; a heavy anchor is split into several shares.
#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include "base/checked.hpp"
#include "base/seconds.hpp"
#include "match/anchor_conditions.hpp"
#include "match/anchor_fetch.hpp"
#include "match/conditional_enumerator.hpp"
#include "match/family_rule.hpp"
#include "match/lane_search.hpp"
#include "match/matcher.hpp"
#include "match/piece_planner.hpp"
#include "match/pieces.hpp"
#include "match/plan_index.hpp"
#include "match/query_shares.hpp"
#include "match/recorder.hpp"
#include "match/summation.hpp"
#include "match/time_mirror.hpp"
#include "match/time_search.hpp"

namespace deltamatch::match {

namespace {

// The most pieces that a thread takes at a time if all are light. Many, because prefetched memory is lost if another thread
// takes the next pieces. But each thread should still get about `turns` turns.
constexpr std::size_t most_grain = 512;
constexpr std::size_t turns = 32;
constexpr std::size_t cached_bytes = std::size_t{32} << 20;
// A root with more neighbours than this is split into shares: one per this many neighbours. Paths go on to all of them.
constexpr std::uint32_t share_root_degree = 512;
constexpr std::uint32_t max_shares = 64;

// Plans of queries with more edges are tried alone.
constexpr std::size_t most_edges_together = 60;

// For listing: the steps of the first walk at an anchor. Each further sum and walk has `more_steps` times as many.
constexpr std::uint64_t first_steps = 64;
constexpr std::uint64_t more_steps = 8;
// The sum of one share of a heavy anchor. Only used once all shares of the anchor are there.
struct ShareSum {
  __extension__ __int128 sum = 0;
  bool done = false;
};

/// Some plans of a group, as a thread searches along them in one pass.
struct KnownLanes {
  explicit KnownLanes(std::uint64_t bits, std::span<const LanePlans::Lane> lanes)
      : together(bits), plans(lanes), memory(lanes.size()), recorders(lanes.size()) {}
  std::uint64_t together;
  LanePlans plans;
  StepBudget step_budget{nullptr};
  std::vector<TimeSearch::Memory> memory;  // this and the following by lane
  std::vector<Recorder> recorders;
  std::vector<TimeSearch> searches;
  std::vector<FoundSink*> sinks;
  std::vector<PlanResult*> results;
};

struct Worker {
  Scratch scratch;
  KeptSets kept;
  TablePool<std::uint64_t> narrow;
  TablePool<Count> wide;
  std::vector<QueryResult> results;
  CandidateSpace space;
  Recorder recorder;
  ConditionalEnumerator::Memory conditional;
  TimeSearch::Memory time_search;
  AnchorConditions anchor_conditions;
  std::vector<std::uint32_t> taken;  // indices of pieces
  QueryShares shares;
  std::vector<DonatedWork> donated;
  LaneSearch lanes;
  std::vector<std::vector<std::unique_ptr<KnownLanes>>> known;  // by group of the family rule
};

class CpuMatcher final : public Matcher {
 public:
  CpuMatcher(Workers& workers, const SpaceLimits& limits, const KeepRule& rule)
      : workers_(&workers), state_(workers.size()), planner_(workers), busy_threads_(workers.size()), limits_(limits) {
    for (Worker& worker : state_) {
      worker.space = CandidateSpace(limits);
      worker.kept = KeptSets(rule);
    }
  }

  void match(const graph::DataGraph& graph, std::span<const PassWork> passes, std::span<const QueryTask> tasks,
             std::span<QueryResult> results, const StopFlag* stop, MatchSteps& /*steps*/) override {
    for (std::size_t p = 0; p < passes.size(); ++p) {
      const auto into = results.subspan(p * tasks.size(), tasks.size());
      begins_ = passes[p].begins;
      arrivals_.reset();
      if (!passes[p].marks.empty() && graph.edge_table)
        arrivals_.emplace(passes[p].marked, passes[p].marks, passes[p].pass != Pass::removed, *graph.edge_table);
      transient_ = passes[p].transient;
      noting_ = transient_ == nullptr && p + 1 < passes.size() && passes[p + 1].transient != nullptr;
      if (noting_) noted_.clear();
      again_ = !passes[p].left.empty();
      if (stop != nullptr && stop->load()) return;
      time_pass_.reset();
      time_relations_.assign(tasks.size(), std::nullopt);
      for (std::size_t t = 0; t < tasks.size(); ++t) {
        if (in_time_order(*tasks[t].query)) time_relations_[t].emplace(*tasks[t].query);
      }
      if (std::ranges::any_of(tasks, [](const QueryTask& task) { return in_time_order(*task.query); })) {
        std::vector<bool> wanted;
        for (const auto& relations : time_relations_) {
          if (relations) relations->add_to(wanted);
        }
        time_pass_.emplace(time_lists_.show(graph, passes[p], wanted));
      }
      find_dead_plans(tasks);
      group_plans(tasks);
      if (!passes[p].anchors.empty()) match_pass(graph, passes[p].pass, passes[p].anchors, tasks, into, stop);
      if (!passes[p].roots.empty()) match_roots(graph, passes[p].roots, tasks, into, stop);
      if (!passes[p].left.empty()) match_left(graph, passes[p].left, tasks, into, stop);
      if (transient_ != nullptr) time_lists_.hide_removed(graph);
    }
  }
  [[nodiscard]] bool takes_root(const plan::RootedPlan& plan,
                                std::span<const graph::Resolved> resolved) const noexcept override {
    return !must_walk(plan.count, resolved);
  }
  [[nodiscard]] bool takes_transient() const noexcept override { return true; }
  [[nodiscard]] bool separates_tasks() const noexcept override { return true; }
  [[nodiscard]] std::size_t bytes() const noexcept override {
    std::size_t sum = pieces_.capacity() * sizeof(Piece) + shares_.capacity() * sizeof(ShareSum) + time_lists_.bytes();
    for (const Worker& worker : state_) {
      sum += worker.scratch.bytes() + worker.kept.bytes() + worker.narrow.bytes() + worker.wide.bytes() + worker.space.bytes();
      for (const QueryResult& result : worker.results) {
        sum += (result.records.words.capacity() + result.records.plans.capacity()) * sizeof(std::uint32_t);
      }
    }
    return sum;
  }

 private:
  /// Finds the plans that lead nowhere in this pass.
  void find_dead_plans(std::span<const QueryTask> tasks) {
    dead_.clear();
    if (!time_pass_ || !time_pass_->in_order()) return;
    for (const QueryTask& task : tasks) {
      std::vector<std::uint8_t>& dead = dead_.emplace_back();
      for (const plan::Plan& plan : task.plans->plans)
        dead.push_back(in_time_order(*task.query) && !TimeSearch::may_match_in_order(*task.query, plan) ? 1 : 0);
    }
  }

  /// Finds the plans that are tried together. Anchors and bounds of a bound query never change, so this holds for all passes
  /// and batches with the same tasks.
  void group_plans(std::span<const QueryTask> tasks) {
    const auto same_family = [](const QueryTask& a, const QueryTask& b) { return a.family == b.family; };
    if (!time_pass_ || std::ranges::adjacent_find(tasks, same_family) == tasks.end() || !may_group(tasks)) {
      families_.reset();
      return;
    }
    std::vector<std::uint64_t> known;
    for (const QueryTask& task : tasks) known.insert(known.end(), {task.query->id, task.family});
    if (families_ && known == grouped_) return;
    families_.emplace(tasks, [&](std::size_t task, std::size_t plan) {
      const plan::BoundQuery& query = *tasks[task].query;
      if (!in_time_order(query) || query.edges.size() > most_edges_together) return 0;
      return TimeSearch::may_match_in_order(query, tasks[task].plans->plans[plan]) ? 1 : 2;
    });
    grouped_ = std::move(known);
  }

  /// Whether plans of a family may be tried together. They are ended together, and no step is counted.
  static bool may_group(std::span<const QueryTask> tasks) noexcept {
    return std::ranges::all_of(tasks, [](const QueryTask& task) { return task.steps == StepBudget::unbounded; }) &&
           std::ranges::adjacent_find(tasks, [](const QueryTask& a, const QueryTask& b) {
             return a.family == b.family && a.stop != b.stop;
           }) == tasks.end();
  }

  void match_pass(const graph::DataGraph& graph, Pass pass, std::span<const graph::Edge> anchors,
                  std::span<const QueryTask> tasks, std::span<QueryResult> results, const StopFlag* stop) {
    const std::vector<graph::Resolved> resolved = graph.resolved();
    if (transient_ != nullptr && !noted_.empty()) {
      take_noted();
    } else {
      plan_pieces(graph, pass, anchors, tasks, resolved, results, stop);
    }
    noting_ = noting_ && pass == Pass::added;
    if (noting_) {
      noted_ = pieces_;
      met_removed_.assign(pieces_.size(), 1);
    }
    run_anchors(graph, pass, anchors, resolved, tasks, results, stop);
  }

  /// Takes the anchors of the pass before from which a list with removed edges was read. From others, this pass would find the
  /// same matches.
  void take_noted() {
    pieces_.clear();
    shares_.clear();
    split_ = false;
    for (std::size_t i = 0; i < noted_.size(); i += noted_[i].share.of) {
      const auto met = std::span(met_removed_).subspan(i, noted_[i].share.of);
      if (std::ranges::find(met, 1) == met.end()) continue;
      pieces_.push_back({noted_[i].anchor, noted_[i].plan, {}});
    }
    noted_.clear();
  }

  void match_left(const graph::DataGraph& graph, std::span<const UnfinishedAnchor> left, std::span<const QueryTask> tasks,
                  std::span<QueryResult> results, const StopFlag* stop) {
    const std::vector<graph::Resolved> resolved = graph.resolved();
    std::vector<graph::Edge> anchors;
    anchors.reserve(left.size());
    pieces_.clear();
    shares_.clear();
    split_ = false;
    PlanIndex plan_index(graph, tasks, resolved);
    for (const UnfinishedAnchor& each : left) {
      for (const PlanRef& plan : plan_index.of(each.anchor)) {
        if (plan.plan == each.plan) pieces_.push_back({static_cast<std::uint32_t>(anchors.size()), plan, {}});
      }
      anchors.push_back(each.anchor);
    }
    run_anchors(graph, Pass::whole, anchors, resolved, tasks, results, stop);
  }

  void run_anchors(const graph::DataGraph& graph, Pass pass, std::span<const graph::Edge> anchors,
                   std::span<const graph::Resolved> resolved, std::span<const QueryTask> tasks, std::span<QueryResult> results,
                   const StopFlag* stop) {
    const auto may_match = [&](std::size_t i, unsigned thread) {
      const PlanRef& plan = pieces_[i].plan;
      return plan.together != 0 || !time_relations_[plan.task] ||
             state_[thread].anchor_conditions.hold(*tasks[plan.task].query, tasks[plan.task].plans->plans[plan.plan],
                                                   anchors[pieces_[i].anchor]);
    };
    run_pieces(
        graph, pass, resolved, tasks, results, stop, may_match,
        [&](std::span<const std::uint32_t> taken, std::size_t at, unsigned thread, Partial& partial, Summation& summation) {
          const std::uint32_t anchor = pieces_[taken[at]].anchor;
          if (at == 0 || anchor != pieces_[taken[at - 1]].anchor) fetch_ahead(graph, pass, anchors, taken, at);
          run(taken[at], anchors[anchor], pass, tasks, thread, partial, summation, stop);
        });
  }

  /// Prefetches what the anchors of the pieces after `at` will read.
  void fetch_ahead(const graph::DataGraph& graph, Pass pass, std::span<const graph::Edge> anchors,
                   std::span<const std::uint32_t> taken, std::size_t at) const noexcept {
    const std::uint32_t anchor = pieces_[taken[at]].anchor;
    if (!time_pass_) {
      fetch_ends(graph.base(), anchors, anchor);
      fetch_neighbours(graph.base(), anchors, anchor);
      return;
    }
    const graph::TimeLists& lists = time_pass_->lists();
    const auto for_ends = [&](std::size_t ahead, auto fetch) {
      if (at + ahead < taken.size()) for_ends_at(anchors, pieces_[taken[at + ahead]].anchor, fetch);
    };
    for_ends(12, [&](VertexId vertex) { lists.prefetch(vertex); });
    for_ends(5, [&](VertexId vertex) { pass == Pass::whole ? lists.prefetch_search(vertex) : lists.prefetch_entries(vertex); });
  }

  void match_roots(const graph::DataGraph& graph, std::span<const VertexId> roots, std::span<const QueryTask> tasks,
                   std::span<QueryResult> results, const StopFlag* stop) {
    const std::vector<graph::Resolved> resolved = graph.resolved();
    plan_pieces(graph, roots, tasks, resolved);
    run_pieces(
        graph, Pass::whole, resolved, tasks, results, stop, [](std::size_t, unsigned) { return true; },
        [&](std::span<const std::uint32_t> taken, std::size_t at, unsigned thread, Partial& partial, Summation& summation) {
          const std::uint32_t i = taken[at];
          const Piece& piece = pieces_[i];
          PlanResult& result = state_[thread].results[piece.plan.task].plans[0];
          if (piece.share.index == 0) ++result.anchors;
          partial.begin(roots[piece.anchor]);
          StepBudget step_budget(stop);
          const Summation::Signed sum = summation.run(*tasks[piece.plan.task].plans->rooted, piece.share, &step_budget);
          if (!step_budget.over()) keep(i, sum, result);
        });
  }

  /// Runs every piece of which may_match(piece, thread) is true in some thread. A thread takes several at a time. Calls
  /// run_piece(those that it has taken, the index among them of the one to run, ...).
  template <class MayMatch, class Run>
  void run_pieces(const graph::DataGraph& graph, Pass pass, std::span<const graph::Resolved> resolved,
                  std::span<const QueryTask> tasks, std::span<QueryResult> results, const StopFlag* stop, MayMatch&& may_match,
                  Run&& run_piece) {
    vertices_ = graph.base().vertices();
    for (Worker& worker : state_) {
      worker.known.clear();
      worker.known.resize(families_ ? families_->groups() : 0);
      worker.kept.resize(vertices_);
      worker.narrow.resize(vertices_);
      worker.wide.resize(vertices_);
      worker.results.resize(tasks.size());
      for (std::size_t t = 0; t < tasks.size(); ++t) {
        worker.results[t].plans.assign(tasks[t].plans->plans.size(), {});
        worker.results[t].records.clear();
        worker.results[t].left.clear();
      }
    }
    parted_.clear();
    queries_.assign(tasks);
    const bool several = queries_.size() > 1;
    for (Worker& worker : state_) worker.shares.begin(queries_.size());
    const auto query_of = [&](std::size_t i) { return queries_.of(pieces_[i].plan.task); };
    const auto start = QueryShares::Clock::now();
    ThreadProgress* const watch = tasks.empty() ? nullptr : tasks[0].watch;
    do {
      const std::size_t grain =
          split_ ? 1 : std::clamp<std::size_t>(pieces_.size() / (turns * workers_->size()), 1, most_grain);
      busy_threads_.begin((pieces_.size() + grain - 1) / grain);
      workers_->for_each(pieces_.size(), grain, [&](unsigned index, std::size_t begin, std::size_t end) {
        Worker& worker = state_[index];
        Partial partial(Lists(graph.base(), resolved, graph.directed(), pass), worker.scratch, &worker.kept);
        Summation summation(partial, worker.narrow, worker.wide);
        busy_threads_.take();
        const auto run_query = [&](const auto& own) {
          worker.taken.clear();
          for (const std::size_t i : own) {
            if (may_match(i, index)) worker.taken.push_back(static_cast<std::uint32_t>(i));
          }
          for (std::size_t at = 0; at < worker.taken.size(); ++at) {
            if (stop != nullptr && stop->load(std::memory_order_relaxed)) return false;
            if (begins_ != nullptr) (*begins_)(pieces_[worker.taken[at]].anchor);
            run_piece(std::span<const std::uint32_t>(worker.taken), at, index, partial, summation);
          }
          return true;
        };
        if (!several && !run_query(std::views::iota(begin, end))) return;
        for (const std::uint32_t query :
             several ? worker.shares.sort(begin, end, query_of) : std::span<const std::uint32_t>()) {
          if (!run_query(worker.shares.pieces(query))) return;
          worker.shares.note(query);
        }
        if (watch != nullptr) watch->leave(index);
        busy_threads_.finish();
      });
      add_shares(results);
      take_parted();
    } while (!pieces_.empty() && (stop == nullptr || !stop->load(std::memory_order_relaxed)));
    share_out(seconds_since(start), results);
    for (const Worker& worker : state_) {
      for (std::size_t t = 0; t < tasks.size(); ++t) merge(worker.results[t], results[t]);
    }
  }

  /// Shares the time of a loop out among the queries, by the time that threads spent on each.
  void share_out(double seconds, std::span<QueryResult> results) const {
    std::vector<double> spent(queries_.size(), queries_.size() == 1 ? 1.0 : 0.0);
    double sum = queries_.size() == 1 ? 1 : 0;
    for (const Worker& worker : state_) {
      for (std::size_t q = 0; q < queries_.size(); ++q) {
        const double own = std::chrono::duration<double>(worker.shares.spent()[q]).count();
        spent[q] += own;
        sum += own;
      }
    }
    for (std::size_t q = 0; q < queries_.size() && sum > 0; ++q) results[queries_.first(q)].seconds += seconds * spent[q] / sum;
  }

  /// Makes the pieces of the next round from the work that walks gave away.
  void take_parted() {
    pieces_.clear();
    shares_.clear();
    split_ = true;
    for (Worker& worker : state_) {
      for (DonatedWork& donated : worker.donated) parted_.add(donated, workers_->size(), pieces_);
      worker.donated.clear();
    }
    parted_.next();
  }

  /// Prefetches their neighbours, once the anchor is closer. Does nothing if the graph is so small that the caches hold it.
  static void fetch_neighbours(const graph::Adjacency& base, std::span<const graph::Edge> anchors, std::size_t at) noexcept {
    if (base.bytes() < cached_bytes) return;
    for_ends_at(anchors, at + 5, [&](VertexId vertex) { base.prefetch_neighbours(vertex); });
    for_ends_at(anchors, at + 2, [&](VertexId vertex) { base.prefetch_neighbour_blocks(vertex); });
  }

  void run(std::size_t at, const graph::Edge& anchor, Pass pass, std::span<const QueryTask> tasks, unsigned thread,
           Partial& partial, Summation& summation, const StopFlag* stop) {
    const Piece& piece = pieces_[at];
    const QueryTask& task = tasks[piece.plan.task];
    Worker& worker = state_[thread];
    if (task.stop != nullptr) {
      if (task.stop->load(std::memory_order_relaxed)) return;
      stop = task.stop;
    }
    if (task.watch != nullptr) task.watch->enter(thread, task.progress_index);
    if (piece.plan.together != 0) {
      run_together(piece.plan, anchor, pass, tasks, thread, stop);
      return;
    }
    if (piece.share.index == 0 && piece.rest == 0) ++worker.results[piece.plan.task].plans[piece.plan.plan].anchors;
    partial.begin(task.plans->plans[piece.plan.plan], anchor);
    const bool notes = noting_ && piece.rest == 0 && !task.query->conditional();
    if (notes) partial.read_as(pass);
    match_anchor(at, anchor, pass, task, thread, partial, summation, stop);
    if (!notes) return;
    const bool gave_away = !worker.donated.empty() && worker.donated.back().piece.anchor == piece.anchor;
    met_removed_[at] = partial.lists().met_removed() || gave_away ? 1 : 0;
  }

  /// Tries several plans of a family.
  void run_together(const PlanRef& plans, const graph::Edge& anchor, Pass pass, std::span<const QueryTask> tasks,
                    unsigned thread, const StopFlag* stop) {
    Worker& worker = state_[thread];
    const std::uint32_t group = families_->place(plans.task, plans.plan).group;
    const std::span<const FamilyRule::Member> members = families_->members(group);
    std::uint64_t together = plans.together;
    for (std::size_t number = 0; number < members.size(); ++number) {
      const QueryTask& task = tasks[members[number].task];
      if ((together >> number & 1) != 0 &&
          !worker.anchor_conditions.hold(*task.query, task.plans->plans[members[number].plan], anchor)) {
        together &= ~(std::uint64_t{1} << number);
      }
    }
    if (together == 0) return;
    KnownLanes& lanes = lanes_of(worker, group, together, pass, tasks, thread);
    for (PlanResult* result : lanes.results) ++result->anchors;
    lanes.step_budget = StepBudget(stop);
    if (!worker.lanes.run(lanes.plans, lanes.searches, anchor, lanes.sinks, (together & 1) != 0)) return;
    for (std::size_t lane = 0; lane < lanes.searches.size(); ++lane)
      lanes.results[lane]->found = checked_add(lanes.results[lane]->found, lanes.searches[lane].found());
  }

  /// The searches along these plans of a group. They are made when the pass first needs them.
  KnownLanes& lanes_of(Worker& worker, std::uint32_t group, std::uint64_t together, Pass pass, std::span<const QueryTask> tasks,
                       unsigned thread) {
    auto& known = worker.known[group];
    const auto at = std::ranges::find(known, together, &KnownLanes::together);
    if (at != known.end()) return **at;
    std::vector<LanePlans::Lane> plans;
    std::vector<FamilyRule::Member> members;
    for (std::size_t number = 0; number < families_->members(group).size(); ++number) {
      if ((together >> number & 1) == 0) continue;
      const FamilyRule::Member& member = members.emplace_back(families_->members(group)[number]);
      const QueryTask& task = tasks[member.task];
      plans.push_back({task.query, &task.plans->plans[member.plan], &*time_relations_[member.task]});
    }
    KnownLanes& lanes = *known.emplace_back(std::make_unique<KnownLanes>(together, plans));
    for (std::size_t lane = 0; lane < members.size(); ++lane) {
      const auto [t, p] = members[lane];
      const QueryTask& task = tasks[t];
      TimeSearch& search = lanes.searches.emplace_back(*time_pass_, *task.query, *time_relations_[t], ordered(task),
                                                       &lanes.step_budget, lanes.memory[lane], worker.scratch);
      if (task.span > 0 && arrivals_) search.report_by(ArrivalRule(*arrivals_, task.span));
      if (transient_ != nullptr) search.report_by(*transient_);
      if (task.watch != nullptr && !task.query->counts_something())
        search.count_in(FoundCounter(task.watch->found(thread, task.progress_index), matches_of_each(task, p)));
      lanes.recorders[lane].open(worker.results[t].records, p, task, pass);
      lanes.sinks.push_back(task.list ? &lanes.recorders[lane] : nullptr);
      lanes.results.push_back(&worker.results[t].plans[p]);
    }
    return lanes;
  }

  /// Runs a piece once the partial match is begun.
  void match_anchor(std::size_t at, const graph::Edge& anchor, Pass pass, const QueryTask& task, unsigned thread,
                    Partial& partial, Summation& summation, const StopFlag* stop) {
    const Piece& piece = pieces_[at];
    Worker& worker = state_[thread];
    QueryResult& into = worker.results[piece.plan.task];
    PlanResult& result = into.plans[piece.plan.plan];
    const plan::Plan& plan = partial.plan();
    StepBudget step_budget(stop);
    const bool sums = !task.list && !piece.plan.walk;
    if (transient_ != nullptr) {
      find_transient(piece, task, into, worker, partial, summation, step_budget, pass, thread);
      return;
    }
    const bool deep = (sums ? plan.count.prefix : plan.levels.size()) >= limits_.levels;
    if (deep) worker.space.open(*task.query, plan, vertices_);
    summation.keep_to(deep ? &worker.space : nullptr);
    if (sums) {
      const Summation::Signed sum = summation.run(piece.share, &step_budget);
      if (step_budget.over()) return;
      keep(at, sum, result);
      if (task.watch != nullptr && piece.share.of == 1 && sum > 0) report_sum(task, piece.plan.plan, sum, thread);
      return;
    }
    FoundCounter tally;
    if (task.watch != nullptr && !task.query->counts_something())
      tally = FoundCounter(task.watch->found(thread, task.progress_index), matches_of_each(task, piece.plan.plan));
    if (!task.list) {
      walk(piece, task, result, worker, partial, step_budget, tally);
      return;
    }
    worker.recorder.open(into.records, piece.plan.plan, task, pass);
    if (!list(piece, task, result, worker, partial, summation, stop, tally)) into.left.push_back({anchor, piece.plan.plan});
  }

  /// Finds the matches that appear and vanish. Only if an anchor has other matches with the removed edges than without them, it
  /// is walked.
  void find_transient(const Piece& piece, const QueryTask& task, QueryResult& into, Worker& worker, Partial& partial,
                      Summation& summation, StepBudget& step_budget, Pass pass, unsigned thread) {
    const plan::Plan& plan = partial.plan();
    const bool sums = !piece.plan.walk && piece.rest == 0 && (!task.list || ordered(task) || !plan.count.ordered);
    if (sums && !differs_with_removed(task, worker, partial, summation, step_budget)) return;
    if (plan.levels.size() >= limits_.levels) worker.space.open(*task.query, plan, vertices_);
    if (task.list) worker.recorder.open(into.records, piece.plan.plan, task, pass);
    FoundCounter tally;
    if (task.watch != nullptr && !task.query->counts_something())
      tally = FoundCounter(task.watch->found(thread, task.progress_index), matches_of_each(task, piece.plan.plan));
    walk(piece, task, into.plans[piece.plan.plan], worker, partial, step_budget, tally);
  }

  /// Whether the anchor has more matches with the removed edges than without them.
  bool differs_with_removed(const QueryTask& task, Worker& worker, Partial& partial, Summation& summation,
                            StepBudget& step_budget) {
    const bool deep = partial.plan().count.prefix >= limits_.levels;
    const auto sum_in = [&](Pass pass) {
      partial.read_as(pass);
      if (deep) worker.space.open(*task.query, partial.plan(), vertices_);
      summation.keep_to(deep ? &worker.space : nullptr);
      return summation.run({}, &step_budget);
    };
    bool differs = true;
    try {
      const Summation::Signed with = sum_in(Pass::transient);
      differs = with != 0 && partial.lists().met_removed() && !step_budget.over() && sum_in(Pass::added) != with;
    } catch (const CountOverflow&) {
      differs = true;  // most likely
    }
    partial.read_as(Pass::transient);
    return differs && !step_budget.over();
  }

  /// Lists the matches of an anchor. A walk may get lost in dead ends. A sum is worked from both sides of the anchor and may
  /// soon show that there is no match. But a sum may take long if a walk would soon find a match. So both take turns, each with
  /// more steps than the one before, until one succeeds. Returns false if none succeeds within the task's steps; then nothing
  /// was listed.
  bool list(const Piece& piece, const QueryTask& task, PlanResult& result, Worker& worker, Partial& partial,
            Summation& summation, const StopFlag* stop, const FoundCounter& tally) {
    // Sums that order constraints restrict do not serve a listing without these constraints.
    const bool sums =
        !piece.plan.walk && piece.rest == 0 && (ordered(task) || !task.plans->plans[piece.plan.plan].count.ordered);
    // If a walk gave a part of its anchor away, some matches are listed already.
    const std::uint64_t most = piece.rest == 0 ? task.steps : StepBudget::unbounded;
    // In batches most anchors lead to no match, and a short sum takes less time than beginning a walk.
    const bool sum_first = sums && (again_ || most == StepBudget::unbounded);
    std::uint64_t steps = sums && !sum_first ? std::min(first_steps, most) : most;
    for (bool walks = !sum_first;; walks = true) {
      if (walks) {
        StepBudget walking(stop, steps);
        if (walk(piece, task, result, worker, partial, walking, tally)) return true;
        if (steps == most) return false;
        steps = steps < most / more_steps ? more_steps * steps : most;
      }
      StepBudget summing(stop, steps);
      const std::optional<bool> leads = leads_somewhere(summation, summing);
      if (summing.stopped() || leads == false) return true;
      if (leads) steps = most;
    }
  }

  /// Returns false if the allowance was not enough; then nothing was found.
  bool walk(const Piece& piece, const QueryTask& task, PlanResult& result, Worker& worker, Partial& partial,
            StepBudget& step_budget, const FoundCounter& tally) {
    if (task.query->conditional()) return walk_conditional(piece, task, result, worker, partial, step_budget, tally);
    Enumerator enumerator(partial, *task.query, ordered(task), &step_budget);
    enumerator.share_with(busy_threads_);
    enumerator.count_in(tally);
    if (transient_ != nullptr) enumerator.report_by(*transient_);
    if (partial.plan().levels.size() >= limits_.levels) enumerator.keep_to(worker.space);
    const std::uint64_t found = enumerator.run(piece.share, task.list ? &worker.recorder : nullptr, parted_.first(piece));
    if (step_budget.over() && !step_budget.stopped()) return false;
    result.found = checked_add(result.found, found);
    if (!enumerator.rests().empty()) worker.donated.push_back({piece, std::move(enumerator.rests())});
    return true;
  }

  bool walk_conditional(const Piece& piece, const QueryTask& task, PlanResult& result, Worker& worker, Partial& partial,
                        StepBudget& step_budget, const FoundCounter& tally) {
    if (time_pass_ && in_time_order(*task.query) && TimeSearch::takes(partial.plan())) {
      TimeSearch search(*time_pass_, *task.query, *time_relations_[piece.plan.task], ordered(task), &step_budget,
                        worker.time_search, worker.scratch);
      if (task.span > 0 && arrivals_) search.report_by(ArrivalRule(*arrivals_, task.span));
      if (transient_ != nullptr) search.report_by(*transient_);
      search.count_in(tally);
      const std::uint64_t found =
          piece.share.index == 0 ? search.run(partial.plan(), partial.lists().anchor(), task.list ? &worker.recorder : nullptr)
                                 : 0;
      if (step_budget.over() && !step_budget.stopped()) return false;
      result.found = checked_add(result.found, found);
      return true;
    }
    ConditionalEnumerator enumerator(partial, *task.query, ordered(task), &step_budget, worker.conditional);
    if (task.span > 0 && arrivals_) enumerator.report_by(ArrivalRule(*arrivals_, task.span));
    if (transient_ != nullptr) enumerator.report_by(*transient_);
    enumerator.count_in(tally);
    if (partial.plan().levels.size() >= limits_.levels) enumerator.keep_to(worker.space);
    const std::uint64_t found = enumerator.run(piece.share, task.list ? &worker.recorder : nullptr);
    if (step_budget.over() && !step_budget.stopped()) return false;
    result.found = checked_add(result.found, found);
    return true;
  }

  /// Whether the anchor leads to a match. No value if the allowance was not enough.
  static std::optional<bool> leads_somewhere(Summation& summation, StepBudget& step_budget) {
    try {
      const Summation::Signed sum = summation.run({}, &step_budget);
      if (step_budget.over()) return std::nullopt;
      return sum != 0;
    } catch (const CountOverflow&) {
      return true;  // most likely
    }
  }

  /// Keeps the sum of a piece.
  void keep(std::size_t at, Summation::Signed sum, PlanResult& result) {
    if (pieces_[at].share.of > 1) {
      shares_[at] = {sum, true};
    } else {
      add(result.sum, sum);
    }
  }

  /// Reports the sum of an anchor. Sums of single shares mean nothing, so they are not reported.
  static void report_sum(const QueryTask& task, std::size_t plan, Summation::Signed sum, unsigned thread) {
    const Count matches = static_cast<Count>(sum) / task.plans->plans[plan].count.divisor;
    const std::uint64_t each = ordered(task) ? matches_of_each(task, plan) : 1;
    FoundCounter(task.watch->found(thread, task.progress_index), each)
        .add(matches > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(matches));
  }

  static void add(Summation::Signed& total, Summation::Signed sum) {
    if (__builtin_add_overflow(total, sum, &total)) throw_count_overflow();
  }

  // Adds up the shares of each anchor. Single shares may be negative, so an anchor counts only once all its shares are summed.
  void add_shares(std::span<QueryResult> results) {
    for (std::size_t first = 0; first < shares_.size(); first += pieces_[first].share.of) {
      const auto group = std::span(shares_).subspan(first, pieces_[first].share.of);
      if (!std::all_of(group.begin(), group.end(), [](const ShareSum& share) { return share.done; })) continue;
      const PlanRef& plan = pieces_[first].plan;
      for (const ShareSum& share : group) add(results[plan.task].plans[plan.plan].sum, share.sum);
    }
  }

  void plan_pieces(const graph::DataGraph& graph, Pass pass, std::span<const graph::Edge> anchors,
                   std::span<const QueryTask> tasks, std::span<const graph::Resolved> resolved, std::span<QueryResult> results,
                   const StopFlag* stop) {
    planner_.plan({.graph = graph,
                   .pass = pass,
                   .anchors = anchors,
                   .tasks = tasks,
                   .resolved = resolved,
                   .rule = families_ ? &*families_ : nullptr,
                   .dead = dead_,
                   .may_split = transient_ == nullptr && workers_->size() > 1,
                   .stop = stop},
                  pieces_, results);
    split_ = std::ranges::any_of(pieces_, [](const Piece& piece) { return piece.share.of > 1; });
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
    into.left.insert(into.left.end(), from.left.begin(), from.left.end());
  }

  Workers* workers_;
  std::vector<Worker> state_;
  const std::function<void(std::size_t)>* begins_ = nullptr;
  std::optional<ArrivalMarks> arrivals_;      // of the pass, if it has marks
  const TransientRule* transient_ = nullptr;  // of the pass
  bool noting_ = false;                       // the pass notes where it meets removed edges
  std::vector<Piece> noted_;                  // the pieces of the pass that did so; empty: none did
  std::vector<std::uint8_t> met_removed_;     // by these pieces
  TimeMirror time_lists_;
  std::optional<TimePass> time_pass_;                                 // of the pass, if a task reads lists in order of time
  std::vector<std::optional<TimeSearch::Relations>> time_relations_;  // by task
  std::vector<std::vector<std::uint8_t>> dead_;  // by task and plan, whether it leads nowhere; empty: none does
  std::optional<FamilyRule> families_;           // if plans of a family are tried together
  std::vector<std::uint64_t> grouped_;           // the tasks for which it was made
  PiecePlanner planner_;
  std::vector<Piece> pieces_;
  QueryNumbers queries_;  // of the tasks
  DonatedPieces parted_;
  BusyThreads busy_threads_;
  SpaceLimits limits_;
  std::size_t vertices_ = 0;      // of the graph
  bool again_ = false;            // the pass has anchors that were left
  std::vector<ShareSum> shares_;  // by piece, if anchors are split
  bool split_ = false;            // some anchor is heavy, so its shares should not all go to one thread
};

}  // namespace

std::unique_ptr<Matcher> make_cpu_matcher(Workers& workers) { return make_cpu_matcher_with(workers, {}); }

std::unique_ptr<Matcher> make_cpu_matcher_with(Workers& workers, const SpaceLimits& limits, const KeepRule& rule) {
  return std::make_unique<CpuMatcher>(workers, limits, rule);
}

std::uint64_t matches_of_each(const QueryTask& task, std::size_t plan) {
  const bool embeddings = task.query->count == CountMode::embeddings;
  if (!ordered(task)) return task.plans->plans[plan].orbit;
  const Count order = embeddings ? task.query->group.order() : Count{1};
  return order > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(order);
}

Count total(const QueryTask& task, std::span<const PlanResult> results) {
  // Sums with the same divisor are added before they are divided: static plans are exact only together.
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
