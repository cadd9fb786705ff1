// Tells of many plans at once that an anchor leads to no match, before any of them is tried.
//
// Every match needs some edges at the ends of its anchor. Tests look for them in the lists of both ends:
// - closing: the head is in a list of the tail;
// - meeting: a list of the tail and one of the head have a common entry;
// - step: an edge leads from an entry of one list to an entry of another. This one reads lists of neighbours.
// All plans that begin at an anchor share its tests. A list is looked up once, and a test is made once, however many plans need
// it.
//
// Tests know nothing of ranks, order constraints and conditions. They read what a list holds before the batch, and for added
// edges also what the batch adds. So they may let an anchor pass in vain, but they never refuse one that has a match. A test
// that is long, or that seldom refused an anchor so far, lets it pass.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "match/list_view.hpp"
#include "match/matcher.hpp"
#include "match/plan_ref.hpp"

namespace deltamatch::match {

/// The tests of the plans that begin at anchors of one kind. One is used by one thread, because it notes how its tests fare.
class ScreenTests {
 public:
  /// The most tests, and the most lists that they read. Plans pass without those beyond.
  static constexpr std::size_t most_tests = 64;
  static constexpr std::size_t most_lists = 32;

  ScreenTests() = default;
  /// Makes the tests of these plans, all of which begin at the same anchors.
  ScreenTests(std::span<const QueryTask> tasks, std::span<const IndexedPlan> plans, std::span<const graph::Resolved> resolved);

  [[nodiscard]] bool empty() const noexcept { return tests_.empty(); }
  /// The tests of a plan, as a bit set. `plan` is an index into the plans.
  [[nodiscard]] std::uint64_t of(std::size_t plan) const noexcept { return of_plan_[plan]; }

 private:
  friend class Screen;

  struct EndList {
    bool at_head;
    const graph::Adjacency* store;
    graph::RelationId relation;
    friend bool operator==(const EndList&, const EndList&) = default;
  };
  enum class Kind : std::uint8_t { closing, meeting, step };
  struct Test {
    Kind kind;
    bool distinct = false;  // step: the ends of the anchor are no images of its vertices
    std::uint8_t a = 0;     // these are lists
    std::uint8_t b = 0;
    const graph::Adjacency* store = nullptr;   // step: of the neighbours' lists
    std::array<graph::RelationId, 2> along{};  // step: from an entry of a, and from one of b
    friend bool operator==(const Test&, const Test&) = default;
  };
  /// How a test has fared.
  struct Record {
    std::uint32_t made = 0;
    std::uint32_t refused = 0;
    std::uint32_t passed_over = 0;
    [[nodiscard]] bool pays() noexcept;
    void note(bool passed) noexcept;
  };

  void add_plan(const plan::BoundQuery& query, const plan::Plan& plan, std::span<const graph::Resolved> resolved);
  [[nodiscard]] std::uint8_t number_of(const EndList& list);
  [[nodiscard]] std::uint64_t bit_of(const Test& test);

  std::vector<EndList> lists_;
  std::vector<Test> tests_;
  std::vector<Record> records_;  // by test
  std::vector<std::uint64_t> of_plan_;
  std::uint64_t steps_ = 0;
};

/// Makes the tests of one thread, for some anchors at a time. Steps are made for all of them together, so that the lists of
/// neighbours arrive in time.
class Screen {
 public:
  /// A plan to try at an anchor, unless a step refuses it.
  struct Candidate {
    std::uint32_t anchor;
    PlanRef plan;
    std::uint32_t look;
    std::uint64_t steps;
  };

  /// Begins for some anchors of a pass.
  void begin(Pass pass) noexcept;
  /// Goes on to the next anchor. `tests`: those of the plans that begin at it, or null if it passes all.
  void look_at(std::uint32_t number, const graph::Edge& anchor, ScreenTests* tests);
  /// Whether the anchor passes the tests of a plan that can be made at once. If so, the plan is a candidate.
  bool take(const PlanRef& plan, std::uint64_t tests);
  /// Makes the steps of all candidates. Then calls take(candidate, whether it is left) for each, in their order.
  template <class Take>
  void finish(Take&& take) {
    close();
    make_steps();
    for (const Candidate& candidate : candidates_) take(candidate, (candidate.steps & refused_[candidate.look]) == 0);
  }

 private:
  /// What a list may hold: entries before the batch and added ones.
  struct Entries {
    std::array<std::span<const std::uint32_t>, 2> parts;
    std::uint64_t bits = 0;  // id % 64 of each entry; lists without a common bit have no common entry
    [[nodiscard]] std::size_t size() const noexcept { return parts[0].size() + parts[1].size(); }
  };
  struct Step {
    ScreenTests* tests;
    std::uint32_t test;
    std::uint32_t look;
    graph::RelationId relation;
    const graph::Adjacency* store;
    Entries from;
    Entries to;
    std::array<VertexId, 2> except;  // no entries count that are one of these
  };

  void close();
  void make_steps();
  [[nodiscard]] bool test(std::size_t number);
  [[nodiscard]] const Entries& entries(std::size_t list);
  [[nodiscard]] Entries entries_of(const graph::Adjacency& store, VertexId vertex, graph::RelationId relation) const;
  [[nodiscard]] bool leads(const Step& step) const;
  [[nodiscard]] static bool meet(const Entries& a, const Entries& b, const std::array<VertexId, 2>& except) noexcept;

  bool added_ = false;  // what the batch adds counts
  ScreenTests* tests_ = nullptr;
  graph::Edge anchor_{};
  std::uint32_t number_ = 0;
  std::uint64_t made_ = 0;       // tests at the present anchor
  std::uint64_t passed_ = 0;     // those among them that it passed
  std::uint64_t wanted_ = 0;     // steps of candidates at the present anchor
  std::uint32_t looked_up_ = 0;  // lists
  std::array<Entries, ScreenTests::most_lists> lists_;
  std::vector<Candidate> candidates_;
  std::vector<Step> steps_;
  std::vector<std::uint64_t> refused_;  // by look: the steps that refuse it
};

}  // namespace deltamatch::match
