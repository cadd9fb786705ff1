// How often the matching of a batch will look up each vertex's lists: estimated from random walks through the programs that the
// matcher is about to run, before it runs them, or counted by running them.
//
// The walks are those of GCSM (Wei and Jiang, 2024): each starts at a piece of work (an anchor and a plan that it concerns),
// goes to each candidate of a loop with probability 1 / D, where D bounds the number of candidates at any partial match of the
// loop, and all M of them are merged into one execution that draws how many walks go where. A partial match that b walks reach
// stands for b / M x pieces x the product of the D on its way: in the mean, that is once. No more is claimed: walks with a
// common beginning are correlated, so the variance is not that of M independent ones.
//
// Method::even spends the same effort with less variance. A first round follows a few children of every partial match it visits
// and so learns how many partial matches each loop has; then every round visits each partial match of a loop with one
// probability, M over their number, or all of them where they are fewer. A visited one stands for one over its probability. No
// partial match is visited twice, and none is left out only because some list elsewhere is long.
//
// What is counted with tables is followed from a part of the anchors or roots (SumWalker), whichever the method: drawn in
// proportion to their degrees, since the work of one grows with about the square of it, and least variance for the effort is
// had by the square root of that. So many are drawn, and of a bound vertex's candidates, that some M lists are read.
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

/// How M is chosen.
enum class WalkCount : std::uint8_t {
  fixed,
  paper,    ///< |dE| D^(n-2) / 32^n
  formula,  ///< formula (5) of the paper, again and again with the least estimate so far
};

struct Options {
  Method method = Method::even;
  WalkCount count = WalkCount::fixed;
  double walks = 0x1p16;  ///< fixed
  double alpha = 0.5;     ///< formula: vertices whose accesses differ by this share ...
  double delta = 0.9;     ///< ... are ranked right with this probability
  double least = 0x1p10;  ///< M is clamped to between these, whatever its choice
  double most = 0x1p22;
  double round = 0x1p18;  ///< M is split into rounds of at most that many
  /// M of a whole graph's first portion, at most: before anything tells what matching takes.
  double first = std::numeric_limits<double>::infinity();
  /// Of what matching takes, for those who tell (Estimator::matched): M follows it. In any case no round but the first is begun
  /// once walks have taken as long as matching does.
  double share = 0.05;
  std::uint64_t seed = 1;
  bool leaves = false;  ///< estimate the candidates of counts too
};

/// Formula (5): walks after which two vertices, looked up C and (1 + alpha) C times, are ranked right with probability delta.
/// `reach`: one over the probability of a walk to reach a given partial match of the deepest of `levels` levels.
[[nodiscard]] double formula_walks(double levels, double reach, double alpha, double delta, double accesses) noexcept;
/// What the paper's experiments take.
[[nodiscard]] double paper_walks(double anchors, double degree, double query_vertices) noexcept;

/// `workers` outlives it. Memory stays between runs.
class Estimator {
 public:
  explicit Estimator(Workers& workers, const Options& options = {});

  /// The graph has the passes' batch staged; programs are those that will run (match::make_programs). Depends on the arguments
  /// and the seed, not on threads (nor on anything else unless M follows the time, or it runs out). The result holds until the
  /// next call.
  const Accesses& run(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                      std::span<const match::QueryTask> tasks, const match::Programs& programs);

  /// How long the matching took that the last run estimated. From then on M is what takes Options::share of that, as far as the
  /// runs before tell: at least Options::least, and no more than without. They tell too how many partial matches to expect,
  /// and no run draws what the one before drew.
  void matched(double seconds) noexcept;

  /// The truth, by running the programs: slow, for tests and for measuring coverage. Throws Error where a sum exceeds 127 bits.
  const Accesses& count(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                        std::span<const match::QueryTask> tasks, const match::Programs& programs);

  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  // An anchor or root and a plan that it concerns.
  struct Piece {
    std::uint32_t pass;
    std::uint32_t anchor;   // or root
    std::uint32_t program;  // index into loaded_
    std::uint32_t degree;   // of what is counted with tables; 0: a program of loops
  };
  using KeySum = std::pair<std::uint64_t, Tally::Fixed>;
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
  void round(Draw draw, double walks, std::uint64_t number);
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
  double loops_ = 0;    // of the pieces, programs of loops
  double thinned_ = 1;  // anchors of which one is among the pieces
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
  std::vector<double> populations_;  // by node, averaged likewise
  double last_walks_ = 0;            // of the last run that had anything to do
  double last_seconds_ = 0;

  const graph::DataGraph* graph_ = nullptr;
  const graph::Adjacency* lists_ = nullptr;  // that tell degrees
  std::span<const match::PassWork> passes_;
  std::vector<graph::Resolved> resolved_;
  std::vector<std::vector<KeySum>> parts_;  // what the threads tallied, added up: ascending, one range behind the other
  Accesses result_;
};

}  // namespace deltamatch::estimate
