// Snapshots of graphs whose edges have identities and attributes. What is restored goes on as what never stopped: with the same
// matches, ids, slots, ordinals and symbols.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/misfit.hpp"
#include "engine/storage/snapshot.hpp"
#include "support/properties.hpp"

namespace deltamatch::engine {
namespace {

using Kind = AttributeType::Kind;
using testing::HasSubstr;

Schema schema_of(EdgeModel model) {
  Schema schema{model, {}, {{"country", {Kind::symbol, 0}}, {"limit", {Kind::decimal, 2}}}};
  if (model != EdgeModel::simple)
    schema.edges = {{"amount", {Kind::decimal, 2}},
                    {"channel", {Kind::symbol, 0}},
                    {"rate", {Kind::real, 0}},
                    {"checked", {Kind::boolean, 0}},
                    {"booked", {Kind::time, 0}}};
  return schema;
}

/// Every match, with all that it says of its edges.
class Lines : public MatchSink {
 public:
  void begin(std::uint64_t) override {}
  void write(const Match& match) override {
    std::string line = fmt::format("{}{} {}", match.added ? "+" : "-", match.query, to_string(match.id));
    for (const MatchedEdge& edge : match.edges) {
      const Properties properties{edge.key, edge.attributes};
      Update update;
      update.properties = &properties;
      line += fmt::format(" {} @{}{}", edge.ordinal, edge.time.value_or(-1), test::properties_text(update));
    }
    lines.push_back(line);
  }
  void commit() override {}
  void abort() noexcept override {}

  std::vector<std::string> lines;
};

/// A stream over few vertices and keys. Edges come, go, move and are corrected; symbols come and go.
class Stream {
 public:
  Stream(const Schema& schema, unsigned seed) : schema_(schema), random_(seed), values_(seed) {}

  UpdateBatch batch(std::size_t updates) {
    UpdateBatch batch;
    for (std::size_t i = 0; i < updates; ++i) add(batch);
    return batch;
  }

 private:
  void add(UpdateBatch& batch) {
    const std::uint64_t kind = below(10);
    Update update;
    Properties properties;
    std::vector<AttributeValue> row;
    const auto draw_row = [&](const std::vector<Attribute>& attributes) {
      for (const Attribute& attribute : attributes) row.push_back(values_.value(attribute.type));
      properties.attributes = row;
    };
    const std::string text = fmt::format("tx-{}", below(25));
    if (schema_.model == EdgeModel::keyed) properties.key = below(4) == 0 ? Id(text) : Id(static_cast<std::int64_t>(below(25)));
    const std::int64_t source = static_cast<std::int64_t>(below(7));
    update.source = source;
    update.target = static_cast<std::int64_t>((source + 1 + static_cast<std::int64_t>(below(6))) % 7);
    update.label = below(3) == 0 ? "PAYS" : "";
    if (below(6) != 0) update.time = now_ += static_cast<Timestamp>(below(5));
    if (kind < 6) {
      draw_row(schema_.edges);
    } else if (kind < 8) {
      update.kind = UpdateKind::delete_edge;
      if (schema_.model == EdgeModel::keyed) update.by_key = below(2) == 0;
    } else {
      update.kind = kind == 9 && below(3) == 0 ? UpdateKind::delete_vertex : UpdateKind::insert_vertex;
      properties.key = std::nullopt;
      if (update.kind == UpdateKind::insert_vertex) draw_row(schema_.vertices);
    }
    update.properties = &properties;
    batch.add(update);
  }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  Schema schema_;
  std::mt19937_64 random_;
  test::PropertiesDraw values_;
  Timestamp now_ = 1'700'000'000'000'000;
};

std::vector<std::string> process(Engine& engine, const UpdateBatch& batch) {
  Lines lines;
  const BatchResult result = engine.process(batch, OnReject::skip, &lines);
  lines.lines.push_back(fmt::format("{} {} {} {}", result.batch, result.rejects.size(), result.inserted, result.deleted));
  return lines.lines;
}

class SnapshotModels : public testing::TestWithParam<EdgeModel> {
 protected:
  SnapshotModels() {
    std::string name = (std::filesystem::temp_directory_path() / "deltamatch-models-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ / "graph.dms";
  }
  ~SnapshotModels() override { std::filesystem::remove_all(folder_); }

  std::string saved(const Engine& engine) {
    engine.save(folder_ / "saved.dms");
    return read(folder_ / "saved.dms");
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

TEST_P(SnapshotModels, GoOnAsWhatNeverStopped) {
  for (const Timestamp window : {Timestamp{0}, Timestamp{60}}) {
    for (const bool directed : {true, false}) {
      const EngineOptions options{.directed = directed, .threads = 1, .window = window, .schema = schema_of(GetParam())};
      Stream stream(options.schema, 7 + static_cast<unsigned>(window));
      Engine whole(options);
      std::optional<Engine> parts(std::in_place, options);
      const auto add = [&](Engine& engine) {
        engine.add_query(parse_pattern(directed ? "(a)-[:PAYS]->(b)-->(c)" : "(a)-[:PAYS]-(b)--(c)", "path"), {.list = true});
      };
      add(whole);
      add(*parts);
      std::size_t matches = 0;
      for (int i = 0; i < 60; ++i) {
        const UpdateBatch batch = stream.batch(1 + static_cast<std::size_t>(i * 7 % 20));
        const std::vector<std::string> lines = process(whole, batch);
        ASSERT_EQ(process(*parts, batch), lines) << i;
        matches += lines.size() - 1;
        if (i % 5 != 4) continue;
        parts->save(path_);
        parts.emplace(Engine::restore(path_, 1));
        ASSERT_EQ(parts->options().schema, options.schema);
        ASSERT_EQ(saved(*parts), read(path_)) << i;
        ASSERT_EQ(saved(whole), read(path_)) << i;
        add(*parts);
      }
      EXPECT_GT(matches, 200U);
    }
  }
}

TEST_P(SnapshotModels, EveryChangedBitIsNoticed) {
  const EngineOptions options{.threads = 1, .schema = schema_of(GetParam())};
  Engine engine(options);
  Stream stream(options.schema, 3);
  engine.load(stream.batch(12), OnReject::skip);
  const std::string sound = saved(engine);
  EXPECT_EQ(sound[8], 5);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    for (const int change : {0x01, 0xff}) {
      std::string bytes = sound;
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      EXPECT_THROW(static_cast<void>(Engine::restore(path_, 1)), Error) << "byte " << i;
    }
  }
}

TEST_P(SnapshotModels, AnotherSchemaIsRefusedByBoth) {
  const EngineOptions options{.threads = 1, .schema = schema_of(GetParam())};
  Engine(options).save(path_);
  Workers workers(1);
  Schema other = options.schema;
  other.vertices.pop_back();
  graph::DataGraph graph(true, false, graph::heap_slabs(), other);
  try {
    read_snapshot(path_, graph, workers);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), path_.string() + ": the snapshot's graph has " + to_text(options.schema) +
                                             "; the graph to be restored has " + to_text(other) +
                                             "; state the edges and attributes of the snapshot");
  }
}

INSTANTIATE_TEST_SUITE_P(All, SnapshotModels, testing::Values(EdgeModel::simple, EdgeModel::keyed, EdgeModel::events),
                         [](const auto& model) { return to_text(model.param); });

TEST(SnapshotVersion, IsTheSameWithoutASchema) {
  std::string name = (std::filesystem::temp_directory_path() / "deltamatch-version-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  ::close(file);
  Engine(EngineOptions{.threads = 1}).save(name);
  std::ifstream in(name, std::ios::binary);
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(in), {}}[8]), 5);
  std::filesystem::remove(name);
}

}  // namespace
}  // namespace deltamatch::engine
