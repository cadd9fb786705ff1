#include "generate/synthetic_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>

#include "deltamatch/error.hpp"
#include "generate/chung_lu.hpp"
#include "generate/rmat.hpp"
#include "support.hpp"

namespace deltamatch::generate {
namespace {

using test::written;

Graph small(bool directed = false) { return rmat({.scale = 9, .edge_factor = 6, .directed = directed, .vertex_labels = 4}); }

TEST(Stream, StartAndHeldOutAreTheWhole) {
  const Graph graph = small();
  const Stream stream = make_stream(graph, {.insertions = 0.25, .deletions = 0.1});
  EXPECT_EQ(stream.inserted_edges().size(), 768U);
  EXPECT_EQ(stream.start_edges().size(), 2304U);
  EXPECT_EQ(stream.deleted_edges().size(), 230U);
  std::vector<Edge> together(stream.start_edges().begin(), stream.start_edges().end());
  together.insert(together.end(), stream.inserted_edges().begin(), stream.inserted_edges().end());
  EXPECT_THAT(together, testing::UnorderedElementsAreArray(graph.edges));
  EXPECT_NE(together, graph.edges) << "not shuffled: the edges of heavy vertices would all be in the start graph";
}

TEST(Stream, IsValidAndEndsWithWhatIsLeft) {
  const Stream stream = make_stream(small(true), {.insertions = 0.3, .deletions = 0.4});
  std::set<Edge> live(stream.start_edges().begin(), stream.start_edges().end());
  for (const StreamUpdate& update : stream.updates()) {
    if (update.insert) {
      EXPECT_TRUE(live.insert(update.edge).second);
    } else {
      EXPECT_EQ(live.erase(update.edge), 1U);
    }
  }
  std::set<Edge> expected(stream.graph.edges.begin(), stream.graph.edges.end());
  for (const Edge& edge : stream.deleted_edges()) expected.erase(edge);
  EXPECT_EQ(live, expected);
}

TEST(Stream, InsertionsAndDeletionsAreMixed) {
  const auto updates = make_stream(small(), {.insertions = 0.5, .deletions = 1}).updates();
  ASSERT_EQ(updates.size(), 3072U);
  const auto inserts_before_half =
      std::count_if(updates.begin(), updates.begin() + 1536, [](const auto& u) { return u.insert; });
  EXPECT_NEAR(static_cast<double>(inserts_before_half), 768, 100);
}

TEST(Stream, NoiseIsDuplicateInsertsAndAbsentDeletesOnly) {
  const GeneratorOptions options{.insertions = 0.3, .deletions = 0.3, .noise = 0.2};
  const Stream stream = make_stream(small(), options);
  std::set<Edge> live(stream.start_edges().begin(), stream.start_edges().end());
  int duplicate = 0;
  int absent = 0;
  std::size_t valid = 0;
  for (const StreamUpdate& update : stream.updates()) {
    if (update.insert ? live.insert(update.edge).second : live.erase(update.edge) == 1) {
      ++valid;
    } else {
      ++(update.insert ? duplicate : absent);
    }
  }
  EXPECT_EQ(valid, stream.inserted_edges().size() + stream.deleted_edges().size());
  EXPECT_NEAR(duplicate, 0.1 * static_cast<double>(valid), 60);
  EXPECT_NEAR(absent, 0.1 * static_cast<double>(valid), 60);
}

TEST(Stream, NoiseWhereNothingIsAbsentOrNothingLives) {
  const Stream all_in = make_stream(small(), {.insertions = 1, .noise = 1});
  EXPECT_EQ(all_in.updates().size(), 2 * 3072U);
  const Stream all_out = make_stream(small(), {.insertions = 0, .deletions = 1, .noise = 1});
  EXPECT_EQ(all_out.updates().size(), 2 * 3072U);
}

TEST(Stream, IsTheSameAtEveryCallAndDiffersBySeed) {
  const auto text = [](std::uint64_t seed) {
    const Stream stream = make_stream(small(), {.insertions = 0.5, .deletions = 0.5, .noise = 0.1, .seed = seed});
    return written([&](std::FILE* out) { write_updates(stream, out); });
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
}

TEST(Stream, StartGraphTextIsCountedAndBearsDegrees) {
  const Stream stream = make_stream(small(), {.insertions = 0.1});
  std::istringstream in(written([&](std::FILE* out) { write_graph(stream, out); }));
  char kind = 0;
  std::uint32_t vertices = 0;
  std::size_t edges = 0;
  in >> kind >> vertices >> edges;
  EXPECT_EQ(kind, 't');
  ASSERT_EQ(vertices, stream.graph.vertices);
  ASSERT_EQ(edges, stream.start_edges().size());
  std::vector<std::uint32_t> degrees(vertices);
  for (std::uint32_t v = 0; v < vertices; ++v) {
    std::uint32_t id = 0;
    std::uint32_t label = 0;
    in >> kind >> id >> label >> degrees[v];
    ASSERT_EQ(kind, 'v');
    ASSERT_EQ(id, v);
    ASSERT_EQ(label, stream.graph.labels[v]);
  }
  for (const Edge& expected : stream.start_edges()) {
    Edge edge;
    std::uint32_t label = 9;
    in >> kind >> edge.first >> edge.second >> label;
    ASSERT_EQ(kind, 'e');
    ASSERT_EQ(edge, expected);
    ASSERT_EQ(label, 0U);
    --degrees[edge.first];
    --degrees[edge.second];
  }
  std::string rest;
  EXPECT_FALSE(in >> rest);
  EXPECT_THAT(degrees, testing::Each(0U));
}

TEST(Stream, UpdateTextHasBothSpellings) {
  const Stream stream = make_stream({.vertices = 3, .directed = false, .edges = {{0, 1}, {1, 2}}, .labels = {0, 1, 0}},
                                    {.insertions = 0.5, .deletions = 1});
  const auto lines = test::split(written([&](std::FILE* out) { write_updates(stream, out); }), '\n');
  EXPECT_THAT(lines, testing::AnyOf(testing::UnorderedElementsAre("e 0 1 0", "-e 1 2 0"),
                                    testing::UnorderedElementsAre("-e 0 1 0", "e 1 2 0")));
}

TEST(Stream, EdgeLabelsCanBeLeftOutOrMany) {
  Stream stream = make_stream(small(), {.insertions = 0, .deletions = 0.5, .edge_labels = 0});
  EXPECT_THAT(test::split(written([&](std::FILE* out) { write_updates(stream, out); }), '\n'),
              testing::Each(testing::MatchesRegex("-e [0-9]+ [0-9]+")));
  stream.options.edge_labels = 3;
  std::vector<int> seen(3);
  for (const Edge& edge : stream.graph.edges) ++seen.at(stream.edge_label(edge));
  for (const int count : seen) EXPECT_NEAR(count, 1024, 130);
  for (const StreamUpdate& update : stream.updates()) EXPECT_EQ(update.label, stream.edge_label(update.edge));
}

TEST(Stream, FilesHoldTheSameAsHandles) {
  const Stream stream = make_stream(small(), {.insertions = 0.2});
  const auto path = std::filesystem::path(testing::TempDir()) / "deltamatch-stream-test";
  write_graph(stream, path);
  EXPECT_EQ(test::read_text(path), written([&](std::FILE* out) { write_graph(stream, out); }));
  write_updates(stream, path);
  EXPECT_EQ(test::read_text(path), written([&](std::FILE* out) { write_updates(stream, out); }));
  std::filesystem::remove(path);
}

TEST(Stream, RefusesSharesOutOfRange) {
  for (const double bad : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(validate(GeneratorOptions{.insertions = bad}), Error);
    EXPECT_THROW(validate(GeneratorOptions{.deletions = bad}), Error);
    EXPECT_THROW(validate(GeneratorOptions{.noise = bad}), Error);
  }
}

TEST(Stream, AFullDiskAndAMissingFolderAreErrors) {
  const Stream stream = make_stream(small(), {});
  EXPECT_THROW(write_graph(stream, std::filesystem::path("/nonexistent/folder/graph")), Error);
  if (std::FILE* full = std::fopen("/dev/full", "wb"); full != nullptr) {
    EXPECT_THROW(write_updates(stream, full), Error);
    std::fclose(full);
  }
}

TEST(Stream, OfAnEmptyGraph) {
  const Stream stream =
      make_stream(chung_lu({.vertices = 2, .edges = 0, .max_degree = 0}), {.insertions = 0.5, .deletions = 0.5, .noise = 1});
  EXPECT_TRUE(stream.updates().empty());
}

}  // namespace
}  // namespace deltamatch::generate
