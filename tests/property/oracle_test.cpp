// Tests the oracle, which judges the engine, on examples worked out by hand.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "property/scenario.hpp"
#include "support/oracle.hpp"

namespace deltamatch::oracle {
namespace {

using property::make_query;
using property::Record;

constexpr auto iso = MatchMode::isomorphism;
constexpr auto edge_distinct = MatchMode::edge_distinct;
constexpr auto hom = MatchMode::homomorphism;

struct Arc {
  std::int64_t source;
  std::int64_t target;
  std::string label = {};
};

DataGraph graph_of(bool directed, const std::vector<Arc>& arcs) {
  DataGraph graph;
  graph.directed = directed;
  for (const Arc& arc : arcs) {
    graph.vertices[arc.source];
    graph.vertices[arc.target];
    graph.edges.insert(graph.edge(arc.source, arc.label, arc.target));
  }
  return graph;
}

DataGraph complete(std::int64_t n) {
  std::vector<Arc> arcs;
  for (std::int64_t u = 1; u <= n; ++u) {
    for (std::int64_t v = u + 1; v <= n; ++v) arcs.push_back({u, v});
  }
  return graph_of(false, arcs);
}

DataGraph star(std::int64_t leaves) {
  std::vector<Arc> arcs;
  for (std::int64_t leaf = 1; leaf <= leaves; ++leaf) arcs.push_back({0, leaf});
  return graph_of(true, arcs);
}

Query unlabelled(std::size_t vertices, const std::vector<std::array<std::uint32_t, 2>>& edges, bool directed) {
  std::vector<QueryEdge> list;
  for (const auto& [source, target] : edges) list.push_back({source, target, {}, directed});
  return make_query(std::vector<LabelSet>(vertices), list);
}

const Query undirected_triangle = unlabelled(3, {{0, 1}, {1, 2}, {2, 0}}, false);
const Query cycle = unlabelled(3, {{0, 1}, {1, 2}, {2, 0}}, true);
const Query path = unlabelled(3, {{0, 1}, {1, 2}}, true);
const Query edge = unlabelled(2, {{0, 1}}, true);

std::size_t subgraphs(const DataGraph& graph, const Query& query) {
  return Matcher(query, iso, CountMode::subgraphs).match(graph).size();
}

std::size_t embeddings(const DataGraph& graph, const Query& query, MatchMode mode = iso) {
  return Matcher(query, mode, CountMode::embeddings).match(graph).size();
}

TEST(OracleMatcher, Automorphisms) {
  EXPECT_EQ(automorphisms(undirected_triangle).size(), 6U);
  EXPECT_EQ(automorphisms(cycle).size(), 3U);
  EXPECT_EQ(automorphisms(path).size(), 1U);
  EXPECT_EQ(automorphisms(unlabelled(4, {{0, 1}, {0, 2}, {0, 3}}, true)).size(), 6U);
  EXPECT_EQ(automorphisms(unlabelled(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, false)).size(), 8U);
  EXPECT_EQ(automorphisms(unlabelled(2, {{0, 1}, {1, 0}}, true)).size(), 2U);
  // Labels, on vertices and on edges, break symmetry; so does one directed edge among undirected ones.
  EXPECT_EQ(automorphisms(make_query({{"A"}, {"A"}, {"B"}}, {{0, 1, {}, false}, {1, 2, {}, false}, {2, 0, {}, false}})).size(),
            2U);
  EXPECT_EQ(automorphisms(make_query({{}, {}}, {{0, 1, {"x"}, true}, {1, 0, {"y"}, true}})).size(), 1U);
  EXPECT_EQ(automorphisms(make_query({{}, {}, {}}, {{0, 1, {}, true}, {1, 2, {}, false}, {2, 0, {}, false}})).size(), 1U);
}

TEST(OracleMatcher, AnAutomorphismCarriesTheEdgesAlong) {
  for (const Automorphism& symmetry : automorphisms(cycle)) {
    for (std::size_t e = 0; e < 3; ++e) {
      EXPECT_EQ(symmetry.vertices[cycle.edges[e].source], cycle.edges[symmetry.edges[e]].source);
      EXPECT_EQ(symmetry.vertices[cycle.edges[e].target], cycle.edges[symmetry.edges[e]].target);
    }
  }
}

TEST(OracleMatcher, TrianglesOfCompleteGraphs) {
  EXPECT_EQ(subgraphs(complete(4), undirected_triangle), 4U);
  EXPECT_EQ(embeddings(complete(4), undirected_triangle), 24U);
  EXPECT_EQ(embeddings(complete(4), undirected_triangle, hom), 24U);  // no self-loops: nothing folds
  EXPECT_EQ(subgraphs(complete(6), undirected_triangle), 20U);
  EXPECT_EQ(subgraphs(complete(5), unlabelled(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, false)), 15U);
}

TEST(OracleMatcher, StarsAreBinomial) {
  const Query three = unlabelled(4, {{0, 1}, {0, 2}, {0, 3}}, true);
  EXPECT_EQ(subgraphs(star(6), three), 20U);
  EXPECT_EQ(embeddings(star(6), three), 120U);
  EXPECT_EQ(embeddings(star(6), three, edge_distinct), 120U);
  EXPECT_EQ(embeddings(star(6), three, hom), 216U);  // 6^3: leaves may coincide
}

TEST(OracleMatcher, ADirectedCycleHasOneDirection) {
  EXPECT_EQ(subgraphs(graph_of(true, {{1, 2}, {2, 3}, {3, 1}}), cycle), 1U);
  EXPECT_EQ(embeddings(graph_of(true, {{1, 2}, {2, 3}, {3, 1}}), cycle), 3U);
  EXPECT_EQ(subgraphs(graph_of(true, {{1, 2}, {2, 3}, {1, 3}}), cycle), 0U);
}

TEST(OracleMatcher, AWildcardOverTwoParallelEdgesGivesTwoMatches) {
  const DataGraph graph = graph_of(true, {{1, 2, "x"}, {1, 2, "y"}});
  EXPECT_EQ(subgraphs(graph, edge), 2U);
  EXPECT_EQ(subgraphs(graph, make_query({{}, {}}, {{0, 1, {"x"}, true}})), 1U);
  EXPECT_EQ(subgraphs(graph, make_query({{}, {}}, {{0, 1, {"x", "y"}, true}})), 2U);
  EXPECT_EQ(subgraphs(graph, make_query({{}, {}}, {{0, 1, {"z"}, true}})), 0U);
}

TEST(OracleMatcher, AnUndirectedQueryEdgeOverThereAndBackGivesTwo) {
  const DataGraph graph = graph_of(true, {{1, 2}, {2, 1}});
  const Query either = unlabelled(2, {{0, 1}}, false);
  EXPECT_EQ(subgraphs(graph, either), 2U);
  EXPECT_EQ(embeddings(graph, either), 4U);
  const Query told_apart = make_query({{"A"}, {}}, {{0, 1, {}, false}});
  DataGraph labelled = graph;
  labelled.vertices[1] = "A";
  EXPECT_EQ(subgraphs(labelled, told_apart), 2U);
}

TEST(OracleMatcher, OnUndirectedDataAnEdgeIsOneEdge) {
  const DataGraph graph = graph_of(false, {{1, 2}, {2, 1}});
  EXPECT_EQ(graph.edges.size(), 1U);
  EXPECT_EQ(subgraphs(graph, unlabelled(2, {{0, 1}}, false)), 1U);
  EXPECT_EQ(embeddings(graph, unlabelled(2, {{0, 1}}, false)), 2U);
  EXPECT_THROW((void)subgraphs(graph, edge), std::invalid_argument);
}

TEST(OracleMatcher, TwoQueryEdgesBetweenTheSameVertices) {
  const Query both = make_query({{}, {}}, {{0, 1, {}, true}, {0, 1, {"x"}, true}});
  const DataGraph one = graph_of(true, {{1, 2, "x"}});
  EXPECT_EQ(subgraphs(one, both), 0U);  // the same data edge cannot serve twice
  EXPECT_EQ(embeddings(one, both, edge_distinct), 0U);
  EXPECT_EQ(embeddings(one, both, hom), 1U);
  const DataGraph two = graph_of(true, {{1, 2, "x"}, {1, 2, "y"}});
  EXPECT_EQ(subgraphs(two, both), 1U);
  EXPECT_EQ(embeddings(two, both, hom), 2U);
  const Query there_and_back = unlabelled(2, {{0, 1}, {1, 0}}, true);
  EXPECT_EQ(subgraphs(graph_of(true, {{1, 2}, {2, 1}}), there_and_back), 1U);
  EXPECT_EQ(embeddings(graph_of(true, {{1, 2}, {2, 1}}), there_and_back), 2U);
}

TEST(OracleMatcher, ModesOnAPathThatFolds) {
  const DataGraph graph = graph_of(true, {{1, 2}, {2, 1}});
  EXPECT_EQ(embeddings(graph, path), 0U);
  EXPECT_EQ(embeddings(graph, path, edge_distinct), 2U);  // 1-2-1 and 2-1-2, by two edges each
  EXPECT_EQ(embeddings(graph, path, hom), 2U);
  const Query either = unlabelled(3, {{0, 1}, {1, 2}}, false);
  const DataGraph single = graph_of(true, {{1, 2}});
  EXPECT_EQ(embeddings(single, either, edge_distinct), 0U);
  EXPECT_EQ(embeddings(single, either, hom), 2U);  // there and back over one edge
}

TEST(OracleMatcher, VertexLabels) {
  DataGraph graph = complete(3);
  graph.vertices[1] = "A";
  EXPECT_EQ(subgraphs(graph, make_query({{"A"}, {}}, {{0, 1, {}, false}})), 2U);
  EXPECT_EQ(subgraphs(graph, make_query({{""}, {""}}, {{0, 1, {}, false}})), 1U);
  EXPECT_EQ(subgraphs(graph, make_query({{"", "A"}, {"", "A"}}, {{0, 1, {}, false}})), 3U);
}

TEST(OracleMatcher, TheLeastOfAClassIsListed) {
  DataGraph graph;
  for (const ExternalId& id : {ExternalId("10"), ExternalId("9"), ExternalId(10), ExternalId(9)}) graph.vertices[id];
  graph.edges = {{"9", "", 10}, {10, "", "10"}, {"10", "", "9"}};
  const Answer answer = Matcher(cycle, iso, CountMode::subgraphs).match(graph);
  ASSERT_EQ(answer.size(), 1U);
  const Embedding expected = {{10, "10", "9"}, {{10, "", "10"}, {"10", "", "9"}, {"9", "", 10}}};
  EXPECT_EQ(to_string(*answer.begin()), to_string(expected));
  EXPECT_LT(ExternalId(std::numeric_limits<std::int64_t>::max()), ExternalId(""));
  EXPECT_LT(ExternalId(-1), ExternalId(0));
  EXPECT_LT(ExternalId("\x7f"), ExternalId("\xc3"));  // bytes, not signed characters
}

TEST(OracleMatcher, EmbeddingsAreSubgraphsTimesAutomorphisms) {
  const DataGraph graph = complete(5);
  for (const Query& query :
       {undirected_triangle, unlabelled(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, false),
        unlabelled(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}, false), unlabelled(4, {{0, 1}, {1, 2}, {2, 3}}, false)}) {
    EXPECT_EQ(embeddings(graph, query), subgraphs(graph, query) * automorphisms(query).size());
  }
}

TEST(OracleMatcher, TheLimitIsHeld) {
  const Matcher matcher(edge, iso, CountMode::embeddings);
  EXPECT_EQ(matcher.match(star(5), 5).size(), 5U);
  EXPECT_THROW((void)matcher.match(star(5), 4), TooMany);
  EXPECT_THROW(Matcher(edge, hom, CountMode::subgraphs), std::invalid_argument);
}

// -- The model ---------------------------------------------------------------------------------------------------------------

Record insert(std::int64_t source, std::int64_t target, std::optional<Timestamp> time = {}) {
  Record record;
  record.source = source;
  record.target = target;
  record.time = time;
  return record;
}

Record erase(std::int64_t source, std::int64_t target, std::optional<Timestamp> time = {}) {
  Record record = insert(source, target, time);
  record.kind = UpdateKind::delete_edge;
  return record;
}

Record labelled(Record record, std::optional<std::string> source, std::optional<std::string> target = {}) {
  record.source_label = std::move(source);
  record.target_label = std::move(target);
  return record;
}

Record vertex(UpdateKind kind, std::int64_t id, std::optional<std::string> label = {}) {
  Record record;
  record.kind = kind;
  record.source = id;
  record.source_label = std::move(label);
  return record;
}

constexpr auto add = UpdateKind::insert_vertex;
constexpr auto drop = UpdateKind::delete_vertex;

Outcome apply(Model& model, const std::vector<Record>& records, OnReject on_reject = OnReject::skip) {
  return model.apply(property::views(records), on_reject);
}

/// "reject_name@index ..." of the refused records.
std::string refused(const Outcome& outcome) {
  std::string text;
  for (const Reject& reject : outcome.rejects) {
    text += (text.empty() ? "" : " ") + std::string(reject_name(reject.reason)) + '@' + std::to_string(reject.index);
  }
  return text;
}

/// "inserted deleted expired | duplicate absent superseded late".
std::string counts(const Outcome& outcome) {
  const Ignored& ignored = outcome.ignored;
  return std::to_string(outcome.inserted.size()) + ' ' + std::to_string(outcome.deleted.size()) + ' ' +
         std::to_string(outcome.expired) + " | " + std::to_string(ignored.duplicate_insert) + ' ' +
         std::to_string(ignored.absent_delete) + ' ' + std::to_string(ignored.superseded) + ' ' + std::to_string(ignored.late);
}

TEST(OracleModel, TheLastStateOfAnEdgeCounts) {
  Model model(true);
  EXPECT_EQ(counts(apply(model, {insert(1, 2), insert(1, 2), erase(3, 4)})), "1 0 0 | 0 1 1 0");
  EXPECT_EQ(model.graph().vertices.size(), 2U);  // a deletion makes no vertex known
  EXPECT_EQ(counts(apply(model, {insert(1, 2)})), "0 0 0 | 1 0 0 0");
  EXPECT_EQ(counts(apply(model, {erase(1, 2), insert(1, 2)})), "0 0 0 | 1 0 1 0");
  EXPECT_EQ(counts(apply(model, {insert(2, 1), erase(2, 1)})), "0 0 0 | 0 1 1 0");
  EXPECT_EQ(counts(apply(model, {erase(1, 2), insert(1, 2), erase(1, 2)})), "0 1 0 | 0 0 2 0");
  EXPECT_EQ(model.graph().vertices.size(), 2U);  // without a window vertices stay known
}

TEST(OracleModel, UndirectedEdgesHaveOneName) {
  Model model(false);
  EXPECT_EQ(counts(apply(model, {insert(2, 1), insert(1, 2)})), "1 0 0 | 0 0 1 0");
  EXPECT_EQ(counts(apply(model, {erase(1, 2)})), "0 1 0 | 0 0 0 0");
}

TEST(OracleModel, ASelfLoopIsCountedAndSaysNothingElseButItsTime) {
  Model model(true, 100);
  const Outcome outcome = apply(model,
                                {labelled(insert(1, 2, 10), "A"), labelled(insert(3, 3, 20), "A"), erase(3, 3),
                                 labelled(insert(1, 1, 5), "B"), insert(4, 4), insert(2, 1, 10)},
                                OnReject::stop);
  EXPECT_EQ(refused(outcome), "");
  EXPECT_EQ(outcome.consumed, 6U);
  EXPECT_EQ(outcome.ignored.self_loop, 4U);
  EXPECT_EQ(counts(outcome), "2 0 0 | 0 0 0 0");
  EXPECT_FALSE(model.graph().vertices.contains(3));
  EXPECT_EQ(outcome.watermark, 20);
}

TEST(OracleModel, ABadRecordStopsTheBatch) {
  Model model(true);
  apply(model, {labelled(insert(1, 2), "A"), insert(2, 1)});
  const Outcome stopped = apply(model, {erase(1, 2), labelled(insert(1, 3), "B"), erase(2, 1)}, OnReject::stop);
  EXPECT_EQ(stopped.consumed, 1U);
  EXPECT_EQ(counts(stopped), "0 1 0 | 0 0 0 0");
}

TEST(OracleModel, ALabelHoldsWhileTheVertexHasEdges) {
  Model model(true);
  EXPECT_EQ(refused(apply(model, {labelled(insert(1, 2), "A"), labelled(insert(1, 3), "B"), labelled(erase(1, 2), "B"),
                                  vertex(drop, 1, "B"), insert(1, 3), labelled(insert(4, 1), {}, "A")})),
            "label_conflict@1 label_conflict@2 label_conflict@3");
  EXPECT_EQ(model.graph().vertices.at(1), "A");
  EXPECT_EQ(model.graph().vertices.at(2), "");
  EXPECT_EQ(model.graph().edges.size(), 3U);
}

TEST(OracleModel, AVertexWithoutALabelTakesItsFirstAtAnyTime) {
  Model model(true);
  apply(model, {insert(1, 2), insert(2, 3)});
  EXPECT_EQ(counts(apply(model, {labelled(insert(2, 5), "A"), vertex(add, 2, "A"), vertex(add, 3, "")})), "3 2 0 | 0 0 0 0");
  EXPECT_EQ(model.graph().vertices.at(2), "A");
  EXPECT_EQ(model.graph().vertices.at(3), "");
  EXPECT_EQ(refused(apply(model, {labelled(insert(2, 3), "")})), "label_conflict@0");
}

TEST(OracleModel, ARecordOfAVertexSetsAddsAndRemovesLabelsWhileEdgesLive) {
  Model model(true);
  apply(model, {labelled(insert(1, 2), "A")});
  EXPECT_EQ(counts(apply(model, {vertex(add, 1, "C\037B")})), "1 1 0 | 0 0 0 0");
  EXPECT_EQ(model.graph().vertices.at(1), "B\037C");
  Record changes = vertex(add, 1);
  changes.label = "D";
  changes.target_label = "B";
  EXPECT_EQ(counts(apply(model, {changes, vertex(add, 1)})), "1 1 0 | 0 0 0 0");
  EXPECT_EQ(model.graph().vertices.at(1), "C\037D");
  // The record of an edge may state a part of them, and no other.
  EXPECT_EQ(refused(apply(model, {labelled(insert(1, 2), "D"), labelled(insert(1, 3), "C\037D"), labelled(insert(1, 4), "B"),
                                  labelled(insert(1, 5), "")})),
            "label_conflict@2 label_conflict@3");
  EXPECT_EQ(counts(apply(model, {vertex(add, 1, ""), vertex(add, 1, "D\037C")})), "0 0 0 | 0 0 0 0");
}

TEST(OracleMatcher, LabelsAreATermOfThoseThatAreThereAndThoseThatAreAbsent) {
  Model model(true);
  apply(model, {vertex(add, 1, "A"), vertex(add, 2, "A\037B"), vertex(add, 3), insert(1, 9), insert(2, 9), insert(3, 9)});
  const auto found = [&](const LabelSet& labels) {
    std::string text;
    for (const Embedding& match :
         Matcher(make_query({labels, {}}, {{0, 1, {}, true}}), MatchMode::isomorphism, CountMode::subgraphs)
             .match(model.graph())) {
      text += to_string(match.vertices[0]);
    }
    return text;
  };
  EXPECT_EQ(found({}), "123");
  EXPECT_EQ(found({"A"}), "12");
  EXPECT_EQ(found({"A\037B"}), "2");
  EXPECT_EQ(found({"\036B"}), "13");
  EXPECT_EQ(found({"\036B\037A"}), "1");
  EXPECT_EQ(found({""}), "3");
  EXPECT_EQ(found({"\036"}), "12");
  EXPECT_EQ(found({"", "B"}), "23");
}

TEST(OracleModel, AVertexComesBackUnderAnotherLabel) {
  Model model(true);
  apply(model, {labelled(insert(1, 2), "A", "A")});
  EXPECT_EQ(counts(apply(model, {erase(1, 2), labelled(insert(1, 3), "B")})), "1 1 0 | 0 0 0 0");
  EXPECT_EQ(model.graph().vertices.at(1), "B");
  EXPECT_EQ(model.graph().vertices.at(2), "A");
  apply(model, {labelled(erase(1, 3), "B"), labelled(erase(1, 2), "C")});  // the second finds no edge and relabels no vertex
  EXPECT_EQ(model.graph().vertices.at(1), "B");
  apply(model, {insert(1, 2)});
  EXPECT_EQ(model.graph().vertices.at(1), "B");  // a missing label changes nothing
}

TEST(OracleModel, AnEdgeUnderANewLabelIsDeletedAndInserted) {
  Model model(true);
  apply(model, {labelled(insert(1, 2), "A")});
  EXPECT_EQ(counts(apply(model, {erase(1, 2), labelled(insert(1, 2), "B")})), "1 1 0 | 0 0 1 0");
  EXPECT_EQ(counts(apply(model, {vertex(drop, 1), labelled(insert(1, 2), "B")})), "0 0 0 | 1 0 0 0");
}

TEST(OracleModel, DeletingAVertexDeletesTheEdgesThatLiveThen) {
  Model model(true);
  apply(model, {insert(1, 2), insert(3, 1), insert(2, 3)});
  EXPECT_EQ(counts(apply(model, {insert(1, 4), vertex(drop, 1), vertex(drop, 1), vertex(drop, 9)})), "0 2 0 | 0 2 1 0");
  EXPECT_EQ(model.graph().edges.size(), 1U);
  EXPECT_FALSE(model.graph().vertices.contains(1));
  EXPECT_TRUE(model.graph().vertices.contains(4));
  // Deleted edges are not deleted again, and later insertions stay.
  EXPECT_EQ(counts(apply(model, {erase(2, 3), vertex(drop, 2), insert(2, 4)})), "1 1 0 | 0 0 0 0");
}

TEST(OracleModel, AWindowExpiresAndRefreshes) {
  Model model(true, 10);
  EXPECT_EQ(refused(apply(model, {insert(1, 2), vertex(add, 8)})), "missing_time@0");
  EXPECT_EQ(counts(apply(model, {insert(1, 2, 0), insert(2, 3, 5)})), "2 0 0 | 0 0 0 0");
  EXPECT_EQ(counts(apply(model, {insert(3, 4, 9), insert(1, 2, 4)})), "1 0 0 | 1 0 0 0");  // refreshed to 4
  EXPECT_EQ(counts(apply(model, {erase(7, 8, 13)})), "0 0 0 | 0 1 0 0");                   // 4 + 10 > 13
  const Outcome outcome = apply(model, {insert(5, 6, 15), insert(6, 7, 5)});               // 5 + 10 <= 15: late
  EXPECT_EQ(counts(outcome), "1 2 2 | 0 0 0 1");
  EXPECT_EQ(outcome.watermark, 15);
  EXPECT_EQ(model.graph().vertices.size(), 5U);                           // 3, 4, 5, 6 and the declared 8
  EXPECT_EQ(counts(apply(model, {insert(5, 6, 1)})), "0 0 0 | 1 0 0 0");  // older, but the edge lives
}

TEST(OracleModel, UnderAWindowTimeRestartsWithADeletion) {
  Model model(true, 10);
  apply(model, {insert(1, 2, 20)});
  EXPECT_EQ(counts(apply(model, {erase(1, 2), insert(1, 2, 15)})), "0 0 0 | 1 0 1 0");
  EXPECT_EQ(counts(apply(model, {insert(3, 4, 25)})), "1 1 1 | 0 0 0 0");
  EXPECT_EQ(counts(apply(model, {erase(3, 4), insert(3, 4, 10)})), "0 1 0 | 0 0 1 1");  // brought back too late
  EXPECT_EQ(counts(apply(model, {insert(3, 4, 10), insert(3, 4, 20), insert(3, 4, 12)})),
            "1 0 0 | 0 0 2 0");  // the largest counts
}

TEST(OracleModel, AWindowOfAnySizeDoesNotOverflow) {
  constexpr auto least = std::numeric_limits<Timestamp>::min();
  constexpr auto most = std::numeric_limits<Timestamp>::max();
  Model model(true, most);
  EXPECT_EQ(counts(apply(model, {insert(1, 2, most), insert(2, 3, least), insert(3, 4, 1), insert(4, 5, 0)})),
            "2 0 0 | 0 0 0 2");
}

TEST(OracleModel, UnderAWindowAVertexIsForgottenWithItsLabel) {
  Model model(true, 10);
  apply(model, {labelled(insert(1, 2, 0), "A"), vertex(add, 2, "")});
  apply(model, {erase(1, 2, 1)});
  EXPECT_FALSE(model.graph().vertices.contains(1));
  EXPECT_TRUE(model.graph().vertices.contains(2));
  apply(model, {insert(1, 2, 2)});
  EXPECT_EQ(model.graph().vertices.at(1), "");
}

}  // namespace
}  // namespace deltamatch::oracle
