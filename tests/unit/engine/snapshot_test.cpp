// Snapshots: what is written is read back exactly, and any damage to the file is noticed.
#include "engine/storage/snapshot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "deltamatch/error.hpp"
#include "engine/storage/section_file.hpp"
#include "engine/storage/snapshot_elements.hpp"

namespace deltamatch::engine {
namespace {

using graph::DataGraph;
using graph::Edge;
using graph::NetBatch;
using testing::HasSubstr;

class SnapshotTest : public testing::Test {
 protected:
  SnapshotTest() {
    std::string name = (std::filesystem::temp_directory_path() / "deltamatch-snapshot-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ / "graph.dms";
  }
  ~SnapshotTest() override { std::filesystem::remove_all(folder_); }

  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  /// The text of the Error, or "" if there is none.
  std::string refusal() {
    try {
      const SnapshotHeader header = read_snapshot_header(path_);
      DataGraph graph(header.directed, header.window > 0);
      read_snapshot(path_, graph, workers_);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  void save(const DataGraph& graph, SnapshotHeader header) {
    header.directed = graph.directed();
    header.window = graph.timed() ? 1000 : 0;
    write_snapshot(path_, header, graph);
  }

  std::unique_ptr<DataGraph> restore() {
    const SnapshotHeader header = read_snapshot_header(path_);
    auto graph = std::make_unique<DataGraph>(header.directed, header.window > 0);
    read_snapshot(path_, *graph, workers_);
    return graph;
  }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  void insert(DataGraph& graph, std::map<Edge, Timestamp> edges) {
    NetBatch batch;
    for (const auto& [edge, time] : edges) {
      batch.inserted.push_back(edge);
      if (graph.timed()) batch.inserted_times.push_back(time);
    }
    graph.stage(batch);
    graph.settle(workers_);
  }

  /// Five vertices, one of them free again; ids of both kinds, labels, parallel edges.
  std::unique_ptr<DataGraph> small(bool directed, bool timed) {
    auto graph = std::make_unique<DataGraph>(directed, timed);
    const LabelId person = graph->vertex_labels.intern("Person");
    const LabelId unused = graph->vertex_labels.intern("unused");
    const LabelId pays = graph->edge_labels.intern("PAYS");
    graph->dictionary.create(INT64_MIN, person);
    graph->dictionary.create(std::string_view("ann"), person);
    graph->dictionary.create(std::int64_t{17}, empty_label);
    graph->dictionary.create(std::string_view(""), unused);
    graph->dictionary.create(INT64_MAX, person);
    graph->dictionary.set_declared(3, true);
    graph->dictionary.release(2);
    insert(*graph, {{{0, 1, pays}, 5}, {{0, 1, empty_label}, INT64_MIN}, {{0, 4, pays}, INT64_MAX}, {{1, 4, pays}, -7}});
    if (directed) insert(*graph, {{{4, 0, pays}, 9}, {{1, 0, pays}, 8}});
    return graph;
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
  Workers workers_{1};
};

using Vertices = std::vector<std::tuple<VertexId, bool, std::int64_t, std::string, std::string, bool>>;

Vertices vertices_of(const DataGraph& graph) {
  Vertices all;
  for (VertexId v = 0; v < graph.dictionary.capacity(); ++v) {
    if (!graph.dictionary.alive(v)) continue;
    const Id id = graph.dictionary.external(v);
    EXPECT_EQ(graph.dictionary.find(id), v);
    all.emplace_back(v, id.is_text(), id.is_text() ? 0 : id.number(), id.is_text() ? std::string(id.text()) : "",
                     std::string(graph.vertex_labels.text(graph.dictionary.label(v))), graph.dictionary.declared(v));
  }
  return all;
}

/// The edges from both ends, so that both lists are checked.
std::vector<std::tuple<VertexId, Edge, std::string, Timestamp>> edges_of(const DataGraph& graph) {
  std::vector<std::tuple<VertexId, Edge, std::string, Timestamp>> all;
  for (VertexId v = 0; v < graph.dictionary.capacity(); ++v) {
    graph.for_each_edge(v, true, [&](const Edge& edge, Timestamp time) {
      all.emplace_back(v, edge, std::string(graph.edge_labels.text(edge.which)), time);
    });
  }
  std::sort(all.begin(), all.end());
  return all;
}

void expect_equal(const DataGraph& a, const DataGraph& b) {
  EXPECT_EQ(vertices_of(a), vertices_of(b));
  EXPECT_EQ(edges_of(a), edges_of(b));
  EXPECT_EQ(a.edges(), b.edges());
  EXPECT_EQ(a.dictionary.size(), b.dictionary.size());
  ASSERT_EQ(a.vertex_labels.size(), b.vertex_labels.size());
  ASSERT_EQ(a.edge_labels.size(), b.edge_labels.size());
  for (LabelId i = 0; i < a.vertex_labels.size(); ++i) EXPECT_EQ(a.vertex_labels.text(i), b.vertex_labels.text(i));
  for (LabelId i = 0; i < a.edge_labels.size(); ++i) EXPECT_EQ(a.edge_labels.text(i), b.edge_labels.text(i));
}

TEST_F(SnapshotTest, EveryKindOfGraphComesBack) {
  for (const bool directed : {false, true}) {
    for (const bool timed : {false, true}) {
      const auto graph = small(directed, timed);
      save(*graph, {});
      const auto again = restore();
      EXPECT_EQ(again->directed(), directed);
      EXPECT_EQ(again->timed(), timed);
      EXPECT_EQ(again->edges(), directed ? 6U : 4U);
      expect_equal(*graph, *again);
      // Exactly the free numbers are given out again.
      EXPECT_EQ(again->dictionary.create(std::string_view("new"), empty_label), 2U);
      EXPECT_EQ(again->dictionary.create(std::string_view("newer"), empty_label), 5U);
    }
  }
}

TEST_F(SnapshotTest, HeaderComesBack) {
  const DataGraph graph(false, true);
  for (const std::optional<Timestamp> watermark : {std::optional<Timestamp>(), std::optional<Timestamp>(0),
                                                   std::optional<Timestamp>(INT64_MIN), std::optional<Timestamp>(INT64_MAX)}) {
    for (const std::uint64_t batch : {std::uint64_t{0}, UINT64_MAX}) {
      write_snapshot(path_, {false, INT64_MAX, batch, watermark}, graph);
      const SnapshotHeader header = read_snapshot_header(path_);
      EXPECT_FALSE(header.directed);
      EXPECT_EQ(header.window, INT64_MAX);
      EXPECT_EQ(header.batch, batch);
      EXPECT_EQ(header.watermark, watermark);
    }
  }
}

TEST_F(SnapshotTest, EmptyGraphs) {
  save(DataGraph(true, false), {});
  EXPECT_EQ(restore()->dictionary.capacity(), 0U);
  DataGraph graph(true, false);  // everything in it has been removed
  graph.dictionary.create(std::int64_t{1}, empty_label);
  graph.dictionary.release(0);
  save(graph, {});
  const auto again = restore();
  EXPECT_EQ(again->dictionary.size(), 0U);
  EXPECT_EQ(again->edges(), 0U);
}

TEST_F(SnapshotTest, SavingWhatWasRestoredGivesTheSameBytes) {
  const auto graph = small(true, true);
  graph->dictionary.create(std::int64_t{99}, empty_label);
  graph->dictionary.create(std::int64_t{100}, empty_label);
  graph->dictionary.release(5);  // a gap at the end, also after the last one is released
  graph->dictionary.release(2);
  save(*graph, {});
  const std::string first = read(path_);
  save(*restore(), {});
  EXPECT_EQ(read(path_), first);
}

// Sections of several chunks, records across their borders, and edges loaded in several parts.
TEST_F(SnapshotTest, LargeGraph) {
  constexpr VertexId count = 300'000;
  DataGraph graph(true, true);
  for (VertexId v = 0; v < count; ++v) {
    if (v % 3 == 0) {
      graph.dictionary.create(std::string_view("vertex " + std::to_string(v * 2654435761U)), empty_label);
    } else {
      graph.dictionary.create(std::int64_t{v} * -7919, empty_label);
    }
  }
  graph.dictionary.create(std::string_view(std::string(std::size_t{5} << 20, 'x')), empty_label);
  NetBatch batch;
  for (VertexId v = 0; v < count; ++v) {
    for (const VertexId step : {1U, 5U, 77U, 1000U}) {
      if (v + step > count) continue;
      batch.inserted.push_back({v, v + step, empty_label});
      batch.inserted_times.push_back(std::int64_t{v} * step - 1000);
    }
  }
  graph.stage(batch);
  graph.settle(workers_);
  save(graph, {});
  const auto again = restore();
  EXPECT_GT(graph.edges(), std::uint64_t{1} << 20);
  EXPECT_EQ(again->edges(), graph.edges());
  EXPECT_EQ(vertices_of(graph), vertices_of(*again));
  EXPECT_EQ(edges_of(graph), edges_of(*again));
}

TEST_F(SnapshotTest, EveryChangedBitIsNoticed) {
  save(*small(true, true), {});
  const std::string sound = read(path_);
  ASSERT_EQ(refusal(), "");
  for (std::size_t i = 0; i < sound.size(); ++i) {
    for (const int change : {0x01, 0xff}) {
      std::string bytes = sound;
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      write(path_, bytes);
      EXPECT_THAT(refusal(), HasSubstr(path_.string())) << "byte " << i;
    }
  }
}

TEST_F(SnapshotTest, EveryTruncationIsNoticed) {
  save(*small(false, true), {});
  const std::string sound = read(path_);
  for (std::size_t size = 0; size < sound.size(); ++size) {
    write(path_, sound.substr(0, size));
    EXPECT_THAT(refusal(), HasSubstr(path_.string())) << size << " bytes";
    const std::string lost = sound.substr(0, size) + std::string(sound.size() - size, '\0');  // by the file system
    if (lost == sound) continue;
    write(path_, lost);
    EXPECT_THAT(refusal(), HasSubstr(path_.string())) << size << " bytes, then zeros";
  }
  write(path_, sound + sound);
  EXPECT_THAT(refusal(), HasSubstr("torn or damaged"));
  write(path_, sound + '\0');
  EXPECT_THAT(refusal(), HasSubstr("torn or damaged"));
}

TEST_F(SnapshotTest, KeepsAnAnnotation) {
  std::string annotation(max_annotation, '\xff');
  save(*small(true, false), {.annotation = annotation});
  EXPECT_EQ(read_snapshot_header(path_).annotation, annotation);
  EXPECT_EQ(refusal(), "");
  annotation += 'x';
  EXPECT_THROW(save(*small(true, false), {.annotation = annotation}), Error);
}

TEST_F(SnapshotTest, ErrorsSayWhatTheFileIs) {
  save(*small(true, false), {});
  std::string bytes = read(path_);
  EXPECT_THAT(bytes.substr(1, 5), "DMSNP");
  ASSERT_EQ(bytes[8], 3);
  for (const char other : {1, 6}) {
    bytes[8] = other;
    write(path_, bytes);
    EXPECT_THAT(refusal(), HasSubstr("version " + std::to_string(other) + ", while this program reads versions 2 to 5"));
  }
  write(path_, "source,target\n1,2\n");
  EXPECT_THAT(refusal(), HasSubstr("it is not a snapshot"));
  write(path_, "");
  EXPECT_THAT(refusal(), HasSubstr("cut short"));
  std::filesystem::remove(path_);
  EXPECT_THAT(refusal(), HasSubstr("No such file"));
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("it is not a regular file"));
  path_ = folder_;
  EXPECT_THAT(refusal(), HasSubstr("it is not a regular file"));
}

TEST_F(SnapshotTest, WritingReplacesAWholeFileOrNothing) {
  save(*small(true, false), {});
  save(DataGraph(true, false), {});
  EXPECT_EQ(restore()->edges(), 0U);
  EXPECT_EQ(files(), 1U);
  const DataGraph graph(true, false);
  EXPECT_THROW(write_snapshot(folder_ / "absent" / "graph.dms", {}, graph), Error);
  EXPECT_THROW(write_snapshot(folder_ / std::string(300, 'x'), {}, graph), Error);
  EXPECT_THROW(write_snapshot(folder_, {}, graph), Error);
  EXPECT_THROW(write_snapshot("/dev/null", {}, graph), Error);
  EXPECT_THROW(write_snapshot("/proc/graph.dms", {}, graph), Error);  // a folder to which even root cannot write
  EXPECT_EQ(files(), 1U);
  {
    SectionWriter abandoned(path_);
    abandoned.begin(Section::header);
    EXPECT_EQ(files(), 2U);
  }
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(refusal(), "");
}

TEST_F(SnapshotTest, RelativePathsWork) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  write_snapshot("here.dms", {}, DataGraph(true, false));
  EXPECT_TRUE(read_snapshot_header("here.dms").directed);
  std::filesystem::current_path(before);
}

TEST_F(SnapshotTest, AnotherKindOfGraphIsRefused) {
  save(*small(true, false), {});
  DataGraph undirected(false, false);
  DataGraph timed(true, true);
  EXPECT_THROW(read_snapshot(path_, undirected, workers_), Error);
  EXPECT_THROW(read_snapshot(path_, timed, workers_), Error);
}

// Files with correct checksums and wrong contents, as a forger can make them. In both versions they are refused alike.
class Forged : public SnapshotTest {
 protected:
  struct Contents {
    std::uint8_t directed = 1;
    std::int64_t window = 0;
    std::uint8_t watermark = 0;
    std::vector<std::uint64_t> sizes{2, 1, 3, 3, 1};  // vertex labels, edge labels, numbers, vertices, edges
    std::string annotation;
    std::string behind_annotation;
    std::vector<std::string> labels{"A"};
    std::vector<std::string> edge_labels;
    std::vector<std::uint8_t> numbers{0b111};
    std::vector<std::array<std::int64_t, 3>> vertices{{0, 1, 5}, {2, 0, 1}, {0, 0, 1}};  // flags, label, id difference
    std::vector<std::uint64_t> edges{0, 1, 0};  // tail, head, label; ends as differences
    std::string more;
  };

  static void put_vertices(SectionWriter& out, const Contents& contents, std::uint32_t version) {
    namespace field = encoding::field;
    for (std::size_t i = 0; i < contents.vertices.size(); ++i) {
      const auto& [flags, label, id] = contents.vertices[i];
      if (version == 2) {
        out.byte(static_cast<std::uint8_t>(flags));
        out.number(static_cast<std::uint64_t>(label));
        out.signed_number(id);
        continue;
      }
      std::uint64_t count = 1;
      while (i + count < contents.vertices.size() && contents.vertices[i + count][0] == flags) ++count;
      const std::uint64_t fields = field::source_label | ((flags & 2) != 0 ? 0 : field::implied);
      if (i == 0 || contents.vertices[i - 1][0] != flags)
        put_run(out, encoding::Run{{UpdateKind::insert_vertex, fields}, count});
      out.signed_number(id);
      out.number(static_cast<std::uint64_t>(label));
    }
  }

  static void put_edges(SectionWriter& out, const Contents& contents, std::uint32_t version) {
    if (version == 3) put_run(out, encoding::Run{{UpdateKind::insert_edge, encoding::field::label}, contents.sizes[4]});
    for (std::size_t i = 0; i < contents.edges.size(); ++i) {
      if (version == 3 && i % 3 != 2) {
        out.signed_number(static_cast<std::int64_t>(contents.edges[i]));
      } else {
        out.number(contents.edges[i]);
      }
    }
  }

  static FileKind kind_of(std::uint32_t version) {
    FileKind kind = snapshot_file;
    kind.version = version;
    return kind;
  }

  std::string refusal_of(const Contents& contents, std::uint32_t version) {
    SectionWriter out(path_, kind_of(version));
    out.begin(Section::header);
    out.byte(contents.directed);
    out.signed_number(contents.window);
    out.number(0);
    out.byte(contents.watermark);
    out.signed_number(0);
    for (const std::uint64_t size : contents.sizes) out.number(size);
    out.begin(Section::annotation);
    out.text(contents.annotation);
    out.raw(contents.behind_annotation);
    out.begin(Section::vertex_labels);
    for (const std::string& label : contents.labels) out.text(label);
    out.begin(Section::edge_labels);
    for (const std::string& label : contents.edge_labels) out.text(label);
    out.begin(Section::numbers, false);
    for (const std::uint8_t bits : contents.numbers) out.byte(bits);
    out.begin(Section::vertices);
    put_vertices(out, contents, version);
    out.begin(Section::edges);
    put_edges(out, contents, version);
    out.raw(contents.more);
    out.commit();
    return refusal();
  }
};

TEST_F(Forged, SoundContentsAreTaken) {
  EXPECT_EQ(refusal_of({}, 2), "");
  EXPECT_EQ(refusal_of({}, 3), "");
}

TEST_F(Forged, ContentsThatCannotBeAreRefused) {
  const auto expect = [&](const char* what, auto change) {
    Contents contents;
    change(contents);
    for (const std::uint32_t version : {2, 3}) EXPECT_THAT(refusal_of(contents, version), HasSubstr(what)) << version;
  };
  expect("out of range", [](Contents& c) { c.directed = 2; });
  expect("out of range", [](Contents& c) { c.watermark = 3; });
  expect("contradicts", [](Contents& c) { c.window = -1; });
  expect("contradicts", [](Contents& c) { c.sizes[0] = 0; });
  expect("contradicts", [](Contents& c) { c.sizes[1] = 0; });
  expect("out of range", [](Contents& c) { c.sizes[0] = UINT64_MAX; });
  expect("more vertices than the file can hold", [](Contents& c) { c.sizes[2] = max_vertices; });
  expect("out of range", [](Contents& c) { c.sizes[2] = std::uint64_t{max_vertices} + 1; });
  expect("out of range", [](Contents& c) { c.sizes[3] = 4; });
  expect("the number of vertices is not the one in the header", [](Contents& c) { c.sizes[3] = 2; });
  expect("missing", [](Contents& c) { c.sizes[4] = 1000; });
  expect("missing", [](Contents& c) { c.sizes[0] = 1000; });
  expect("more edges than the file can hold", [](Contents& c) { c.sizes[4] = UINT64_MAX; });
  expect("more labels than the file can hold", [](Contents& c) { c.sizes[0] = LabelTable::max_labels; });
  expect("annotation exceeds 1 MiB", [](Contents& c) { c.annotation.assign(max_annotation + 1, 'x'); });
  expect("a section is too long", [](Contents& c) { c.behind_annotation = "x"; });
  expect("occurs twice", [](Contents& c) {
    c.labels = {"A", "A"};
    c.sizes[0] = 3;
  });
  expect("a vertex has a label that does not exist", [](Contents& c) { c.labels = {""}; });
  expect("an edge has a label that does not exist", [](Contents& c) {
    c.edge_labels = {""};
    c.sizes[1] = 2;
    c.edges = {0, 1, 1};
  });
  expect("a section is too long", [](Contents& c) { c.labels = {"A", "B"}; });
  expect("the number of vertices is not the one in the header", [](Contents& c) { c.numbers = {0b11}; });
  expect("missing", [](Contents& c) { c.numbers = {}; });
  expect("too long", [](Contents& c) { c.numbers = {0b111, 0}; });
  expect("a vertex is out of range", [](Contents& c) { c.numbers = {0b1000'0011}; });
  expect("out of range", [](Contents& c) { c.vertices[1][1] = 2; });
  expect("an id occurs twice", [](Contents& c) {
    c.vertices[1] = {0, 0, 1};
    c.vertices[2] = {0, 0, 0};
  });
  expect("too long", [](Contents& c) { c.vertices.push_back({0, 0, 3}); });
  expect("no vertex", [](Contents& c) { c.edges = {0, 3, 0}; });
  expect("no vertex", [](Contents& c) { c.edges = {2147483646, 1, 0}; });
  expect("an edge has impossible ends", [](Contents& c) { c.edges = {0, 0, 0}; });
  expect("an edge has impossible ends", [](Contents& c) {
    c.directed = 0;
    c.edges = {1, 0, 0};
  });
  expect("out of range", [](Contents& c) { c.edges = {0, 1, 1}; });
  expect("out of order", [](Contents& c) {
    c.sizes[4] = 2;
    c.edges = {0, 1, 0, 0, 0, 0};
  });
  expect("more sections than expected", [](Contents& c) { c.edges = {0, 1, 0, 0}; });
  expect("out of range", [](Contents& c) {
    c.edges = {0};
    c.more = std::string(9, '\xff') + '\2';
  });
}

TEST_F(Forged, FlagsAndNumbersOfVersionTwoAreChecked) {
  Contents contents;
  contents.vertices[0][0] = 4;
  EXPECT_THAT(refusal_of(contents, 2), HasSubstr("out of range"));
  contents = {};
  contents.edges = {UINT64_MAX, 1, 0};
  EXPECT_THAT(refusal_of(contents, 2), HasSubstr("out of range"));
}

TEST_F(Forged, RunsAreChecked) {
  using encoding::Head;
  using encoding::Run;
  namespace field = encoding::field;
  constexpr std::uint64_t label = field::source_label;
  // Three vertices, the runs of which come first.
  const auto refusal_of_vertices = [&](const std::vector<Run>& runs) {
    SectionWriter out(path_, kind_of(3));
    out.begin(Section::header);
    for (const unsigned value : {1, 0, 0, 0, 0, 1, 1, 3, 3, 0}) out.number(value);
    out.begin(Section::annotation);
    out.text("");
    out.begin(Section::vertex_labels);
    out.begin(Section::edge_labels);
    out.begin(Section::numbers, false);
    out.byte(0b111);
    out.begin(Section::vertices);
    for (const Run& run : runs) {
      put_run(out, run);
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(run.count, 3); ++i) out.raw(std::string_view("\2\0", 2));
    }
    out.begin(Section::edges);
    out.commit();
    return refusal();
  };
  const Head declared{UpdateKind::insert_vertex, label};
  const Head implied{UpdateKind::insert_vertex, label | field::implied};
  EXPECT_EQ(refusal_of_vertices({{declared, 3}}), "");
  EXPECT_EQ(refusal_of_vertices({{declared, 1}, {implied, 1}, {declared, 1}}), "");
  EXPECT_THAT(refusal_of_vertices({{declared, 0}, {implied, 3}}), HasSubstr("too long or too short"));
  EXPECT_THAT(refusal_of_vertices({{declared, 4}}), HasSubstr("too long or too short"));
  EXPECT_THAT(refusal_of_vertices({{declared, UINT64_MAX}}), HasSubstr("too long or too short"));
  EXPECT_THAT(refusal_of_vertices({{declared, 1}, {declared, 2}}), HasSubstr("too long or too short"));
  EXPECT_THAT(refusal_of_vertices({{{UpdateKind::insert_edge, field::label}, 3}}), HasSubstr("another kind"));
  EXPECT_THAT(refusal_of_vertices({{{UpdateKind::insert_vertex, 0}, 3}}), HasSubstr("fields that it cannot have"));
  EXPECT_THAT(refusal_of_vertices({{{UpdateKind::insert_vertex, label | field::time}, 3}}), HasSubstr("cannot have"));
  EXPECT_THAT(refusal_of_vertices({{{UpdateKind::insert_vertex, label | field::attributes}, 3}}), HasSubstr("cannot have"));
  EXPECT_THAT(refusal_of_vertices({{{UpdateKind::insert_vertex, label | std::uint64_t{1} << 11}, 3}}),
              HasSubstr("it has the field 0x800, which this version does not read; read it with"));
}

TEST_F(Forged, ATextLongerThanTheFileIsRefusedBeforeItIsRead) {
  const std::string filler(std::size_t{5} << 20, 'x');  // packs to little, so that much would be read
  for (const std::uint64_t length : {std::uint64_t{1} << 40, UINT64_MAX}) {
    SectionWriter out(path_, kind_of(3));
    out.begin(Section::header);
    for (const unsigned value : {1, 0, 0, 0, 0, 2, 1, 0, 0, 0}) out.number(value);
    out.begin(Section::annotation);
    out.text("");
    out.begin(Section::vertex_labels);
    out.number(length);
    out.raw(filler);
    out.commit();
    EXPECT_THAT(refusal(), HasSubstr("a text is longer than the file can hold"));
  }
}

// A text that claims to be longer than any memory.
TEST_F(Forged, LengthsAreNotTrusted) {
  SectionWriter out(path_);
  out.begin(Section::header);
  for (const unsigned value : {1, 0, 0, 0, 0, 2, 1, 0, 0, 0}) out.number(value);
  out.begin(Section::vertex_labels);
  out.number(UINT64_MAX);
  out.raw("short");
  out.begin(Section::edge_labels);
  out.commit();
  EXPECT_THAT(refusal(), HasSubstr("out of place"));
}

}  // namespace
}  // namespace deltamatch::engine
