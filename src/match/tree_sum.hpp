// Counts the assignments of a tree of free query vertices without enumerating them.
//
// Vertices of the tree next to matched vertices have candidate sets. The others are bare. Leaves are eliminated one by one,
// each into its neighbour, whose weights then count what hangs below. There are two ways to do that:
// - push: from the leaf's candidates along their lists;
// - pull: over the lists of the neighbour's candidates.
// The sizes met decide which leaf is next and which way it takes. So a ring is worked from both ends and meets where it is
// cheapest. This is Yannakakis' reduction, with sums for joins.
//
// A leaf that hangs on a root alone is summed once per root. If all leaves and their neighbours are bare, a vertex in the
// middle goes first: what it reaches becomes its neighbour's candidates.
#pragma once

#include <algorithm>
#include <cstdint>

#include "match/partial.hpp"
#include "match/tables.hpp"
#include "plan/plan.hpp"

namespace deltamatch::match {

template <class Weight>
class TreeSum {
 public:
  TreeSum(Partial& partial, TablePool<Weight>& tables, RootTables<Weight>& of_root, StepBudget* step_budget = nullptr) noexcept
      : partial_(&partial), tables_(&tables), of_root_(&of_root), step_budget_(step_budget) {}
  ~TreeSum() { release(); }
  TreeSum(const TreeSum&) = delete;
  TreeSum& operator=(const TreeSum&) = delete;

  /// The sum over all assignments of the product of parallel edges. Useless once the allowance is over. Sets `overflow` if it
  /// exceeds Weight. The share applies to the candidates of the first vertex that has any.
  Weight count(const plan::Factor& tree, Share share, bool& overflow);

 private:
  struct Node {
    const std::uint32_t* ids = nullptr;  // candidates, ascending until the table takes over
    Weight* weights = nullptr;           // parallel to ids; null: all are 1
    std::size_t size = 0;
    Table<Weight>* table = nullptr;  // the same weights, for look-ups
    bool bare = false;
    std::uint8_t open_edges = 0;
  };

  Weight single(const plan::Factor& tree, Share share);
  Weight choose(const plan::Factor& tree, std::size_t size, const Weight* weights);
  /// Fills the vertices that have candidates of their own. Returns false if one has none.
  bool fill_all(const plan::Factor& tree, Share share);
  bool fill(const plan::Candidates& wanted, Node& node);
  void take_share(Node& node, Share share);
  void weigh(const plan::Candidates& wanted, Node& node);
  void push(const plan::TreeEdge& edge, bool into_a, const plan::Candidates& into_wanted);
  /// Adds the weight of each of the leaf's candidates to every vertex in its list.
  void spread(const plan::TreeEdge& edge, bool into_a, const Node& leaf, const plan::Candidates& into_wanted,
              Table<Weight>& table);
  /// The list of a vertex, cut by order constraints.
  [[nodiscard]] ListView list(graph::QueryRelationId query_relation, VertexId vertex, bool inclusive,
                              const plan::Candidates& wanted) {
    ListView view = partial_->lists().view(query_relation, vertex, inclusive, partial_->scratch());
    if (!wanted.below.empty()) partial_->cut(view, wanted);
    return view;
  }
  /// The sum of a leaf that depends only on the root; see plan::TreeEdge::table.
  const Table<Weight>& root_table(const plan::Factor& tree, const plan::TreeEdge& edge);
  /// Multiplies the weights of a vertex that has candidates by those of a table. Keeps the candidates that the table holds.
  void multiply_by(Node& into, const Table<Weight>& table);
  /// Gives a bare vertex its candidates: those that its neighbour's candidates lead to. The edge between them must still be
  /// summed.
  void reach(const plan::TreeEdge& edge, bool into_a, const plan::Candidates& into_wanted);
  /// Multiplies the neighbour's weights. If `total` is given, adds them up there instead.
  void pull(const plan::TreeEdge& edge, bool into_a, const plan::Candidates& leaf_wanted, Weight* total);
  Weight below(const ListView& list, Node& leaf, const plan::Candidates& leaf_wanted);
  void tabulate(Node& node);
  void release() noexcept;
  void give_back_table(Node& node) noexcept;
  /// In loops over `size` lists: checks from time to time whether to give up.
  [[nodiscard]] bool gives_up(std::size_t at, std::size_t size) const noexcept {
    constexpr std::size_t interval = 16;
    return at % interval == 0 && step_budget_ != nullptr && !step_budget_->take(std::min(interval, size - at));
  }

  Weight add(Weight a, Weight b) noexcept {
    overflow_ = __builtin_add_overflow(a, b, &a) || overflow_;
    return a;
  }
  Weight multiply(Weight a, Weight b) noexcept {
    overflow_ = __builtin_mul_overflow(a, b, &a) || overflow_;
    return a;
  }

  Partial* partial_;
  TablePool<Weight>* tables_;
  RootTables<Weight>* of_root_;
  StepBudget* step_budget_;
  Node* nodes_ = nullptr;  // by vertex of the tree, in scratch
  std::size_t node_count_ = 0;
  std::uint32_t open_ = 0;  // bit set of the edges that are left
  bool overflow_ = false;
};

extern template class TreeSum<std::uint64_t>;
extern template class TreeSum<Count>;

}  // namespace deltamatch::match
