// Estimates how many matches a whole graph has, by random walks through the static plans.
//
// A walk starts at an anchor and a plan for it, all pairs equally likely. It goes to one of the candidates of every level, all
// equally likely. At its end it counts one over its probability. So the mean is the number of embeddings (Horvitz and
// Thompson). There are no order constraints, which would only end walks early.
//
// The walks are independent of each other, unlike those that the Estimator merges. So replicates of them show the possible
// error of the mean.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "match/matcher.hpp"

namespace deltamatch::estimate {

/// Samples a settled graph. Everything it is given must outlive it, and nothing may be staged. Takes 16 bytes for each data
/// edge that the anchor's labels admit.
class Sampler {
 public:
  Sampler(const graph::DataGraph& graph, const match::QueryTask& task, Workers& workers, std::size_t replicates,
          const match::StopFlag& stop);

  /// Makes `walks` walks for every replicate. Returns false once `stop` is set; the round then does not count. The draws depend
  /// only on the seed and the round's number. Requires anchors.
  bool round(std::uint64_t walks, std::uint64_t seed, std::uint64_t number);

  /// Whether any data edge can begin a match. Incomplete if `stop` was set during construction.
  [[nodiscard]] bool has_anchors() const noexcept { return !pieces_.empty(); }
  /// The mean number of embeddings over all rounds, by replicate. Requires a round.
  [[nodiscard]] std::vector<double> means() const;
  /// Walks of each replicate.
  [[nodiscard]] std::uint64_t walks() const noexcept { return walks_; }
  /// Walks of all replicates that found a match.
  [[nodiscard]] std::uint64_t hits() const noexcept { return hits_; }

 private:
  struct Piece {
    graph::Edge anchor;
    std::uint32_t plan;
  };
  struct Sum {
    double weight = 0;
    std::uint64_t hits = 0;
  };
  [[nodiscard]] Sum walk(std::uint64_t walks, std::uint64_t seed, std::uint64_t number, std::size_t replicate,
                         match::Scratch& scratch) const;

  const graph::DataGraph* graph_;
  const match::QueryTask* task_;
  Workers* workers_;
  const match::StopFlag* stop_;
  std::vector<graph::Resolved> resolved_;
  std::vector<Piece> pieces_;
  std::vector<match::Scratch> scratch_;  // by worker
  std::vector<double> sums_;             // by replicate
  std::uint64_t walks_ = 0;
  std::uint64_t hits_ = 0;
};

}  // namespace deltamatch::estimate
