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
  /// `of_leaves`: for leaves that stay the same from one sum to the next. Null keeps nothing.
  TreeSum(Partial& partial, TablePool<Weight>& tables, RootTables<Weight>& of_root, StepBudget* step_budget = nullptr,
          LeafTables<Weight>* of_leaves = nullptr) noexcept
      : partial_(&partial),
        tables_(&tables),
        of_root_(&of_root),
        of_leaves_(partial.keep_rule() == nullptr ? nullptr : of_leaves),
        step_budget_(step_budget) {}
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
    bool ascending = false;
    std::uint8_t open_edges = 0;
  };

  Weight single(const plan::Factor& tree, Share share);
  Weight choose(const plan::Factor& tree, std::size_t size, const Weight* weights);
  /// Fills the vertices that have candidates of their own. Returns false if one has none.
  bool fill_all(const plan::Factor& tree, Share share, std::uint32_t tabled);
  bool fill(const plan::Candidates& wanted, Node& node);
  void take_share(Node& node, Share share);
  void weigh(const plan::Candidates& wanted, Node& node);
  void push(const plan::TreeEdge& edge, bool into_a, const plan::Candidates& into_wanted);
  /// Adds the weight of each of the leaf's candidates to every vertex in its list. If `within` is given, others than its
  /// candidates may be left out.
  void spread(const plan::TreeEdge& edge, bool into_a, const Node& leaf, const plan::Candidates& into_wanted,
              Table<Weight>& table, const Node* within = nullptr);
  [[nodiscard]] bool searched_for(const Node& node, const ListView& list, std::size_t entry_cost) const noexcept;
  /// The list of a vertex, cut by order constraints.
  [[nodiscard]] ListView list(graph::QueryRelationId query_relation, VertexId vertex, bool inclusive,
                              const plan::Candidates& wanted) {
    ListView view = partial_->lists().view(query_relation, vertex, inclusive, partial_->scratch());
    if (!wanted.below.empty()) partial_->cut(view, wanted);
    return view;
  }
  /// The sum of a leaf that depends only on the root; see plan::TreeEdge::table.
  const Table<Weight>& root_table(const plan::Factor& tree, const plan::TreeEdge& edge);
  /// A leaf of the tree that hangs on a vertex with candidates, and what is known of it while it stays the same.
  struct Hanging {
    bool leaf_is_a = false;
    typename LeafTables<Weight>::Leaf* known = nullptr;
    const Table<Weight>* table = nullptr;
  };
  [[nodiscard]] Hanging hanging(const plan::Factor& tree, const plan::TreeEdge& edge);
  /// The table of a leaf, if it has paid. Null if not.
  [[nodiscard]] const Table<Weight>* leaf_table(const plan::Factor& tree, const plan::TreeEdge& edge, const Hanging& at);
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
  LeafTables<Weight>* of_leaves_;
  StepBudget* step_budget_;
  Node* nodes_ = nullptr;       // by vertex of the tree, in scratch
  Hanging* hanging_ = nullptr;  // by edge
  std::size_t node_count_ = 0;
  std::uint32_t open_ = 0;  // bit set of the edges that are left
  bool overflow_ = false;
};

extern template class TreeSum<std::uint64_t>;
extern template class TreeSum<Count>;

}  // namespace deltamatch::match
