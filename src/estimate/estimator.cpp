#include "estimate/estimator.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/checked.hpp"

namespace deltamatch::estimate {

namespace {

// Pieces that a thread takes at a time.
constexpr std::size_t grain = 32;
// A pilot visits this share of what the rounds will.
constexpr double pilot_share = 0.125;

double now() noexcept { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

double formula_walks(double levels, double reach, double alpha, double delta, double accesses) noexcept {
  return levels * (2 + alpha) * reach / (alpha * alpha * (1 - delta) * accesses);
}

double paper_walks(double anchors, double degree, double query_vertices) noexcept {
  return anchors * std::pow(degree / 32, query_vertices - 2) / (32.0 * 32.0);
}

Estimator::Estimator(Workers& workers, const Options& options)
    : workers_(&workers), options_(options), state_(workers.size()) {}

const Accesses& Estimator::run(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                               std::span<const match::QueryTask> tasks, const match::Programs& programs) {
  started_ = now();
  prepare(graph, passes, tasks, programs);
  if (pieces_.empty()) {
    finish(1);
    return result_;
  }
  if (options_.method == Method::walks) {
    run_walks(first_walks(passes));
  } else {
    run_even(first_walks(passes));
  }
  return result_;
}

const Accesses& Estimator::count(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                                 std::span<const match::QueryTask> tasks, const match::Programs& programs) {
  prepare(graph, passes, tasks, programs);
  round(Draw::all, 1, 0);
  finish(1);
  result_.walks = 0;
  return result_;
}

void Estimator::run_walks(double first) {
  double done = 0;
  // The formula starts small: only an estimate tells what is enough.
  double wanted = options_.count == WalkCount::formula ? options_.least : first;
  for (;;) {
    while (done < wanted && (done == 0 || in_time())) {
      const double walks = std::ceil(std::min(options_.round, wanted - done));
      round(Draw::walks, walks, result_.rounds);
      done += walks;
      ++result_.rounds;
    }
    if (options_.count != WalkCount::formula || done >= options_.most || !in_time()) break;
    // A list that no walk has met is looked up less often than any that was met: nothing is known of it.
    const double least = least_access() / done;
    const double enough = least > 0 ? formula_walks(levels_, reach_, options_.alpha, options_.delta, least) : options_.most;
    if (enough <= done) break;
    wanted = std::min(enough, options_.most);
  }
  result_.walks = done;
  finish(done);
}

void Estimator::run_even(double walks) {
  const double each = std::min(options_.round, walks);
  round(Draw::pilot, std::max(1.0, each * pilot_share), 0);
  set_targets(each, 1);
  clear();
  do {
    ++result_.rounds;
    round(Draw::even, each, result_.rounds);
  } while (each * result_.rounds < walks && in_time());
  result_.walks = each * result_.rounds;
  finish(result_.rounds);
}

// Lets each node be visited `walks` times, or as often as it has partial matches.
void Estimator::set_targets(double walks, double divisor) {
  for (Loaded& loaded : loaded_) {
    for (std::size_t n = 0; n < loaded.targets.size(); ++n) {
      Tally::Fixed sum = 0;
      for (const Worker& worker : state_) sum += worker.tally.partial_matches[loaded.first_node + n];
      loaded.targets[n] = std::max(1.0, Tally::value(sum) / divisor / walks);
    }
  }
}

bool Estimator::in_time() const noexcept { return now() - started_ < options_.seconds; }

double Estimator::first_walks(std::span<const match::PassWork> passes) const {
  double walks = options_.walks;
  if (options_.count == WalkCount::paper) {
    double anchors = 0;
    for (const match::PassWork& pass : passes) anchors += static_cast<double>(pass.anchors.size());
    walks = paper_walks(anchors, degree_, query_vertices_);
  } else if (options_.count == WalkCount::formula) {
    walks = formula_walks(levels_, reach_, options_.alpha, options_.delta, 1);
  }
  return std::clamp(walks, options_.least, options_.most);
}

void Estimator::prepare(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                        std::span<const match::QueryTask> tasks, const match::Programs& programs) {
  graph_ = &graph;
  passes_ = passes;
  resolved_ = graph.resolved();
  load(tasks, programs);
  pieces_.clear();
  match::Concern concern(graph, tasks, resolved_);
  for (std::uint32_t p = 0; p < passes.size(); ++p) {
    for (std::uint32_t a = 0; a < passes[p].anchors.size(); ++a) {
      for (const match::PlanRef& plan : concern.of(passes[p].anchors[a])) {
        pieces_.push_back({p, a, static_cast<std::uint32_t>(first_program_[plan.task] + plan.plan)});
      }
    }
  }
  reach_ *= static_cast<double>(pieces_.size());
  result_.pieces = pieces_.size();
  result_.rounds = 0;
  result_.walks = 0;
  clear();
}

void Estimator::load(std::span<const match::QueryTask> tasks, const match::Programs& programs) {
  loaded_.clear();
  first_program_.clear();
  nodes_ = 0;
  reach_ = 1;
  levels_ = 1;
  degree_ = 1;
  query_vertices_ = 2;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    first_program_.push_back(loaded_.size());
    query_vertices_ = std::max<double>(query_vertices_, tasks[t].query->vertices());
    for (std::size_t p = 0; p < tasks[t].plans->plans.size(); ++p) {
      const match::AnchorProgram& program = programs[t][p];
      Loaded loaded{&program, &tasks[t].plans->plans[p], tasks[t].query, nodes_, {}, {}};
      std::vector<double> products(program.program.positions, 1);  // of bounds, by position of the last loop's vertex
      for (const plan::Node& node : program.program.nodes) {
        // Nodes are laid out depth first, so the last product one position up is the parent's.
        double bound = std::numeric_limits<double>::infinity();
        for (const plan::Probe& probe : node.candidates.probes) {
          const graph::Resolved& where = resolved_[probe.reading];
          bound = std::min<double>(bound, where.store == nullptr ? 0 : where.store->longest(where.relation));
        }
        bound = std::max(bound, 1.0);
        loaded.bounds.push_back(bound);
        if (node.steps == 0) continue;
        degree_ = std::max(degree_, bound);
        products[node.position] = products[node.position - 1U] * bound;
        reach_ = std::max(reach_, products[node.position]);
      }
      loaded.targets.assign(loaded.bounds.size(), 1);
      nodes_ += loaded.bounds.size();
      levels_ = std::max<double>(levels_, program.program.positions - 1);
      loaded_.push_back(std::move(loaded));
    }
  }
}

void Estimator::clear() {
  for (Worker& worker : state_) {
    worker.tally.clear(nodes_);
    worker.sums.assign(loaded_.size(), 0);
  }
}

// One round over all pieces.
void Estimator::round(Draw draw, double walks, std::uint64_t number) {
  const auto pieces = static_cast<double>(pieces_.size());
  const double kept = std::min(1.0, walks / pieces);  // share of the pieces that a round without walks begins with
  workers_->for_each(pieces_.size(), grain, [&](unsigned index, std::size_t begin, std::size_t end) {
    Worker& worker = state_[index];
    std::optional<Walker> walker;
    std::uint32_t pass = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Piece& piece = pieces_[i];
      Random random(options_.seed, number, i);
      Visit visit{1, 1};
      if (draw == Draw::walks) {
        visit = {random.binomial(static_cast<std::uint64_t>(walks), 1 / pieces), pieces};
      } else if (draw != Draw::all && kept < 1) {
        visit = {random.uniform() < kept ? 1U : 0U, 1 / kept};
      }
      if (visit.walks == 0) continue;
      if (!walker || piece.pass != pass) {
        pass = piece.pass;
        walker.emplace(match::Lists(graph_->base(), resolved_, graph_->directed(), passes_[pass].pass), worker.scratch,
                       worker.tally, draw, options_.leaves);
      }
      const Walker::Signed sum = walker->run(loaded_[piece.program], passes_[pass].anchors[piece.anchor], visit, random);
      if (__builtin_add_overflow(worker.sums[piece.program], sum, &worker.sums[piece.program])) throw_count_overflow();
    }
  });
}

// The least sum of all lists met so far, to be divided by the walks.
double Estimator::least_access() const {
  boost::unordered_flat_map<std::uint64_t, Tally::Fixed> sums;
  for (const Worker& worker : state_) {
    for (const auto& [key, sum] : worker.tally.accesses) sums[key] += sum;
  }
  Tally::Fixed least = 0;
  for (const auto& [key, sum] : sums) least = least == 0 ? sum : std::min(least, sum);
  return Tally::value(least);
}

// Adds the threads' tallies up and divides.
void Estimator::finish(double divisor) {
  merged_.clear();
  for (const Worker& worker : state_) merged_.insert(merged_.end(), worker.tally.accesses.begin(), worker.tally.accesses.end());
  std::sort(merged_.begin(), merged_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  result_.lists.clear();
  for (std::size_t i = 0; i < merged_.size();) {
    const std::uint64_t key = merged_[i].first;
    Tally::Fixed sum = 0;
    for (; i < merged_.size() && merged_[i].first == key; ++i) sum += merged_[i].second;
    result_.lists.push_back({{static_cast<VertexId>(key >> 1), (key & 1) != 0}, Tally::value(sum) / divisor});
  }
  result_.plans.assign(first_program_.size(), {});
  for (std::size_t t = 0; t < first_program_.size(); ++t) {
    const std::size_t end = t + 1 < first_program_.size() ? first_program_[t + 1] : loaded_.size();
    for (std::size_t p = first_program_[t]; p < end; ++p) {
      PlanFigures& figures = result_.plans[t].emplace_back();
      for (const Worker& worker : state_) figures.sum += worker.sums[p];
      for (std::size_t n = 0; n < loaded_[p].bounds.size(); ++n) {
        Tally::Fixed sum = 0;
        for (const Worker& worker : state_) sum += worker.tally.partial_matches[loaded_[p].first_node + n];
        figures.partial_matches.push_back(Tally::value(sum) / divisor);
      }
    }
  }
}

std::size_t Estimator::bytes() const noexcept {
  std::size_t sum =
      pieces_.capacity() * sizeof(Piece) + merged_.capacity() * sizeof(merged_[0]) + result_.lists.capacity() * sizeof(Access);
  for (const Worker& worker : state_) {
    sum += worker.scratch.bytes() + worker.tally.accesses.bucket_count() * sizeof(*worker.tally.accesses.begin());
  }
  return sum;
}

}  // namespace deltamatch::estimate
