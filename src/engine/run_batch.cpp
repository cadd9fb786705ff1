// The life cycle of a batch: apply (resolve, net, stage) > estimate > cache > match > deliver > settle.
// Every step that can fail comes before the first change that cannot be undone. Settling cannot fail.
#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "base/checked.hpp"
#include "base/seconds.hpp"
#include "engine/batch/counted_batches.hpp"
#include "engine/batch/division.hpp"
#include "engine/batch/final_batches.hpp"
#include "engine/engine_impl.hpp"
#include "estimate/estimator.hpp"

namespace deltamatch {

using engine::QueryFamily;
using engine::StandingQuery;

namespace {

using Clock = std::chrono::steady_clock;

// What each level of the plans found in a batch: indexed by task, plan and level.
using LevelCounts = std::vector<std::vector<std::vector<double>>>;

struct Matched {  // what one task found in one pass
  std::vector<match::PlanResult> plans;
  Count count = 0;
  MatchDigest digest;  // only if the query lists matches
};

}  // namespace

// Undoes what it has begun, unless it settles. The batch and its options outlive it.
class Engine::Impl::BatchRun {
 public:
  BatchRun(Impl& engine, const UpdateBatch& batch, const BatchOptions& wanted, Purpose purpose);
  ~BatchRun();
  BatchRun(const BatchRun&) = delete;
  BatchRun& operator=(const BatchRun&) = delete;

  // Resolves, nets and stages the batch: the graph then shows both its states.
  void apply();
  // Tries other plans, if that is due. What to cache is estimated by the backend, as a part of match.
  void estimate();
  // Finds what appeared and vanished. A backend estimates and fills its cache first.
  void match();
  void deliver();
  // The batch becomes the graph's state. Does not fail.
  BatchResult settle() noexcept;

 private:
  enum class Stage : std::uint8_t { none, resolved, staged, settled };

  using Tasks = engine::BatchListing::Tasks;
  void find_tasks();
  [[nodiscard]] Count total(std::span<const Matched> of, std::size_t query) const;
  void resolve_and_stage();
  void leave_out_expired();
  void look_for_transient();
  void look_for_counts();
  void look_for_final();
  void divide();
  [[nodiscard]] std::vector<match::QueryTask> make_tasks();
  std::vector<match::QueryResult> match_rounds(std::span<match::QueryTask> tasks, match::MatchSteps& steps);
  void find_beside(std::size_t number, const match::QueryTask& task);
  // The time since `start` went into a query. Sets `start` to now.
  void spend(std::size_t query, Clock::time_point& start);
  void take_seconds(std::span<const match::QueryTask> tasks, std::span<match::QueryResult> results);
  void match_alone(std::span<const match::QueryTask> tasks, std::span<match::QueryResult> results, match::MatchSteps& steps);
  [[nodiscard]] std::vector<Matched> gather(match::Pass pass, std::span<const match::QueryTask> tasks,
                                            std::span<match::QueryResult> results);
  [[nodiscard]] LevelCounts analyze(std::vector<match::QueryTask> tasks) const;
  void match_together(std::span<const match::QueryTask> tasks, std::span<match::QueryResult> results, const StopFlag* stop,
                      match::MatchSteps& steps);
  void match_passes(std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
                    std::span<match::QueryResult> results, const StopFlag* stop, match::MatchSteps& steps);
  [[nodiscard]] bool by_anchor(std::size_t query) const noexcept { return !division_ || division_->by_anchor(query); }
  [[nodiscard]] QueryDelta delta_of(std::size_t query);
  void net_renumbered(std::size_t task, Matched& removed, Matched& added) const;
  void shorten(std::size_t query, QueryDelta& delta) const;
  void let_once_through();
  void write_to(MatchSink& sink);
  void write_query(std::size_t query, MatchSink& sink);
  // Writes what a query lists in a pass.
  void write_pass(std::size_t query, match::Pass pass, bool added, std::uint64_t most, MatchSink& sink);
  void note_actuals() noexcept;
  // Whether listed matches are delivered afterwards.
  [[nodiscard]] bool delivers() const noexcept { return wanted_->sink != nullptr; }

  Impl* engine_;
  const UpdateBatch* batch_;
  const BatchOptions* wanted_;
  Purpose purpose_;
  Stage stage_ = Stage::none;
  BatchResult result_;
  const graph::ResolvedBatch* resolved_ = nullptr;
  [[nodiscard]] std::span<const match::PassWork> net_passes() const noexcept { return std::span(passes_).first(2); }
  [[nodiscard]] std::span<const match::PassWork> passes() const noexcept {
    return std::span(passes_).first(transient_rule_ ? 3 : 2);
  }
  // The net passes with the anchors that most queries are matched from.
  [[nodiscard]] std::span<const match::PassWork> usual_passes() const noexcept {
    return division_ ? division_->own_passes().first(2) : net_passes();
  }

  std::array<match::PassWork, 3> passes_{};  // the last one is that of transient matches
  std::optional<match::TransientRule> transient_rule_;
  std::vector<graph::Edge> deleted_;               // by records, if edges are kept for conditions
  std::vector<Timestamp> deleted_marks_;           // their marks
  std::vector<StandingQuery*> variants_;           // by task
  std::vector<Tasks> tasks_;                       // by query
  std::vector<double> spent_;                      // seconds of matching, by query
  std::optional<engine::CountedBatches> counted_;  // if a query counts
  std::optional<engine::FinalBatches> final_;      // if a query says EMIT FINAL
  std::optional<engine::BatchDivision> division_;  // if the engine owns some of the slots only
  std::vector<Matched> removed_;                   // by task, as are the next two
  std::vector<Matched> added_;
  std::vector<Matched> transient_;               // they appear and vanish
  std::vector<engine::LetThrough> let_through_;  // by query, if one says ALERT ONCE
  LevelCounts levels_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point staged_;
};

BatchResult Engine::Impl::run(const UpdateBatch& batch, const BatchOptions& wanted, Purpose purpose) {
  BatchRun run(*this, batch, wanted, purpose);
  run.apply();
  if (purpose == Purpose::process || (purpose == Purpose::absorb && remembers())) {
    run.estimate();
    run.match();
    run.deliver();
  }
  return run.settle();
}

Engine::Impl::BatchRun::BatchRun(Impl& engine, const UpdateBatch& batch, const BatchOptions& wanted, Purpose purpose)
    : engine_(&engine), batch_(&batch), wanted_(&wanted), purpose_(purpose) {
  const auto lists = [](const auto& entry) { return entry.second->options.list; };
  if (delivers() && !engine.standing.empty() && std::ranges::none_of(engine.standing, lists)) {
    throw Error(ErrorKind::configuration, "sink", "no standing query lists its matches",
                "set QueryOptions::list, or give no sink");
  }
}

Engine::Impl::BatchRun::~BatchRun() {
  if (stage_ == Stage::staged) {
    for (const auto& [id, query] : engine_->standing) {
      if (query->once) query->once->memory().undo();
      for (const auto& variant : query->variants) {
        if (variant->wait) variant->wait->undo();
      }
    }
    engine_->anticipation.end();
    engine_->listing.clear();
    engine_->graph.unstage();
  }
  if (stage_ == Stage::resolved || stage_ == Stage::staged) engine_->resolver.undo();
  engine_->watch.end();
}

void Engine::Impl::BatchRun::apply() {
  Impl& engine = *engine_;
  const bool budgets = purpose_ == Purpose::process &&
                       std::ranges::any_of(engine.standing, [](const auto& entry) { return entry.second->budget.any(); });
  engine.watch.begin(*wanted_, budgets);
  engine.watch.ask();
  {
    const BackendStep step(*engine.backend, "apply");
    engine.resolver.limit_labels(purpose_ == Purpose::absorb ? UINT64_MAX : engine.label_limit);
    engine.resolver.watch_vertex_attributes(engine.watches_vertices);
    const bool windowed = engine.window && !engine.retains();
    engine.resolver.go_by_record(windowed && wanted_->record_by_record);
    engine.resolver.limit_rise(wanted_->record_by_record ? engine.longest_rise() : 0);
    const bool within =
        std::ranges::any_of(engine.standing, [](const auto& entry) { return entry.second->query.within.has_value(); });
    engine.resolver.mark_changes(engine.retains() || within ||
                                 (windowed && (engine.waits() || (wanted_->record_by_record && !engine.standing.empty()))));
    engine.resolver.count_late(within ? std::optional(engine.options.allowed_lateness) : std::nullopt);
    engine.workers.stand_by([this] { resolve_and_stage(); });
    for (const auto& [id, query] : engine.standing) {
      for (const auto& variant : query->variants) {
        if (variant->wait) variant->wait->note(variant->bound, resolved_->net.inserted);
      }
    }
  }
  staged_ = Clock::now();
  engine.watch.ask();
  if (wanted_->upcoming && engine.capabilities.frees_cores) engine.anticipation.begin(engine.resolver, wanted_->upcoming);
}

void Engine::Impl::BatchRun::resolve_and_stage() {
  Impl& engine = *engine_;
  const auto relabelling = purpose_ == Purpose::start ? graph::Relabelling::whole_graph : graph::Relabelling::stream;
  resolved_ = &engine.resolver.resolve(*batch_, wanted_->on_reject, engine.watermark, relabelling, engine.watch.stop());
  stage_ = Stage::resolved;
  result_.consumed = resolved_->consumed;
  result_.cut = resolved_->cut;
  result_.inserted = resolved_->net.inserted.size();
  result_.deleted = resolved_->net.removed.size();
  result_.expired = resolved_->expired;
  result_.out_of_order = resolved_->out_of_order;
  result_.ignored = resolved_->ignored;
  result_.rejects = resolved_->rejects;
  result_.watermark = resolved_->watermark;
  engine.bind_anew();
  engine.graph.stage(resolved_->net, engine.workers);
  stage_ = Stage::staged;
}

void Engine::Impl::BatchRun::estimate() {
  const graph::NetBatch& net = resolved_->net;
  passes_[0] = {.pass = match::Pass::removed,
                .anchors = net.removed,
                .marked = net.removed,
                .marks = resolved_->removed_marks,
                .changed = net.removed};
  passes_[1] = {.pass = match::Pass::added,
                .anchors = net.inserted,
                .marked = net.inserted,
                .marks = resolved_->inserted_marks,
                .changed = net.inserted};
  if (engine_->retains()) leave_out_expired();
  look_for_transient();
  find_tasks();
  look_for_counts();
  look_for_final();
  divide();
  std::optional<double> closure;
  for (StandingQuery* variant : variants_) variant->refresh_plans(closure);
  const auto start = Clock::now();
  const std::span<const match::PassWork> tried = usual_passes();
  engine_->trials.remember(tried);
  if (!engine_->options.backend)
    engine_->trials.expect(engine_->graph, tried, variants_, engine_->on_cpu(), engine_->watch.stop());
  if (!engine_->trials.due(tried)) return;
  engine_->trials.run(engine_->graph, tried, variants_, engine_->on_cpu(), engine_->watch.stop());
  result_.seconds.estimate = seconds_since(start);
}

void Engine::Impl::BatchRun::find_tasks() {
  for (const auto& [id, query] : engine_->standing) {
    tasks_.push_back({variants_.size(), query->variants.size()});
    for (const auto& variant : query->variants) variants_.push_back(variant.get());
  }
}

// No match of an edge that has expired is reported, so the search begins at other edges only. A search that begins at one of
// these may still meet expired edges. It then reports nothing, by the rule of arrival.
void Engine::Impl::BatchRun::leave_out_expired() {
  for (std::size_t i = 0; i < resolved_->removed_marks.size(); ++i) {
    if (resolved_->removed_marks[i] == INT64_MAX) continue;
    deleted_.push_back(resolved_->net.removed[i]);
    deleted_marks_.push_back(resolved_->removed_marks[i]);
  }
  passes_[0].anchors = deleted_;
  passes_[0].marked = deleted_;
  passes_[0].marks = deleted_marks_;
}

// Matches of edges that expire in this batch and of edges that it inserts may have existed in between.
void Engine::Impl::BatchRun::look_for_transient() {
  if (!wanted_->record_by_record || engine_->retains() || resolved_->passed.empty() || resolved_->net.inserted.empty()) return;
  const graph::NetBatch& net = resolved_->net;
  transient_rule_.emplace(net.inserted, resolved_->inserted_marks, net.removed, resolved_->passed, *engine_->window);
  passes_[2] = {.pass = match::Pass::transient,
                .anchors = net.inserted,
                .marked = net.inserted,
                .marks = resolved_->inserted_marks,
                .changed = net.inserted,
                .transient = &*transient_rule_};
}

// Prepares what queries that count need to know of the batch.
void Engine::Impl::BatchRun::look_for_counts() {
  const auto counts = [](const StandingQuery* variant) { return variant->bound.counts_something(); };
  if (std::ranges::none_of(variants_, counts)) return;
  counted_.emplace(engine_->graph, engine_->resolver, passes_[1], passes_[0]);
  for (const StandingQuery* variant : variants_)
    counted_->add(variant->bound, engine_->report_span(*variant), {engine_->watermark, resolved_->watermark});
}

// Takes out the edges whose bounds the batch passes.
void Engine::Impl::BatchRun::look_for_final() {
  if (!engine_->waits()) return;
  const Timestamp window = engine_->options.window;
  final_.emplace(engine_->graph, *resolved_, engine_->watermark, window);
  for (const StandingQuery* variant : variants_) final_->add(variant->wait.get());
}

// Divides the work, if the engine owns some of the slots only.
void Engine::Impl::BatchRun::divide() {
  if (engine_->share.whole()) return;
  division_.emplace(engine_->share, engine_->graph, passes());
  for (const auto& [id, query] : engine_->standing) division_->add(*query, resolved_->renumbered());
}

void Engine::Impl::BatchRun::match() {
  const auto start = Clock::now();
  std::vector<match::QueryTask> tasks = make_tasks();
  match::MatchSteps steps;
  std::vector<match::QueryResult> results = match_rounds(tasks, steps);
  if (!resolved_->net.removed.empty() || !resolved_->net.inserted.empty()) {
    engine_->trials.matched(seconds_since(start));
    if (engine_->analyzing) levels_ = analyze(tasks);
  }
  result_.seconds.estimate += steps.estimate;
  result_.seconds.cache = steps.cache;
  removed_ = gather(match::Pass::removed, tasks, std::span(results).first(tasks.size()));
  added_ = gather(match::Pass::added, tasks, std::span(results).subspan(tasks.size(), tasks.size()));
  if (transient_rule_) transient_ = gather(match::Pass::transient, tasks, std::span(results).last(tasks.size()));
  take_seconds(tasks, results);
  for (std::size_t q = 0; q < engine_->standing.size(); ++q) {
    result_.queries.push_back(delta_of(q));
    result_.queries.back().seconds = spent_[q];
  }
  let_once_through();
  engine_->watch.ask();
}

std::vector<match::QueryTask> Engine::Impl::BatchRun::make_tasks() {
  std::vector<match::QueryTask> tasks;
  std::vector<engine::BatchWatch::Followed> followed;
  followed.reserve(engine_->standing.size());
  for (const auto& [id, query] : engine_->standing) followed.push_back({id, query->budget});
  engine_->watch.follow(followed, engine_->workers.size(), engine_->matcher->separates_tasks());
  tasks.reserve(variants_.size());
  for (const StandingQuery* variant : variants_) {
    const bool list = variant->options.list || resolved_->renumbered() || variant->needs_list();
    tasks.push_back({&variant->bound, &variant->plans, list});
    tasks.back().span = engine_->report_span(*variant);
  }
  for (std::size_t q = 0; q < tasks_.size(); ++q) {
    for (match::QueryTask& task : std::span(tasks).subspan(tasks_[q].first, tasks_[q].count)) {
      engine_->watch.attach(q, task);
      task.family = q;
    }
  }
  return tasks;
}

// Matches all queries together. If a budget is exceeded and nobody knows by which query, matches each query alone.
std::vector<match::QueryResult> Engine::Impl::BatchRun::match_rounds(std::span<match::QueryTask> tasks,
                                                                     match::MatchSteps& steps) {
  std::vector<match::QueryResult> results(passes().size() * tasks.size());
  spent_.assign(tasks_.size(), 0);
  std::vector<const engine::Delivery*> deliveries;
  deliveries.reserve(variants_.size());
  for (const StandingQuery* variant : variants_) deliveries.push_back(&variant->delivery);
  const bool renumbered = resolved_->renumbered();
  const auto begin_anew = [&] {
    const bool keep = delivers() || renumbered || engine_->remembers() || engine_->waits();
    engine_->listing.open(engine_->graph, tasks, deliveries, renumbered, keep, engine_->watch);
    if (counted_) counted_->filter(engine_->listing);
    if (final_) final_->filter(engine_->listing);
    if (division_) division_->keep_own(engine_->listing);
    for (std::size_t i = 0; i < results.size(); ++i) {
      results[i] = {};
      results[i].plans.resize(tasks[i % tasks.size()].plans->plans.size());
    }
  };
  begin_anew();
  const bool edges = !passes_[0].anchors.empty() || !passes_[0].changed.empty() || !passes_[1].anchors.empty();
  if (!edges && !(counted_ && counted_->touches_vertices()) && !(final_ && final_->due())) return results;
  const StopFlag* stop = engine_->watch.begin_round();
  match_together(tasks, results, stop, steps);
  for (std::size_t t = 0; t < tasks.size(); ++t) find_beside(t, tasks[t]);
  throw_if_stopped(engine_->watch.stop());
  if (engine_->watch.end_round()) {
    take_seconds(tasks, results);
    begin_anew();
    match_alone(tasks, results, steps);
  }
  return results;
}

// Finds the matches that no changed edge leads to.
void Engine::Impl::BatchRun::find_beside(std::size_t number, const match::QueryTask& task) {
  if (!counted_ && !final_) return;
  auto start = Clock::now();
  if (counted_) counted_->find_turned(number, task, engine_->workers, engine_->listing);
  if (final_) final_->find(number, task, engine_->workers, engine_->listing);
  spend(task.family, start);
}

void Engine::Impl::BatchRun::spend(std::size_t query, Clock::time_point& start) {
  const auto now = Clock::now();
  spent_[query] += std::chrono::duration<double>(now - start).count();
  start = now;
}

// Adds up what the matcher says of the time of each query.
void Engine::Impl::BatchRun::take_seconds(std::span<const match::QueryTask> tasks, std::span<match::QueryResult> results) {
  for (std::size_t i = 0; i < results.size(); ++i)
    spent_[tasks[i % tasks.size()].family] += std::exchange(results[i].seconds, 0);
}

void Engine::Impl::BatchRun::match_together(std::span<const match::QueryTask> tasks, std::span<match::QueryResult> results,
                                            const StopFlag* stop, match::MatchSteps& steps) {
  if (!division_) {
    match_passes(passes(), tasks, results, stop, steps);
    return;
  }
  for (const bool own : {true, false}) {
    std::vector<match::QueryTask> some;
    std::vector<match::QueryResult*> from;
    for (const match::QueryTask& task : tasks) {
      if (by_anchor(task.family) == own) some.push_back(task);
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (by_anchor(tasks[i % tasks.size()].family) == own) from.push_back(&results[i]);
    }
    if (some.empty()) continue;
    std::vector<match::QueryResult> found;
    for (match::QueryResult* const result : from) found.push_back(std::move(*result));
    match_passes(own ? division_->own_passes() : passes(), some, found, stop, steps);
    for (std::size_t i = 0; i < from.size(); ++i) *from[i] = std::move(found[i]);
  }
}

void Engine::Impl::BatchRun::match_passes(std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
                                          std::span<match::QueryResult> results, const StopFlag* stop,
                                          match::MatchSteps& steps) {
  if (passes.size() == 2 || engine_->matcher->takes_transient()) {
    engine_->matcher->match(engine_->graph, passes, tasks, results, stop, steps);
    return;
  }
  engine_->matcher->match(engine_->graph, passes.first(2), tasks, results.first(2 * tasks.size()), stop, steps);
  std::vector<match::PassWork> last(passes.begin(), passes.end());
  for (match::PassWork& pass : std::span(last).first(2)) pass.anchors = {};
  engine_->on_cpu().match(engine_->graph, last, tasks, results, stop, steps);
}

void Engine::Impl::BatchRun::match_alone(std::span<const match::QueryTask> tasks, std::span<match::QueryResult> results,
                                         match::MatchSteps& steps) {
  for (std::size_t q = 0; q < tasks_.size(); ++q) {
    const auto [first, count] = tasks_[q];
    const auto own = [&](std::size_t pass) { return results.subspan(pass * tasks.size() + first, count); };
    std::vector<match::QueryResult> found;
    for (std::size_t p = 0; p < passes().size(); ++p) std::ranges::move(own(p), std::back_inserter(found));
    match_together(tasks.subspan(first, count), found, engine_->watch.begin_round(q), steps);
    for (std::size_t t = first; t < first + count; ++t) find_beside(t, tasks[t]);
    throw_if_stopped(engine_->watch.stop());
    for (std::size_t p = 0; p < passes().size(); ++p)
      std::ranges::move(std::span(found).subspan(p * count, count), own(p).begin());
  }
  static_cast<void>(engine_->watch.end_round());
}

// The records that are still in `results` are spooled as well.
std::vector<Matched> Engine::Impl::BatchRun::gather(match::Pass pass, std::span<const match::QueryTask> tasks,
                                                    std::span<match::QueryResult> results) {
  std::vector<Matched> matched(tasks.size());
  auto start = Clock::now();
  for (std::size_t q = 0; q < tasks.size(); ++q) {
    matched[q].count = match::total(tasks[q], results[q].plans);
    if (tasks[q].list) {
      tasks[q].taker->take(results[q].records, pass);
      results[q].records = {};
      matched[q].digest = engine_->listing.digest(q, pass);
    }
    if (tasks[q].query->counts_something() || !by_anchor(tasks[q].family)) matched[q].count = engine_->listing.matches(q, pass);
    if (!variants_[q]->options.list) matched[q].digest = {};
    matched[q].plans = std::move(results[q].plans);
    spend(tasks[q].family, start);
  }
  return matched;
}

// Walks all plans and returns what their levels find.
LevelCounts Engine::Impl::BatchRun::analyze(std::vector<match::QueryTask> tasks) const {
  for (match::QueryTask& task : tasks) task.list = true;
  const std::vector<graph::Resolved> query_relations = engine_->graph.resolved();
  estimate::Estimator walker(engine_->workers);
  LevelCounts found(variants_.size());
  const estimate::Accesses& counted =
      walker.count(engine_->graph, net_passes(), tasks, match::make_programs(tasks, query_relations));
  for (std::size_t t = 0; t < variants_.size(); ++t) {
    std::vector<plan::PlanActuals>& actuals = variants_[t]->actuals;
    for (std::size_t p = 0; p < actuals.size(); ++p) {
      actuals[p].partial_matches.resize(counted.plans[t][p].partial_matches.size());  // here, because it may fail
      found[t].push_back(counted.plans[t][p].partial_matches);
    }
  }
  return found;
}

// The matches of all variants of a query.
Count Engine::Impl::BatchRun::total(std::span<const Matched> of, std::size_t query) const {
  if (of.empty()) return 0;
  Count sum = 0;
  for (const Matched& matched : of.subspan(tasks_[query].first, tasks_[query].count)) sum = checked_add(sum, matched.count);
  return sum;
}

QueryDelta Engine::Impl::BatchRun::delta_of(std::size_t query) {
  QueryDelta delta;
  delta.query = engine_->standing[query].first;
  const Count passing = total(transient_, query);
  delta.shortfall = engine_->watch.shortfall(
      query, checked_add(checked_add(total(removed_, query), total(added_, query)), checked_mul(passing, Count{2})));
  for (std::size_t t = tasks_[query].first; t < tasks_[query].first + tasks_[query].count; ++t) {
    Matched& removed = removed_[t];
    Matched& added = added_[t];
    const bool differs = resolved_->renumbered() || variants_[t]->wait;
    if (differs && delta.complete()) net_renumbered(t, removed, added);
    if (!differs || delta.complete()) {
      delta.added = checked_add(delta.added, added.count);
      delta.removed = checked_add(delta.removed, removed.count);
      delta.added_digest.add_all(added.digest);
      delta.removed_digest.add_all(removed.digest);
    }
    if (passing > 0 && delta.complete()) {
      delta.added = checked_add(delta.added, transient_[t].count);
      delta.added_digest.add_all(transient_[t].digest);
      if (!variants_[t]->bound.query.within) {  // else what ages does not vanish
        delta.removed = checked_add(delta.removed, transient_[t].count);
        delta.removed_digest.add_all(transient_[t].digest);
      }
    }
  }
  if (!delta.complete()) shorten(query, delta);
  return delta;
}

// Recounts the matches of a task after a vertex or an edge got a fresh number. A match listed under both signs has not changed.
void Engine::Impl::BatchRun::net_renumbered(std::size_t task, Matched& removed, Matched& added) const {
  for (const bool sign : {false, true}) {
    Matched& matched = sign ? added : removed;
    matched.count = 0;
    matched.digest = {};
    engine_->listing.for_each({task, 1}, sign, UINT64_MAX, [&](std::size_t, const engine::ListedMatch& match) {
      ++matched.count;
      if (variants_[task]->options.list) matched.digest.add(match.id);
    });
  }
}

// Sets what is reported for a query that exceeded its budget.
void Engine::Impl::BatchRun::shorten(std::size_t query, QueryDelta& delta) const {
  const QueryFamily& of = *engine_->standing[query].second;
  if (!of.options.list) return;
  const bool partial = delivers() && wanted_->report_partial;
  if (partial && of.budget.matches) {
    delta.removed = std::min<Count>(delta.removed, *of.budget.matches);
    delta.added = std::min<Count>(delta.added, *of.budget.matches - delta.removed);
  }
  for (const bool sign : {false, true}) {
    MatchDigest& digest = sign ? delta.added_digest : delta.removed_digest;
    digest = {};
    if (!partial) continue;
    engine_->listing.for_each(tasks_[query], sign, static_cast<std::uint64_t>(sign ? delta.added : delta.removed),
                              [&](std::size_t, const engine::ListedMatch& match) { digest.add(match.id); });
  }
}

// Lets ALERT ONCE decide on what was found. If a query exceeded its budget, what is reported of it is decided on.
void Engine::Impl::BatchRun::let_once_through() {
  if (!engine_->remembers()) return;
  let_through_.resize(engine_->standing.size());
  for (std::size_t q = 0; q < engine_->standing.size(); ++q) {
    QueryFamily& query = *engine_->standing[q].second;
    QueryDelta& delta = result_.queries[q];
    if (!query.once || (!delta.complete() && query.options.list && !(delivers() && wanted_->report_partial))) continue;
    const auto most = [&](Count count) { return delta.complete() ? UINT64_MAX : static_cast<std::uint64_t>(count); };
    std::vector<const match::FinalRule*> final_rules;
    final_rules.reserve(query.variants.size());
    for (const auto& variant : query.variants) final_rules.push_back(variant->wait ? &variant->wait->rule() : nullptr);
    let_through_[q] = query.once->decide({.graph = engine_->graph,
                                          .listing = engine_->listing,
                                          .tasks = tasks_[q],
                                          .inserted = resolved_->net.inserted,
                                          .watermark_before = engine_->watermark,
                                          .watermark = resolved_->watermark,
                                          .most_removed = most(delta.removed),
                                          .most_added = most(delta.added),
                                          .transient = delta.complete() && total(transient_, q) > 0,
                                          .report_span = engine_->report_span(query),
                                          .final_rules = std::move(final_rules)});
    engine::apply(let_through_[q], query.options.list, !query.query.within, delta);
  }
}

void Engine::Impl::BatchRun::deliver() {
  if (delivers()) {
    MatchSink& sink = *wanted_->sink;
    try {
      write_to(sink);
      engine_->watch.ask();
      sink.commit();
    } catch (...) {
      sink.abort();
      throw;
    }
  }
  engine_->listing.clear();
}

void Engine::Impl::BatchRun::write_to(MatchSink& sink) {
  sink.begin(engine_->batches + 1);
  auto start = Clock::now();
  for (std::size_t q = 0; q < engine_->standing.size(); ++q) {
    if (!engine_->standing[q].second->options.list) continue;
    write_query(q, sink);
    spend(q, start);
    result_.queries[q].seconds = spent_[q];
  }
}

void Engine::Impl::BatchRun::write_query(std::size_t query, MatchSink& sink) {
  const QueryFamily& of = *engine_->standing[query].second;
  const QueryDelta& delta = result_.queries[query];
  std::uint64_t written = 0;
  for (const bool added : {false, true}) {
    const Count matches = added ? delta.added : delta.removed;
    if (!delta.complete() && (!wanted_->report_partial || matches == 0)) continue;
    const std::uint64_t most = delta.complete() || of.once ? UINT64_MAX : static_cast<std::uint64_t>(matches);
    write_pass(query, added ? match::Pass::added : match::Pass::removed, added, most, sink);
    if (!delta.complete()) written += static_cast<std::uint64_t>(matches);
  }
  if (delta.complete() && total(transient_, query) > 0) {
    write_pass(query, match::Pass::transient, true, UINT64_MAX, sink);
    if (!of.query.within) write_pass(query, match::Pass::transient, false, UINT64_MAX, sink);
  }
  if (!delta.complete()) sink.end({of.query.name, written, delta.shortfall, engine_->batches + 1});
}

void Engine::Impl::BatchRun::write_pass(std::size_t query, match::Pass pass, bool added, std::uint64_t most, MatchSink& sink) {
  const QueryFamily& of = *engine_->standing[query].second;
  const engine::BatchListing::Tasks& tasks = tasks_[query];
  const bool transient = pass == match::Pass::transient;
  const std::vector<MatchId>* only = nullptr;
  if (of.once) {
    const engine::LetThrough& once = let_through_[query];
    only = transient ? &once.transient : added ? &once.added : &once.removed;
  }
  std::deque<engine::MatchSlots> rules;
  std::vector<const engine::SlotRule*> slots;
  if (engine_->share.slots() > 1) {
    const engine::DividedBy by = engine::divided_by(of, resolved_->renumbered());
    const std::span<const graph::Edge> anchors = passes_[static_cast<std::size_t>(transient ? 2 : added ? 1 : 0)].anchors;
    slots.resize(variants_.size());
    for (std::size_t v = 0; v < tasks.count; ++v) {
      slots[tasks.first + v] =
          &rules.emplace_back(engine_->share.slots(), by, engine::anchor_of(variants_[tasks.first + v]->bound, pass), anchors,
                              engine_->graph, of.once ? &of.once->binding(v) : nullptr);
    }
  }
  const graph::NetBatch& net = resolved_->net;
  engine_->listing.deliver(tasks,
                           {added, engine_->batches + 1, resolved_->watermark, added ? net.inserted : net.removed, transient},
                           most, sink, only, slots);
}

BatchResult Engine::Impl::BatchRun::settle() noexcept {
  const auto matched = Clock::now();
  {
    const BackendStep step(*engine_->backend, "settle");
    engine_->workers.stand_by([this] { engine_->graph.settle(engine_->workers); });
    result_.seconds.anticipate = engine_->anticipation.end();
    engine_->commit(purpose_);
    stage_ = Stage::settled;
  }
  for (const auto& [id, query] : engine_->standing) {
    if (query->once) query->once->memory().settle(result_.watermark);
    for (const auto& variant : query->variants) {
      if (variant->wait) variant->wait->settle();
    }
  }
  if (purpose_ == Purpose::process || purpose_ == Purpose::absorb) engine_->parked.clear();
  engine_->watermark = result_.watermark;
  if (purpose_ != Purpose::start && purpose_ != Purpose::load) result_.batch = ++engine_->batches;
  if (purpose_ == Purpose::process) note_actuals();
  StepSeconds& seconds = result_.seconds;
  seconds.apply = std::chrono::duration<double>(staged_ - start_).count();
  seconds.match = std::chrono::duration<double>(matched - staged_).count() - seconds.estimate - seconds.cache;
  seconds.settle = seconds_since(matched);
  return std::move(result_);
}

// Adds what the plans found to the measured figures of explain.
void Engine::Impl::BatchRun::note_actuals() noexcept {
  for (std::size_t q = 0; q < variants_.size(); ++q) {
    StandingQuery& query = *variants_[q];
    for (std::size_t p = 0; p < query.actuals.size(); ++p) {
      plan::PlanActuals& actuals = query.actuals[p];
      for (const auto* pass : {&removed_[q].plans[p], &added_[q].plans[p]}) {
        actuals.anchors += pass->anchors;
        actuals.matches += static_cast<Count>(pass->sum) / query.plans.plans[p].count.divisor + pass->found;
      }
      for (std::size_t l = 0; q < levels_.size() && l < levels_[q][p].size(); ++l)
        actuals.partial_matches[l] += levels_[q][p][l];
    }
  }
}

}  // namespace deltamatch
