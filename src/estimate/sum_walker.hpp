// Follows sums with tables (match/tree_sum.hpp) as a backend computes them, on all anchors and roots or on a random part.
// Tallies which lists they look up.
//
// An access is one look-up of a list. Each probe of a vertex's candidates is one. So is the list of every candidate along which
// a leaf is pushed or over which it is pulled. The backend splits work that enumerates candidates into shares
// (match::table_shares). Each share looks up again what hangs on the anchor or root alone.
//
// If nothing is left of a tree, its product ends. A sum over a bound vertex ends nothing, since a random part of a sum says
// nothing about the rest. Of weights it only matters whether they are zero, so sets replace tables. Lists are read only if they
// decide what is looked up later.
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

/// A set of vertices with O(1) look-up. A reset costs only what was touched.
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

/// A count plan without a prefix, as the sum walker needs it. What it points to must outlive it.
///
/// Node 0 is the anchor or root; each bound vertex is one more node. A node is charged with the cost of following it
/// (Tally::partial_matches): one per partial match, and one per list that is read for it. For anchors and roots, that is
/// multiplied by their weight.
struct LoadedSums {
  using Product = std::vector<const plan::Factor*>;

  LoadedSums(const plan::CountPlan& count, std::span<const plan::Probe> closing_probes, std::size_t tables_of_root);

  std::span<const plan::Probe> closing;
  std::size_t tables;
  std::vector<Product> enumerated;  ///< by term: those that begin with a bound vertex, whose work is split
  std::vector<Product> summed;      ///< the other terms
  boost::unordered_flat_map<const plan::Factor*, std::uint32_t> nodes;  ///< of bound vertices

  [[nodiscard]] std::size_t node_count() const noexcept { return 1 + nodes.size(); }
};

/// The probability to visit an item of this weight, if a visited one should stand for `target`. A likely visit is made certain:
/// otherwise the estimate of the rest would depend on few absences.
[[nodiscard]] inline double chance(double weight, double target) noexcept {
  return weight > 0.75 * target ? 1 : weight / target;
}

/// The memory of one thread. Sets are cleared before they are filled, so a walk that fails leaves nothing to the next.
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
  /// `worth`: how much every access counts.
  SumWalker(const match::Lists& lists, match::Scratch& scratch, SumScratch& sets, Tally& tally, Draw draw,
            double worth) noexcept
      : partial_(lists, scratch), sets_(&sets), tally_(&tally), draw_(draw), worth_(worth) {}

  /// A visited anchor or root.
  struct Visit {
    std::uint32_t shares;  ///< into which its work is split
    double scale;          ///< how many anchors or roots it stands for
    double weight;         ///< by which it was drawn
  };
  /// Follows the sums of an anchor or root. `loaded.sums` must be set.
  void run(const Loaded& loaded, const graph::Edge& anchor, const Visit& visit, Random& random);
  void run(const Loaded& loaded, VertexId root, const Visit& visit, Random& random);

 private:
  using Product = LoadedSums::Product;
  // A vertex of a tree, with its remaining candidates.
  struct Node {
    std::span<const std::uint32_t> ids;
    std::size_t size = 0;  // before candidates were dropped on which nothing hangs
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
  [[nodiscard]] match::ListView list(graph::QueryRelationId query_relation, VertexId vertex, bool inclusive,
                                     const plan::Candidates& into);
  void mark_lists(std::span<const std::uint32_t> from, graph::QueryRelationId query_relation, bool inclusive,
                  const plan::Candidates& into, Marks& marks);
  [[nodiscard]] std::span<const std::uint32_t> keep(std::span<const std::uint32_t> set, const Marks& marks);
  void look_up(const std::vector<plan::Probe>& probes, double times);
  void look_up(graph::QueryRelationId query_relation, std::span<const std::uint32_t> vertices, double times);

  // A visited partial match: its node in the plan, and how many it stands for.
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
  Place place_{0, 1};            // the partial match for which lists are being read
  std::uint64_t looked_up_ = 0;  // tables of the root whose lists are tallied
  std::uint64_t made_ = 0;       // tables of the root that are made
};

}  // namespace deltamatch::estimate
