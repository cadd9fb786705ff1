// The real data sets, each read whole. Their READMEs state the numbers of rows. DELTAMATCH_DATA names their folder.
#include <array>
#include <map>
#include <source_dir.hpp>

#include "support.hpp"

namespace deltamatch::ingest {
namespace {

std::filesystem::path data_folder() {
  const char* folder = std::getenv("DELTAMATCH_DATA");
  return folder != nullptr && *folder != '\0' ? std::filesystem::path(folder)
                                              : std::filesystem::path(DELTAMATCH_SOURCE_DIR) / ".." / "shared" / "data";
}

using Kinds = std::map<UpdateKind, std::size_t>;

/// `doubt` is the code of the only warning that does not depend on times. Empty: there must be none.
Kinds read_kinds(const std::string& path, ReadOptions options, Format format, std::string_view doubt = {}) {
  options.max_ahead = Timestamp{86'400'000'000};
  const auto stream = open_stream(path, options);
  EXPECT_EQ(stream->format(), format) << path;
  Kinds kinds;
  PositionedBatch batch;
  while (stream->next(batch)) {
    for (const Update& update : batch.updates.updates()) ++kinds[update.kind];
    stream->settle(batch, {});
  }
  EXPECT_EQ(stream->progress().bytes_read, stream->progress().bytes_total.value_or(stream->progress().bytes_read)) << path;
  std::vector<std::string> doubts;
  for (const Warning& warning : stream->warnings()) {
    doubts.push_back(warning.code);
    if (warning.code != doubt) ADD_FAILURE() << to_string(warning);
  }
  EXPECT_EQ(doubts.size(), doubt.empty() ? 0u : 1u) << path;
  return kinds;
}

struct Set {
  const char* path;
  Format format;
  const char* columns;
  std::size_t inserts;
  std::size_t deletes;
  std::size_t vertices;
  const char* doubt = "";  // code of the warning about its reading
};

constexpr std::array sets = {
    Set{"bitcoin-otc/soc-sign-bitcoinotc.csv.gz", Format::csv, "", 35592, 0, 0},
    Set{"collegemsg/CollegeMsg.txt.gz", Format::snap, "", 59835, 0, 0},
    Set{"email-eu-core-temporal/email-Eu-core-temporal.txt.gz", Format::snap, "", 332334, 0, 0},
    Set{"sx-mathoverflow/sx-mathoverflow-a2q.txt.gz", Format::snap, "", 107581, 0, 0},
    Set{"sx-mathoverflow/sx-mathoverflow-c2q.txt.gz", Format::snap, "", 203639, 0, 0},
    Set{"sx-mathoverflow/sx-mathoverflow-c2a.txt.gz", Format::snap, "", 195330, 0, 0},
    Set{"kafka-git-history/trunk_live_stream_with_deletes.tsv.xz", Format::tsv, "", 90570, 75991, 0},
    Set{"kafka-git-history/all_refs_insert_stream.tsv.xz", Format::tsv, "", 659012, 0, 0},
    Set{"kafka-git-history/vertices.tsv.xz", Format::tsv, "vertex,label,-", 0, 0, 128656},
    Set{"dblp-temporal-labelled/dblp.txt.gz", Format::snap, "", 185480, 0, 0, "weight_as_time"},
    Set{"dblp-temporal-labelled/node2label.txt.gz", Format::snap, "vertex,label", 0, 0, 25387},
    Set{"tkg-gdelt-slice/valid.txt.gz", Format::tsv, "source,label,target,time", 238765, 0, 0},
    Set{"labelled-tve/yeast.graph.xz", Format::tve, "", 12519, 0, 3112},
    Set{"labelled-tve/hprd.graph.xz", Format::tve, "", 34998, 0, 9460},
    Set{"labelled-tve/human.snu.graph.xz", Format::tve, "", 86282, 0, 4674},
    Set{"labelled-tve/wordnet.graph.xz", Format::tve, "", 120399, 0, 76853},
    Set{"musae-github/git_edges.csv.gz", Format::csv, "source=id_1,target=id_2", 289003, 0, 0},
    Set{"musae-github/git_target.csv.gz", Format::csv, "vertex=id,label=ml_target", 0, 0, 37700},
    Set{"snap-static/facebook-combined.jlg", Format::jlg, "", 88234, 0, 0},
    Set{"snap-static/ca-condmat-cc1.jlg", Format::jlg, "", 91342, 0, 0},
    Set{"snap-static/as-caida20071105.jlg", Format::jlg, "", 53381, 0, 0},
    Set{"snap-static/astro-ph-cc1.jlg", Format::jlg, "", 197031, 0, 0},
    Set{"snap-static/email-enron.jlg", Format::jlg, "", 183831, 0, 0},
    Set{"snap-static/ego-twitter-undirected.jlg", Format::jlg, "", 1342310, 0, 0},
    Set{"web-uk-2007-05-100000/edges.txt.xz", Format::snap, "", 3050615, 0, 0},
};

class RealData : public ::testing::TestWithParam<Set> {};

void PrintTo(const Set& set, std::ostream* out) { *out << set.path; }

TEST_P(RealData, HasTheRowsOfItsReadme) {
  const Set& set = GetParam();
  const auto path = data_folder() / set.path;
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << path << " is not there: set DELTAMATCH_DATA to the folder of the real data sets";
  ReadOptions options;
  options.limits.max_updates = 8192;
  options.codec.columns = set.columns;
  Kinds kinds = read_kinds(path.string(), options, set.format, set.doubt);
  EXPECT_EQ(kinds[UpdateKind::insert_edge], set.inserts);
  EXPECT_EQ(kinds[UpdateKind::delete_edge], set.deletes);
  EXPECT_EQ(kinds[UpdateKind::insert_vertex], set.vertices);
  EXPECT_EQ(kinds[UpdateKind::delete_vertex], 0u);
}

INSTANTIATE_TEST_SUITE_P(All, RealData, ::testing::ValuesIn(sets), [](const auto& set) {
  std::string name = set.param.path;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
});

struct Timed {
  const char* path;
  Timestamp window;
  const char* columns;
  const char* doubt;
};

constexpr Timestamp day = 86'400'000'000;

class RealTimes : public ::testing::TestWithParam<Timed> {};

void PrintTo(const Timed& set, std::ostream* out) { *out << set.path; }

/// Under a window, only times in steps or ticks of their own are doubtful.
TEST_P(RealTimes, AreDoubtedOnlyIfTheyAreNoSeconds) {
  const Timed& set = GetParam();
  const auto path = data_folder() / set.path;
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << path << " is not there: set DELTAMATCH_DATA to the folder of the real data sets";
  ReadOptions options;
  options.window = set.window;
  options.limits = BatchLimits{8192, 0}.within_window(set.window);
  options.codec.columns = set.columns;
  const auto stream = open_stream(path.string(), options);
  (void)read_kinds(path.string(), options, *stream->format(), set.doubt);
}

INSTANTIATE_TEST_SUITE_P(
    Windows, RealTimes,
    ::testing::Values(Timed{"bitcoin-otc/soc-sign-bitcoinotc.csv.gz", 30 * day, "source=from,target=to,time=time", ""},
                      Timed{"collegemsg/CollegeMsg.txt.gz", day, "", ""},
                      Timed{"email-eu-core-temporal/email-Eu-core-temporal.txt.gz", day, "", ""},  // seconds from a first day
                      Timed{"sx-mathoverflow/sx-mathoverflow-c2q.txt.gz", 7 * day, "", ""},
                      Timed{"kafka-git-history/trunk_live_stream_with_deletes.tsv.xz", 30 * day, "", ""},
                      Timed{"kafka-git-history/all_refs_insert_stream.tsv.xz", 30 * day, "", ""},
                      Timed{"dblp-temporal-labelled/dblp.txt.gz", day, "source,target,time", "time_unit"},
                      Timed{"tkg-gdelt-slice/valid.txt.gz", day, "source,label,target,time", "time_unit"}),
    [](const auto& set) {
      std::string name = set.param.path;
      for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
      }
      return name;
    });

struct Archived {
  const char* archive;
  const char* member;
  bool deletes;
  std::size_t inserted_edges;
  std::size_t deleted_edges;
  std::size_t vertices;
};

// Read from a pipe, as a user would: unzip -p ARCHIVE MEMBER | deltamatch ... -
class RealArchives : public ::testing::TestWithParam<Archived> {};

void PrintTo(const Archived& set, std::ostream* out) { *out << set.member; }

TEST_P(RealArchives, StreamFromAPipe) {
  const Archived& set = GetParam();
  const auto path = data_folder() / set.archive;
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << path << " is not there: set DELTAMATCH_DATA to the folder of the real data sets";
  const std::string command = fmt::format(
      "python3 -c 'import sys,zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' {} {}",
      path.string(), set.member);
  FILE* const pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  ReadOptions options;
  options.codec.negative_ids = set.deletes;
  Kinds kinds = read_kinds(fmt::format("/dev/fd/{}", ::fileno(pipe)), options, Format::tve);
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_EQ(kinds[UpdateKind::insert_edge], set.inserted_edges);
  EXPECT_EQ(kinds[UpdateKind::delete_edge], set.deleted_edges);
  EXPECT_EQ(kinds[UpdateKind::insert_vertex], set.vertices);
}

INSTANTIATE_TEST_SUITE_P(Calig, RealArchives,
                         ::testing::Values(Archived{"calig-csm/facebook10.zip", "facebook10/initial", false, 170823, 0, 22470},
                                           Archived{"calig-csm/facebook10.zip", "facebook10/s", true, 2905, 5680, 0},
                                           Archived{"calig-csm/github10.zip", "github10/initial", false, 289003, 0, 37700},
                                           Archived{"calig-csm/github10.zip", "github10/s", true, 4759, 9630, 0},
                                           Archived{"calig-csm/lastfm10.zip", "lastfm10/initial", false, 27806, 0, 7624},
                                           Archived{"calig-csm/lastfm10.zip", "lastfm10/s", true, 459, 932, 0},
                                           Archived{"calig-csm/deezer5.zip", "deezer5/initial", false, 125826, 0, 41773},
                                           Archived{"calig-csm/deezer5.zip", "deezer5/s", true, 2039, 4184, 0}),
                         [](const auto& set) {
                           std::string name = set.param.member;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace deltamatch::ingest
