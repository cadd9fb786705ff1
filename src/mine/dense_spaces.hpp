// Makes the candidates of an ordered graph's vertices, in portions, for devices that count sets among them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "match/dense_set_counter.hpp"
#include "mine/root_candidates.hpp"
#include "mine/run_control.hpp"

namespace deltamatch::mine {

class DenseSpaceMaker {
 public:
  DenseSpaceMaker(const OrderedGraph& graph, unsigned k, unsigned budget, Workers& workers)
      : graph_(&graph), k_(k), workers_(&workers), root_candidates_(workers.size(), RootCandidates(graph, k, budget)) {}

  /// Returns the spaces of the next roots. Stops when their rows have at least `words` words or when the control says so. Empty
  /// when all are made. Only one thread may call it at a time.
  [[nodiscard]] match::DenseSpaces next(std::uint64_t words, RunControl& control) {
    match::DenseSpaces spaces;
    std::uint64_t made = 0;
    while (made < words && next_ < graph_->vertices() && !control.check(unasked)) {
      const VertexId first = next_;
      const VertexId count = std::min(roots_at_once, graph_->vertices() - first);
      std::vector<Made> portion(count);
      workers_->for_each(count, 8, [&](unsigned worker, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          portion[i] = make(root_candidates_[worker], first + static_cast<VertexId>(i));
        }
      });
      for (VertexId i = 0; i < count; ++i) {
        const std::size_t size = portion[i].members.size();
        if (size + 1 < k_) continue;
        spaces.members.insert(spaces.members.end(), portion[i].members.begin(), portion[i].members.end());
        spaces.joined.insert(spaces.joined.end(), portion[i].joined.begin(), portion[i].joined.end());
        spaces.spaces.push_back({first + i, spaces.members.size()});
        made += size * ((size + 63) / 64);
      }
      next_ += count;
    }
    spaces.share = static_cast<double>(next_) / std::max(1.0, static_cast<double>(graph_->vertices()));
    return spaces;
  }

  /// The first root whose space has not been made.
  [[nodiscard]] VertexId position() const noexcept { return next_; }

 private:
  struct Made {
    std::vector<VertexId> members;     // ascending
    std::vector<std::uint8_t> joined;  // by member
  };

  static Made make(RootCandidates& root_candidates, VertexId root) {
    root_candidates.centre(root);
    const auto members = root_candidates.members();
    const auto joined = members.first(root_candidates.joined());  // ascending
    Made made{{members.begin(), members.end()}, {}};
    std::sort(made.members.begin(), made.members.end());
    for (const VertexId v : made.members) made.joined.push_back(std::binary_search(joined.begin(), joined.end(), v) ? 1 : 0);
    return made;
  }

  static constexpr VertexId roots_at_once = 512;
  static constexpr unsigned unasked = 1;  // any worker except 0, which reports progress to the caller
  const OrderedGraph* graph_;
  unsigned k_;
  Workers* workers_;
  std::vector<RootCandidates> root_candidates_;
  VertexId next_ = 0;
};

}  // namespace deltamatch::mine
