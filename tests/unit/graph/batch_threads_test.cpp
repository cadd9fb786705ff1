// Batches large enough for several threads have the effects that one thread gives them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/batch_resolver.hpp"

namespace deltamatch::graph {
namespace {

using namespace std::string_view_literals;

/// A graph that a number of threads maintain, with query relations over one relation and over several.
class Kept {
 public:
  Kept(bool directed, Timestamp window, unsigned threads, EdgeModel model = EdgeModel::simple)
      : workers_(threads),
        graph_(directed, window > 0, heap_slabs(), {.model = model, .edges = {}, .vertices = {}}),
        window_(window > 0 ? std::make_unique<Window>(window) : nullptr),
        resolver_(graph_, window_.get(), workers_) {
    const Direction out = directed ? Direction::out : Direction::both;
    graph_.add_query_relation({out, {graph_.edge_labels.intern("a")}, {}});
    graph_.add_query_relation({out, {}, {}});
  }

  const ResolvedBatch& stage(const UpdateBatch& batch) {
    const ResolvedBatch& resolved = resolver_.resolve(batch, OnReject::skip, watermark_);
    graph_.stage(resolved.net, workers_);
    next_watermark_ = resolved.watermark;
    return resolved;
  }
  void mark_changes(bool marked) { resolver_.mark_changes(marked); }
  void anticipate(const UpdateBatch& next) { resolver_.anticipate(next, {}); }
  void settle() {
    graph_.settle(workers_);
    resolver_.commit();
    watermark_ = next_watermark_;
  }
  void undo() {
    graph_.unstage();
    resolver_.undo();
  }

  using Column = std::vector<std::uint32_t>;
  using Entry = std::tuple<StoreKind, VertexId, RelationId, Column, Column, Column, Column, Column>;
  /// All lists that are not empty, with their staged entries.
  [[nodiscard]] std::vector<Entry> lists() const {
    std::vector<Entry> all;
    for (const StoreKind kind : {StoreKind::base, StoreKind::derived}) {
      const Adjacency* store = graph_.stores()[static_cast<std::size_t>(kind)];
      if (store == nullptr) continue;
      for (VertexId vertex = 0; vertex < store->vertices(); ++vertex) {
        for (RelationId relation = 0; relation < graph_.relations().size(); ++relation) {
          const List list = store->list(vertex, relation);
          if (list.size + list.added_size == 0) continue;
          const auto column = [](const std::uint32_t* from, std::uint32_t size) {
            return from == nullptr ? Column() : Column(from, from + size);
          };
          all.emplace_back(kind, vertex, relation, column(list.ids, list.size), column(list.tags, list.size),
                           column(list.added, list.added_size), column(list.added_tags, list.added_size),
                           column(list.removed, list.removed_size));
        }
      }
    }
    return all;
  }
  [[nodiscard]] const DataGraph& graph() const noexcept { return graph_; }

 private:
  Workers workers_;
  DataGraph graph_;
  std::unique_ptr<Window> window_;
  BatchResolver resolver_;
  std::optional<Timestamp> watermark_;
  std::optional<Timestamp> next_watermark_;
};

/// Draws updates among so few vertices that edges come back, in a batch and in the next. They are of all kinds, or only of
/// edges. Some edges then state labels, and some are self-loops. If edges have keys, these come back, too, and some deletions
/// name nothing else.
class Stream {
 public:
  Stream(bool timed, std::uint64_t seed, bool only_edges = false, EdgeModel model = EdgeModel::simple)
      : timed_(timed), only_edges_(only_edges), model_(model), random_(seed) {
    for (unsigned i = 0; i < 400; ++i) names_.push_back("account-" + std::to_string(i));
  }

  /// Of a hundred edges, how many state a label.
  void state_labels(unsigned percent) { states_ = percent; }

  void fill(UpdateBatch& batch, std::size_t updates) {
    batch.clear();
    append(batch, updates);
    time_ += 20;
  }
  void append(UpdateBatch& batch, std::size_t updates) {
    static constexpr std::string_view labels[] = {"", "a", "b"};
    for (std::size_t i = 0; i < updates; ++i) {
      Update update;
      const unsigned what = below(only_edges_ ? 97 : 100);
      update.kind = what < 55   ? UpdateKind::insert_edge
                    : what < 97 ? UpdateKind::delete_edge
                    : what < 98 ? UpdateKind::insert_vertex
                                : UpdateKind::delete_vertex;
      update.source = vertex();
      update.target = only_edges_ && below(10) == 0 ? update.source : vertex();
      const bool edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
      if (edge) update.label = labels[below(3)];
      if (!edge && below(2) == 0) update.source_label = labels[below(3)];
      if (only_edges_ && below(100) < states_) update.source_label = labels[below(3)];
      update.continues = only_edges_ && i > 0 && below(10) == 0;
      if (timed_ && edge) update.time = time_ + below(50);
      Properties properties;
      if (model_ == EdgeModel::keyed && edge && below(200) != 0) properties.key = key();
      if (properties.key) {
        update.properties = &properties;
        update.by_key = update.kind == UpdateKind::delete_edge && below(2) == 0;
      }
      batch.add(update);
    }
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  Id vertex() {
    const std::uint32_t which = below(800);
    return which < 400 ? Id(std::string_view(names_[which])) : Id(std::int64_t{which} - 600);
  }
  Id key() {
    const std::uint32_t which = below(6000);
    return which < 400 ? Id(std::string_view(names_[which])) : Id(std::int64_t{which});
  }

  bool timed_;
  bool only_edges_;
  EdgeModel model_;
  std::mt19937_64 random_;
  std::vector<std::string> names_;
  Timestamp time_ = 1000;
  unsigned states_ = 0;
};

void expect_same(const ResolvedBatch& one, const ResolvedBatch& several) {
  EXPECT_TRUE(one.net.inserted == several.net.inserted);
  EXPECT_TRUE(one.net.inserted_times == several.net.inserted_times);
  EXPECT_TRUE(one.net.removed == several.net.removed);
  EXPECT_EQ(one.consumed, several.consumed);
  EXPECT_EQ(one.expired, several.expired);
  EXPECT_EQ(one.ignored.duplicate_insert, several.ignored.duplicate_insert);
  EXPECT_EQ(one.ignored.absent_delete, several.ignored.absent_delete);
  EXPECT_EQ(one.ignored.superseded, several.ignored.superseded);
  EXPECT_EQ(one.ignored.late, several.ignored.late);
  EXPECT_EQ(one.ignored.self_loop, several.ignored.self_loop);
  EXPECT_EQ(one.inserted_marks, several.inserted_marks);
  EXPECT_EQ(one.watermark, several.watermark);
  EXPECT_EQ(one.rebound, several.rebound);
  EXPECT_EQ(one.replaced, several.replaced);
  ASSERT_EQ(one.rejects.size(), several.rejects.size());
  for (std::size_t i = 0; i < one.rejects.size(); ++i) {
    EXPECT_EQ(one.rejects[i].index, several.rejects[i].index);
    EXPECT_EQ(one.rejects[i].reason, several.rejects[i].reason);
  }
}

std::vector<std::pair<Edge, Timestamp>> edges_of(const DataGraph& graph) {
  std::vector<std::pair<Edge, Timestamp>> edges;
  for (VertexId vertex = 0; vertex < graph.base().vertices(); ++vertex) {
    graph.for_each_edge(vertex, false, [&](const Edge& edge, Timestamp time) { edges.emplace_back(edge, time); });
  }
  return edges;
}

/// The records of the edges in the table, if there is one, with their slots.
std::vector<std::string> records_of(const DataGraph& graph) {
  std::vector<std::string> records;
  if (!graph.edge_table) return records;
  const EdgeTable& table = *graph.edge_table;
  records.push_back(std::to_string(table.slots()) + " slots, last " + std::to_string(table.last_ordinal()));
  for (Slot slot = 0; slot < table.slots(); ++slot) {
    if (!table.live(slot)) continue;
    std::string& record = records.emplace_back(std::to_string(slot) + ": " + std::to_string(table.tail(slot)) + " " +
                                               std::to_string(table.head(slot)) + " " + std::to_string(table.label(slot)) +
                                               " #" + std::to_string(table.ordinal(slot)));
    if (const auto time = table.time(slot)) record += " at " + std::to_string(*time);
    if (!table.keyed()) continue;
    const Id key = table.external_key(slot);
    record += key.is_text() ? " '" + std::string(key.text()) + "'" : " " + std::to_string(key.number());
  }
  return records;
}

void expect_same(const DataGraph& one, const DataGraph& several) {
  EXPECT_EQ(one.edges(), several.edges());
  EXPECT_TRUE(edges_of(one) == edges_of(several));
  EXPECT_EQ(records_of(one), records_of(several));
  ASSERT_EQ(one.base().figures().size(), several.base().figures().size());
  for (std::size_t r = 0; r < one.base().figures().size(); ++r) {
    EXPECT_EQ(one.base().figures()[r].entries, several.base().figures()[r].entries);
    EXPECT_EQ(one.base().figures()[r].lists, several.base().figures()[r].lists);
    EXPECT_EQ(one.base().figures()[r].squares, several.base().figures()[r].squares);
    EXPECT_EQ(one.base().figures()[r].longest, several.base().figures()[r].longest);
    EXPECT_EQ(one.base().figures()[r].parallel, several.base().figures()[r].parallel);
  }
}

struct Setting {
  bool directed;
  Timestamp window;
  unsigned threads;
  bool only_edges = false;
  EdgeModel model = EdgeModel::simple;
};

std::string name_of(const Setting& setting) {
  const std::string model = setting.model == EdgeModel::keyed ? "_keyed" : setting.model == EdgeModel::events ? "_events" : "";
  return std::string(setting.directed ? "directed" : "undirected") + (setting.window > 0 ? "_window" : "") +
         (setting.only_edges ? "_edges" : "") + model + "_" + std::to_string(setting.threads);
}

class BatchThreads : public testing::TestWithParam<Setting> {};

TEST_P(BatchThreads, MakeNoDifference) {
  const auto [directed, window, threads, only_edges, model] = GetParam();
  Kept one(directed, window, 1, model);
  Kept several(directed, window, threads, model);
  Stream stream(window > 0, 17 + threads, only_edges, model);
  UpdateBatch batch;
  UpdateBatch next;
  stream.fill(batch, 6000);
  std::uint64_t removed = 0;
  bool replaced = false;
  for (unsigned k = 0; k < 12; ++k) {
    SCOPED_TRACE(k);
    const ResolvedBatch& resolved = one.stage(batch);
    expect_same(resolved, several.stage(batch));
    removed += resolved.net.removed.size();
    replaced = replaced || resolved.replaced;
    EXPECT_TRUE(one.lists() == several.lists());
    stream.state_labels(k % 2);
    stream.fill(next, k == 7 ? 0 : k % 4 == 3 ? 40 : 1000 + 700 * k);
    if (k % 3 == 0) several.anticipate(next);
    if (k % 6 == 0) stream.append(next, 900);  // more than was known ahead
    if (k % 4 == 2) {
      one.undo();
      several.undo();
      EXPECT_TRUE(one.lists() == several.lists());
    } else {
      one.settle();
      several.settle();
      expect_same(one.graph(), several.graph());
    }
    std::swap(batch, next);
  }
  EXPECT_GT(removed, 1000U);
  EXPECT_EQ(replaced, model == EdgeModel::keyed);
}

INSTANTIATE_TEST_SUITE_P(Settings, BatchThreads,
                         testing::Values(Setting{false, 0, 2}, Setting{true, 0, 3}, Setting{false, 100, 4},
                                         Setting{true, 60, 16}, Setting{false, 0, 5, true}, Setting{true, 80, 3, true}),
                         [](const auto& setting) { return name_of(setting.param); });

INSTANTIATE_TEST_SUITE_P(Tables, BatchThreads, testing::ValuesIn([] {
                           std::vector<Setting> settings;
                           for (const EdgeModel model : {EdgeModel::keyed, EdgeModel::events}) {
                             for (const unsigned threads : {3U, 16U}) {
                               settings.push_back({false, 0, threads, false, model});
                               settings.push_back({true, 60, threads, false, model});
                               settings.push_back({true, 80, threads, true, model});
                             }
                           }
                           return settings;
                         }()),
                         [](const auto& setting) { return name_of(setting.param); });

// A batch that deletes a vertex is read record by record. If it is one that nobody knows, nothing else differs.
TEST(BatchThreads, ForeseenRecordsCountAsIfTheyWereRead) {
  for (const Timestamp window : {0, 90}) {
    for (const unsigned threads : {1U, 3U}) {
      const bool marked = threads == 3;  // all records are visited then
      Kept foreseeing(true, window, threads);
      Kept reading(true, window, threads);
      foreseeing.mark_changes(marked);
      reading.mark_changes(marked);
      Stream stream(window > 0, 5 + threads, true);
      std::uint64_t refused = 0;
      std::uint64_t loops = 0;
      bool rebound = false;
      for (unsigned k = 0; k < 40; ++k) {
        SCOPED_TRACE(k);
        UpdateBatch batch;
        stream.state_labels(k % 5 == 4 ? 3 : 0);
        stream.fill(batch, k % 3 == 0 ? 2500 : 20);
        UpdateBatch with_deletion;
        for (const Update& update : batch.updates()) with_deletion.add(update);
        Update deletion;
        deletion.kind = UpdateKind::delete_vertex;
        deletion.source = "nobody"sv;
        with_deletion.add(deletion);
        const ResolvedBatch& foreseen = foreseeing.stage(batch);
        ResolvedBatch read = reading.stage(with_deletion);
        EXPECT_EQ(read.consumed, foreseen.consumed + 1);
        read.consumed -= 1;
        read.ignored.absent_delete -= 1;
        expect_same(foreseen, read);
        refused += read.rejects.size();
        loops += read.ignored.self_loop;
        rebound = rebound || read.rebound;
        EXPECT_TRUE(foreseeing.lists() == reading.lists());
        foreseeing.settle();
        reading.settle();
        expect_same(foreseeing.graph(), reading.graph());
      }
      EXPECT_GT(refused, 0U);
      EXPECT_GT(loops, 100U);
      EXPECT_TRUE(rebound);
    }
  }
}

}  // namespace
}  // namespace deltamatch::graph
