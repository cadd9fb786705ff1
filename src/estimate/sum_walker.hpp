// Follows sums with tables (match/tree_sum.hpp) as a backend works them, on all anchors and roots or on a random part, and
// tallies which lists they look up.
//
// An access is one list that is looked up: each probe of a vertex's candidates, and the list of every candidate that a leaf is
// pushed along or pulled over. The backend splits what enumerates candidates into shares (match::table_shares), each of which
// looks up anew what hangs on the anchor or root alone. A tree of which nothing is left ends its product; a sum over a bound
// vertex does not, since a random part of a sum says nothing about the rest. Weights matter only for whether they are zero; so
// sets do for tables, and lists are read only where they decide what is looked up later.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "estimate/counter_random.hpp"
#include "estimate/walker.hpp"
#include "match/elimination.hpp"
#include "match/partial.hpp"
#include "plan/plan.hpp"

namespace deltamatch::estimate {

/// A set of vertices with O(1) look-up, reset by what was touched.
class Marks {
 public:
  void reserve(std::size_t vertices) {
    if ((vertices + 63) / 64 > bits_.size()) bits_.resize((vertices + 63) / 64);
  }
  [[nodiscard]] bool holds(VertexId v) const noexcept { return (bits_[v >> 6] >> (v & 63U) & 1U) != 0; }
  void set(VertexId v) {
    if (holds(v)) return;
    touched_.push_back(v);
    bits_[v >> 6] |= std::uint64_t{1} << (v & 63U);
  }
  /// In the order of marking.
  [[nodiscard]] std::span<const VertexId> members() const noexcept { return touched_; }
  void clear() noexcept {
    for (const VertexId v : touched_) bits_[v >> 6] = 0;
    touched_.clear();
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return bits_.capacity() * sizeof(std::uint64_t) + touched_.capacity() * sizeof(VertexId);
  }

 private:
  std::vector<std::uint64_t> bits_;
  std::vector<VertexId> touched_;
};

/// A count plan without a prefix as the sum walker needs it. What it points to outlives it.
///
/// Nodes: 0 is the anchor or root, then each bound vertex. What a node is charged with (Tally::partial_matches) is what
/// following it takes: for each partial match one, and one for each list that is read on its account; for anchors and roots
/// that times their weight.
struct LoadedSums {
  using Product = std::vector<const plan::Factor*>;

  LoadedSums(const plan::CountPlan& count, std::span<const plan::Probe> closing_probes, std::size_t tables_of_root);

  std::span<const plan::Probe> closing;
  std::size_t tables;
  std::vector<Product> enumerated;  ///< by term: those that begin with a bound vertex, whose work is split
  std::vector<Product> summed;      ///< the others
  boost::unordered_flat_map<const plan::Factor*, std::uint32_t> nodes;  ///< bound vertices

  [[nodiscard]] std::size_t node_count() const noexcept { return 1 + nodes.size(); }
};

/// The probability to visit what is drawn by `weight` where a visited one is to stand for `target`: what is likely is certain,
/// since the worth of the rest would rest on few absences.
[[nodiscard]] inline double chance(double weight, double target) noexcept {
  return weight > 0.75 * target ? 1 : weight / target;
}

/// Memory of one thread. Sets are cleared before they are filled, so that a walk that fails leaves nothing to the next.
class SumScratch {
 public:
  void reserve(std::size_t vertices, std::size_t tables);
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  friend class SumWalker;
  Marks marks_;
  std::vector<Marks> of_root_;  // by table
};

class SumWalker {
 public:
  /// `worth`: what every access counts.
  SumWalker(const match::Lists& lists, match::Scratch& scratch, SumScratch& sets, Tally& tally, Draw draw,
            double worth) noexcept
      : partial_(lists, scratch), sets_(&sets), tally_(&tally), draw_(draw), worth_(worth) {}

  /// An anchor or root that is visited.
  struct Visit {
    std::uint32_t shares;  ///< into which its work is split
    double scale;          ///< how many it stands for
    double weight;         ///< that it was drawn by
  };
  /// `loaded.sums` is set.
  void run(const Loaded& loaded, const graph::Edge& anchor, const Visit& visit, Random& random);
  void run(const Loaded& loaded, VertexId root, const Visit& visit, Random& random);

 private:
  using Product = LoadedSums::Product;
  // Of a tree: its candidates that are left.
  struct Node {
    std::span<const std::uint32_t> ids;
    std::size_t size = 0;  // before those were dropped that nothing hangs on
    bool bare = true;
    std::uint8_t open_edges = 0;
  };

  void run(const Loaded& loaded, const Visit& visit, Random& random);
  void work(const std::vector<Product>& terms, std::uint32_t shares, double scale);
  void product(std::span<const plan::Factor* const> factors, double scale, std::uint32_t shares);
  std::size_t bind(const plan::Factor& planned, double scale, std::uint32_t shares);
  [[nodiscard]] const plan::Factor& choose(const plan::Factor& planned, double times);
  bool tree(const plan::Factor& tree, double scale, bool needed);
  bool eliminate(const plan::Factor& tree, Node* nodes, double scale, bool needed);
  bool step(const plan::Factor& tree, const match::Elimination& step, Node* nodes, double scale, bool read);
  void hang_on_root(const plan::Factor& tree, Node* nodes);
  void look_up_tables(const std::vector<plan::Factor>& factors, double scale);
  const Marks& table_of_root(const plan::Factor& tree, const plan::TreeEdge& edge);
  std::span<const std::uint32_t> candidates(const plan::Candidates& wanted);
  [[nodiscard]] match::ListView list(graph::ReadingId reading, VertexId vertex, bool inclusive, const plan::Candidates& into);
  void mark_lists(std::span<const std::uint32_t> from, graph::ReadingId reading, bool inclusive, const plan::Candidates& into,
                  Marks& marks);
  [[nodiscard]] std::span<const std::uint32_t> keep(std::span<const std::uint32_t> set, const Marks& marks);
  void look_up(const std::vector<plan::Probe>& probes, double times);
  void look_up(graph::ReadingId reading, std::span<const std::uint32_t> vertices, double times);

  // A partial match that is visited: where it is in the plan, and how many it stands for.
  struct Place {
    std::uint32_t node;  // 0: an anchor or root
    double scale;
  };
  void charge(const Place& place, std::size_t lists) noexcept;

  match::Partial partial_;
  SumScratch* sets_;
  Tally* tally_;
  Draw draw_;
  double worth_;
  const Loaded* loaded_ = nullptr;
  Random* random_ = nullptr;
  double weight_ = 1;  // of the anchor or root
  Place root_{0, 1};
  Place place_{0, 1};            // where lists are read for now
  std::uint64_t looked_up_ = 0;  // tables of the root whose lists are tallied
  std::uint64_t made_ = 0;       // and those that are there
};

}  // namespace deltamatch::estimate
