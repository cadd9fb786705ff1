// The effects of a batch: net edges, counters, refusals, vertices that come and go, times. All of it can be undone.
#include "graph/batch_resolver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace deltamatch::graph {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::string_view_literals;

Update edge(UpdateKind kind, Id source, Id target, std::optional<Timestamp> time) {
  Update update;
  update.kind = kind;
  update.source = source;
  update.target = target;
  update.time = time;
  return update;
}
Update insert(Id source, Id target, std::optional<Timestamp> time = {}) {
  return edge(UpdateKind::insert_edge, source, target, time);
}
Update erase(Id source, Id target, std::optional<Timestamp> time = {}) {
  return edge(UpdateKind::delete_edge, source, target, time);
}
Update vertex(UpdateKind kind, Id id, std::optional<std::string_view> label = {}) {
  Update update;
  update.kind = kind;
  update.source = id;
  update.source_label = label;
  return update;
}
Update declare(Id id, std::optional<std::string_view> label = {}) { return vertex(UpdateKind::insert_vertex, id, label); }
Update drop(Id id) { return vertex(UpdateKind::delete_vertex, id); }
Update labelled(Update update, std::optional<std::string_view> source, std::optional<std::string_view> target = {}) {
  update.source_label = source;
  update.target_label = target;
  return update;
}
Update typed(Update update, std::string_view label) {
  update.label = label;
  return update;
}

/// Makes an update a further one of the record before.
Update also(Update update) {
  update.continues = true;
  return update;
}

using Updates = std::vector<Update>;

/// A graph with its resolver. Describes the effects of a batch in words.
class Resolver {
 public:
  explicit Resolver(bool directed, Timestamp window = 0)
      : graph(directed, window > 0),
        window_(window > 0 ? std::make_unique<Window>(window) : nullptr),
        resolver_(graph, window_.get(), workers_) {}

  const ResolvedBatch& resolve(const Updates& updates, OnReject on_reject = OnReject::skip) {
    batch_.clear();
    for (const Update& update : updates) batch_.add(update);
    if (told) batch_.set_watermark(*told);
    return result_ = resolver_.resolve(batch_, on_reject, watermark_);
  }
  void undo() { resolver_.undo(); }
  void order_by_time() { resolver_.order_by_time(&deletions_); }
  void limit_rise(Timestamp longest) { resolver_.limit_rise(longest); }
  void limit_labels(std::uint64_t most) { resolver_.limit_labels(most); }
  /// Resolves and settles. Returns the numbers of edges and of ignored updates: "inserted deleted expired | duplicate absent
  /// superseded late".
  std::string apply(const Updates& updates, OnReject on_reject = OnReject::skip) {
    resolve(updates, on_reject);
    graph.stage(result_.net);
    graph.settle(workers_);
    resolver_.commit();
    watermark_ = result_.watermark;
    const Ignored& ignored = result_.ignored;
    std::string text;
    for (const std::uint64_t count : {result_.net.inserted.size(), result_.net.removed.size(), result_.expired}) {
      text += std::to_string(count) + " ";
    }
    text += "|";
    for (const std::uint64_t count : {ignored.duplicate_insert, ignored.absent_delete, ignored.superseded, ignored.late}) {
      text += " " + std::to_string(count);
    }
    return text;
  }
  /// "reason@index ..." of the latest batch.
  [[nodiscard]] std::string rejects() const {
    std::string text;
    for (const Reject& reject : result_.rejects) {
      text += (text.empty() ? "" : " ") + std::string(reject_name(reject.reason)) + "@" + std::to_string(reject.index);
    }
    return text;
  }
  [[nodiscard]] const ResolvedBatch& result() const { return result_; }
  [[nodiscard]] VertexId number(Id id) const { return graph.dictionary.find(id); }
  [[nodiscard]] bool known(Id id) const { return number(id) != invalid_vertex; }
  [[nodiscard]] std::string label(Id id) const {
    return std::string(graph.vertex_labels.text(graph.dictionary.label(number(id))));
  }
  [[nodiscard]] bool has(Id source, Id target, std::string_view label = "") const {
    const auto text = graph.edge_labels.find(label);
    return known(source) && known(target) && text && graph.contains(graph.ranked(number(source), number(target), *text));
  }
  [[nodiscard]] Timestamp time(Id source, Id target) const {
    return graph.time(graph.ranked(number(source), number(target), empty_label)).value_or(-1);
  }
  /// "id:label" of every vertex by number. "-" is a free number below a used one, "!" stands behind declared vertices.
  [[nodiscard]] std::vector<std::string> vertices() const {
    std::vector<std::string> all;
    for (VertexId v = 0; v < graph.dictionary.capacity(); ++v) {
      if (!graph.dictionary.alive(v)) {
        all.emplace_back("-");
        continue;
      }
      const Id id = graph.dictionary.external(v);
      all.push_back((id.is_text() ? std::string(id.text()) : std::to_string(id.number())) + ":" +
                    std::string(graph.vertex_labels.text(graph.dictionary.label(v))) +
                    (graph.dictionary.declared(v) ? "!" : ""));
    }
    while (!all.empty() && all.back() == "-") all.pop_back();
    return all;
  }

  DataGraph graph;
  std::optional<std::optional<Timestamp>> told;  // stated watermark of the batches; nothing: they state none

 private:
  std::unique_ptr<Window> window_;
  Deletions deletions_{EdgeModel::simple, graph.directed()};
  BatchResolver resolver_;
  Workers workers_{1};
  UpdateBatch batch_;
  ResolvedBatch result_;
  std::optional<Timestamp> watermark_;
};

// -- Netting -----------------------------------------------------------------------------------------------------------------

TEST(BatchResolver, TheLastStateOfAnEdgeCounts) {
  Resolver graph(true);
  EXPECT_EQ(graph.apply({insert(1, 2), insert(1, 2), insert(1, 2)}), "1 0 0 | 0 0 2 0");
  EXPECT_EQ(graph.apply({insert(1, 2)}), "0 0 0 | 1 0 0 0");
  EXPECT_EQ(graph.apply({erase(1, 2), insert(1, 2)}), "0 0 0 | 1 0 1 0");
  EXPECT_EQ(graph.apply({insert(1, 2), erase(1, 2)}), "0 1 0 | 0 0 1 0");
  EXPECT_EQ(graph.apply({erase(1, 2)}), "0 0 0 | 0 1 0 0");
  EXPECT_EQ(graph.apply({insert(1, 2), erase(1, 2)}), "0 0 0 | 0 1 1 0");
  EXPECT_EQ(graph.graph.edges(), 0U);
}

TEST(BatchResolver, EdgesOfEitherHalfComeByRank) {
  Resolver graph(true);
  graph.apply({insert(0, 1), insert(0, 2), insert(1, 2), insert(2, 0)});
  const ResolvedBatch& batch = graph.resolve({insert(2, 1), erase(2, 0), insert(1, 0), erase(0, 1), typed(insert(1, 0), "A")});
  const LabelId a = *graph.graph.edge_labels.find("A");
  EXPECT_THAT(batch.net.inserted, ElementsAre(Edge{1, 0, empty_label}, Edge{1, 0, a}, Edge{2, 1, empty_label}));
  EXPECT_THAT(batch.net.removed, ElementsAre(Edge{0, 1, empty_label}, Edge{2, 0, empty_label}));
  EXPECT_THAT(batch.net.inserted_times, IsEmpty());
  EXPECT_FALSE(batch.rebound);
}

TEST(BatchResolver, AnUndirectedEdgeHasOneNameADirectedOneTwo) {
  Resolver undirected(false);
  EXPECT_EQ(undirected.apply({insert(2, 1), insert(1, 2), erase(3, 4), erase(4, 3)}), "1 0 0 | 0 1 2 0");
  EXPECT_EQ(undirected.apply({erase(1, 2)}), "0 1 0 | 0 0 0 0");
  Resolver directed(true);
  EXPECT_EQ(directed.apply({insert(2, 1), insert(1, 2), erase(3, 4), erase(4, 3)}), "2 0 0 | 0 2 0 0");
}

TEST(BatchResolver, ParallelEdgesDifferInTheirLabels) {
  Resolver graph(true);
  EXPECT_EQ(graph.apply({typed(insert(1, 2), "A"), typed(insert(1, 2), "B"), insert(1, 2)}), "3 0 0 | 0 0 0 0");
  EXPECT_EQ(graph.apply({typed(erase(1, 2), "B"), typed(erase(1, 2), "C")}), "0 1 0 | 0 1 0 0");
  EXPECT_TRUE(graph.has(1, 2, "A"));
  EXPECT_FALSE(graph.has(1, 2, "B"));
}

TEST(BatchResolver, ADeletionOfTheUnknownMakesNothingKnown) {
  Resolver graph(true);
  EXPECT_EQ(graph.apply({erase(1, 2), labelled(erase(1, 3), "A"), drop(4), typed(erase(1, 2), "T")}), "0 0 0 | 0 4 0 0");
  EXPECT_THAT(graph.vertices(), IsEmpty());
  EXPECT_FALSE(graph.graph.edge_labels.find("T"));
  // If its ends become known later in the batch, it is an earlier update of the same edge.
  EXPECT_EQ(graph.apply({erase(1, 2), insert(1, 2)}), "1 0 0 | 0 0 1 0");
}

// -- Order by time -----------------------------------------------------------------------------------------------------------

TEST(BatchResolver, ByTimeARecordLosesAgainstANewerOneOfItsEdge) {
  const Updates all{erase(1, 2, 20), insert(1, 2, 10), insert(1, 2, 20), erase(1, 2, 19)};
  Resolver one(true, 100);
  one.order_by_time();
  EXPECT_EQ(one.apply({all[0]}), "0 0 0 | 0 1 0 0");
  EXPECT_EQ(one.apply({all[1]}), "0 0 0 | 0 0 1 0");
  EXPECT_EQ(one.apply({all[2]}), "1 0 0 | 0 0 0 0");
  EXPECT_EQ(one.apply({all[3]}), "0 0 0 | 0 0 1 0");
  EXPECT_EQ(one.time(1, 2), 20);
  Resolver whole(true, 100);
  whole.order_by_time();
  EXPECT_EQ(whole.apply(all), "1 0 0 | 0 0 3 0");
  EXPECT_EQ(whole.apply({erase(1, 2, 20)}), "0 1 0 | 0 0 0 0");
  EXPECT_EQ(whole.apply({insert(1, 2, 20), erase(1, 2)}), "0 0 0 | 0 1 1 0");
}

TEST(BatchResolver, ByTimeALossLeavesNoVertexBehind) {
  Resolver graph(true, 100);
  graph.order_by_time();
  graph.apply({erase("a", "b", 20)});
  EXPECT_EQ(graph.apply({labelled(insert("a", "b", 10), "A", "B")}), "0 0 0 | 0 0 1 0");
  EXPECT_THAT(graph.vertices(), IsEmpty());
}

TEST(BatchResolver, ByTimeWhatIsUndoneOrRefusedIsNotRemembered) {
  Resolver graph(true, 100);
  graph.order_by_time();
  graph.resolve({erase(1, 2, 20)});
  graph.undo();
  EXPECT_EQ(graph.apply({insert(1, 2, 10)}), "1 0 0 | 0 0 0 0");
  EXPECT_EQ(
      graph.apply({erase(1, 2, 12), also(insert(3, 4)), erase(1, 2, 5), erase(3, 4, 30), also(insert(3, 5)), insert(3, 4, 20)}),
      "1 0 0 | 0 0 1 0");
  EXPECT_EQ(graph.rejects(), "missing_time@1 missing_time@4");
}

TEST(BatchResolver, ByTimeADeletionFarAheadCountsAsItComes) {
  Resolver graph(true, 100);
  graph.order_by_time();
  Update ahead = erase(1, 2, 9000);
  ahead.ahead = true;
  EXPECT_EQ(graph.apply({insert(1, 2, 10), ahead, insert(1, 2, 11)}), "1 0 0 | 0 0 2 0");
}

// -- Refusals ----------------------------------------------------------------------------------------------------------------

TEST(BatchResolver, EachRefusalHasItsReasonAndLeavesNoTrace) {
  Resolver graph(true, 100);
  graph.apply({labelled(insert(1, 2, 10), "A", "B")});
  const auto before = graph.vertices();
  EXPECT_EQ(graph.apply({insert(3, 4), labelled(insert(1, 3, 500), "B"), labelled(insert(5, 2, 500), {}, "A"),
                         labelled(erase(1, 2, 500), "B"), labelled(insert(1, 4, 500), ""),
                         vertex(UpdateKind::delete_vertex, 1, "B")}),
            "0 0 0 | 0 0 0 0");
  EXPECT_EQ(graph.rejects(),
            "missing_time@0 label_conflict@1 label_conflict@2 label_conflict@3 label_conflict@4 label_conflict@5");
  EXPECT_EQ(graph.vertices(), before);
  EXPECT_EQ(graph.result().watermark, 10) << "a refused record moved the watermark";
  EXPECT_EQ(graph.result().consumed, 6U);
}

TEST(BatchResolver, ASelfLoopIsCountedAndSaysNothingElseButItsTime) {
  Resolver graph(true, 100);
  EXPECT_EQ(graph.apply({labelled(insert(1, 2, 10), "A"), typed(labelled(insert(3, 3, 40), "new", "other"), "T"), erase(3, 3),
                         labelled(insert(1, 1, 20), "B"), insert(4, 4), insert(2, 1, 10)},
                        OnReject::stop),
            "2 0 0 | 0 0 0 0");
  EXPECT_EQ(graph.result().ignored.self_loop, 4U);
  EXPECT_EQ(graph.result().consumed, 6U);
  EXPECT_EQ(graph.rejects(), "");
  EXPECT_EQ(graph.result().watermark, 40);
  EXPECT_FALSE(graph.known(3));
  EXPECT_FALSE(graph.graph.vertex_labels.find("new"));
  EXPECT_FALSE(graph.graph.edge_labels.find("T"));
}

TEST(BatchResolver, ASelfLoopLeavesTheOtherUpdatesOfItsRecord) {
  Resolver graph(true);
  graph.apply({labelled(insert(1, 2), "A")});
  EXPECT_EQ(graph.apply({erase(1, 1), also(insert(1, 3)), erase(1, 2), also(insert(2, 2))}), "1 1 0 | 0 0 0 0");
  EXPECT_EQ(graph.result().ignored.self_loop, 2U);
  EXPECT_TRUE(graph.has(1, 3));
  // A self-loop of a refused record does not count.
  EXPECT_EQ(graph.apply({insert(5, 5), also(labelled(insert(1, 4), "B")), insert(6, 6)}), "0 0 0 | 0 0 0 0");
  EXPECT_EQ(graph.rejects(), "label_conflict@1");
  EXPECT_EQ(graph.result().ignored.self_loop, 1U);
}

TEST(BatchResolver, ALabelBeyondTheLimitIsRefused) {
  Resolver graph(true);
  graph.limit_labels(2);
  EXPECT_EQ(graph.apply({labelled(insert(1, 2), "A", "B"), labelled(insert(3, 4), "A", "C"), declare(5, "D"),
                         typed(insert(3, 4), "T"), typed(insert(3, 4), "U"), typed(insert(3, 4), "V"),
                         labelled(insert(6, 7), "B", "")}),
            "4 0 0 | 0 0 0 0");
  EXPECT_EQ(graph.rejects(), "label_limit@1 label_limit@2 label_limit@5");
  EXPECT_FALSE(graph.known(5));
  // A label that is only compared needs no number.
  EXPECT_EQ(graph.apply({labelled(erase(8, 9), "E"), vertex(UpdateKind::delete_vertex, 1, "F"), declare(2, "G")}),
            "0 0 0 | 0 1 0 0");
  EXPECT_EQ(graph.rejects(), "label_conflict@1 label_limit@2");
}

/// The labels by number, "-" for a free number.
std::string numbers_of(const LabelTable& labels) {
  std::string all;
  for (LabelId label = 1; label < labels.size(); ++label) {
    all += (all.empty() ? "" : " ") + (labels.in_use(label) ? std::string(labels.text(label)) : "-");
  }
  return all;
}

TEST(BatchResolver, LabelsThatNothingBearsAreGivenBackWithTheBatch) {
  Resolver graph(true);
  graph.apply({labelled(typed(insert(1, 2), "T"), "A", "B"), labelled(typed(insert(3, 4), "U"), "C", "A"), declare(5, "D")});
  EXPECT_EQ(numbers_of(graph.graph.vertex_labels), "A B C D");
  EXPECT_EQ(numbers_of(graph.graph.edge_labels), "T U");
  // 4 still has A.
  graph.apply({drop(1), drop(2)});
  EXPECT_EQ(numbers_of(graph.graph.vertex_labels), "A - C D");
  EXPECT_EQ(numbers_of(graph.graph.edge_labels), "- U");
  // The least free number is given out first, and only after the batch: B is still there while the batch is read.
  graph.apply({declare(6, "E"), declare(7, "F"), typed(insert(3, 4), "V")});
  EXPECT_EQ(numbers_of(graph.graph.vertex_labels), "A E C D F");
  EXPECT_EQ(numbers_of(graph.graph.edge_labels), "V U");
  graph.apply({drop(6), declare(8, "G"), drop(7), drop(5)});
  EXPECT_EQ(numbers_of(graph.graph.vertex_labels), "A - C - - G");
  // A label that comes and goes within the batch, by a deletion or by another label, leaves no trace.
  graph.apply({declare(9, "X"), drop(9), declare(8, "Y"), declare(8, "Z"), typed(insert(8, 9), "W"), typed(erase(8, 9), "W")});
  EXPECT_EQ(numbers_of(graph.graph.vertex_labels), "A - C - Z");
  EXPECT_EQ(numbers_of(graph.graph.edge_labels), "V U");
  // A vertex with settled edges continues with its first label.
  graph.apply({insert(10, 11)});
  graph.apply({declare(10, "K"), typed(erase(3, 4), "U"), typed(erase(3, 4), "V")});
  EXPECT_EQ(numbers_of(graph.graph.vertex_labels), "A K C - Z");
  EXPECT_EQ(numbers_of(graph.graph.edge_labels), "");
  graph.apply({drop(3), drop(4), drop(8), drop(10), drop(11)});
  EXPECT_EQ(numbers_of(graph.graph.vertex_labels), "");
}

TEST(BatchResolver, RefusedRecordsLeaveNoLabel) {
  Resolver graph(true);
  Resolver plain(true);
  graph.apply({labelled(insert(1, 2), "A")});
  plain.apply({labelled(insert(1, 2), "A")});
  // The second part of each record is refused. The records after it get numbers as if they had not been there.
  graph.apply({declare(3, "X"), also(typed(insert(3, 4), "S")), also(labelled(insert(1, 3), "Y")),
               labelled(insert(5, 6), "B", "C"), typed(insert(5, 1), "T"), declare(6, "W"), also(labelled(insert(1, 6), "V"))});
  plain.apply({labelled(insert(5, 6), "B", "C"), typed(insert(5, 1), "T")});
  EXPECT_EQ(graph.rejects(), "label_conflict@2 label_conflict@6");
  EXPECT_EQ(numbers_of(graph.graph.vertex_labels), "A B C");
  EXPECT_EQ(numbers_of(graph.graph.vertex_labels), numbers_of(plain.graph.vertex_labels));
  EXPECT_EQ(numbers_of(graph.graph.edge_labels), numbers_of(plain.graph.edge_labels));
}

TEST(BatchResolver, LabelsOfManyRefusedRecordsTakeNoMemory) {
  Resolver graph(true);
  graph.apply({labelled(insert(1, 2), "A")});
  const auto bytes = [&] { return graph.graph.vertex_labels.bytes() + graph.graph.edge_labels.bytes(); };
  const auto refuse = [&](int from) {
    std::vector<std::string> names;
    for (int i = from; i < from + 100; ++i) names.push_back("label " + std::to_string(i) + std::string(200, 'x'));
    Updates batch;
    for (const std::string& name : names) {
      batch.push_back(typed(labelled(insert(3, 4), name), name));
      batch.push_back(also(labelled(insert(1, 4), "B")));
    }
    graph.apply(batch);
  };
  refuse(0);
  const std::size_t before = bytes();
  for (int i = 100; i < 2000; i += 100) refuse(i);
  EXPECT_EQ(graph.result().rejects.size(), 100U);
  EXPECT_EQ(bytes(), before);
}

TEST(BatchResolver, ABatchThatDoesNotHappenLeavesNoLabel) {
  Resolver graph(true);
  graph.apply({declare(1, "A"), declare(2, "B"), typed(insert(1, 2), "T")});
  graph.apply({drop(1)});
  graph.resolve({declare(3, "C"), declare(4, "D"), typed(insert(3, 2), "U"), drop(2)});
  graph.undo();
  EXPECT_EQ(numbers_of(graph.graph.vertex_labels), "- B");
  EXPECT_EQ(numbers_of(graph.graph.edge_labels), "");
  graph.apply({declare(4, "D"), typed(insert(4, 2), "V")});
  EXPECT_EQ(numbers_of(graph.graph.vertex_labels), "D B");
  EXPECT_EQ(numbers_of(graph.graph.edge_labels), "V");
}

TEST(BatchResolver, AFreedLabelMakesRoomBelowTheLimit) {
  Resolver graph(true);
  graph.limit_labels(2);
  graph.apply({declare(1, "A"), declare(2, "B"), declare(3, "C")});
  EXPECT_EQ(graph.rejects(), "label_limit@2");
  graph.apply({drop(1)});
  graph.apply({declare(3, "C")});
  EXPECT_EQ(graph.rejects(), "");
}

TEST(BatchResolver, StoppingAppliesWhatStandsBefore) {
  Resolver graph(true);
  EXPECT_EQ(graph.apply({labelled(insert(1, 2), "A"), insert(2, 3), labelled(insert(1, 4), "B"), insert(3, 4)}, OnReject::stop),
            "2 0 0 | 0 0 0 0");
  EXPECT_EQ(graph.result().consumed, 2U);
  EXPECT_EQ(graph.rejects(), "label_conflict@2");
  EXPECT_FALSE(graph.known(4));
}

TEST(BatchResolver, ARecordIsAppliedOrRefusedAsAWhole) {
  Resolver graph(true);
  graph.apply({labelled(insert(1, 2), "A"), insert(1, 9)});
  // A record replaces an edge by one that its vertex's label forbids. It is refused, so the edge stays. The other records are
  // applied.
  EXPECT_EQ(graph.apply({insert(3, 4), erase(1, 2), also(labelled(insert(1, 5), "B")), erase(3, 7), insert(4, 3)}),
            "2 0 0 | 0 1 0 0");
  EXPECT_EQ(graph.rejects(), "label_conflict@2");
  EXPECT_EQ(graph.result().consumed, 5U);
  EXPECT_TRUE(graph.has(1, 2));
  EXPECT_FALSE(graph.known(5));
  // Later updates do not see its effects, but see those of earlier updates.
  EXPECT_EQ(graph.apply({erase(1, 9), erase(1, 2), also(labelled(insert(1, 5), "B"))}), "1 2 0 | 0 0 0 0");
  EXPECT_EQ(graph.rejects(), "");
  EXPECT_EQ(graph.label(1), "B");
}

TEST(BatchResolver, StoppingAppliesNothingOfTheRecord) {
  Resolver graph(true);
  EXPECT_EQ(
      graph.apply({labelled(insert(1, 2), "A"), insert(2, 3), also(labelled(insert(1, 3), "B")), insert(3, 4)}, OnReject::stop),
      "1 0 0 | 0 0 0 0");
  EXPECT_EQ(graph.result().consumed, 1U);
  EXPECT_EQ(graph.rejects(), "label_conflict@2");
  EXPECT_FALSE(graph.known(3));
}

TEST(BatchResolver, ARefusedRecordLeavesNoTraceOfItsVertices) {
  for (const Timestamp window : {Timestamp{0}, Timestamp{100}}) {
    const Updates start = {labelled(insert(1, 2, 10), "A"), declare(4, "D"), insert(2, 3, 10)};
    const Updates around = {drop(3), insert(6, 7, 20)};
    // Vertices are deleted, relabelled, recreated, restored and declared. Then the record is refused.
    const Updates record = {drop(2),
                            also(labelled(insert(2, 1, 20), "new")),
                            also(drop(4)),
                            also(drop(8)),
                            also(declare(4, "E")),
                            also(insert(8, 9, 500)),
                            also(drop(3)),
                            also(insert(3, 6, 20)),
                            also(erase(1, 2)),
                            also(drop(40)),
                            also(labelled(insert(1, 5, 20), "B"))};
    Resolver graph(true, window);
    Resolver plain(true, window);
    graph.apply(start);
    plain.apply(start);
    Updates batch = {around[0]};
    batch.insert(batch.end(), record.begin(), record.end());
    batch.push_back(around[1]);
    EXPECT_EQ(graph.apply(batch), plain.apply(around));
    EXPECT_EQ(graph.rejects(), "label_conflict@11");
    auto vertices = graph.vertices();
    while (vertices.size() > plain.vertices().size() && vertices.back() == "-") vertices.pop_back();  // free numbers
    EXPECT_EQ(vertices, plain.vertices());
    EXPECT_EQ(graph.result().watermark, plain.result().watermark);
    EXPECT_EQ(graph.apply({labelled(insert(2, 4, 30), {}, "D")}), "1 0 0 | 0 0 0 0");
  }
}

TEST(BatchResolver, ARefusedRecordDoesNotUndoARelabelling) {
  const Updates start = {labelled(insert(1, 2), "A")};
  const Updates relabelled = {erase(1, 2), labelled(insert(1, 2), "B")};
  // The record restores the vertex to its state before the batch, and is refused.
  const Updates back = {drop(1), also(labelled(insert(1, 3), "A")), also(labelled(insert(1, 5), "B"))};
  const Updates behind = {insert(2, 4), drop(9), also(labelled(insert(1, 5), "C")), labelled(insert(1, 4), "B")};
  Resolver graph(true);
  Resolver plain(true);
  graph.apply(start);
  plain.apply(start);
  Updates batch = relabelled;
  batch.insert(batch.end(), back.begin(), back.end());
  batch.insert(batch.end(), behind.begin(), behind.end());
  Updates without = relabelled;
  without.insert(without.end(), {behind[0], behind[3]});
  EXPECT_EQ(graph.apply(batch), plain.apply(without));
  EXPECT_EQ(graph.rejects(), "label_conflict@4 label_conflict@7");
  EXPECT_EQ(graph.label(1), "B");
  EXPECT_EQ(graph.vertices(), plain.vertices());
}

TEST(BatchResolver, ALabelHoldsWhileEdgesLiveAtThatPointOfTheBatch) {
  Resolver graph(true);
  graph.apply({labelled(insert(1, 2), "A")});
  // Edges inserted or deleted earlier in the batch count. Later ones do not.
  EXPECT_EQ(graph.apply({labelled(insert(1, 3), "B"), erase(1, 2), labelled(insert(1, 3), "B"), labelled(insert(1, 4), "A")}),
            "1 1 0 | 0 0 0 0");
  EXPECT_EQ(graph.rejects(), "label_conflict@0 label_conflict@3");
  EXPECT_EQ(graph.label(1), "B");
  EXPECT_EQ(graph.apply({insert(1, 4), erase(1, 3), labelled(erase(1, 4), "C")}), "1 1 0 | 0 0 0 0");
  EXPECT_EQ(graph.rejects(), "label_conflict@2");
}

TEST(BatchResolver, AVertexWithoutALabelTakesItsFirstAtAnyTime) {
  Resolver graph(true);
  graph.apply({insert(1, 2), insert(2, 1), insert(2, 3)});
  const VertexId before = graph.number(1);
  // Its edges leave with the old label and return with the new one.
  EXPECT_EQ(graph.apply({labelled(insert(1, 3), "A")}), "3 2 0 | 0 0 0 0");
  EXPECT_TRUE(graph.result().rebound);
  EXPECT_EQ(graph.label(1), "A");
  EXPECT_NE(graph.number(1), before);
  for (const auto& [source, target] : {std::pair{1, 2}, {2, 1}, {1, 3}, {2, 3}}) EXPECT_TRUE(graph.has(source, target));
  EXPECT_EQ(graph.graph.edges(), 4U);
  // Its present label holds. Stating the empty label for a vertex without one changes nothing.
  EXPECT_EQ(graph.apply({labelled(insert(1, 5), "B"), labelled(insert(1, 4), ""), labelled(insert(2, 4), ""), insert(1, 2)}),
            "1 0 0 | 1 0 0 0");
  EXPECT_EQ(graph.rejects(), "label_conflict@0 label_conflict@1");
  EXPECT_FALSE(graph.result().rebound);
}

TEST(BatchResolver, BothEndsOfAnEdgeTakeTheirFirstLabels) {
  for (const bool directed : {true, false}) {
    Resolver graph(directed);
    graph.apply({insert(1, 2), insert(2, 3), insert(3, 4)});
    EXPECT_EQ(graph.apply({declare(1, "A"), declare(2, "B"), labelled(insert(1, 2), "A", "B"), declare(3, "C")}),
              "3 3 0 | 0 0 0 0");
    EXPECT_EQ(graph.label(1) + graph.label(2) + graph.label(3), "ABC");
    for (const int v : {1, 2, 3}) EXPECT_TRUE(graph.has(v, v + 1));
  }
}

TEST(BatchResolver, AFirstLabelAndOtherUpdatesOfTheVertexInOneBatch) {
  Resolver graph(true);
  const Updates start = {insert(1, 2), insert(1, 3), insert(4, 1)};
  graph.apply(start);
  // Edges are deleted before and after it, inserted before and after it, and deleted and inserted again.
  EXPECT_EQ(graph.apply({erase(1, 2), insert(1, 5), declare(1, "A"), erase(1, 3), insert(1, 6), erase(4, 1), insert(4, 1)}),
            "3 3 0 | 0 0 1 0");
  EXPECT_FALSE(graph.has(1, 2) || graph.has(1, 3));
  EXPECT_TRUE(graph.has(1, 5) && graph.has(1, 6) && graph.has(4, 1));
  // The second label conflicts while edges are left, some of them from before.
  EXPECT_EQ(graph.apply({declare(5, "B"), labelled(insert(5, 1), "C"), erase(1, 5), declare(5, "C")}), "0 1 0 | 0 0 0 0");
  EXPECT_EQ(graph.rejects(), "label_conflict@1");
  EXPECT_EQ(graph.label(5), "C");
  // The vertex goes, and comes back with and without a label.
  EXPECT_EQ(graph.apply({declare(6, "B"), drop(6)}), "0 1 0 | 0 0 0 0");
  EXPECT_FALSE(graph.known(6));
  EXPECT_EQ(graph.apply({declare(4, "B"), drop(4), insert(4, 1)}), "0 0 0 | 1 0 0 0");
  EXPECT_EQ(graph.label(4), "");
  EXPECT_EQ(graph.apply({declare(4, "B"), drop(4), labelled(insert(4, 1), "B")}), "1 1 0 | 0 0 0 0");
  EXPECT_EQ(graph.label(4), "B");
  EXPECT_EQ(graph.graph.edges(), 1U);
}

TEST(BatchResolver, ARefusedRecordGivesNoFirstLabel) {
  Resolver graph(true);
  Resolver plain(true);
  const Updates start = {insert(1, 2), labelled(insert(3, 4), "C"), insert(2, 5)};
  const Updates batch = {declare(2, "B"), insert(1, 5)};
  graph.apply(start);
  plain.apply(start);
  EXPECT_EQ(
      graph.apply({batch[0], declare(1, "A"), also(insert(1, 4)), also(drop(2)), also(labelled(insert(3, 9), "X")), batch[1]}),
      plain.apply(batch));
  EXPECT_EQ(graph.rejects(), "label_conflict@4");
  EXPECT_EQ(graph.label(1), "");
  EXPECT_EQ(graph.vertices(), plain.vertices());
}

TEST(BatchResolver, ABatchThatDoesNotHappenGivesNoFirstLabel) {
  Resolver graph(true, 100);
  graph.apply({insert(1, 2, 10), insert(2, 3, 20)});
  const auto before = graph.vertices();
  graph.resolve({labelled(insert(2, 4, 30), "B"), declare(1, "A")});
  graph.undo();
  EXPECT_EQ(graph.vertices(), before);
  EXPECT_EQ(graph.apply({labelled(insert(2, 4, 30), "B"), declare(1, "A")}), "3 2 0 | 0 0 0 0");
}

TEST(BatchResolver, EdgesKeepTheirTimeUnderAFirstLabel) {
  Resolver graph(true, 100);
  graph.apply({insert(1, 2, 10), insert(1, 3, 50), insert(4, 1, 60)});
  EXPECT_EQ(graph.apply({labelled(insert(1, 3, 40), "A"), insert(4, 1, 70)}), "3 3 0 | 0 0 0 0");
  const auto time = [&](std::int64_t source, std::int64_t target) {
    return graph.graph.time({graph.number(source), graph.number(target), empty_label});
  };
  EXPECT_EQ(time(1, 2), 10);
  EXPECT_EQ(time(1, 3), 50);
  EXPECT_EQ(time(4, 1), 70);
  // They expire at their usual time, even in the batch that gives the label.
  EXPECT_EQ(graph.apply({insert(8, 9, 120)}), "1 1 1 | 0 0 0 0");
  EXPECT_EQ(graph.apply({labelled(insert(3, 9, 155), "C")}), "1 1 1 | 0 0 0 0");
  EXPECT_EQ(graph.label(3), "C");
  EXPECT_FALSE(graph.has(1, 3));
  EXPECT_EQ(graph.apply({insert(8, 9, 400)}), "0 2 2 | 1 0 0 0");
  EXPECT_EQ(graph.graph.edges(), 1U);
}

// -- Vertices that come and go -----------------------------------------------------------------------------------------------

TEST(BatchResolver, DeletingAVertexTakesTheEdgesThatLiveThen) {
  Resolver graph(true);
  graph.apply({insert(1, 2), insert(3, 1), insert(2, 3)});
  EXPECT_EQ(graph.apply({erase(1, 2), insert(1, 4), drop(1), drop(1), insert(2, 4)}), "1 2 0 | 0 1 1 0");
  EXPECT_FALSE(graph.known(1));
  EXPECT_TRUE(graph.known(4));
  EXPECT_TRUE(graph.has(2, 3));
  EXPECT_EQ(graph.graph.edges(), 2U);
}

TEST(BatchResolver, AVertexThatComesBackAsItWasKeepsItsNumber) {
  Resolver graph(true);
  graph.apply({labelled(insert(1, 2), "A"), insert(3, 1)});
  const VertexId number = graph.number(1);
  EXPECT_EQ(graph.apply({drop(1), labelled(insert(1, 2), "A")}), "0 1 0 | 1 0 0 0");
  EXPECT_FALSE(graph.result().rebound);
  EXPECT_EQ(graph.number(1), number);
  EXPECT_TRUE(graph.has(1, 2));
  EXPECT_FALSE(graph.has(3, 1));
}

TEST(BatchResolver, AVertexUnderAnotherLabelGoesOnUnderAFreshNumber) {
  Resolver graph(true);
  graph.apply({labelled(insert(1, 2), "A"), declare(1, "A")});
  const VertexId before = graph.number(1);
  graph.resolve({erase(1, 2), labelled(insert(1, 2), "B")});
  EXPECT_TRUE(graph.result().rebound);
  const VertexId after = graph.number(1);
  EXPECT_NE(after, before);
  // Both numbers can be read, each with its label. The edge is in both halves.
  EXPECT_EQ(graph.graph.vertex_labels.text(graph.graph.dictionary.label(before)), "A");
  EXPECT_EQ(graph.label(1), "B");
  EXPECT_THAT(graph.result().net.removed, ElementsAre(Edge{before, graph.number(2), empty_label}));
  EXPECT_THAT(graph.result().net.inserted, ElementsAre(Edge{after, graph.number(2), empty_label}));
  EXPECT_TRUE(graph.graph.dictionary.declared(after)) << "another label does not undo a declaration";
  graph.undo();
  EXPECT_EQ(graph.number(1), before);
  EXPECT_EQ(graph.label(1), "A");
  EXPECT_EQ(graph.apply({erase(1, 2), labelled(insert(1, 2), "B")}), "1 1 0 | 0 0 1 0");
  EXPECT_FALSE(graph.graph.dictionary.alive(before)) << "the old self is released";
}

TEST(BatchResolver, ALabelThereAndBackIsNoChange) {
  Resolver graph(true);
  graph.apply({labelled(insert(1, 2), "A")});
  const VertexId before = graph.number(1);
  EXPECT_EQ(graph.apply({erase(1, 2), declare(1, "B"), declare(1, "A"), insert(1, 2)}), "0 0 0 | 1 0 1 0");
  EXPECT_EQ(graph.number(1), before);
  EXPECT_EQ(graph.label(1), "A");
}

TEST(BatchResolver, NumbersOfDeletedVerticesAreGivenOutAgain) {
  Resolver graph(true);
  graph.apply({insert(1, 2), insert(2, 3)});
  const VertexId one = graph.number(1);
  graph.apply({drop(1)});
  EXPECT_FALSE(graph.graph.dictionary.alive(one));
  graph.apply({labelled(insert("new"sv, 2), "N")});
  EXPECT_EQ(graph.number("new"sv), one);
  EXPECT_EQ(graph.label("new"sv), "N");
  EXPECT_EQ(graph.graph.degree(one), 1U);
  EXPECT_FALSE(graph.known(1));
  // This does not happen within one batch, because vanished and new matches must be distinguishable.
  graph.apply({drop("new"sv), insert("newer"sv, 3)});
  EXPECT_NE(graph.number("newer"sv), one);
}

TEST(BatchResolver, WithoutAWindowAVertexStaysKnownWithItsLabel) {
  Resolver graph(true);
  graph.apply({labelled(insert(1, 2), "A")});
  graph.apply({erase(1, 2)});
  EXPECT_THAT(graph.vertices(), ElementsAre("1:A", "2:"));
  graph.apply({declare(3, "C"), declare(3), drop(2)});
  EXPECT_THAT(graph.vertices(), ElementsAre("1:A", "-", "3:C!"));
}

// -- Event time --------------------------------------------------------------------------------------------------------------

TEST(BatchResolver, AWindowRefreshesExpiresAndRefusesTheLate) {
  Resolver graph(true, 10);
  EXPECT_EQ(graph.apply({insert(1, 2, 0), insert(2, 3, 5), insert(3, 4, 6)}), "3 0 0 | 0 0 0 0");
  EXPECT_EQ(graph.apply({insert(1, 2, 9), insert(2, 3, 1)}), "0 0 0 | 2 0 0 0");
  EXPECT_EQ(graph.time(1, 2), 9);
  EXPECT_EQ(graph.time(2, 3), 5) << "an older insertion refreshes nothing";
  EXPECT_EQ(graph.apply({erase(8, 9, 15)}), "0 1 1 | 0 1 0 0") << "a deletion moves the watermark: 5 + 10 <= 15";
  EXPECT_EQ(graph.apply({insert(5, 6, 5), insert(6, 7, 16)}), "1 1 1 | 0 0 0 1");
  EXPECT_FALSE(graph.known(5)) << "dead on arrival";
  EXPECT_EQ(graph.apply({insert(1, 2, 19), insert(7, 8, 19)}), "1 0 0 | 1 0 0 0") << "refreshed in the batch that would end it";
  EXPECT_EQ(graph.time(1, 2), 19);
  EXPECT_EQ(graph.apply({erase(1, 2), insert(8, 9, 29)}), "1 3 2 | 0 0 0 0") << "explicit deletions are not told as expired";
}

TEST(BatchResolver, NothingIsLateOrExpiresBeforeThereIsAWatermark) {
  Resolver graph(true, 10);
  graph.told.emplace(std::nullopt);
  EXPECT_EQ(graph.apply({insert(1, 2, 5), insert(3, 4, 100)}), "2 0 0 | 0 0 0 0");
  EXPECT_EQ(graph.result().watermark, std::nullopt);
  EXPECT_EQ(graph.apply({insert(5, 6, 50)}), "1 0 0 | 0 0 0 0");
  graph.told.emplace(20);
  EXPECT_EQ(graph.apply({insert(7, 8, 10)}), "0 1 1 | 0 0 0 1");
  graph.told.emplace(std::nullopt);  // it never goes back
  EXPECT_EQ(graph.apply({insert(9, 10, 90)}), "1 0 0 | 0 0 0 0");
  EXPECT_EQ(graph.result().watermark, 20);
}

TEST(BatchResolver, ABatchIsCutWhereTheWatermarkRisesTooFar) {
  Resolver graph(true);
  graph.limit_rise(10);
  graph.apply({insert(1, 2, 100), insert(2, 3, 95), insert(3, 4, 110), insert(4, 5, 111), insert(5, 6, 90)});
  EXPECT_TRUE(graph.result().cut);
  EXPECT_EQ(graph.result().consumed, 3U) << "the first record moved it by any time, the others by up to 10";
  EXPECT_EQ(graph.result().watermark, 110);
  graph.apply({insert(4, 5, 111), insert(5, 6, 90), also(insert(6, 7, 122))});
  EXPECT_EQ(graph.result().consumed, 1U) << "a record is not divided";
  graph.limit_rise(0);
  graph.apply({insert(6, 7, 122), insert(7, 8, 1'000)});
  EXPECT_FALSE(graph.result().cut);
  EXPECT_EQ(graph.result().consumed, 2U);
}

TEST(BatchResolver, ADeletionRestartsTheTimeOfAnEdge) {
  Resolver graph(true, 10);
  graph.apply({insert(1, 2, 20)});
  EXPECT_EQ(graph.apply({erase(1, 2), insert(1, 2, 15)}), "0 0 0 | 1 0 1 0");
  EXPECT_EQ(graph.time(1, 2), 15);
  EXPECT_EQ(graph.apply({insert(3, 4, 25)}), "1 1 1 | 0 0 0 0");
  EXPECT_EQ(graph.apply({insert(1, 2, 20), insert(1, 2, 24), insert(1, 2, 22)}), "1 0 0 | 0 0 2 0");
  EXPECT_EQ(graph.time(1, 2), 24) << "the largest of the batch";
  EXPECT_EQ(graph.apply({erase(1, 2), insert(1, 2, 10)}), "0 1 0 | 0 0 1 1") << "brought back too late";
}

TEST(BatchResolver, UnderAWindowAVertexIsForgottenUnlessDeclared) {
  Resolver graph(true, 10);
  graph.apply({labelled(insert(1, 2, 0), "A", "B"), declare(2, "B")});
  graph.apply({insert(3, 4, 10)});
  EXPECT_FALSE(graph.known(1));
  EXPECT_TRUE(graph.known(2));
  graph.apply({labelled(insert(1, 2, 11), "C")});
  EXPECT_EQ(graph.rejects(), "");
  EXPECT_EQ(graph.label(1), "C");
}

TEST(BatchResolver, WithoutAWindowAVertexLivesUntilItIsDeleted) {
  Resolver graph(true);
  graph.apply({insert(5, 6), drop(5)});
  graph.apply({insert(1, 2)});
  EXPECT_FALSE(graph.known(5));
  EXPECT_TRUE(graph.known(6));
  graph.apply({drop(6)});
  EXPECT_FALSE(graph.known(6));
}

// -- Undoing -----------------------------------------------------------------------------------------------------------------

TEST(BatchResolver, UndoingLeavesWhatWasThere) {
  for (const bool directed : {true, false}) {
    Resolver graph(directed, 100);
    graph.apply(
        {labelled(insert(1, 2, 10), "A"), insert(2, 3, 20), declare(4, "D"), insert("text"sv, 1, 30), insert(5, 6, 12)});
    const Updates batch = {drop(2),
                           labelled(insert(2, 1, 110), "new"),
                           erase("text"sv, 1),
                           declare("text"sv, "T"),
                           declare(7),
                           drop(4),
                           insert(8, 9, 111),
                           insert(5, 6, 50),
                           insert(5, 7, 115),
                           erase(1, 3)};
    const auto before = graph.vertices();
    graph.resolve(batch);
    EXPECT_TRUE(graph.result().rebound);
    EXPECT_NE(graph.vertices(), before);
    graph.undo();
    auto after = graph.vertices();
    EXPECT_GE(after.size(), before.size());  // free numbers may be left over
    while (after.size() > before.size() && after.back() == "-") after.pop_back();
    EXPECT_EQ(after, before);
    EXPECT_EQ(graph.time(5, 6), 12);
    EXPECT_EQ(graph.graph.edges(), 4U);
    // The window's state is restored: the edges that the undone batch would have expired still expire.
    Resolver other(directed, 100);
    other.apply(
        {labelled(insert(1, 2, 10), "A"), insert(2, 3, 20), declare(4, "D"), insert("text"sv, 1, 30), insert(5, 6, 12)});
    const std::string expected = other.apply(batch);
    EXPECT_EQ(graph.apply(batch), expected);
    EXPECT_EQ(graph.rejects(), other.rejects());
    EXPECT_EQ(graph.apply({insert(10, 11, 149)}), other.apply({insert(10, 11, 149)}));
  }
}

}  // namespace
}  // namespace deltamatch::graph
