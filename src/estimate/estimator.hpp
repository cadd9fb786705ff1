// Estimates how often the matching of a batch will look up each vertex's lists. It makes random walks through the programs that
// the matcher is about to run. It can also run the programs to count exactly.
//
// Method::walks is that of GCSM (Wei and Jiang, 2024). A walk starts at a piece of work: an anchor and a plan for it. It goes
// to each candidate of a loop with probability 1 / D. D bounds the number of candidates at any partial match of the loop. All M
// walks are merged into one execution that draws how many walks go where. A partial match that b walks reach counts b / M x
// pieces x the product of the D on its way. The mean of that is 1. Nothing more is claimed: walks with a common beginning are
// correlated, so the variance is not that of M independent walks.
//
// Method::even spends the same effort with less variance. A first round, the pilot, follows a few children of every partial
// match that it visits. So it learns how many partial matches each loop has. Every later round visits all partial matches of a
// loop with the same probability: M over their number, or 1 if there are fewer. A visited one counts one over its probability.
// No partial match is visited twice, and none is left out only because some list elsewhere is long.
//
// Sums with tables are followed from a part of the anchors or roots (SumWalker), with both methods. These are drawn in
// proportion to their degrees. The work of one grows with about the square of its degree. Drawing by the square root of the
// work gives the least variance for the effort. As many are drawn, also of a bound vertex's candidates, as it takes to read
// about M lists.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "estimate/accesses.hpp"
#include "estimate/sum_walker.hpp"
#include "estimate/walker.hpp"
#include "match/plan_index.hpp"
#include "match/programs.hpp"

namespace deltamatch::estimate {

enum class Method : std::uint8_t { walks, even };

/// How M, the number of walks, is chosen.
enum class WalkCount : std::uint8_t {
  fixed,
  paper,    ///< |dE| D^(n-2) / 32^n
  formula,  ///< formula (5) of the paper, repeatedly with the least estimate so far
};

struct Options {
  Method method = Method::even;
  WalkCount count = WalkCount::fixed;
  double walks = 0x1p16;  ///< M, if it is fixed
  double alpha = 0.5;     ///< formula: vertices whose accesses differ by this share ...
  double delta = 0.9;     ///< ... are ranked right with this probability
  double least = 0x1p10;  ///< M is kept between these, however it is chosen
  double most = 0x1p22;
  double round = 0x1p18;  ///< M is split into rounds of at most this many
  /// The most walks for a whole graph's first portion, when nothing shows yet how long matching takes.
  double first = std::numeric_limits<double>::infinity();
  /// The share of the time of matching that M walks should take, if the caller reports that time (Estimator::matched). In any
  /// case, no round after the first begins once walks have taken as long as matching.
  double share = 0.05;
  std::uint64_t seed = 1;
  bool leaves = false;  ///< also estimate the candidates of counts
};

/// Formula (5): the walks after which two vertices with C and (1 + alpha) C look-ups are ranked right with probability delta.
/// `reach`: one over the probability that a walk reaches a given partial match of the deepest of `levels` levels.
[[nodiscard]] double formula_walks(double levels, double reach, double alpha, double delta, double accesses) noexcept;
/// The number of walks in the paper's experiments.
[[nodiscard]] double paper_walks(double anchors, double degree, double query_vertices) noexcept;

/// The look-ups of an exact run by piece of work: an anchor or root, and a plan for it.
using Trace = std::vector<std::vector<LookUp>>;

/// Estimates batch after batch. `workers` must outlive it. Memory is kept between runs.
class Estimator {
 public:
  explicit Estimator(Workers& workers, const Options& options = {});

  /// Estimates the accesses of a batch. The passes' batch must be staged, and `programs` must be those that will run
  /// (match::make_programs). The result depends on the arguments and the seed, not on threads. It depends on time only if M
  /// follows the time, or if the time runs out. Valid until the next call.
  const Accesses& run(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                      std::span<const match::QueryTask> tasks, const match::Programs& programs);

  /// Reports how long the matching took that the last run estimated. From then on, M is what takes Options::share of that time,
  /// as far as earlier runs show. It is at least Options::least, and at most what it would be otherwise. Earlier runs then also
  /// show how many partial matches to expect. No run repeats the draws of the run before.
  void matched(double seconds) noexcept;

  /// Counts the accesses exactly by running the programs. Slow; for tests and for measuring coverage. If `trace` is given, it
  /// gets the look-ups of every piece of work in their order. Throws Error if a sum exceeds 127 bits.
  const Accesses& count(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                        std::span<const match::QueryTask> tasks, const match::Programs& programs, Trace* trace = nullptr);

  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  // An anchor or root, and a plan for it.
  struct Piece {
    std::uint32_t pass;
    std::uint32_t anchor;   // or root
    std::uint32_t program;  // index into loaded_
    std::uint32_t degree;   // of the anchor or root, for sums with tables; 0: a program of loops
  };
  using KeySum = std::pair<std::uint64_t, Tally::Sum>;
  struct Worker {
    match::Scratch scratch;
    SumScratch sets;
    Tally tally;
    std::vector<Walker::Signed> sums;  // by program
    std::vector<KeySum> sorted;        // the tally's accesses
  };

  void load(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
            const match::Programs& programs);
  void load_plan(const match::QueryTask& task, const plan::Plan& plan, const match::AnchorProgram& program);
  void load_sums(Loaded&& loaded, std::shared_ptr<const LoadedSums> sums);
  void find_pieces(std::span<const match::QueryTask> tasks, double wanted);
  void add_anchor(match::PlanIndex& plan_index, std::uint32_t pass, std::uint32_t anchor);
  void add_anchors(std::span<const match::QueryTask> tasks, std::uint32_t pass, double wanted);
  void add_roots(std::span<const match::QueryTask> tasks, std::uint32_t pass);
  void clear();
  void round(Draw draw, double walks, std::uint64_t number, Trace* trace = nullptr);
  void pilot(double walks);
  void run_walks(double first);
  void run_even(double walks);
  void set_targets(double walks);
  void remember_populations();
  [[nodiscard]] double first_walks(std::span<const match::PassWork> passes) const;
  [[nodiscard]] bool whole() const noexcept;
  [[nodiscard]] double affordable(double walks) const noexcept;
  void merge();
  [[nodiscard]] double least_access();
  [[nodiscard]] bool in_time() const noexcept;
  void finish(double divisor);

  Workers* workers_;
  Options options_;
  std::vector<Worker> state_;
  std::vector<Piece> pieces_;
  double loops_ = 0;    // pieces whose programs are loops
  double thinned_ = 1;  // one anchor in this many is among the pieces
  std::vector<Loaded> loaded_;
  std::vector<std::size_t> first_program_;  // by task, into loaded_
  std::size_t nodes_ = 0;
  double reach_ = 1;  // pieces x the largest product of bounds
  double levels_ = 1;
  double degree_ = 0;  // the largest bound
  double query_vertices_ = 2;
  double started_ = 0;
  std::uint64_t seed_ = 0;
  std::optional<double> matching_;   // seconds, averaged over the batches before
  std::vector<double> populations_;  // by node, averaged in the same way
  double last_walks_ = 0;            // of the last run that had work to do
  double last_seconds_ = 0;

  const graph::DataGraph* graph_ = nullptr;
  const graph::Adjacency* lists_ = nullptr;  // the lists from which degrees are taken
  std::span<const match::PassWork> passes_;
  std::vector<graph::Resolved> resolved_;
  std::vector<std::vector<KeySum>> parts_;  // the sum of the threads' tallies: ascending, one range after the other
  Accesses result_;
};

}  // namespace deltamatch::estimate
