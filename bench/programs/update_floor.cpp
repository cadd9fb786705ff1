// How little can an update cost on one thread, from a record to a settled graph?
//
// Runs the stream of bench_update_path through the sketch of a store in update_floor.hpp, and prints the same table. What the
// engine's time lies above it is the price of what the sketch leaves out, or can be won. --check compares the sketch with sets
// and maps on random streams instead.
//
//   bench_update_floor --edges keyed --repeat 9
//   bench_update_floor --check
#include "update_floor.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "update_steps.hpp"

namespace {

using namespace deltamatch;
using namespace deltamatch::update_steps;
using update_floor::Limits;
using update_floor::Relation;
using update_floor::Slot;
using update_floor::Store;

template <EdgeModel model>
class Path {
 public:
  Times run(const UpdateBatch& batch) {
    Laps laps;
    store_.look_up(batch.updates());
    laps.done(look_up);
    store_.resolve();
    laps.done(resolve);
    store_.stage();
    laps.done(stage);
    store_.settle();
    laps.done(settle);
    return laps.times;
  }
  [[nodiscard]] std::size_t edges() const { return store_.edges(); }
  [[nodiscard]] std::size_t bytes() const { return store_.bytes(); }

 private:
  Store<model> store_;
};

// ---- The check.

struct Edge {
  std::int64_t source, target;  // ids, the smaller first
  std::uint32_t label;
  std::int64_t mark;  // key or time; 0 in the model `simple`
  auto operator<=>(const Edge&) const = default;
};

/// What a graph holds after a stream of updates, told in the plainest way.
class Oracle {
 public:
  explicit Oracle(EdgeModel model) : model_(model) {}

  void apply(bool insert, Edge edge) {
    if (edge.source == edge.target) insert = false;
    if (edge.source > edge.target) std::swap(edge.source, edge.target);
    if (model_ == EdgeModel::keyed) {
      keyed_.erase(edge.mark);
      if (insert) keyed_.emplace(edge.mark, edge);
      return;
    }
    if (edge.source == edge.target) return;
    auto& marks = edges_[{edge.source, edge.target, edge.label}];  // with repeated times
    if (model_ == EdgeModel::simple) edge.mark = 0;
    if (insert && (model_ == EdgeModel::events || marks.empty())) marks.insert(edge.mark);
    if (!insert && !marks.empty()) marks.erase(std::prev(marks.end()));
  }
  [[nodiscard]] std::multiset<Edge> edges() const {
    std::multiset<Edge> all;
    for (const auto& [key, edge] : keyed_) all.insert(edge);
    for (const auto& [like, marks] : edges_) {
      for (const std::int64_t mark : marks) all.insert({std::get<0>(like), std::get<1>(like), std::get<2>(like), mark});
    }
    return all;
  }

 private:
  EdgeModel model_;
  std::map<std::int64_t, Edge> keyed_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::uint32_t>, std::multiset<std::int64_t>> edges_;
};

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("the check fails: ") + what);
}

template <EdgeModel model>
class Check {
 public:
  explicit Check(std::uint64_t seed) : random_(seed), store_(Limits{.flat = 6 + draw(20), .piece = 4 + draw(12)}) {
    for (unsigned v = 0; v < 4 + draw(60); ++v) ids_.push_back(draw(2) == 0 ? v : static_cast<std::int64_t>(random_()));
    std::ranges::sort(ids_);
    ids_.erase(std::ranges::unique(ids_).begin(), ids_.end());
    UpdateBatch vertices;
    for (const std::int64_t id : ids_) {
      if (draw(8) == 0) continue;  // it appears with its first edge, without a label
      const std::string label = "v" + std::to_string(draw(3));
      Update update;
      update.kind = UpdateKind::insert_vertex;
      update.source = id;
      update.source_label = label;
      vertices.add(update);
    }
    store_.look_up(vertices.updates());
  }

  void run(unsigned batches) {
    for (unsigned b = 0; b < batches; ++b) {
      const UpdateBatch batch = draw_batch();
      store_.look_up(batch.updates());
      store_.resolve();
      store_.stage();
      const std::set<Slot> after = compare("the lists that a matcher reads");
      check_slots(after);
      store_.settle();
      require(compare("the settled lists") == after, "settling changes slots");
      require(store_.edges() == oracle_.edges().size(), "the number of edges");
      slots_ = after;
    }
  }

 private:
  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }

  UpdateBatch draw_batch() {
    UpdateBatch batch;
    const unsigned size = draw(draw(8) == 0 ? 600 : 40);
    const unsigned deletions = draw(100);
    for (unsigned u = 0; u < size; ++u) {
      const bool insert = draw(100) >= deletions;
      const auto vertex = [&] { return ids_[draw(3) == 0 ? draw(2) : draw(static_cast<unsigned>(ids_.size()))]; };
      const Edge edge{vertex(), vertex(), draw(2), static_cast<std::int64_t>(draw(300))};
      const std::string label = edge.label == 0 ? "" : "e";
      Update update;
      update.kind = insert ? UpdateKind::insert_edge : UpdateKind::delete_edge;
      update.source = edge.source;
      update.target = edge.target;
      update.label = label;
      Properties key;
      key.key = Id(edge.mark);
      if (model == EdgeModel::keyed) update.properties = &key;
      if (model == EdgeModel::events && insert) update.time = edge.mark;
      batch.add(update);
      oracle_.apply(insert, edge);
    }
    return batch;
  }

  /// Compares every list with the oracle's. Returns the slots of all edges.
  std::set<Slot> compare(const char* what) {
    using Lists = std::map<std::pair<VertexId, Relation>, std::multiset<std::pair<VertexId, std::int64_t>>>;
    Lists expected;
    for (const Edge& edge : oracle_.edges()) {
      const auto source = store_.find(edge.source);
      const auto target = store_.find(edge.target);
      expected[{source.number, edge.label << 8 | target.label}].emplace(target.number, edge.mark);
      expected[{target.number, edge.label << 8 | source.label}].emplace(source.number, edge.mark);
    }
    Lists found;
    std::map<Slot, std::vector<std::pair<VertexId, VertexId>>> halves;
    for (const std::int64_t id : ids_) {
      const VertexId vertex = store_.find(id).number;
      if (vertex == update_floor::none) continue;
      for (Relation relation = 0; relation < 2U << 8; ++relation) {
        if ((relation & 0xff) > 3) continue;
        const auto list = store_.list(vertex, relation);
        require(std::ranges::adjacent_find(list, std::greater_equal<>()) == list.end(), what);
        for (const auto entry : list) {
          if constexpr (Store<model>::tagged) {
            const auto slot = static_cast<Slot>(entry);
            const auto neighbour = static_cast<VertexId>(entry >> 32);
            found[{vertex, relation}].emplace(neighbour, store_.mark(slot));
            halves[slot].emplace_back(std::minmax(vertex, neighbour));
          } else {
            found[{vertex, relation}].emplace(entry, 0);
          }
        }
      }
    }
    require(found == expected, what);
    std::set<Slot> slots;
    for (const auto& [slot, ends] : halves) {
      require(ends.size() == 2 && ends[0] == ends[1], "an edge stands in two lists");
      slots.insert(slot);
    }
    return slots;
  }

  /// New edges have the least slots that were free before the batch.
  void check_slots(const std::set<Slot>& after) const {
    std::vector<Slot> fresh;
    std::ranges::set_difference(after, slots_, std::back_inserter(fresh));
    Slot least = 0;
    for (const Slot slot : fresh) {
      while (slots_.contains(least)) ++least;
      require(slot == least++, "new edges have the least free slots");
    }
  }

  std::mt19937_64 random_;
  Store<model> store_;
  Oracle oracle_{model};
  std::vector<std::int64_t> ids_;
  std::set<Slot> slots_;
};

template <class Run>
void for_model(EdgeModel model, Run&& run) {
  if (model == EdgeModel::simple) run.template operator()<EdgeModel::simple>();
  if (model == EdgeModel::keyed) run.template operator()<EdgeModel::keyed>();
  if (model == EdgeModel::events) run.template operator()<EdgeModel::events>();
}

void check() {
  constexpr std::uint64_t streams = 40;
  constexpr unsigned batches = 30;
  for (const EdgeModel model : {EdgeModel::simple, EdgeModel::keyed, EdgeModel::events}) {
    for (std::uint64_t seed = 1; seed <= streams; ++seed) {
      for_model(model, [&]<EdgeModel of>() { Check<of>(seed).run(batches); });
    }
  }
  fmt::print("{} streams of {} batches for each model: all as sets and maps have it\n", streams, batches);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bool checks = false;
  CLI::App app("How little an update can cost on one thread, from a record to a settled graph");
  add_options(app, options);
  app.add_flag("--check", checks, "compare with sets and maps on random streams, instead of measuring");
  CLI11_PARSE(app, argc, argv);
  try {
    if (checks) {
      check();
    } else {
      for_model(options.model(), [&]<EdgeModel model>() {
        Path<model> path;
        measure(options, path);
      });
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_update_floor: {}\n", error.what());
    return 1;
  }
  return 0;
}
