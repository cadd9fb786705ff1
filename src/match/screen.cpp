#include "match/screen.hpp"

#include <algorithm>
#include <bit>

#include "match/intersect.hpp"
#include "match/time_search.hpp"

namespace deltamatch::match {

namespace {

// A meeting is searched for if the shorter list has at most this many entries, a step from at most so many.
constexpr std::size_t longest_meeting = 64;
constexpr std::size_t longest_step = 16;
// With more entries, most bits would be set.
constexpr std::size_t most_in_bits = 64;

// A test must refuse one anchor of so many, or it is made for one of so many only.
constexpr std::uint32_t least_refused = 4;
constexpr std::uint32_t sampled = 16;
// How many anchors tell.
constexpr std::uint32_t few_made = 64;
constexpr std::uint32_t many_made = 4096;

constexpr VertexId no_vertex = UINT32_MAX;

std::size_t lowest(std::uint64_t bits) noexcept { return static_cast<std::size_t>(std::countr_zero(bits)); }

/// Whether two ascending lists have a common entry that is neither of two. True if both are long.
bool meet(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, const std::array<VertexId, 2>& except) noexcept {
  if (detail::disjoint(a.data(), a.size(), b.data(), b.size())) return false;
  if (a.size() > b.size()) std::swap(a, b);
  if (a.size() > longest_meeting) return true;
  std::size_t at = 0;
  for (const std::uint32_t x : a) {
    at = gallop(b.data(), at, b.size(), x);
    if (at == b.size()) return false;
    if (b[at] == x && x != except[0] && x != except[1]) return true;
  }
  return false;
}

/// The bits of ids, or all if there are many.
std::uint64_t bits_of(std::span<const std::uint32_t> ids) noexcept {
  if (ids.size() > most_in_bits) return ~std::uint64_t{0};
  std::uint64_t bits = 0;
  for (const std::uint32_t id : ids) bits |= std::uint64_t{1} << id % 64;
  return bits;
}

/// What a query edge reads at one of its vertices.
graph::QueryRelationId relation_at(const plan::BoundEdge& edge, std::uint32_t vertex) noexcept {
  return edge.query_relation[edge.source == vertex ? 0 : 1];
}

}  // namespace

bool ScreenTests::Record::pays() noexcept {
  if (made < few_made || refused * least_refused >= made) return true;
  return ++passed_over % sampled == 0;
}

void ScreenTests::Record::note(bool passed) noexcept {
  ++made;
  refused += passed ? 0 : 1;
  if (made < many_made) return;
  made /= 2;
  refused /= 2;
}

ScreenTests::ScreenTests(std::span<const QueryTask> tasks, std::span<const IndexedPlan> plans,
                         std::span<const graph::Resolved> resolved) {
  for (const PlanRef& ref : plans) {
    of_plan_.push_back(0);
    const QueryTask& task = tasks[ref.task];
    if (ref.together == 0 && !in_time_order(*task.query)) add_plan(*task.query, task.plans->plans[ref.plan], resolved);
  }
  records_.resize(tests_.size());
}

std::uint8_t ScreenTests::number_of(const EndList& list) {
  auto at = std::ranges::find(lists_, list);
  if (at == lists_.end()) at = lists_.insert(lists_.end(), list);
  return static_cast<std::uint8_t>(at - lists_.begin());
}

std::uint64_t ScreenTests::bit_of(const Test& test) {
  auto at = std::ranges::find(tests_, test);
  if (at == tests_.end()) at = tests_.insert(tests_.end(), test);
  return std::uint64_t{1} << (at - tests_.begin());
}

// Makes the tests of a plan from the query's edges. Self-loops lead to doubles of their vertices and are not tested.
void ScreenTests::add_plan(const plan::BoundQuery& query, const plan::Plan& plan, std::span<const graph::Resolved> resolved) {
  if (query.is_loop(plan.anchor.edge)) return;
  struct Neighbour {
    std::uint32_t vertex;
    std::uint8_t list;
    bool at_head;
  };
  std::vector<Neighbour> neighbours;
  const auto usable = [&](graph::QueryRelationId relation) {
    return resolved[relation].store != nullptr && !resolved[relation].lent;
  };
  const auto room = [&] { return tests_.size() < most_tests && lists_.size() + 1 < most_lists; };
  const auto list_at = [&](const plan::BoundEdge& edge, std::uint32_t end) {
    const graph::Resolved& where = resolved[relation_at(edge, end)];
    return number_of({end == plan.head, where.store, where.relation});
  };
  for (std::uint32_t e = 0; e < query.edges.size() && room(); ++e) {
    const plan::BoundEdge& edge = query.edges[e];
    if (e == plan.anchor.edge || query.is_loop(e)) continue;
    for (const std::uint32_t end : {plan.tail, plan.head}) {
      if ((edge.source != end && edge.target != end) || !usable(relation_at(edge, end))) continue;
      const std::uint32_t other = edge.source == end ? edge.target : edge.source;
      if (other != plan.tail && other != plan.head) {
        neighbours.push_back({other, list_at(edge, end), end == plan.head});
      } else if (end == plan.tail) {
        of_plan_.back() |= bit_of({.kind = Kind::closing, .a = list_at(edge, end)});
      }
    }
  }
  for (const Neighbour& a : neighbours) {
    for (const Neighbour& b : neighbours) {
      if (a.vertex != b.vertex || a.at_head || !b.at_head || !room()) continue;
      of_plan_.back() |= bit_of({.kind = Kind::meeting, .a = a.list, .b = b.list});
    }
  }
  for (const plan::BoundEdge& edge : query.edges) {
    const auto a = std::ranges::find(neighbours, edge.source, &Neighbour::vertex);
    auto b = std::ranges::find(neighbours, edge.target, &Neighbour::vertex);
    if (a == neighbours.end() || b == neighbours.end() || !room()) continue;
    const graph::Resolved& from_a = resolved[edge.query_relation[0]];
    const graph::Resolved& from_b = resolved[edge.query_relation[1]];
    if (!usable(edge.query_relation[0]) || !usable(edge.query_relation[1]) || from_a.store != from_b.store) continue;
    Test test{.kind = Kind::step, .distinct = query.mode == MatchMode::isomorphism, .a = a->list, .b = b->list};
    test.store = from_a.store;
    test.along = {from_a.relation, from_b.relation};
    if (test.b < test.a) {
      std::swap(test.a, test.b);
      std::swap(test.along[0], test.along[1]);
    }
    const std::uint64_t bit = bit_of(test);
    of_plan_.back() |= bit;
    steps_ |= bit;
  }
}

void Screen::begin(Pass pass) noexcept {
  added_ = pass != Pass::removed;
  tests_ = nullptr;
  candidates_.clear();
  steps_.clear();
  refused_.clear();
  wanted_ = 0;
}

void Screen::look_at(std::uint32_t number, const graph::Edge& anchor, ScreenTests* tests) {
  close();
  number_ = number;
  anchor_ = anchor;
  tests_ = tests;
  made_ = passed_ = 0;
  looked_up_ = 0;
  refused_.push_back(0);
}

bool Screen::take(const PlanRef& plan, std::uint64_t tests) {
  const std::uint64_t steps = tests == 0 ? 0 : tests & tests_->steps_;
  for (std::uint64_t rest = tests & ~steps & ~passed_; rest != 0; rest &= rest - 1) {
    const std::uint64_t bit = rest & (~rest + 1);
    if ((made_ & bit) != 0 || !test(lowest(rest))) return false;
  }
  wanted_ |= steps;
  candidates_.push_back({number_, plan, static_cast<std::uint32_t>(refused_.size() - 1), steps});
  return true;
}

// Makes a test at the present anchor, the first time that a plan asks for it.
bool Screen::test(std::size_t number) {
  const std::uint64_t bit = std::uint64_t{1} << number;
  ScreenTests::Record& record = tests_->records_[number];
  made_ |= bit;
  if (!record.pays()) {
    passed_ |= bit;
    return true;
  }
  const ScreenTests::Test& test = tests_->tests_[number];
  const Entries& a = entries(test.a);
  bool passes = false;
  if (test.kind == ScreenTests::Kind::closing) {
    passes = (a.bits >> anchor_.head % 64 & 1) != 0 &&
             std::ranges::any_of(a.parts, [&](const auto part) { return contains(part.data(), part.size(), anchor_.head); });
  } else {
    passes = meet(a, entries(test.b), {no_vertex, no_vertex});
  }
  record.note(passes);
  if (passes) passed_ |= bit;
  return passes;
}

const Screen::Entries& Screen::entries(std::size_t list) {
  if ((looked_up_ >> list & 1) == 0) {
    looked_up_ |= 1U << list;
    const ScreenTests::EndList& where = tests_->lists_[list];
    lists_[list] = entries_of(*where.store, where.at_head ? anchor_.head : anchor_.tail, where.relation);
  }
  return lists_[list];
}

Screen::Entries Screen::entries_of(const graph::Adjacency& store, VertexId vertex, graph::RelationId relation) const {
  const std::uint32_t* ids = nullptr;
  const std::uint32_t* tags = nullptr;
  std::uint32_t size = 0;
  const bool changed = store.find(vertex, relation, ids, tags, size);
  Entries entries{{std::span(ids, size), {}}, bits_of({ids, size})};
  if (!changed || !added_) return entries;
  const graph::List list = store.list(vertex, relation);
  entries.parts[1] = {list.added, list.added_size};
  entries.bits |= bits_of(entries.parts[1]);
  return entries;
}

// Whether two lists have a common entry that is neither of two. True if they are long.
bool Screen::meet(const Entries& a, const Entries& b, const std::array<VertexId, 2>& except) noexcept {
  if ((a.bits & b.bits) == 0) return false;
  for (const auto of_a : a.parts) {
    for (const auto of_b : b.parts) {
      if (match::meet(of_a, of_b, except)) return true;
    }
  }
  return false;
}

// Notes the steps that candidates need at the present anchor.
void Screen::close() {
  for (; wanted_ != 0; wanted_ &= wanted_ - 1) {
    const std::size_t number = lowest(wanted_);
    if (!tests_->records_[number].pays()) continue;
    const ScreenTests::Test& test = tests_->tests_[number];
    const Entries& a = entries(test.a);
    const Entries& b = entries(test.b);
    const bool from_a = a.size() <= b.size();
    if ((from_a ? a : b).size() > longest_step) continue;
    Step& step = steps_.emplace_back();
    step.tests = tests_;
    step.test = static_cast<std::uint32_t>(number);
    step.look = static_cast<std::uint32_t>(refused_.size() - 1);
    step.relation = test.along[from_a ? 0 : 1];
    step.store = test.store;
    step.from = from_a ? a : b;
    step.to = from_a ? b : a;
    step.except = {no_vertex, no_vertex};
    if (test.distinct) step.except = {anchor_.tail, anchor_.head};
  }
}

void Screen::make_steps() {
  constexpr std::size_t rows_ahead = 8;
  constexpr std::size_t blocks_ahead = 4;
  const auto fetch = [&](std::size_t at, auto&& fetch_vertex) {
    if (at >= steps_.size()) return;
    for (const auto part : steps_[at].from.parts) {
      for (const VertexId vertex : part) fetch_vertex(*steps_[at].store, vertex);
    }
  };
  const auto fetch_row = [](const graph::Adjacency& store, VertexId vertex) { store.prefetch(vertex); };
  const auto fetch_block = [](const graph::Adjacency& store, VertexId vertex) { store.prefetch_block(vertex); };
  for (std::size_t i = 0; i < rows_ahead; ++i) fetch(i, fetch_row);
  for (std::size_t i = 0; i < blocks_ahead; ++i) fetch(i, fetch_block);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    fetch(i + rows_ahead, fetch_row);
    fetch(i + blocks_ahead, fetch_block);
    const Step& step = steps_[i];
    const bool passes = leads(step);
    step.tests->records_[step.test].note(passes);
    if (!passes) refused_[step.look] |= std::uint64_t{1} << step.test;
  }
}

// Whether an edge leads from an entry of one list to one of the other.
bool Screen::leads(const Step& step) const {
  for (const auto part : step.from.parts) {
    for (const VertexId vertex : part) {
      if (vertex == step.except[0] || vertex == step.except[1]) continue;
      if (meet(entries_of(*step.store, vertex, step.relation), step.to, step.except)) return true;
    }
  }
  return false;
}

}  // namespace deltamatch::match
