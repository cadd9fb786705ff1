// Matches a whole graph. Every data edge is tried as the anchor of the static plans, in portions. Listed matches go to the sink
// as they are found.
#include "engine/whole/static_match.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "base/deadline.hpp"
#include "base/seconds.hpp"
#include "engine/whole/anchor_edges.hpp"
#include "engine/whole/edge_labels.hpp"
#include "engine/whole/filter_rule.hpp"
#include "engine/whole/held_records.hpp"
#include "engine/whole/portions.hpp"
#include "engine/whole/progress_reporter.hpp"
#include "engine/whole/single_match.hpp"
#include "engine/whole/whole_listing.hpp"
#include "engine/whole/work_estimate.hpp"
#include "filter/filtering.hpp"
#include "match/plan_index.hpp"

namespace deltamatch::engine {

namespace {

using Clock = std::chrono::steady_clock;

// Matching begins again among candidates only if that is expected to take at most this share of the remaining work without
// them.
constexpr double least_gain_again = 0.5;
// Bytes of records that are held back while it is not known whether their portion will be finished without filtering. Few
// enough to be passed on quickly.
constexpr std::uint64_t most_held = std::uint64_t{2} << 20;

// For listing: the steps of a walk or a sum before an anchor is left for later. Each retry has `more_steps` times as many.
constexpr std::uint64_t first_steps = std::uint64_t{1} << 15;
constexpr std::uint64_t more_steps = 8;
// At most this many anchors are left before they are tried again.
constexpr std::size_t most_left = std::size_t{1} << 20;
// If plans have no sums and this many anchors are left, the walks are assumed to be lost in dead ends.
constexpr std::size_t left_before_sums = 64;

// The cost of renumbering vertices, per list entry: as much as reading this many entries.
constexpr double renumbering_cost = 10;
constexpr double slowest_renumbering = 1e-6;  // seconds per entry; renumbering cannot be interrupted

bool reads_candidates(const StaticScene& scene, const plan::BoundQuery& query) {
  return scene.graph.resolve(query.edges[0].query_relation[0]).lent;
}

/// Sums of large queries take long to plan. They are seldom needed if few matches are wanted, or among candidates.
bool begins_without_sums(const StaticScene& scene, const plan::BoundQuery& query, const StaticOptions& options) {
  return options.query.list && (options.limit || reads_candidates(scene, query));
}

/// Counting with symmetry to break gains from another order of the vertices.
bool order_matters(const plan::BoundQuery& query, const StaticOptions& options) {
  return !options.query.list && !query.conditional() && !query.induced && query.mode == MatchMode::isomorphism &&
         query.group.order() > 1;
}

/// The matcher must be open.
void run_filter(const StaticScene& scene, const StaticOptions& options, const match::StopFlag& stop, plan::BoundQuery& query,
                filter::Filtering& filtering) {
  const bool renumbers = order_matters(query, options) && !scene.graph.numbered_by_degree();
  filtering.run(query, scene.graph, options.filter, renumbers ? filter::Numbering::by_degree : filter::Numbering::of_graph,
                scene.workers, stop, scene.matcher.candidate_steps(), options.filter_without);
}

bool filter_is_asked_for(const StaticOptions& options) {
  return options.filter != Filter::automatic && options.filter != Filter::none;
}

/// Opens the matcher, which may have filter steps of its own.
void filter_now(const StaticScene& scene, const StaticOptions& options, const match::StopFlag& stop, plan::BoundQuery& query,
                filter::Filtering& filtering) {
  scene.matcher.open(scene.graph);
  run_filter(scene, options, stop, query, filtering);
}

class Run {
 public:
  Run(const StaticScene& scene, const query::Variant& variant, const StaticOptions& options, MatchSink* sink)
      : scene_(scene),
        options_(options),
        deadline_(options.timeout, stop_, options.stop),
        bound_(variant.query, options.query.mode, options.query.count, scene.graph, options.induced),
        task_{&bound_, nullptr, options.query.list},
        progress_(options.progress, options.limit),
        portions_(scene.workers.size(), scene.matcher.preferred_anchors()) {
    bound_.planner = options.query.planner;
    scene.graph.resolve_all();
    const bool automatic = options.filter == Filter::automatic;
    const FilterCase known = filter_case();
    const bool first = automatic ? filters_before_planning(known) && !ended() : filter_is_asked_for(options);
    if (first) filter_now(scene_, options_, stop_, bound_, filtering_);
    follow(plan_whole(scene_, bound_, options_, stop_));
    const bool second = automatic && !first && filters_before_matching(known, expected_work(plans_)) && !ended();
    if (second) filter_at_once();
    number_by_degree();
    if (automatic && !first && !second) begin_unfiltered(patience(known));
    if (!options.query.list) return;
    listing_.emplace(scene_.graph, scene_.watermark, task_, variant.paths, options.limit, stop_, sink,
                     [this] { report_found(); });
    if (options.in_order) listing_->put_in_order(scene_.spool);
    task_.taker = &*listing_;
    if (limits_records()) task_.beyond_limit = &stop_;
    task_.steps = first_steps;
  }

  /// The plans that matching begins with. `filtered` receives what was filtered before.
  [[nodiscard]] std::string explain(FilterReport* filtered) {
    if (filtered != nullptr) *filtered = filtering_.take_report();
    return plan::to_text(bound_, plans_, {});
  }

  StaticResult match() {
    try_every_edge();
    if (begins_again_) {
      begins_again_ = false;
      try_every_edge();
    }
    if (listing_) listing_->finish();
    StaticResult result;
    result.filter = filtering_.take_report();
    result.edge_labels = edge_labels_read(bound_);
    result.matches = matches();
    if (listing_) result.digest = listing_->digest();
    if (listing_ && listing_->beyond_limit()) {
      result.shortfall = Shortfall::limit;
    } else if (deadline_.passed()) {
      result.shortfall = Shortfall::timeout;
    } else if (stop_.load()) {
      result.shortfall = Shortfall::stopped;
    }
    return result;
  }

 private:
  [[nodiscard]] Count matches() const { return listing_ ? listing_->taken() : match::total(task_, found_[0].plans); }

  /// The query relations must be resolved.
  [[nodiscard]] FilterCase filter_case() const {
    FilterCase known;
    known.labelled = std::ranges::any_of(bound_.labels, [](const plan::LabelIds& labels) { return !labels.empty(); });
    known.far = bound_.vertices() >= long_query && std::ranges::any_of(bound_.edges, [&](const plan::BoundEdge& edge) {
                  const graph::RelationFigures figures = scene_.graph.figures(edge.query_relation[0]);
                  return leads_on(edge.query_relation[0] != edge.query_relation[1], figures.squares,
                                  static_cast<double>(figures.entries));
                });
    known.limited = options_.limit.has_value();
    known.launches = scene_.matcher.preferred_anchors() > 1;
    if (options_.timeout) known.timeout = std::chrono::duration<double>(*options_.timeout).count();
    known.filtering = filter::expected_seconds(bound_);
    return known;
  }

  void filter_at_once() {
    filter_now(scene_, options_, stop_, bound_, filtering_);
    if (!filtering_.no_match() && reads_candidates()) follow(plan_whole(scene_, bound_, options_, stop_));
  }

  void begin_unfiltered(double patience) {
    scene_.matcher.open(scene_.graph);
    patience_.emplace(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(patience)), pause_,
                      [this] { return stop_.load(); });
    portions_.may_lose(patience);
  }

  /// Renumbers the vertices of the whole graph, once, if counting is expected to take several times as long as that.
  void number_by_degree() {
    graph::DataGraph& graph = scene_.graph;
    if (!scene_.may_renumber || graph.edge_table || !graph.schema().vertices.empty() || !order_matters(bound_, options_) ||
        reads_candidates() || graph.numbered_by_degree() || ended())
      return;
    const double entries = 2 * static_cast<double>(graph.edges());
    if (expected_work(plans_) <= renumbering_cost * entries || stop_.load()) return;
    if (options_.timeout && std::chrono::duration<double>(*options_.timeout).count() < slowest_renumbering * entries) return;
    graph.renumber_by_degree(scene_.workers);
    graph.resolve_all();
  }

  [[nodiscard]] bool reads_candidates() const { return engine::reads_candidates(scene_, bound_); }

  void follow(plan::QueryPlans plans) {
    plans_ = std::move(plans);
    without_sums_ = begins_without_sums(scene_, bound_, options_);
    task_.plans = &plans_;
    found_[0].plans.resize(plans_.plans.size());
  }

  /// Whether the limit holds for what the matcher records. Of the records of a query that counts, not all are matches.
  [[nodiscard]] bool limits_records() const { return options_.limit.has_value() && !bound_.counts_something(); }
  [[nodiscard]] bool ended() const { return stop_.load() || begins_again_ || filtering_.no_match(); }

  void try_every_edge() {
    if (ended()) return;
    if (plans_.rooted) return try_every_vertex();
    AnchorEdges anchors(scene_.graph, task_, scene_.workers, stop_);
    portions_.begin(anchors.size());
    measure_work([&](const WorkEstimate& work) { return anchors.sum([&](const graph::Edge& edge) { return work.of(edge); }); });
    while (!ended()) {
      const std::span<const graph::Edge> portion = anchors.next(portions_.next());
      if (portion.empty()) break;
      try_portion({match::Pass::whole, portion, {}, {}, begins(portion)}, portion.size());
      const std::size_t enough = without_sums_ ? left_before_sums : most_left;
      while (left_.size() >= enough && !ended()) try_left();
    }
    while (!left_.empty() && !ended()) try_left();
  }

  /// Tries once more the anchors that were left.
  void try_left() {
    if (without_sums_) {
      follow(plan_whole(scene_, bound_, options_, stop_, plans_.plans[0].anchor.edge, true));
      without_sums_ = false;
    } else {
      task_.steps =
          task_.steps < match::StepBudget::unbounded / more_steps ? more_steps * task_.steps : match::StepBudget::unbounded;
    }
    const std::vector<match::UnfinishedAnchor> left = std::exchange(left_, {});
    for (std::size_t first = 0; first < left.size() && !ended();) {
      const auto portion = std::span(left).subspan(first, std::min(portions_.size(), left.size() - first));
      try_portion({match::Pass::whole, {}, {}, portion, begins(portion)}, 0);
      first += portion.size();
    }
  }

  void try_every_vertex() {
    const std::vector<VertexId> roots = possible_roots();
    portions_.begin(roots.size());
    measure_work([&](const WorkEstimate& work) {
      return std::transform_reduce(roots.begin(), roots.end(), 0.0, std::plus<>(),
                                   [&](VertexId root) { return work.of(root); });
    });
    for (std::size_t first = 0; first < roots.size() && !ended();) {
      const std::size_t size = std::min(portions_.next(), roots.size() - first);
      const auto portion = std::span(roots).subspan(first, size);
      try_portion({match::Pass::whole, {}, portion, {}, begins(portion)}, size);
      first += size;
    }
  }

  /// The vertices that may be images of the root: those with edges and one of its labels. If lists of candidates are read,
  /// these may number vertices in another way, so all vertices are returned. The matcher skips those without a list.
  [[nodiscard]] std::vector<VertexId> possible_roots() const {
    const auto& labels = bound_.labels[plans_.rooted->vertex];
    const bool candidates = reads_candidates();
    const auto possible = [&](VertexId v) {
      return candidates || (scene_.graph.degree(v) > 0 && plan::admits(labels, scene_.graph.dictionary.label(v)));
    };
    // The parts ascend when they are put together.
    const std::size_t vertices = scene_.graph.base().vertices();
    std::vector<std::vector<VertexId>> parts(4 * scene_.workers.size());
    const auto bound = [&](std::size_t part) { return vertices * part / parts.size(); };
    scene_.workers.for_each(parts.size(), 1, [&](unsigned, std::size_t first, std::size_t last) {
      for (std::size_t part = first; part < last; ++part) {
        for (std::size_t v = bound(part); v < bound(part + 1); ++v) {
          if (possible(static_cast<VertexId>(v))) parts[part].push_back(static_cast<VertexId>(v));
        }
      }
    });
    std::vector<VertexId> roots;
    for (const std::vector<VertexId>& part : parts) roots.insert(roots.end(), part.begin(), part.end());
    return roots;
  }

  void try_portion(const match::PassWork& work, std::size_t size) {
    const auto start = Clock::now();
    const std::size_t left_before = left_.size();
    if (!patience_ || !match_unfiltered(work)) {
      if (ended()) return;
      match_portion(work, matches_left(), stop_);
      deliver();
    }
    portions_.tried(size, seconds_since(start));
    if (progress_.asked() && !stop_.load()) progress_.end_portion(matches(), unfinished_work(left_before));
  }

  void match_portion(const match::PassWork& work, std::uint64_t limit, const match::StopFlag& stop) {
    task_.limit = limit;
    match::MatchSteps steps;
    scene_.matcher.match(scene_.graph, {&work, 1}, {&task_, 1}, found_, &stop, steps);
  }

  [[nodiscard]] std::uint64_t matches_left() const { return options_.limit ? *options_.limit - listing_->taken() : 0; }

  void deliver() {
    left_.insert(left_.end(), found_[0].left.begin(), found_[0].left.end());
    found_[0].left.clear();
    if (!listing_) return;
    listing_->take(found_[0].records, match::Pass::whole);
    found_[0].records.clear();
  }

  /// Matches a portion. If that takes too long, filters instead, unless the portion has already listed many matches. Returns
  /// whether the portion is done.
  bool match_unfiltered(const match::PassWork& work) {
    const std::vector<match::PlanResult> before = found_[0].plans;
    const match::QueryTask task = task_;
    std::optional<HeldRecords> held;
    if (listing_) {
      const std::uint64_t most = most_held / ((bound_.vertices() + bound_.edges.size() + 1) * sizeof(std::uint32_t));
      task_.taker = &held.emplace(*listing_, *patience_, options_.limit ? std::min(matches_left(), most) : most);
      if (limits_records()) task_.beyond_limit = &pause_;
    }
    match_portion(work, matches_left(), pause_);
    task_.taker = task.taker;
    task_.beyond_limit = task.beyond_limit;
    const bool enough = limits_records() && held->size() + found_[0].records.plans.size() > matches_left();
    if (!pause_.load() || enough || (held && held->handed_over())) {
      if (held) held->finish();
      deliver();
      return true;
    }
    patience_.reset();
    portions_.lose_none();
    found_[0].plans = before;
    found_[0].records.clear();
    found_[0].left.clear();
    if (!stop_.load()) filter_late();
    return false;
  }

  /// Filters in the middle of matching. Matches found so far stay found. The rest are found from the remaining images of the
  /// same query edge. In two cases matching begins again instead, if that is expected to save enough:
  /// - Symmetry divides the sums. They are only valid over all images, in plans that count the same.
  /// - Counting starts from vertices. Other plans may be cheaper now.
  void filter_late() {
    const double without = expected_work(plans_);  // of the lists that were read so far
    run_filter(scene_, options_, stop_, bound_, filtering_);
    if (filtering_.no_match() || !reads_candidates()) return;
    const bool divided = !listing_ && bound_.mode == MatchMode::isomorphism && bound_.group.order() > 1;
    const bool again = divided || plans_.rooted;
    plan::QueryPlans plans =
        plan_whole(scene_, bound_, options_, stop_, again ? std::nullopt : std::optional(plans_.plans[0].anchor.edge));
    if (stop_.load()) return;
    if (again) {
      if (expected_work(plans) > least_gain_again * portions_.untried() * without) return filtering_.discard_lists(bound_);
      found_[0].plans.clear();
      begins_again_ = true;
    }
    follow(std::move(plans));
  }

  /// The planner's estimate of counting from all anchors or roots.
  [[nodiscard]] double expected_work(const plan::QueryPlans& plans) const {
    if (plans.rooted) return plans.rooted->count.cost;
    double work = 0;
    for (const plan::Plan& plan : plans.plans) {
      const auto entries = static_cast<double>(scene_.graph.figures(bound_.edges[plan.anchor.edge].query_relation[0]).entries);
      work += entries * (plan.count.terms.empty() ? plan.cost : plan.count.cost) / static_cast<double>(plans.plans.size());
    }
    return work;
  }

  /// Sets the work that progress is measured in: of(work) is all of it. Called before the first portion, and again if matching
  /// begins again.
  template <class Of>
  void measure_work(const Of& of) {
    if (!progress_.asked()) return;
    work_.emplace(scene_.graph, bound_, match::ordered(task_) && bound_.group.order() > 1, scene_.workers, stop_);
    progress_.expect(of(*work_));
  }

  template <class Start>
  [[nodiscard]] const std::function<void(std::size_t)>* begins(std::span<const Start> portion) {
    if (!progress_.asked()) return nullptr;
    std::vector<double> work;
    for (const Start& start : portion) work.push_back(work_of(start));
    return progress_.portion(work);
  }
  /// The work of the anchors that were left since there were `before` of them.
  [[nodiscard]] double unfinished_work(std::size_t before) const {
    return std::transform_reduce(left_.begin() + static_cast<std::ptrdiff_t>(before), left_.end(), 0.0, std::plus<>(),
                                 [&](const match::UnfinishedAnchor& left) { return work_of(left); });
  }
  [[nodiscard]] double work_of(VertexId root) const { return work_->of(root); }
  [[nodiscard]] double work_of(const graph::Edge& anchor) const { return work_->of(anchor); }
  [[nodiscard]] double work_of(const match::UnfinishedAnchor& left) const { return work_->of(left.anchor); }

  void report_found() {
    if (progress_.asked() && !stop_.load()) progress_.found(matches());
  }

  StaticScene scene_;
  const StaticOptions& options_;
  match::StopFlag stop_ = false;
  Deadline deadline_;
  match::StopFlag pause_ = false;     // ends matching without a filter; also set if stop_ is
  std::optional<Deadline> patience_;  // set while matching without a filter has not taken long
  filter::Filtering filtering_;
  plan::BoundQuery bound_;
  plan::QueryPlans plans_;
  match::QueryTask task_;
  std::vector<match::QueryResult> found_{1};
  std::optional<WorkEstimate> work_;  // only if progress is reported
  ProgressReporter progress_;
  std::optional<WholeListing> listing_;
  bool without_sums_ = false;                  // the plans have no sums, though they could
  std::vector<match::UnfinishedAnchor> left_;  // nothing was found from these yet
  Portions portions_;
  bool begins_again_ = false;
};

}  // namespace

plan::QueryPlans plan_whole(const StaticScene& scene, const plan::BoundQuery& query, const StaticOptions& options,
                            const match::StopFlag& stop, std::optional<std::uint32_t> anchor, bool sums) {
  sums = sums || !begins_without_sums(scene, query, options);
  plan::StaticPlanning how{anchor, sums, options.query.list, options.count_from, &stop};
  plan::QueryPlans plans;
  try {
    plans = plan::make_static_plans(query, how);
  } catch (const plan::PlanningStopped&) {  // nothing more is matched, but the report of a run needs plans
    how.sums = false;
    plans = plan::make_static_plans(query, how);
  }
  if (plans.rooted && !scene.matcher.takes_root(*plans.rooted, scene.graph.resolved())) plans.rooted.reset();
  return plans;
}

std::string explain_whole(const StaticScene& scene, const Query& query, const StaticOptions& options, FilterReport* filtered) {
  if (query.edges.empty()) {
    const plan::BoundQuery bound(query, options.query.mode, options.query.count, scene.graph);
    scene.graph.resolve_all();
    return plan::to_text(bound, {}, {});
  }
  StaticScene as_it_is = scene;
  as_it_is.may_renumber = false;
  Run run(as_it_is, {query, {}}, options, nullptr);
  return run.explain(filtered);
}

StaticResult match_variant(const StaticScene& scene, const query::Variant& variant, const StaticOptions& options,
                           MatchSink* sink) {
  const auto start = Clock::now();
  if (variant.query.edges.empty()) return match_single(scene, variant.query, options, sink);
  StaticOptions each = options;  // whether a match counts is known only once it has been found
  each.query.list = options.query.list || plan::counts_something(variant.query);
  Run run(scene, variant, each, sink);
  StaticResult result = run.match();
  if (!options.query.list) result.digest = {};
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace deltamatch::engine
