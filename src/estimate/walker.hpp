// Runs loop programs (plan/program.hpp) on the CPU, on all partial matches or on a random part. Tallies which lists they look
// up.
//
// An access is one list that a probe names, looked up for one partial match:
// - every probe of a loop or count once,
// - every closing edge of an anchor once,
// - every query edge of an `edges` step once, or of an `emit` if a match takes one of several data edges.
// A count of zero ends its term. A sum of zero does not, since a random part of a sum says nothing about the rest.
#pragma once

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "estimate/accesses.hpp"
#include "estimate/counter_random.hpp"
#include "match/partial.hpp"
#include "match/programs.hpp"

namespace deltamatch::estimate {

/// How the children of a partial match are drawn.
enum class Draw : std::uint8_t {
  all,    ///< each once: the run is exact
  walks,  ///< each of the walks at the parent goes to each child with probability 1 / D
  pilot,  ///< a few of the children, evenly
  even,   ///< so that all partial matches of a node are visited with the same probability
};

/// Partial matches are extended in batches of this size. A list that several of a batch share is read once.
inline constexpr double batch_size = 32;

/// A visited partial match: how many walks are at it, and how many accesses one walk stands for. If it shares a list with its
/// siblings, or with theirs, it reads a part of that list.
struct Visit {
  std::uint64_t walks;
  double scale;
  plan::Position last = 0;    ///< position of its own vertex
  plan::Position parent = 0;  ///< position of its parent's vertex; 0: both ends of the anchor are its own
  double of_parent = 1;       ///< its part of a look-up of the list of its parent's vertex
  double of_older = 1;        ///< its part of a look-up of the list of an earlier vertex

  [[nodiscard]] double part(plan::Position position) const noexcept {
    if (last == 0 || position == last) return 1;
    return position == parent || (parent == 0 && position < 2) ? of_parent : of_older;
  }
  /// The visit of one of `siblings` children, put at `position`.
  [[nodiscard]] Visit child(plan::Position position, double siblings) const noexcept {
    Visit made = *this;
    made.last = position;
    made.parent = last;
    made.of_parent = 1 / std::min(siblings, batch_size);
    made.of_older = std::max(1 / batch_size, made.of_parent * of_parent);
    return made;
  }
};

/// The sums of one thread. They are in fixed point, so they depend neither on the order of additions nor on threads. A worth
/// saturates at 2^84. Only nearly impossible walks reach that.
class Tally {
 public:
  __extension__ using Fixed = unsigned __int128;
  static constexpr double unit = 0x1p16;
  static Fixed fixed(double value) noexcept { return static_cast<Fixed>(value < 0x1p84 ? value * unit + 0.5 : 0x1p100); }
  static double value(Fixed sum) noexcept { return static_cast<double>(sum) / unit; }

  /// The look-ups of a list.
  struct Sum {
    Fixed certain = 0;                       ///< by partial matches that are visited in any case
    std::array<Fixed, drawn_kinds> drawn{};  ///< by others, each times what it stands for
    void add(const Sum& other) noexcept {
      certain += other.certain;
      for (std::size_t k = 0; k < drawn_kinds; ++k) drawn[k] += other.drawn[k];
    }
    [[nodiscard]] Fixed times() const noexcept { return std::accumulate(drawn.begin(), drawn.end(), certain); }
  };

  boost::unordered_flat_map<std::uint64_t, Sum> accesses;  ///< by key_of
  std::array<Fixed, drawn_kinds> deviations{};             ///< variances of the sums of what is drawn
  std::vector<Fixed> partial_matches;                      ///< by node; programs one after the other
  std::vector<LookUp>* trace = nullptr;                    ///< if set, look-ups are also recorded there, in their order

  /// Adds look-ups by a partial match that stands for itself and for `others` that are not visited.
  void add(std::uint64_t key, double times, double others) {
    Sum& sum = accesses[key];
    if (others > 0) {
      const std::size_t kind = drawn_kind(others);
      sum.drawn[kind] += fixed(times);
      deviations[kind] += fixed(times * others);
    } else {
      sum.certain += fixed(times);
    }
    if (trace != nullptr) trace->push_back({key, times});
  }

  void clear(std::size_t nodes) {
    accesses.clear();
    deviations = {};
    partial_matches.assign(nodes, 0);
  }
};

struct LoadedSums;

/// A program as the walker needs it. What it points to must outlive it.
struct Loaded {
  const match::AnchorProgram* program;
  const plan::Plan* plan;  ///< null for a root
  const plan::BoundQuery* query;
  std::size_t first_node = 0;   ///< index in Tally::partial_matches
  std::vector<double> bounds;   ///< by node: the most candidates of any partial match
  std::vector<double> targets;  ///< by node: partial matches that a visited one should stand for (Draw::even)
  /// Set if the program is counted with tables. Its nodes are then those of the sums. targets[0] is then the weight that a
  /// visited anchor or root should stand for.
  std::shared_ptr<const LoadedSums> sums;
};

class Walker {
 public:
  __extension__ using Signed = __int128;

  /// `leaves`: also tally the candidates of counts if only their lists matter.
  Walker(const match::Lists& lists, match::Scratch& scratch, Tally& tally, Draw draw, bool leaves) noexcept
      : partial_(lists, scratch), tally_(&tally), draw_(draw), leaves_(leaves) {}

  /// Runs the program on an anchor. An exact run returns what the program adds up to. Throws Error if that exceeds 127 bits.
  Signed run(const Loaded& loaded, const graph::Edge& anchor, Visit visit, Random& random);

 private:
  Signed steps(std::uint32_t first, std::uint32_t count, Visit visit, Signed weight);
  Signed loop(const plan::Node& node, Visit visit, Signed weight);
  Signed count(const plan::Node& node, Visit visit, bool needed);
  Signed edges(Visit visit);
  Signed map_edges(std::uint32_t edge);
  template <class Take>
  void draw(std::size_t candidates, const plan::Node& node, Visit visit, Take&& take);
  [[nodiscard]] std::span<const std::uint32_t> candidates(const plan::Node& node);
  [[nodiscard]] Signed ways(const plan::Node& node, VertexId candidate);
  void access(const plan::Probe& probe, const Visit& visit);
  void access(const plan::Node& node, const Visit& visit);
  void access(graph::QueryRelationId query_relation, plan::Position position, const Visit& visit);
  void access(graph::QueryRelationId query_relation, VertexId vertex, const Visit& visit, double part);
  [[nodiscard]] std::size_t index(const plan::Node& node) const noexcept {
    return static_cast<std::size_t>(&node - loaded_->program->program.nodes.data());
  }
  void tally(const plan::Node& node, double partial_matches) noexcept {
    tally_->partial_matches[loaded_->first_node + index(node)] += Tally::fixed(partial_matches);
  }

  match::Partial partial_;
  Tally* tally_;
  Draw draw_;
  bool leaves_;
  const Loaded* loaded_ = nullptr;
  Random* random_ = nullptr;
  std::array<VertexId, max_query_vertices> images_{};  // by query vertex
  std::vector<std::vector<graph::Edge>> options_;      // by query edge
  std::vector<graph::Edge> taken_;                     // by query edge
  std::vector<std::uint32_t> tags_;
};

}  // namespace deltamatch::estimate
