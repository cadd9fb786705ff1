// Labels come and go in a graph. Tests what a query finds, and the numbers of labels, which depend on the committed batches
// alone.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch {
namespace {

Update edge(UpdateKind kind, std::int64_t source, std::int64_t target, std::string_view label = "") {
  Update update;
  update.kind = kind;
  update.source = Id(source);
  update.target = Id(target);
  update.label = label;
  return update;
}
Update insert(std::int64_t source, std::int64_t target, std::string_view label = "") {
  return edge(UpdateKind::insert_edge, source, target, label);
}
Update erase(std::int64_t source, std::int64_t target, std::string_view label = "") {
  return edge(UpdateKind::delete_edge, source, target, label);
}
Update vertex(std::int64_t id, std::string_view label) {
  Update update;
  update.kind = UpdateKind::insert_vertex;
  update.source = Id(id);
  update.source_label = label;
  return update;
}
Update drop(std::int64_t id) {
  Update update;
  update.kind = UpdateKind::delete_vertex;
  update.source = Id(id);
  return update;
}
Update also(Update update) {
  update.continues = true;
  return update;
}

UpdateBatch batch_of(const std::vector<Update>& updates) {
  UpdateBatch batch;
  for (const Update& update : updates) batch.add(update);
  return batch;
}

class Listener : public MatchSink {
 public:
  void begin(std::uint64_t) override { ids.clear(); }
  void write(const Match& match) override { ids.push_back((match.added ? "+" : "-") + to_string(match.id)); }
  void commit() override {
    if (fails) throw std::runtime_error("the sink is full");
  }
  void abort() noexcept override {}

  std::vector<std::string> ids;
  bool fails = false;
};

/// "new removed" for each query.
std::string process(Engine& engine, const std::vector<Update>& updates, MatchSink* sink = nullptr) {
  const BatchResult result = engine.process(batch_of(updates), OnReject::skip, sink);
  std::string text;
  for (const QueryDelta& query : result.queries) {
    text += (text.empty() ? "" : ", ") + to_string(query.added) + " " + to_string(query.removed);
  }
  return text;
}

class Labels : public testing::Test {
 protected:
  Labels() {
    std::string name = (std::filesystem::temp_directory_path() / "deltamatch-labels-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Labels() override { std::filesystem::remove_all(folder_); }

  /// The whole contents of a snapshot, with numbers.
  std::string saved(const Engine& engine) {
    engine.save(folder_ / "graph.dms", {});
    std::ifstream in(folder_ / "graph.dms", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  Engine restored(const Engine& engine) {
    engine.save(folder_ / "graph.dms", {});
    return Engine::restore(folder_ / "graph.dms", 1);
  }

  std::filesystem::path folder_;
};

TEST_F(Labels, AQueryFollowsALabelThatComesAndGoes) {
  Engine engine({.directed = true, .threads = 1});
  const QueryId flagged = engine.add_query(parse_pattern("(a:Flagged)-[:PAYS]->(b)", "flagged"), {});
  engine.add_query(parse_pattern("(a:Flagged|Watched)-->(b)", "either"), {});
  engine.add_query(parse_pattern("(a)-->(b)", "any"), {});
  EXPECT_EQ(engine.graph().vertex_labels, 0U) << "a query gives no label a number";
  EXPECT_EQ(process(engine, {vertex(1, "Plain"), insert(1, 2, "OWNS"), insert(3, 2, "PAYS")}), "0 0, 0 0, 2 0");
  EXPECT_EQ(process(engine, {vertex(3, "Flagged")}), "1 0, 1 0, 0 0");
  EXPECT_EQ(process(engine, {drop(1), drop(3)}), "0 1, 0 1, 0 2");
  EXPECT_EQ(engine.graph().vertex_labels, 0U);
  EXPECT_EQ(engine.graph().edge_labels, 0U);
  // Their numbers are given to other labels, which the queries do not mean.
  EXPECT_EQ(process(engine, {vertex(4, "Other"), vertex(5, "More"), insert(4, 5, "LIKES"), insert(5, 4, "KNOWS")}),
            "0 0, 0 0, 2 0");
  EXPECT_NE(engine.explain(flagged).find("a:Flagged"), std::string::npos);
  EXPECT_EQ(process(engine, {vertex(6, "Flagged"), vertex(7, "Watched"), insert(6, 4, "PAYS"), insert(7, 4, "PAYS")}),
            "1 0, 2 0, 2 0");
  EXPECT_NE(engine.explain(flagged).find("[:PAYS]"), std::string::npos);
  const StaticResult all = engine.match(parse_pattern("(a:Flagged|Nobody)-[:PAYS|NOTHING]->(b)", "all"), {});
  EXPECT_EQ(all.matches, 1U);
  EXPECT_EQ(engine.graph().vertex_labels, 4U);
}

TEST_F(Labels, AQueryFollowsALabelPastABatchThatDidNotHappen) {
  Engine engine({.directed = true, .threads = 1});
  engine.add_query(parse_pattern("(a:Flagged)-->(b)", "flagged"), {.list = true});
  Listener sink;
  sink.fails = true;
  EXPECT_THROW(process(engine, {vertex(1, "Flagged"), insert(1, 2)}, &sink), std::runtime_error);
  EXPECT_EQ(engine.graph().vertex_labels, 0U);
  EXPECT_EQ(process(engine, {vertex(1, "Other"), insert(1, 2)}), "0 0");
  EXPECT_EQ(process(engine, {vertex(3, "Flagged"), insert(3, 2)}), "1 0");
  EXPECT_THROW(process(engine, {drop(3)}, &sink), std::runtime_error);
  EXPECT_EQ(process(engine, {insert(3, 1)}), "1 0");
}

/// Batches in which labels of vertices and edges come, go and come back. Vertices stay.
std::vector<std::vector<Update>> batches() {
  static constexpr std::array<std::string_view, 6> names{"A", "B", "C", "D", "E", "F"};
  std::vector<std::vector<Update>> all;
  for (std::uint32_t i = 0; i < 40; ++i) {
    const auto name = [&](std::uint32_t by) { return names[(i * 7 + by * i + by) % names.size()]; };
    std::vector<Update> batch;
    for (std::uint32_t v = 0; v < 3; ++v) batch.push_back(vertex(100 + v, name(v)));  // without edges, any label is allowed
    batch.push_back(insert(1, 2, name(3)));
    batch.push_back(insert(2, 3, name(1)));
    if (i > 1) batch.push_back(erase(1, 2, names[((i - 1) * 10 + 3) % names.size()]));
    if (i > 2) batch.push_back(erase(2, 3, names[((i - 2) * 8 + 1) % names.size()]));
    all.push_back(std::move(batch));
  }
  return all;
}

TEST_F(Labels, TheirNumbersDependOnTheCommittedBatchesAlone) {
  Engine plain({.directed = true, .threads = 1});
  std::optional<Engine> eventful(Engine({.directed = true, .threads = 1}));
  const auto ask = [](Engine& engine) { engine.add_query(parse_pattern("(a:Z|B)-[:Y|C]->(b:X)", "asked"), {.list = true}); };
  ask(*eventful);
  Listener full;
  full.fails = true;
  bool holes = false;
  std::uint32_t number = 0;
  for (const std::vector<Update>& batch : batches()) {
    plain.absorb(batch_of(batch));
    // A batch that fails, one with refused records, questions, and restarts.
    EXPECT_THROW(process(*eventful, {vertex(200, "N1"), insert(1, 2, "N2"), vertex(100, "N3")}, &full), std::runtime_error);
    std::vector<Update> more = {vertex(201, "R1"), also(insert(1, 201, "R2")), also(vertex(100, "R3")), also(vertex(9, ""))};
    more.push_back(vertex(300, "K"));
    more.push_back(also(insert(300, 301, "R4")));
    Update other = insert(300, 302);  // the vertex has another label
    other.source_label = "R5";
    more.push_back(also(other));
    more.insert(more.end(), batch.begin(), batch.end());
    more.erase(more.begin(), more.begin() + 4);
    process(*eventful, more);
    static_cast<void>(eventful->match(parse_pattern("(a:Q1)-[:Q2]->(b:Q3)", "once"), {}));
    static_cast<void>(eventful->explain(parse_pattern("(a:Q4)-[:Q5]->(b)", "never"), QueryOptions{}));
    ASSERT_EQ(saved(plain), saved(*eventful)) << "batch " << number;
    if (++number % 5 == 0) {
      eventful.emplace(restored(*eventful));
      ask(*eventful);
    }
    holes = holes || plain.graph().vertex_labels < 3;
  }
  EXPECT_TRUE(holes);
}

TEST_F(Labels, ASnapshotKeepsTheirNumbers) {
  Engine engine({.directed = true, .threads = 1});
  process(engine, {vertex(1, "A"), vertex(2, "B"), vertex(3, "C"), insert(4, 5, "S"), insert(4, 5, "T")});
  process(engine, {drop(1), drop(2), erase(4, 5, "S")});
  Engine again = restored(engine);
  EXPECT_EQ(again.graph().vertex_labels, 1U);
  EXPECT_EQ(again.graph().edge_labels, 1U);
  EXPECT_EQ(saved(engine), saved(again));
  for (Engine* each : {&engine, &again}) each->absorb(batch_of({vertex(3, "D"), insert(4, 3, "U")}));
  EXPECT_EQ(saved(engine), saved(again));
}

TEST_F(Labels, OneBeyondTheLimitIsRefusedUntilAnotherGoes) {
  Engine engine({.directed = true, .threads = 1});
  engine.limit_labels(2);
  engine.add_query(parse_pattern("(a:X|Y|Z)-->(b)", "many"), {});  // these do not count
  const auto rejects = [&](const std::vector<Update>& updates) {
    const BatchResult result = engine.process(batch_of(updates), OnReject::skip);
    for (const Reject& reject : result.rejects) EXPECT_EQ(reject.reason, RejectReason::label_limit);
    return result.rejects.size();
  };
  EXPECT_EQ(rejects({vertex(1, "A"), vertex(2, "B"), vertex(3, "C"), insert(4, 5, "D"), insert(4, 5, "E"), insert(4, 5, "F")}),
            2U);
  EXPECT_EQ(rejects({drop(1), erase(4, 5, "D")}), 0U);
  EXPECT_EQ(rejects({vertex(3, "C"), insert(4, 5, "F"), vertex(6, "G")}), 1U);
}

TEST_F(Labels, TheSameRecordsAreBeyondTheLimitIfTheyAreReadAgain) {
  Engine live({.directed = true, .threads = 1});
  Engine again({.directed = true, .threads = 1});  // without queries, as when lost batches are read from the input again
  live.add_query(parse_pattern("(a)-[:F]->(b)", "q"), {});
  for (Engine* engine : {&live, &again}) engine->limit_labels(2);
  for (const std::vector<Update>& batch : batches()) {
    const BatchResult first = live.process(batch_of(batch), OnReject::skip);
    const BatchResult second = again.process(batch_of(batch), OnReject::skip);
    ASSERT_EQ(first.rejects.size(), second.rejects.size());
    ASSERT_EQ(saved(live), saved(again));
  }
}

TEST_F(Labels, ExplainSaysWhichLabelsTheGraphLacks) {
  Engine engine;
  const Query query = parse_pattern("(a:A|Misspelt)-[:T|S]->(b:Misspelt|Absent)-[:PAIS]->(c)", "q");
  EXPECT_EQ(engine.explain(query).find(" has a label of "), std::string::npos) << "an empty graph has no labels";
  const QueryId standing = engine.add_query(query);
  engine.load(batch_of({vertex(1, "A"), vertex(2, "B"), insert(1, 2, "T")}));
  const std::string lacks = "\nno vertex has a label of (b:Absent|Misspelt)\nno edge has a label of [:PAIS]\n";
  for (const std::string& text : {engine.explain(query), engine.explain(standing), engine.explain(query, StaticOptions{})})
    EXPECT_NE(text.find(" on a graph of 1 edge" + lacks), std::string::npos) << text;
  engine.load(batch_of({vertex(3, "Absent"), insert(1, 2, "PAIS")}));
  EXPECT_EQ(engine.explain(standing).find(" has a label of "), std::string::npos);
}

}  // namespace
}  // namespace deltamatch
