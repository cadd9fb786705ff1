#include "ingest/service/loop/start_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/ingest/support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::AllOf;
using testing::error_of;
using ::testing::HasSubstr;

class Silent final : public Journal {
 public:
  void tell(Level /*level*/, std::string_view /*event*/, std::initializer_list<Field> /*fields*/) noexcept override {}
};

constexpr const char* undirected_table = "Source,Target,Type\n1,2,Undirected\n2,3,Undirected\n";
constexpr const char* undirected_matrix = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n";

/// The start graph of a service that is given this file.
GraphStatistics begun(const char* text, bool directed) {
  testing::Folder folder;
  testing::write_file(folder.file("start"), text);
  ServiceOptions options;
  StartFile file;
  file.path = folder.file("start");
  options.start_graph.files = {file};
  Silent journal;
  return begin_engine(options, {.directed = directed, .threads = 1}, std::nullopt, journal).graph();
}

TEST(StartGraph, ReadsFilesInTheirFormsAsTheyMeanTheirEdges) {
  EXPECT_EQ(begun(undirected_table, false).edges, 2U);
  EXPECT_EQ(begun(undirected_matrix, false).edges, 2U);
  EXPECT_EQ(begun("[{\"source\":1,\"target\":2},\n{\"source\":2,\"target\":3}]", true).edges, 2U);
  EXPECT_EQ(begun("t # 0\nv 0 0\nv 1 1\ne 0 1 0\n", true).edges, 1U);
  EXPECT_EQ(begun("Source,Target,Type\n1,2,Undirected\n2,3,Directed\n", false).edges, 2U);  // as the configuration says
}

TEST(StartGraph, RefusesAFileThatSaysThatItIsUndirectedWhereTheGraphIsNot) {
  for (const char* text : {undirected_table, undirected_matrix, "3,1,u,x\n1,2\n"}) {
    EXPECT_THAT(error_of([&] { begun(text, true); }),
                AllOf(HasSubstr("edges are undirected"), HasSubstr("graph.directed to false")));
  }
}

TEST(StartGraph, OtherEdgesOrAttributesThanEarlierBatchesAreRefused) {
  EngineOptions engine;
  engine.schema.model = EdgeModel::keyed;
  engine.schema.edges = {{"amount", {AttributeType::Kind::decimal, 2}}};
  GraphIdentity known;
  known.edges = edges_text(engine);
  EXPECT_EQ(known.edges, "keyed; amount decimal(2)");
  must_be_same_kind(engine, known);
  EXPECT_THAT(error_of([&] { must_be_same_kind({}, known); }),
              AllOf(HasSubstr("graph.edges"), HasSubstr("made with keyed; amount decimal(2), not with simple")));
  engine.schema.edges[0].type.scale = 3;
  EXPECT_THAT(error_of([&] { must_be_same_kind(engine, known); }), HasSubstr("not with keyed; amount decimal(3)"));
  known.edges.clear();
  engine.schema = {};
  engine.schema.vertices = {{"risk", {}}};
  EXPECT_THAT(error_of([&] { must_be_same_kind(engine, known); }),
              AllOf(HasSubstr("graph.vertex_attributes"), HasSubstr("made with none, not with risk int")));
}

TEST(StartGraph, OtherWindowsAreNamedAsTheConfigurationWritesThem) {
  GraphIdentity known;
  known.window = Timestamp{48} * 3'600'000'000;
  EXPECT_THAT(error_of([&] { must_be_same_kind({}, known); }), HasSubstr("made with 48h, not with no window"));
  EngineOptions engine;
  engine.window = 90'000'000;
  EXPECT_THAT(error_of([&] { must_be_same_kind(engine, known); }),
              AllOf(HasSubstr("made with 48h, not with 90s"), HasSubstr("standbys too")));
}

TEST(StartGraph, AnotherShardThanThatOfEarlierBatchesIsRefused) {
  const ShardOptions shard{.count = 4, .number = 1, .of = "app"};
  GraphIdentity known;
  EXPECT_EQ(shard_text(shard), "1 of 4");
  EXPECT_EQ(shard_text({}), "");
  must_be_same_shard({}, known);
  must_be_same_shard(shard, std::nullopt);
  EXPECT_THAT(error_of([&] { must_be_same_shard(shard, known); }),
              AllOf(HasSubstr("shards: earlier batches"), HasSubstr("made without shards, not as shard 1 of 4")));
  known.shard = "1 of 2";
  EXPECT_THAT(error_of([&] { must_be_same_shard(shard, known); }), HasSubstr("made as shard 1 of 2, not as shard 1 of 4"));
  EXPECT_THAT(error_of([&] { must_be_same_shard({}, known); }),
              AllOf(HasSubstr("made as shard 1 of 2, not without shards"), HasSubstr("choose another application name")));
  known.shard = "1 of 4";
  must_be_same_shard(shard, known);
}

}  // namespace
}  // namespace deltamatch::ingest
