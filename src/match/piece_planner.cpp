#include "match/piece_planner.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/seconds.hpp"
#include "match/anchor_fetch.hpp"

namespace deltamatch::match {

namespace {

// A thread screens at most this many anchors at a time.
constexpr std::size_t most_screened = 512;
// If so many plans begin at an anchor, one look at its ends tells which of them can match nothing.
constexpr std::size_t compared_plans = 4;
// An anchor whose ends have more neighbours than this is split into shares: one per this many neighbours.
constexpr std::uint32_t share_degree = 2048;
constexpr std::uint32_t max_shares = 64;

}  // namespace

void PiecePlanner::plan(const Wanted& wanted, std::vector<Piece>& pieces, std::span<QueryResult> results) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::uint64_t> basis = renew(wanted);
  splits_ = wanted.may_split && wanted.graph.base().degree_bound() >= 2 * share_degree;
  const std::size_t anchors = wanted.anchors.size();
  workers_->for_each(anchors, workers_->grain(anchors, most_screened),
                     [&](unsigned number, std::size_t begin, std::size_t end) {
                       if (wanted.stop != nullptr && wanted.stop->load(std::memory_order_relaxed)) return;
                       Thread& thread = threads_[number];
                       const std::size_t first = thread.pieces.size();
                       screen(wanted, begin, end, thread);
                       thread.screen.finish([&](const Screen::Candidate& candidate, bool left) {
                         if (left) {
                           add(wanted, candidate, thread);
                         } else {
                           ++thread.refused[candidate.plan.task][candidate.plan.plan];
                         }
                       });
                       thread.parts.push_back({begin, first, thread.pieces.size()});
                     });
  gather(pieces);
  for (const Thread& thread : threads_) {
    for (std::size_t t = 0; t < wanted.tasks.size(); ++t) {
      for (std::size_t p = 0; p < thread.refused[t].size(); ++p) results[t].plans[p].anchors += thread.refused[t][p];
    }
  }
  share_out(seconds_since(start), pieces.size(), wanted.tasks, results);
  basis_ = std::move(basis);
}

// Makes the indices go on, or begins new ones. Returns their basis. It is kept once the plans are found: if memory runs out
// before, an index may lack some.
std::vector<std::uint64_t> PiecePlanner::renew(const Wanted& wanted) {
  std::vector<std::uint64_t> basis = PlanIndex::basis(wanted.graph, wanted.tasks, wanted.resolved, wanted.rule);
  const bool renews = basis == basis_;
  basis_.clear();
  for (Thread& thread : threads_) {
    if (renews && thread.index) {
      thread.index->renew(wanted.tasks, wanted.resolved, wanted.rule);
    } else {
      thread.index.emplace(wanted.graph, wanted.tasks, wanted.resolved, wanted.rule);
    }
    thread.pieces.clear();
    thread.parts.clear();
    thread.refused.resize(wanted.tasks.size());
    for (std::size_t t = 0; t < wanted.tasks.size(); ++t) thread.refused[t].assign(wanted.tasks[t].plans->plans.size(), 0);
  }
  return basis;
}

// Looks at some anchors. Those plans of each that may have matches become candidates.
void PiecePlanner::screen(const Wanted& wanted, std::size_t begin, std::size_t end, Thread& thread) {
  const graph::DataGraph& graph = wanted.graph;
  thread.screen.begin(wanted.pass);
  for (std::size_t i = begin; i < end; ++i) {
    const graph::Edge& anchor = wanted.anchors[i];
    const auto plans = thread.index->of(anchor);
    if (plans.empty()) continue;
    ScreenTests* tests = wanted.pass == Pass::whole ? nullptr : &thread.index->tests();
    if (tests != nullptr && tests->empty()) tests = nullptr;
    const bool compares = plans.size() >= compared_plans;
    if (tests != nullptr || compares) fetch_ends(graph.base(), wanted.anchors, i);
    const Needs tail = compares ? signature_of(graph, anchor.tail) : Needs{~std::uint64_t{0}, ~std::uint64_t{0}};
    const Needs head = compares ? signature_of(graph, anchor.head) : tail;
    thread.screen.look_at(static_cast<std::uint32_t>(i), anchor, tests);
    for (std::size_t p = 0; p < plans.size(); ++p) {
      const IndexedPlan& plan = plans[p];
      if (!wanted.dead.empty() && wanted.dead[plan.task][plan.plan] != 0) continue;
      if (!plan.may_match(tail, head)) continue;
      if (!thread.screen.take(plan, tests == nullptr ? 0 : tests->of(p))) ++thread.refused[plan.task][plan.plan];
    }
  }
}

// A listing is not split: its sums must cover a whole anchor, to show whether there is a match. Walks are not split either:
// they give long work away, and in shares each would filter all candidates of the first level.
void PiecePlanner::add(const Wanted& wanted, const Screen::Candidate& candidate, Thread& thread) const {
  std::uint32_t shares = 1;
  if (splits_ && !wanted.tasks[candidate.plan.task].list && !candidate.plan.walk) {
    const graph::Edge& anchor = wanted.anchors[candidate.anchor];
    const std::uint32_t degree = std::max(wanted.graph.degree(anchor.tail), wanted.graph.degree(anchor.head));
    shares = std::clamp(degree / share_degree, 1u, max_shares);
  }
  for (std::uint32_t s = 0; s < shares; ++s) thread.pieces.push_back({candidate.anchor, candidate.plan, {s, shares}});
}

// Collects the pieces of all threads.
void PiecePlanner::gather(std::vector<Piece>& pieces) {
  if (threads_.size() == 1) return pieces.swap(threads_[0].pieces);
  std::vector<std::pair<std::size_t, std::span<const Piece>>> parts;  // by their first anchor
  for (const Thread& thread : threads_) {
    for (const Part& part : thread.parts)
      parts.emplace_back(part.anchor, std::span(thread.pieces).subspan(part.begin, part.end - part.begin));
  }
  std::ranges::sort(parts, {}, &decltype(parts)::value_type::first);
  pieces.clear();
  for (const auto& [anchor, part] : parts) pieces.insert(pieces.end(), part.begin(), part.end());
}

// Shares the time out among the queries, by the anchors that refused them. The part of the pieces is left out: it takes far
// longer to run one.
void PiecePlanner::share_out(double seconds, std::size_t pieces, std::span<const QueryTask> tasks,
                             std::span<QueryResult> results) const {
  std::vector<std::uint64_t> refused(tasks.size());
  std::uint64_t all = pieces;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    for (const Thread& thread : threads_) {
      for (const std::uint64_t anchors : thread.refused[t]) refused[t] += anchors;
    }
    all += refused[t];
  }
  if (all == 0) return;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    results[t].seconds += seconds * static_cast<double>(refused[t]) / static_cast<double>(all);
}

}  // namespace deltamatch::match
