// Graph files: what is written is read back. A part of a file answers queries as the whole does. A file that is not sound is
// refused.
#include "engine/storage/graph_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>
#include <tuple>

#include "deltamatch/error.hpp"
#include "engine/storage/bulk_loader.hpp"
#include "engine/storage/graph_file_layout.hpp"

namespace deltamatch::engine {
namespace {

using namespace graph_file_layout;
using testing::HasSubstr;

class GraphFileTest : public testing::Test {
 protected:
  GraphFileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "deltamatch-graph-file-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ / "graph.dmg";
  }
  ~GraphFileTest() override { std::filesystem::remove_all(folder_); }

  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  struct Loaded {
    Engine engine;
    LoadedShare share;
  };
  Loaded load(const EdgeDemand* demand = nullptr, unsigned threads = 1) const {
    GraphFile file(path_);
    Loaded loaded{Engine({.directed = file.directed(), .threads = threads}), {}};
    loaded.share = BulkLoader::load(loaded.engine, file, demand);
    return loaded;
  }
  Loaded load(const Query& query, bool induced = false) const {
    EdgeDemand demand;
    demand.add(query, induced);
    return load(&demand);
  }

  /// The text of the Error, or "" if there is none.
  std::string refusal() const {
    try {
      static_cast<void>(load());
      GraphFile(path_).for_each([](const Update&) {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

std::string text_of(const Id& id) { return id.is_text() ? "'" + std::string(id.text()) : std::to_string(id.number()); }

using Told = std::tuple<UpdateKind, std::string, std::string, std::string, Timestamp>;
std::vector<Told> tell(const Engine& engine) {
  std::vector<Told> all;
  engine.for_each([&](const Update& update) {
    const bool edge = update.kind == UpdateKind::insert_edge;
    all.emplace_back(update.kind, text_of(update.source), edge ? text_of(update.target) : "",
                     std::string(edge ? update.label : *update.source_label), update.time.value_or(0));
  });
  return all;
}

struct Shape {
  bool directed = true;
  unsigned vertices = 60;
  unsigned edges = 300;
  unsigned vertex_labels = 5;
  unsigned edge_labels = 2;
  Timestamp window = 0;
  unsigned threads = 1;
};

/// Draws ids of both kinds, some declared vertices, and some without an edge.
class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool one_in(unsigned n) { return below(n) == 0; }

  Engine graph(const Shape& shape) {
    std::vector<std::string> names;
    std::vector<std::string> labels;
    for (unsigned v = 0; v < shape.vertices; ++v) {
      names.push_back(v % 3 == 0 ? "name " + std::string(one_in(20) ? 300 : 1, 'x') + std::to_string(v) : "");
      labels.push_back(label('V', shape.vertex_labels));
    }
    const auto id = [&](unsigned v) {
      return names[v].empty() ? Id(std::int64_t{v} * 7 - 100) : Id(std::string_view(names[v]));
    };
    Engine engine({.directed = shape.directed, .threads = shape.threads, .window = shape.window});
    UpdateBatch batch;
    for (unsigned v = 0; v < shape.vertices; ++v) {
      if (!one_in(3)) continue;
      Update update;
      update.kind = UpdateKind::insert_vertex;
      update.source = id(v);
      update.source_label = labels[v];
      batch.add(update);
    }
    std::vector<std::string> edge_labels;
    for (unsigned e = 0; e < shape.edges; ++e) {
      const unsigned source = below(shape.vertices);
      const unsigned target = below(shape.vertices);
      if (source == target) continue;
      const std::string edge_label = label('E', shape.edge_labels);
      Update update;
      update.source = id(source);
      update.target = id(target);
      update.label = edge_label;
      update.source_label = labels[source];
      update.target_label = labels[target];
      update.time = 1000 + below(1000);
      batch.add(update);
    }
    EXPECT_TRUE(engine.load(batch).rejects.empty());
    return engine;
  }

  Query query(const Shape& shape) {
    Query query;
    query.name = "q";
    const unsigned size = 2 + below(3);
    for (unsigned v = 0; v < size; ++v)
      query.vertices.push_back({std::string(1, static_cast<char>('a' + v)), labels('V', shape.vertex_labels)});
    const auto join = [&](unsigned a, unsigned b) {
      if (one_in(2)) std::swap(a, b);
      query.edges.push_back({a, b, labels('E', shape.edge_labels), shape.directed && !one_in(3)});
    };
    for (unsigned v = 1; v < size; ++v) join(v, below(v));
    if (size > 2 && one_in(2)) join(size - 1, size - 2 - below(size - 2));
    return query;
  }

 private:
  /// Label 0 is the empty one.
  std::string label(char kind, unsigned labels) {
    const unsigned number = below(labels);
    return number == 0 ? "" : kind + std::to_string(number);
  }
  LabelSet labels(char kind, unsigned labels) {
    LabelSet set;
    if (one_in(5)) return set;
    do set.push_back(one_in(12) ? "unknown" : label(kind, labels));
    while (one_in(3));
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    return set;
  }

  std::mt19937 random_;
};

TEST_F(GraphFileTest, RoundTripsAndEqualGraphsGiveEqualFiles) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    Shape shape{.directed = seed % 2 == 0,
                .edges = 1 + random.below(600),
                .vertex_labels = 1 + random.below(12),
                .edge_labels = 1 + random.below(4)};
    Engine engine = random.graph(shape);
    BulkLoader::save(engine, path_);
    const Loaded loaded = load();
    EXPECT_EQ(tell(loaded.engine), tell(engine));
    EXPECT_EQ(loaded.engine.watermark(), engine.watermark());
    EXPECT_EQ(loaded.engine.graph().edges, engine.graph().edges);
    EXPECT_EQ(loaded.share.vertices, engine.graph().vertices);
    EXPECT_EQ(loaded.share.edges, loaded.share.all_edges);
    const std::string bytes = read(path_);
    EXPECT_EQ(bytes.size(), loaded.share.all_bytes);
    BulkLoader::save(loaded.engine, path_);
    EXPECT_EQ(read(path_), bytes);
  }
}

TEST_F(GraphFileTest, LoadedGraphTakesUpdates) {
  Random random(7);
  const Shape shape{.edges = 400};
  Engine engine = random.graph(shape);
  BulkLoader::save(engine, path_);
  Loaded loaded = load();
  UpdateBatch batch;
  engine.for_each([&](const Update& update) {
    if (!random.one_in(2)) return;
    Update change = update;
    change.kind = update.kind == UpdateKind::insert_edge ? UpdateKind::delete_edge : UpdateKind::delete_vertex;
    if (change.kind == UpdateKind::delete_vertex && !random.one_in(8)) return;
    batch.add(change);
  });
  engine.load(batch);
  loaded.engine.load(batch);
  EXPECT_EQ(tell(loaded.engine), tell(engine));
}

TEST_F(GraphFileTest, GraphsWithASchemaAreRefused) {
  for (const Schema& schema : {Schema{EdgeModel::events, {}, {}}, Schema{EdgeModel::simple, {}, {{"country", {}}}}}) {
    const Engine engine({.threads = 1, .schema = schema});
    try {
      BulkLoader::save(engine, path_);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), path_.string() +
                                  ": a graph file holds no edges with identities, and no attributes; save a snapshot instead, "
                                  "or write the updates in a binary stream");
    }
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
}

TEST_F(GraphFileTest, TimesAreKept) {
  Random random(3);
  Engine engine = random.graph({.window = 1'000'000});
  BulkLoader::save(engine, path_);
  GraphFile file(path_);
  EXPECT_TRUE(file.timed());
  Engine again({.threads = 1, .window = 1'000'000});
  UpdateBatch batch;
  file.for_each([&](const Update& update) { batch.add(update); });
  EXPECT_TRUE(again.load(batch).rejects.empty());
  EXPECT_EQ(tell(again), tell(engine));
  EXPECT_EQ(tell(load().engine).size(), tell(engine).size());
}

TEST_F(GraphFileTest, APartAnswersAsTheWhole) {
  unsigned restricted = 0;
  unsigned with_matches = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const Shape shape{.directed = seed % 2 == 0,
                      .vertices = 20 + random.below(40),
                      .edges = 50 + random.below(350),
                      .vertex_labels = 1 + random.below(8),
                      .edge_labels = 1 + random.below(3)};
    Engine whole = random.graph(shape);
    BulkLoader::save(whole, path_);
    for (unsigned draw = 0; draw < 4; ++draw) {
      const Query query = random.query(shape);
      try {
        validate(query, "test");
      } catch (const Error&) {
        continue;
      }
      for (const bool induced : {false, true}) {
        Loaded part = load(query, induced);
        Loaded all = load();
        if (part.share.edges < part.share.all_edges) ++restricted;
        for (const MatchMode mode : {MatchMode::isomorphism, MatchMode::edge_distinct, MatchMode::homomorphism}) {
          StaticOptions options;
          options.query = {mode, mode == MatchMode::isomorphism ? CountMode::subgraphs : CountMode::embeddings, true};
          options.induced = induced;
          options.filter = std::array{Filter::automatic, Filter::none, Filter::degree, Filter::refine}[random.below(4)];
          const StaticResult expected = whole.match(query, options);
          for (Engine* engine : {&part.engine, &all.engine}) {
            const StaticResult result = engine->match(query, options);
            ASSERT_EQ(result.matches, expected.matches) << to_pattern(query) << " seed " << seed;
            ASSERT_EQ(result.digest, expected.digest) << to_pattern(query) << " seed " << seed;
          }
          options.query.list = false;
          ASSERT_EQ(part.engine.match(query, options).matches, expected.matches);
          if (expected.matches > 0) ++with_matches;
        }
      }
    }
  }
  EXPECT_GT(restricted, 80U);
  EXPECT_GT(with_matches, 160U);
}

TEST_F(GraphFileTest, OnlyWhatTheLabelsTouchIsLoaded) {
  Random random(1);
  Engine engine = random.graph({.vertices = 4000, .edges = 60000, .vertex_labels = 20});
  BulkLoader::save(engine, path_);
  const auto share = [&](const char* pattern, bool induced = false) {
    return load(parse_pattern(pattern, "q"), induced).share;
  };
  const LoadedShare one = share("(a:V1)-->(b:V2)");
  EXPECT_LT(one.edges, one.all_edges / 200);
  EXPECT_GT(one.edges, 0U);
  EXPECT_LT(one.vertices, one.all_vertices / 5);
  EXPECT_LT(one.bytes, one.all_bytes / 2);
  EXPECT_LT(share("(a:V1)-[:E1]->(b:V2)").edges, one.edges);
  EXPECT_GT(share("(a:V1)-[:E1]->(b:V2)", true).edges, one.edges);  // any edge between them matters
  EXPECT_GT(share("(a:V1)--(b:V2)").edges, one.edges);
  EXPECT_EQ(share("(a)-->(b)").edges, one.all_edges);
  EXPECT_EQ(share("(a:nowhere)-->(b)").edges, 0U);
}

TEST_F(GraphFileTest, TheNumberOfThreadsMakesNoDifference) {
  Random random(5);
  Engine engine = random.graph({.directed = false, .vertices = 50000, .edges = 200000, .vertex_labels = 3});
  BulkLoader::save(engine, path_);
  EXPECT_EQ(tell(load(nullptr, 4).engine), tell(engine));
}

TEST_F(GraphFileTest, GraphsOfAnotherKindAreRefused) {
  BulkLoader::save(Random(1).graph({}), path_);
  GraphFile file(path_);
  Engine undirected({.directed = false, .threads = 1});
  EXPECT_THROW(BulkLoader::load(undirected, file, nullptr), Error);
  Engine timed({.threads = 1, .window = 10});
  EXPECT_THROW(BulkLoader::load(timed, file, nullptr), Error);
}

TEST_F(GraphFileTest, EmptyGraph) {
  BulkLoader::save(Engine({.threads = 1}), path_);
  EXPECT_EQ(load().share.edges, 0U);
  EXPECT_EQ(load(parse_pattern("(a)-->(b:B)", "q")).share.vertices, 0U);
}

TEST_F(GraphFileTest, EveryDamageIsNoticed) {
  Engine engine = Random(2).graph({.vertices = 20, .edges = 60, .window = 1'000'000});
  BulkLoader::save(engine, path_);
  const std::string sound = read(path_);
  ASSERT_EQ(refusal(), "");
  for (std::size_t size = 0; size < sound.size(); size += 1 + size / 50) {
    write(path_, sound.substr(0, size));
    EXPECT_THAT(refusal(), HasSubstr(path_.string())) << size;
  }
  for (std::size_t at = 0; at < sound.size(); ++at) {
    std::string bytes = sound;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    write(path_, bytes);
    EXPECT_THAT(refusal(), HasSubstr(path_.string())) << at;
  }
  write(path_, sound + "x");
  EXPECT_THAT(refusal(), HasSubstr("torn or damaged"));
}

TEST_F(GraphFileTest, ChecksumsOfWhatIsNotReadAreNotVerified) {
  Random random(1);
  Engine engine = random.graph({.vertices = 4000, .edges = 60000, .vertex_labels = 20});
  BulkLoader::save(engine, path_);
  std::string bytes = read(path_);
  const Query query = parse_pattern("(a:V1)-->(b:V1)", "q");
  const std::uint64_t matches = static_cast<std::uint64_t>(load(query).engine.match(query).matches);
  // Damages the last edges. Their ends lie before the texts and flags.
  const std::size_t at = bytes.size() - 4000 - 40000 - 20000;
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  write(path_, bytes);
  EXPECT_EQ(static_cast<std::uint64_t>(load(query).engine.match(query).matches), matches);
  EXPECT_THAT(refusal(), HasSubstr("checksum does not match"));
  EXPECT_THAT(refusal(), HasSubstr("section edge ends"));
}

TEST_F(GraphFileTest, OtherFilesAreRefused) {
  Engine engine = Random(2).graph({});
  BulkLoader::save(engine, path_);
  EXPECT_TRUE(GraphFile::recognises(path_));
  std::string bytes = read(path_);
  std::string other = bytes;
  other[8] = 2;
  write(path_, other);
  EXPECT_THAT(refusal(), HasSubstr("version 2, while this program reads version 1"));
  std::swap(bytes[8], bytes[11]);
  write(path_, bytes);
  EXPECT_THAT(refusal(), HasSubstr("another order of bytes"));
  write(path_, "1 2\n2 3\n");
  EXPECT_THAT(refusal(), HasSubstr("it is not a graph file"));
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{11}, std::size_t{30}}) {
    write(path_, bytes.substr(0, size));
    EXPECT_THAT(refusal(), HasSubstr("cut short")) << size;
  }
  std::filesystem::remove(path_);
  EXPECT_THAT(refusal(), HasSubstr("cannot be opened"));
  EXPECT_THAT([&] { SectionMap(folder_, graph_file); }, testing::ThrowsMessage<Error>(HasSubstr("it is not a regular file")));
}

TEST_F(GraphFileTest, IsKnownByItsContentOrItsName) {
  Engine engine = Random(2).graph({});
  EXPECT_TRUE(GraphFile::recognises(path_)) << "though it is not there: " << path_;
  const std::filesystem::path other = folder_ / "g.bin";
  EXPECT_FALSE(GraphFile::recognises(other));
  write(other, "1 2\n2 3\n");
  EXPECT_FALSE(GraphFile::recognises(other));
  engine.save(other);
  EXPECT_FALSE(GraphFile::recognises(other));
  BulkLoader::save(engine, other);
  EXPECT_TRUE(GraphFile::recognises(other));
}

TEST_F(GraphFileTest, APipeIsNotTakenFromItsWriter) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::atomic<bool> opened = false;
  std::jthread writer([&] {
    const int file = ::open(pipe.c_str(), O_WRONLY | O_CLOEXEC);  // waits for a reader
    opened = true;
    ::close(file);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(GraphFile::recognises(pipe));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(opened);
  ::close(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // lets the writer continue
}

// Wrong contents under correct checksums.
class ForgedGraphFile : public GraphFileTest {
 protected:
  struct Contents {
    Header header{directed_flag, 0, 2, 1, 3, 2, 2, 2, 0, 5, 0};
    std::vector<std::uint64_t> vertex_label_ends{1, 2};
    std::vector<LabelEnds> label_parts{{2, 2}, {3, 2}};
    std::vector<std::uint64_t> edge_label_ends{0};
    std::vector<BlockEntry> blocks{{0, 0, 1}, {1, 0, 2}};
    std::vector<std::uint64_t> keys{5, 7, 0};
    std::vector<graph::EdgeEnds> ends{{0, 1}, {0, 2}};
    std::vector<Timestamp> times;
    std::string vertex_labels = "AB";
    std::string edge_labels;
    std::string flags = std::string("\0\2\1", 3);
    std::string ids = std::string("\1\0\0\0x", 5);
  };

  template <class T>
  static void put(SectionWriter& out, Section section, const std::vector<T>& values) {
    out.begin(section, false);
    out.raw({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }

  std::string refusal_of(const Contents& contents) const {
    SectionWriter out(path_, graph_file);
    put(out, Section::graph_header, std::vector{contents.header});
    put(out, Section::vertex_label_ends, contents.vertex_label_ends);
    put(out, Section::label_parts, contents.label_parts);
    put(out, Section::edge_label_ends, contents.edge_label_ends);
    put(out, Section::blocks, contents.blocks);
    put(out, Section::vertex_keys, contents.keys);
    put(out, Section::edge_ends, contents.ends);
    put(out, Section::edge_times, contents.times);
    for (const auto& [section, text] : {std::pair{Section::vertex_label_texts, &contents.vertex_labels},
                                        {Section::edge_label_texts, &contents.edge_labels},
                                        {Section::vertex_flags, &contents.flags},
                                        {Section::id_texts, &contents.ids}}) {
      out.begin(section, false);
      out.raw(*text);
    }
    out.commit();
    return refusal();
  }
};

TEST_F(ForgedGraphFile, SoundContentsAreTaken) {
  EXPECT_EQ(refusal_of({}), "");
  EXPECT_EQ(tell(load().engine), (std::vector<Told>{{UpdateKind::insert_vertex, "5", "", "A", 0},
                                                    {UpdateKind::insert_vertex, "7", "", "A", 0},
                                                    {UpdateKind::insert_vertex, "'x", "", "B", 0},
                                                    {UpdateKind::insert_edge, "5", "7", "", 0},
                                                    {UpdateKind::insert_edge, "5", "'x", "", 0}}));
}

TEST_F(ForgedGraphFile, ContentsThatCannotBeAreRefused) {
  const auto expect = [&](const char* what, auto change) {
    Contents contents;
    change(contents);
    EXPECT_THAT(refusal_of(contents), HasSubstr(what));
  };
  expect("it has unknown flags", [](Contents& c) { c.header.flags = 16; });
  for (std::uint64_t Header::* count :
       {&Header::vertex_labels, &Header::edge_labels, &Header::vertices, &Header::blocks, &Header::edges,
        &Header::vertex_label_bytes, &Header::edge_label_bytes, &Header::id_bytes}) {
    expect("more than the file can hold", [&](Contents& c) { c.header.*count = UINT64_MAX; });
    expect("section", [&](Contents& c) { ++(c.header.*count); });
    expect("section", [&](Contents& c) { c.header.*count = 200; });
  }
  expect("does not fit into the file", [](Contents& c) { c.header.flags |= timed_flag; });
  expect("ends before it begins", [](Contents& c) { c.vertex_label_ends = {2, 1}; });
  expect("ends early", [](Contents& c) { c.vertex_label_ends = {1, UINT64_MAX}; });
  expect("ends early", [](Contents& c) { c.edge_label_ends = {1}; });
  expect("its labels are out of order", [](Contents& c) { c.vertex_labels = "AA"; });
  expect("its labels are out of order", [](Contents& c) { c.vertex_labels = "BA"; });
  expect("end before they begin", [](Contents& c) { c.label_parts[1].blocks = 1; });
  expect("ends early", [](Contents& c) { c.label_parts[1].blocks = 3; });
  expect("its vertices are out of range", [](Contents& c) { c.label_parts[1].vertices = 1; });
  expect("its vertices are out of range", [](Contents& c) { c.label_parts[1].vertices = UINT64_MAX; });
  expect("a label is out of range", [](Contents& c) { c.blocks[1].head_label = 2; });
  expect("a label is out of range", [](Contents& c) { c.blocks[1].edge_label = 1; });
  expect("its blocks are out of order", [](Contents& c) { c.blocks[1].head_label = 0; });
  expect("its edges are out of range", [](Contents& c) { c.blocks[1].edges_end = 3; });
  expect("its edges are out of range", [](Contents& c) { c.blocks[1].edges_end = 1; });
  expect("its edges are out of range", [](Contents& c) { c.blocks[0].edges_end = 0; });
  expect("an id occurs twice", [](Contents& c) { c.keys[1] = 5; });
  expect("ends early", [](Contents& c) { c.keys[2] = 2; });
  expect("ends early", [](Contents& c) { c.keys[2] = UINT64_MAX; });
  expect("ends early", [](Contents& c) { c.ids[0] = 2; });
  expect("ends early", [](Contents& c) { c.ids[3] = '\x7f'; });
  expect("it has unknown flags", [](Contents& c) { c.flags[0] = 4; });
  expect("its edges are out of range", [](Contents& c) { c.ends[0] = {0, 0}; });
  expect("its edges are out of range", [](Contents& c) { c.ends[0] = {0, 2}; });
  expect("its edges are out of range", [](Contents& c) { c.ends[0] = {2, 1}; });
  expect("its edges are out of range", [](Contents& c) { c.ends[1] = {0, 3}; });
  expect("its edges are out of range", [](Contents& c) { c.ends[1] = {UINT32_MAX, 2}; });
  expect("its edges are out of range", [](Contents& c) {
    c.header.flags = 0;
    c.ends[0] = {1, 0};
  });
  expect("greater than its head label", [](Contents& c) {
    c.header.flags = 0;
    c.label_parts = {{2, 1}, {3, 2}};
    c.blocks[1] = {0, 0, 2};
    c.ends[1] = {2, 0};
  });
  expect("out of order", [](Contents& c) {
    c.header.blocks = 1;
    c.label_parts = {{2, 1}, {3, 1}};
    c.blocks = {{0, 0, 2}};
    c.ends = {{0, 1}, {0, 1}};
  });
}

}  // namespace
}  // namespace deltamatch::engine
