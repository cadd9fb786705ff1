// How many matches a whole graph has, estimated by random walks through the static plans.
//
// A walk starts at an anchor and a plan that it concerns, each as likely as the others, and goes on to one of the candidates of
// every level, each as likely as the others. Where it arrives it stands for one over its probability; so the mean is the number
// of embeddings (Horvitz and Thompson), without order constraints, which would only turn walks away. Unlike the walks that the
// Estimator merges, these are independent of each other: replicates of them tell how far the mean may be off.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "match/matcher.hpp"

namespace deltamatch::estimate {

/// What it is given outlives it; nothing is staged. Takes 16 bytes for each data edge that the anchor's labels admit.
class Sampler {
 public:
  Sampler(const graph::DataGraph& graph, const match::QueryTask& task, Workers& workers, std::size_t replicates,
          const match::StopFlag& stop);

  /// Lets every replicate walk so often. False once `stop` is set: the round then counts for nothing. What is drawn depends on
  /// the seed and the round's number only. Requires anchors.
  bool round(std::uint64_t walks, std::uint64_t seed, std::uint64_t number);

  /// Whether any data edge can begin a match, as far as the sampler was made before `stop` was set.
  [[nodiscard]] bool has_anchors() const noexcept { return !pieces_.empty(); }
  /// By replicate, over all rounds: embeddings in the mean. Requires a round.
  [[nodiscard]] std::vector<double> means() const;
  /// Of each replicate.
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
