// Vertices with several labels, and labels that change while edges live: what records do to them, and which queries see it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/labels.hpp"
#include "engine/storage/bulk_loader.hpp"
#include "engine/storage/graph_file.hpp"

namespace deltamatch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Update edge(Id source, Id target, std::optional<std::string_view> source_label = {}) {
  return {.source = source, .target = target, .source_label = source_label};
}
Update vertex(Id id, std::optional<std::string_view> labels = {}) {
  return {.kind = UpdateKind::insert_vertex, .source = id, .source_label = labels};
}
Update changed(Id id, std::string_view added, std::optional<std::string_view> removed = {}) {
  return {.kind = UpdateKind::insert_vertex, .source = id, .label = added, .target_label = removed};
}

UpdateBatch batch_of(const std::vector<Update>& updates) {
  UpdateBatch batch;
  for (const Update& update : updates) batch.add(update);
  return batch;
}

/// The labels of all vertices, joined by &.
std::map<std::int64_t, std::string> labels(const Engine& engine) {
  std::map<std::int64_t, std::string> all;
  engine.for_each([&](const Update& update) {
    if (update.kind != UpdateKind::insert_vertex) return;
    std::string text(*update.source_label);
    std::ranges::replace(text, label_separator, '&');
    all[update.source.number()] = text;
  });
  return all;
}

/// New and removed matches by query.
std::vector<std::pair<int, int>> deltas(const BatchResult& result) {
  std::vector<std::pair<int, int>> all;
  for (const QueryDelta& delta : result.queries)
    all.emplace_back(static_cast<int>(delta.added), static_cast<int>(delta.removed));
  return all;
}

TEST(VertexLabels, AreSetAddedToAndRemoved) {
  Engine engine;
  engine.process(batch_of({vertex(1, "B\037A"), edge(1, 2), edge(2, 3, "C")}));
  EXPECT_THAT(labels(engine), ElementsAre(Pair(1, "A&B"), Pair(2, "C"), Pair(3, "")));
  engine.process(batch_of({changed(1, "D", "A\037X"), changed(2, "A\037B"), changed(3, "A"), changed(4, "E")}));
  EXPECT_THAT(labels(engine), ElementsAre(Pair(1, "B&D"), Pair(2, "A&B&C"), Pair(3, "A"), Pair(4, "E")));
  Update both = changed(2, "F", "A");  // all at once: set, add, remove
  both.source_label = "A\037G";
  engine.process(batch_of({vertex(1, ""), both, vertex(3)}));
  EXPECT_THAT(labels(engine), ElementsAre(Pair(1, ""), Pair(2, "F&G"), Pair(3, "A"), Pair(4, "E")));
  EXPECT_EQ(engine.graph().edges, 2);
}

TEST(VertexLabels, ARecordOfAnEdgeMayStateAPartOfThem) {
  Engine engine;
  engine.process(batch_of({edge(1, 2), vertex(1, "A\037B")}));
  const BatchResult result = engine.process(
      batch_of({edge(1, 3, "B"), edge(1, 4, "B\037A"), edge(1, 5, "C"), edge(1, 6, "A\037C"), edge(1, 7, "")}), OnReject::skip);
  EXPECT_EQ(result.rejects.size(), 3U);
  for (const Reject& reject : result.rejects) EXPECT_EQ(reject.reason, RejectReason::label_conflict);
  EXPECT_EQ(labels(engine).at(1), "A&B");
}

TEST(VertexLabels, OnlyWhatIsTrueOnOneSideOfABatchIsReported) {
  Engine engine;
  for (const char* pattern : {"(a:Account)-->(b)", "(a:Account&Flagged)-->(b)", "(a:!Flagged)-->(b)", "(a:Other|Flagged)-->(b)",
                              "(a:%)-->(b)", "(a)-->(b)", "(b)-->(a:Account)"}) {
    engine.add_query(parse_pattern(pattern, pattern));
  }
  engine.process(batch_of({vertex(1, "Account"), edge(1, 2), edge(3, 1)}));
  EXPECT_THAT(deltas(engine.process(batch_of({changed(1, "Flagged")}))),
              ElementsAre(Pair(0, 0), Pair(1, 0), Pair(0, 1), Pair(1, 0), Pair(0, 0), Pair(0, 0), Pair(0, 0)));
  EXPECT_THAT(deltas(engine.process(batch_of({changed(1, "", "Flagged"), changed(1, "Flagged")}))), testing::Each(Pair(0, 0)))
      << "it is as before";
  EXPECT_THAT(deltas(engine.process(batch_of({vertex(1, "Other"), edge(1, 4)}))),
              ElementsAre(Pair(0, 1), Pair(0, 1), Pair(2, 0), Pair(1, 0), Pair(1, 0), Pair(1, 0), Pair(0, 1)));
  EXPECT_THAT(deltas(engine.process(batch_of({vertex(1, "")}))),
              ElementsAre(Pair(0, 0), Pair(0, 0), Pair(0, 0), Pair(0, 2), Pair(0, 2), Pair(0, 0), Pair(0, 0)));
}

TEST(VertexLabels, SetsThatComeLaterAreSeenByQueriesThatTheySatisfy) {
  Engine engine;
  engine.add_query(parse_pattern("(a:A)-->(b:!C)", "q"));
  int found = 0;
  for (int i = 0; i < 8; ++i) {
    const std::string more = "A\037L" + std::to_string(i);
    const std::string other = i % 2 == 0 ? more : "C\037" + more;
    const BatchResult result = engine.process(batch_of({vertex(10 + i, more), vertex(20 + i, other), edge(10 + i, 20 + i)}));
    found += static_cast<int>(result.queries[0].added);
  }
  EXPECT_EQ(found, 4);
  const std::string plan = engine.explain(parse_pattern("(a:A)-->(b:!C)<--(c:A)", "q"), QueryOptions{});
  EXPECT_NE(plan.find("in(b, *, A)"), std::string::npos) << plan;
  EXPECT_EQ(engine.match(parse_pattern("(a:A)-->(b:!C)", "q"), {}).matches, Count{4});
}

TEST(VertexLabels, AChangeOfTheRecordThatIsRefusedIsTakenBack) {
  Engine engine;
  engine.process(batch_of({vertex(1, "A"), edge(1, 2)}));
  Update last = edge(1, 3, "X");
  last.continues = true;
  const BatchResult result = engine.process(batch_of({changed(1, "B"), last, changed(2, "C")}), OnReject::skip);
  EXPECT_EQ(result.rejects.size(), 1U);
  EXPECT_THAT(labels(engine), ElementsAre(Pair(1, "A"), Pair(2, "C")));
}

TEST(VertexLabels, CountForTheLimitAsOneLabelForEachSet) {
  Engine engine;
  engine.limit_labels(2);
  const BatchResult result =
      engine.process(batch_of({vertex(1, "A"), vertex(2, "A\037B"), vertex(3, "B\037A"), vertex(4, "B")}));
  ASSERT_EQ(result.rejects.size(), 1U);
  EXPECT_EQ(result.rejects[0].index, 3U);
  EXPECT_EQ(result.rejects[0].reason, RejectReason::label_limit);
  EXPECT_EQ(engine.graph().vertex_labels, 2U);
}

TEST(VertexLabels, OfAWholeGraphAreStatedOnce) {
  Engine engine;
  const auto load = [&](const std::vector<Update>& updates) {
    return engine::BulkLoader::load(engine, batch_of(updates), OnReject::skip).rejects.size();
  };
  EXPECT_EQ(load({edge(1, 2, "A"), vertex(1, "A\037B"), vertex(2, "C")}), 0U) << "a vertex may add to what its edges state";
  EXPECT_EQ(load({edge(1, 2, "A"), vertex(1, "A\037B"), vertex(2, "C")}), 0U) << "twice is once";
  EXPECT_EQ(load({vertex(1, "C"), vertex(2, "C\037D"), vertex(2, "")}), 3U);
  EXPECT_EQ(load({vertex(1, "B"), changed(2, "D")}), 0U) << "what is stated in part, or to be added, contradicts nothing";
  EXPECT_THAT(labels(engine), ElementsAre(Pair(1, "A&B"), Pair(2, "C&D")));
}

TEST(VertexLabels, AreKeptInSnapshotsAndGraphFiles) {
  const auto file = std::filesystem::temp_directory_path() / ("deltamatch-labels-" + std::to_string(::getpid()));
  Engine engine;
  engine.process(batch_of({vertex(1, "A\037B"), vertex(2, "A"), vertex(3, "C"), edge(1, 2), edge(2, 3), edge(3, 1)}));
  const auto all = labels(engine);
  engine.save(file);
  EXPECT_EQ(labels(Engine::restore(file)), all);
  engine::BulkLoader::save(engine, file);
  for (const auto& [pattern, matches] : {std::pair{"(a:A)-->(b)", 2}, {"(a:A&B)-->(b)", 1}, {"(a:!A)-->(b:B)", 1}}) {
    const Query query = parse_pattern(pattern, "q");
    engine::EdgeDemand demand;
    demand.add(query, false);
    engine::GraphFile graph(file);
    Engine loaded;
    engine::BulkLoader::load(loaded, graph, &demand);
    EXPECT_EQ(loaded.match(query, {}).matches, Count(matches)) << pattern;
  }
  std::filesystem::remove(file);
}

TEST(VertexLabels, WithoutSetsAGraphFileIsReadByEarlierVersions) {
  const auto file = std::filesystem::temp_directory_path() / ("deltamatch-flag-" + std::to_string(::getpid()));
  const auto flag = [&](std::string_view labels) {
    Engine engine;
    engine.process(batch_of({vertex(1, labels), edge(1, 2)}));
    engine::BulkLoader::save(engine, file);
    std::ifstream in(file, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    return bytes.at(12 + 28) & 8;
  };
  EXPECT_EQ(flag("A"), 0);
  EXPECT_EQ(flag("A\037B"), 8);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace deltamatch
