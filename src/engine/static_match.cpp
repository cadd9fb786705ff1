// Every data edge is tried as the anchor of the static plans, in portions. Listed matches go to the sink as they are found.
#include "engine/static_match.hpp"

#include <algorithm>
#include <mutex>

#include "engine/deadline.hpp"
#include "engine/delivery.hpp"

namespace deltamatch::engine {

namespace {

using Clock = std::chrono::steady_clock;

// Anchors of a portion: few at first and as many later on as take about the time in between.
constexpr std::size_t least_portion = std::size_t{1} << 6;
constexpr std::size_t most_portion = std::size_t{1} << 16;
constexpr double short_portion = 0.05;  // seconds
constexpr double long_portion = 0.2;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Translates records in the threads that found them; they take turns at the sink.
class Listing final : public match::RecordTaker {
 public:
  Listing(const StaticScene& scene, const match::QueryTask& task, std::optional<std::uint64_t> limit, match::StopFlag& stop,
          MatchSink* sink, std::function<void()> progress)
      : scene_(&scene),
        task_(&task),
        delivery_(*task.query),
        limit_(limit),
        stop_(&stop),
        sink_(sink),
        progress_(std::move(progress)) {}

  void take(const match::Records& records) override {
    if (records.plans.empty()) return;
    Delivery::Batch batch = delivery_.translate(scene_->graph, *task_, records);
    const std::scoped_lock turn(mutex_);
    if (limit_ && batch.ids.size() > *limit_ - written_) {
      batch.keep_first(*limit_ - written_);
      beyond_limit_ = true;
      stop_->store(true);
    }
    written_ += batch.ids.size();
    digest_.add({batch.digest.high, batch.digest.low});
    if (sink_ != nullptr) {
      delivery_.write(scene_->graph, batch, true, 0, scene_->watermark, {}, *sink_);
      sink_->flush();
    }
    progress_();
  }

  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
  [[nodiscard]] const MatchDigest& digest() const noexcept { return digest_; }
  [[nodiscard]] bool beyond_limit() const noexcept { return beyond_limit_; }

 private:
  const StaticScene* scene_;
  const match::QueryTask* task_;
  Delivery delivery_;
  std::optional<std::uint64_t> limit_;
  match::StopFlag* stop_;
  MatchSink* sink_;
  std::function<void()> progress_;  // called in turn as well
  std::mutex mutex_;
  std::uint64_t written_ = 0;
  MatchDigest digest_;
  bool beyond_limit_ = false;
};

class Run {
 public:
  Run(const StaticScene& scene, const Query& query, const StaticOptions& options, MatchSink* sink)
      : scene_(scene),
        options_(options),
        deadline_(options.timeout, stop_),
        bound_(query, options.query.mode, options.query.count, scene.graph, options.induced),
        task_{&bound_, nullptr, options.query.list} {
    scene.graph.resolve_all();
    plans_ = plan::make_static_plans(bound_);
    task_.plans = &plans_;
    found_[0].plans.resize(plans_.plans.size());
    if (!options.query.list) return;
    listing_.emplace(scene_, task_, options.limit, stop_, sink, [this] { tell_progress(); });
    task_.taker = &*listing_;
    if (options.limit) task_.beyond_limit = &stop_;
  }

  StaticResult match() {
    try_every_edge();
    StaticResult result;
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
  [[nodiscard]] Count matches() const { return listing_ ? listing_->written() : match::total(task_, found_[0].plans); }

  void try_every_edge() {
    const graph::DataGraph& graph = scene_.graph;
    std::vector<graph::Edge> anchors;
    for (VertexId v = 0; v < graph.dictionary.capacity() && !stop_.load(); ++v) {
      graph.for_each_edge(v, false, [&](const graph::Edge& edge, Timestamp) {
        anchors.push_back(edge);
        if (anchors.size() >= portion_ && !stop_.load()) try_anchors(anchors);
      });
    }
    if (!anchors.empty() && !stop_.load()) try_anchors(anchors);
  }

  void try_anchors(std::vector<graph::Edge>& anchors) {
    const auto start = Clock::now();
    if (options_.limit) task_.limit = *options_.limit - listing_->written();
    const match::PassWork work{match::Pass::whole, anchors};
    match::MatchSteps steps;
    scene_.matcher.match(scene_.graph, {&work, 1}, {&task_, 1}, found_, &stop_, steps);
    if (listing_) {
      listing_->take(found_[0].records);
      found_[0].records.clear();
    }
    tried_ += anchors.size();
    anchors.clear();
    const double seconds = seconds_since(start);
    if (seconds < short_portion) portion_ = std::min(2 * portion_, most_portion);
    if (seconds > long_portion) portion_ = std::max(portion_ / 2, least_portion);
    tell_progress();
  }

  void tell_progress() {
    if (!options_.progress || stop_.load()) return;
    const double fraction = static_cast<double>(tried_) / static_cast<double>(std::max<std::uint64_t>(1, scene_.graph.edges()));
    if (!options_.progress({fraction, matches()})) stop_.store(true);
  }

  StaticScene scene_;
  const StaticOptions& options_;
  match::StopFlag stop_ = false;
  Deadline deadline_;
  plan::BoundQuery bound_;
  plan::QueryPlans plans_;
  match::QueryTask task_;
  std::vector<match::QueryResult> found_{1};
  std::optional<Listing> listing_;
  std::size_t portion_ = least_portion;
  std::uint64_t tried_ = 0;
};

}  // namespace

StaticResult match_whole(const StaticScene& scene, const Query& query, const StaticOptions& options, MatchSink* sink) {
  if (options.limit && !options.query.list) {
    throw Error(ErrorKind::configuration, "query " + query.name, "a limit applies to listed matches only",
                "list, or drop the limit");
  }
  const auto start = Clock::now();
  Run run(scene, query, options, sink);
  if (!options.query.list || sink == nullptr) {
    StaticResult result = run.match();
    result.seconds = seconds_since(start);
    return result;
  }
  try {
    sink->begin(0);
    StaticResult result = run.match();
    sink->end({query.name, static_cast<std::uint64_t>(result.matches), result.shortfall});
    sink->commit();
    result.seconds = seconds_since(start);
    return result;
  } catch (...) {
    sink->abort();
    throw;
  }
}

}  // namespace deltamatch::engine
