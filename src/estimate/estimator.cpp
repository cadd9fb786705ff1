#include "estimate/estimator.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/checked.hpp"

namespace deltamatch::estimate {

namespace {

// Pieces that a thread takes at a time.
constexpr std::size_t grain = 32;
// Ranges of keys by which tallies are added up.
constexpr std::size_t ranges_per_thread = 4;
// The weight of the last batch in averages over batches. The largest factor by which the number of walks may change from one
// batch to the next.
constexpr double newest_share = 0.25;
constexpr double most_change = 4;
// A pilot visits this share of what a round visits. For sums with tables, it visits at most `pilot_sums` anchors or roots.
constexpr double pilot_share = 0.125;
constexpr double pilot_sums = 64;
// A whole graph has many anchors. This many per walk are examined.
constexpr double anchors_per_walk = 4;
// Roots that a thread examines at a time.
constexpr std::size_t root_grain = 4096;

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
  load(graph, passes, tasks, programs);
  // Walks of several batches add up to more knowledge if each batch draws different ones.
  seed_ = matching_ ? seed_ + 1 : options_.seed;
  const bool thins = whole() && options_.method == Method::even;
  find_pieces(tasks, thins ? affordable(first_walks(passes)) : std::numeric_limits<double>::infinity());
  if (pieces_.empty()) {
    finish(1);
    return result_;
  }
  const double walks = affordable(first_walks(passes));
  if (options_.method == Method::walks) {
    run_walks(walks);
  } else {
    run_even(walks);
  }
  remember_populations();
  last_walks_ = result_.walks;
  last_seconds_ = now() - started_;
  return result_;
}

void Estimator::matched(double seconds) noexcept {
  matching_ = matching_ ? *matching_ + (seconds - *matching_) * newest_share : seconds;
}

// As many of the walks as the time of matching allows. The time is not proportional to them, so it takes some runs to settle.
double Estimator::affordable(double walks) const noexcept {
  if (!matching_ || last_walks_ == 0) return whole() ? std::min(walks, options_.first) : walks;
  const double ratio = *matching_ * options_.share / std::max(last_seconds_, 1e-9);
  return std::clamp(last_walks_ * std::clamp(ratio, 1 / most_change, most_change), std::min(options_.least, walks), walks);
}

const Accesses& Estimator::count(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                                 std::span<const match::QueryTask> tasks, const match::Programs& programs, Trace* trace) {
  load(graph, passes, tasks, programs);
  find_pieces(tasks, std::numeric_limits<double>::infinity());
  if (trace != nullptr) trace->assign(pieces_.size(), {});
  round(Draw::all, 1, 0, trace);
  finish(1);
  result_.walks = 0;
  return result_;
}

// Learns how many partial matches the loops have, and the cost of following sums.
void Estimator::pilot(double walks) {
  round(Draw::pilot, std::max(1.0, walks * pilot_share), 0);
  set_targets(walks);
  clear();
}

void Estimator::run_walks(double first) {
  double done = 0;
  if (loops_ < static_cast<double>(pieces_.size())) pilot(std::min(options_.round, first));
  // The formula starts small, since only an estimate shows how many walks are enough.
  double wanted = options_.count == WalkCount::formula ? options_.least : first;
  for (;;) {
    while (done < wanted && (done == 0 || in_time())) {
      const double walks = std::ceil(std::min(options_.round, wanted - done));
      round(Draw::walks, walks, result_.rounds);
      done += walks;
      ++result_.rounds;
    }
    if (options_.count != WalkCount::formula || done >= options_.most || !in_time()) break;
    // A list that no walk has met is looked up less often than any list that was met. Nothing more is known of it.
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
  pilot(each);
  do {
    ++result_.rounds;
    round(Draw::even, each, result_.rounds);
  } while (each * result_.rounds < walks && in_time());
  result_.walks = each * result_.rounds;
  finish(result_.rounds);
}

// Sets targets so that each node is visited about `walks` times, or as often as it has partial matches.
void Estimator::set_targets(double walks) {
  for (Loaded& loaded : loaded_) {
    for (std::size_t n = 0; n < loaded.targets.size(); ++n) {
      Tally::Fixed sum = 0;
      for (const Worker& worker : state_) sum += worker.tally.partial_matches[loaded.first_node + n];
      const double before = matching_ && populations_.size() == nodes_ ? populations_[loaded.first_node + n] : 0;
      loaded.targets[n] = std::max({1.0, Tally::value(sum) / walks, before / walks});
    }
  }
}

// Remembers how many partial matches the nodes had. The few walks of a pilot may miss where most of them come from. The round
// would then visit far too many, but earlier runs have met them.
void Estimator::remember_populations() {
  const double share = populations_.size() == nodes_ ? newest_share : 1;
  populations_.resize(nodes_);
  auto population = populations_.begin();
  for (const auto& task : result_.plans) {
    for (const PlanFigures& plan : task) {
      for (const double found : plan.partial_matches) *population++ += (found - *population) * share;
    }
  }
}

bool Estimator::whole() const noexcept {
  return std::ranges::any_of(passes_, [](const match::PassWork& pass) { return pass.pass == match::Pass::whole; });
}

bool Estimator::in_time() const noexcept { return !matching_ || now() - started_ < *matching_; }

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

void Estimator::load(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                     std::span<const match::QueryTask> tasks, const match::Programs& programs) {
  graph_ = &graph;
  lists_ = &match::lists_read(graph);
  passes_ = passes;
  resolved_ = graph.resolved();
  loaded_.clear();
  first_program_.clear();
  nodes_ = 0;
  reach_ = 1;
  levels_ = 1;
  degree_ = 1;
  query_vertices_ = 2;
  const bool roots = std::ranges::any_of(passes, [](const match::PassWork& pass) { return !pass.roots.empty(); });
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    first_program_.push_back(loaded_.size());
    query_vertices_ = std::max<double>(query_vertices_, tasks[t].query->vertices());
    for (std::size_t p = 0; p < tasks[t].plans->plans.size(); ++p)
      load_plan(tasks[t], tasks[t].plans->plans[p], programs[t][p]);
    if (!roots || !tasks[t].plans->rooted) continue;
    const plan::RootedPlan& rooted = *tasks[t].plans->rooted;
    load_sums({nullptr, nullptr, tasks[t].query, nodes_, {}, {}, {}},
              std::make_shared<LoadedSums>(rooted.count, std::span<const plan::Probe>(), rooted.tables));
  }
  for (Worker& worker : state_) {
    for (const Loaded& loaded : loaded_) {
      if (loaded.sums) worker.sets.reserve(graph.base().vertices(), loaded.sums->tables);
    }
  }
}

void Estimator::load_plan(const match::QueryTask& task, const plan::Plan& plan, const match::AnchorProgram& program) {
  Loaded loaded{&program, &plan, task.query, nodes_, {}, {}, {}};
  if (program.tables) {
    load_sums(std::move(loaded), std::make_shared<LoadedSums>(*program.tables, plan.closing, 0));
    return;
  }
  std::vector<double> products(program.program.positions, 1);  // of bounds, by position of the last loop's vertex
  for (const plan::Node& node : program.program.nodes) {
    // Nodes are laid out depth first, so the last product at the previous position belongs to the parent.
    double bound = std::numeric_limits<double>::infinity();
    for (const plan::Probe& probe : node.candidates.probes) {
      const graph::Resolved& where = resolved_[probe.query_relation];
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

void Estimator::load_sums(Loaded&& loaded, std::shared_ptr<const LoadedSums> sums) {
  loaded.bounds.assign(sums->node_count(), std::numeric_limits<double>::infinity());
  loaded.targets.assign(sums->node_count(), 1);
  loaded.sums = std::move(sums);
  nodes_ += loaded.bounds.size();
  loaded_.push_back(std::move(loaded));
}

// Finds the pieces of work. `wanted`: the number of pieces that is enough for a whole graph.
void Estimator::find_pieces(std::span<const match::QueryTask> tasks, double wanted) {
  pieces_.clear();
  thinned_ = 1;
  for (std::uint32_t p = 0; p < passes_.size(); ++p) {
    add_anchors(tasks, p, wanted);
    add_roots(tasks, p);
  }
  loops_ = 0;
  std::vector<double> degrees(loaded_.size());
  for (const Piece& piece : pieces_) {
    loops_ += piece.degree == 0 ? 1 : 0;
    degrees[piece.program] += piece.degree;
  }
  // Targets for the pilot.
  for (std::size_t p = 0; p < loaded_.size(); ++p) {
    if (loaded_[p].sums) loaded_[p].targets[0] = std::max(1.0, degrees[p] / pilot_sums);
  }
  reach_ *= loops_;
  result_.pieces = pieces_.size();
  result_.rounds = 0;
  result_.walks = 0;
  clear();
}

// Adds the anchors of a pass. Of a whole graph's anchors, it takes one of each part, with parts of similar size. The number of
// parts grows until there are enough pieces.
void Estimator::add_anchors(std::span<const match::QueryTask> tasks, std::uint32_t pass, double wanted) {
  match::PlanIndex plan_index(*graph_, tasks, resolved_);
  const std::size_t all = passes_[pass].anchors.size();
  if (passes_.size() == 1) {
    for (double parts = wanted * anchors_per_walk; parts < static_cast<double>(all) / 2; parts *= anchors_per_walk) {
      pieces_.clear();
      Random random(seed_, std::numeric_limits<std::uint64_t>::max(), 0);
      thinned_ = static_cast<double>(all) / std::ceil(parts);
      for (double part = 0; part < parts; ++part) {
        const auto at = static_cast<std::size_t>((part + random.uniform()) * thinned_);
        add_anchor(plan_index, pass, static_cast<std::uint32_t>(std::min(at, all - 1)));
      }
      if (static_cast<double>(pieces_.size()) >= wanted) return;
    }
    pieces_.clear();
    thinned_ = 1;
  }
  for (std::uint32_t a = 0; a < all; ++a) add_anchor(plan_index, pass, a);
}

void Estimator::add_anchor(match::PlanIndex& plan_index, std::uint32_t pass, std::uint32_t anchor) {
  const graph::Edge& edge = passes_[pass].anchors[anchor];
  for (const match::PlanRef& plan : plan_index.of(edge)) {
    const auto program = static_cast<std::uint32_t>(first_program_[plan.task] + plan.plan);
    pieces_.push_back({pass, anchor, program, loaded_[program].sums ? match::table_degree(*lists_, edge.tail, edge.head) : 0});
  }
}

void Estimator::add_roots(std::span<const match::QueryTask> tasks, std::uint32_t pass) {
  const std::span<const VertexId> roots = passes_[pass].roots;
  if (roots.empty()) return;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const std::size_t end = t + 1 < tasks.size() ? first_program_[t + 1] : loaded_.size();
    std::vector<std::vector<Piece>> parts((roots.size() + root_grain - 1) / root_grain);
    workers_->for_each(parts.size(), 1, [&](unsigned, std::size_t first, std::size_t last) {
      for (std::size_t part = first; part < last; ++part) {
        for (std::size_t i = part * root_grain; i < std::min(roots.size(), (part + 1) * root_grain); ++i) {
          if (!match::may_be_root(tasks[t], roots[i], resolved_)) continue;
          parts[part].push_back(
              {pass, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(end - 1), lists_->degree(roots[i])});
        }
      }
    });
    for (const auto& part : parts) pieces_.insert(pieces_.end(), part.begin(), part.end());
  }
}

void Estimator::clear() {
  for (Worker& worker : state_) {
    worker.tally.clear(nodes_);
    worker.sums.assign(loaded_.size(), 0);
  }
}

// One round over all pieces. `trace`: null, or what records it, by piece.
void Estimator::round(Draw draw, double walks, std::uint64_t number, Trace* trace) {
  const double kept = std::min(1.0, walks / loops_);  // share of the loops' pieces from which a round without walks starts
  workers_->for_each(pieces_.size(), grain, [&](unsigned index, std::size_t begin, std::size_t end) {
    Worker& worker = state_[index];
    std::optional<Walker> loops;
    std::optional<SumWalker> sums;
    std::uint32_t pass = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Piece& piece = pieces_[i];
      const Loaded& loaded = loaded_[piece.program];
      Random random(seed_, number, i);
      Visit visit{1, 1};
      if (loaded.sums) {
        const double p = draw == Draw::all ? 1 : chance(piece.degree, loaded.targets[0]);
        visit = {random.uniform() < p ? 1U : 0U, 1 / p};
      } else if (draw == Draw::walks) {
        visit = {random.binomial(static_cast<std::uint64_t>(walks), 1 / loops_), loops_};
      } else if (draw != Draw::all) {
        visit = {random.uniform() < kept ? 1U : 0U, 1 / kept};
      }
      if (visit.walks == 0) continue;
      visit.scale *= thinned_;
      worker.tally.trace = trace == nullptr ? nullptr : &(*trace)[i];
      if (!loops || piece.pass != pass) {
        pass = piece.pass;
        const match::Lists lists(graph_->base(), resolved_, graph_->directed(), passes_[pass].pass);
        loops.emplace(lists, worker.scratch, worker.tally, draw, options_.leaves);
        // Estimates from walks are divided by the number of walks.
        sums.emplace(lists, worker.scratch, worker.sets, worker.tally, draw, draw == Draw::walks ? walks : 1);
      }
      const match::PassWork& work = passes_[pass];
      if (loaded.sums) {
        const SumWalker::Visit from{match::table_shares(piece.degree), visit.scale, static_cast<double>(piece.degree)};
        if (loaded.plan == nullptr) {
          sums->run(loaded, work.roots[piece.anchor], from, random);
        } else {
          sums->run(loaded, work.anchors[piece.anchor], from, random);
        }
        continue;
      }
      const Walker::Signed sum = loops->run(loaded, work.anchors[piece.anchor], visit, random);
      if (__builtin_add_overflow(worker.sums[piece.program], sum, &worker.sums[piece.program])) throw_count_overflow();
    }
  });
}

// Adds up the threads' tallies, by ranges of keys.
void Estimator::merge() {
  const auto by_key = [](const KeySum& a, const KeySum& b) { return a.first < b.first; };
  workers_->for_each(state_.size(), 1, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Worker& worker = state_[i];
      worker.sorted.assign(worker.tally.accesses.begin(), worker.tally.accesses.end());
      std::sort(worker.sorted.begin(), worker.sorted.end(), by_key);
    }
  });
  const auto most = std::max_element(state_.begin(), state_.end(),
                                     [](const Worker& a, const Worker& b) { return a.sorted.size() < b.sorted.size(); });
  const std::size_t ranges = std::min(most->sorted.size(), ranges_per_thread * state_.size());
  const auto part_of = [&](const Worker& worker, std::size_t range) {
    if (range == 0) return worker.sorted.begin();
    if (range == ranges) return worker.sorted.end();
    const KeySum& border = most->sorted[range * most->sorted.size() / ranges];
    return std::lower_bound(worker.sorted.begin(), worker.sorted.end(), border, by_key);
  };
  parts_.resize(ranges);
  workers_->for_each(ranges, 1, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t range = begin; range < end; ++range) {
      std::vector<KeySum>& part = parts_[range];
      part.clear();
      for (const Worker& worker : state_) part.insert(part.end(), part_of(worker, range), part_of(worker, range + 1));
      std::sort(part.begin(), part.end(), by_key);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < part.size(); ++i) {
        if (kept > 0 && part[kept - 1].first == part[i].first) {
          part[kept - 1].second.add(part[i].second);
        } else {
          part[kept++] = part[i];
        }
      }
      part.resize(kept);
    }
  });
}

// The least sum of all lists met so far, still to be divided by the number of walks. 0 if no list was met.
double Estimator::least_access() {
  merge();
  Tally::Fixed least = 0;
  for (const auto& part : parts_) {
    for (const auto& [key, sum] : part) least = least == 0 ? sum.times() : std::min(least, sum.times());
  }
  return Tally::value(least);
}

void Estimator::finish(double divisor) {
  merge();
  result_.lists.clear();
  std::array<Tally::Fixed, drawn_kinds> drawn{};
  for (const auto& part : parts_) {
    for (const auto& [key, sum] : part) {
      Access& access = result_.lists.emplace_back(stored_of(key), Tally::value(sum.times()) / divisor);
      for (std::size_t k = 0; k < drawn_kinds; ++k) {
        access.drawn[k] = Tally::value(sum.drawn[k]) / divisor;
        drawn[k] += sum.drawn[k];
      }
    }
  }
  for (std::size_t k = 0; k < drawn_kinds; ++k) {
    Tally::Fixed sum = 0;
    for (const Worker& worker : state_) sum += worker.tally.deviations[k];
    result_.noise[k] = drawn[k] == 0 ? 0 : Tally::value(sum) / Tally::value(drawn[k]) / divisor;
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
  std::size_t sum = pieces_.capacity() * sizeof(Piece) + result_.lists.capacity() * sizeof(Access);
  for (const auto& part : parts_) sum += part.capacity() * sizeof(KeySum);
  for (const Worker& worker : state_) {
    sum += worker.scratch.bytes() + worker.sets.bytes() + worker.tally.accesses.bucket_count() * sizeof(KeySum) +
           worker.sorted.capacity() * sizeof(KeySum);
  }
  return sum;
}

}  // namespace deltamatch::estimate
