#include <sys/resource.h>

#include <csignal>

#include "ingest/service/alert/alert_sinks.hpp"
#include "ingest/service/alert/file_series.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

namespace fs = std::filesystem;
using testing::alert_of;
using testing::alerts_of;
using testing::deliver;
using ::testing::ElementsAre;
using testing::error_of;
using testing::Folder;
using ::testing::HasSubstr;
using testing::read_file;
using testing::write_file;

std::string lines_of(std::uint64_t batch, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += alert_of(batch, i) + '\n';
  return text;
}

/// Whether a file is the list of a series, beside the files of the series.
bool is_list(const std::string& name) { return name.ends_with(".series"); }

/// Names and contents of all files.
std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) files[entry.path().filename()] = read_file(entry.path());
  return files;
}

void restore(const fs::path& folder, const std::map<std::string, std::string>& files) {
  for (const auto& entry : fs::directory_iterator(folder)) fs::remove(entry);
  for (const auto& [name, bytes] : files) write_file(folder / name, bytes);
}

class FileSinkTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<AlertSink> sink(std::uint64_t rotate = 0, std::size_t keep = 0) const {
    return make_file_sink("file", path_, rotate, keep);
  }
  Folder folder_;
  std::string path_ = folder_.file("alerts.jsonl");
};

TEST_F(FileSinkTest, HoldsALinePerAlert) {
  const auto file = sink();
  EXPECT_EQ(file->recover(""), "0:0");
  EXPECT_EQ(deliver(*file, 1, alerts_of(1, 2)), fmt::format("0:{}", lines_of(1, 2).size()));
  EXPECT_EQ(deliver(*file, 5, alerts_of(5, 3)), fmt::format("0:{}", lines_of(1, 2).size() + lines_of(5, 3).size()));
  EXPECT_EQ(read_file(path_), lines_of(1, 2) + lines_of(5, 3));
}

TEST_F(FileSinkTest, AnAbortedBatchLeavesNothing) {
  const auto file = sink();
  file->recover("");
  deliver(*file, 1, alerts_of(1, 1));
  file->begin(2);
  const std::string large(std::size_t{3} << 20, 'x');
  file->write("", large);  // it is being written to the file
  EXPECT_GT(fs::file_size(path_), large.size());
  file->abort();
  EXPECT_EQ(read_file(path_), lines_of(1, 1));
  deliver(*file, 2, alerts_of(2, 1));
  EXPECT_EQ(read_file(path_), lines_of(1, 1) + lines_of(2, 1));
}

TEST_F(FileSinkTest, ABatchIsNeverSplitAndOldFilesGo) {
  const auto file = sink(lines_of(1, 2).size(), 2);
  file->recover("");
  for (std::uint64_t batch = 1; batch <= 9; ++batch) deliver(*file, batch, alerts_of(batch, batch == 3 ? 4 : 1));
  EXPECT_EQ(files_in(fs::path(path_).parent_path()),
            (std::map<std::string, std::string>{{"alerts-000002.jsonl", lines_of(4, 1) + lines_of(5, 1)},
                                                {"alerts-000003.jsonl", lines_of(6, 1) + lines_of(7, 1)},
                                                {"alerts-000004.jsonl", lines_of(8, 1) + lines_of(9, 1)},
                                                {"alerts.jsonl.series", "1\n2\n3\n4\n"}}));
}

/// The file with the largest number. alerts.jsonl has no number and sorts after the others.
const std::string& newest(const std::map<std::string, std::string>& files) {
  auto last = std::prev(files.end());
  if (is_list(last->first)) --last;
  return last != files.begin() && last->first == "alerts.jsonl" ? std::prev(last)->first : last->first;
}

/// The contents in the order of the files' numbers, if there are several files.
std::string joined(const std::map<std::string, std::string>& files) {
  const auto first = files.find("alerts.jsonl");
  std::string all = first == files.end() ? std::string() : first->second;
  for (const auto& [name, bytes] : files) {
    if (name != "alerts.jsonl" && !is_list(name)) all += bytes;
  }
  return all;
}

/// A crash may come after any byte, and the noted position may be that of any batch before. Delivering the batches after it
/// again gives the same files as an undisturbed run.
TEST_F(FileSinkTest, RecoversFromEveryCut) {
  const fs::path folder = fs::path(path_).parent_path();
  constexpr std::uint64_t batches = 6;
  const auto alerts = [](std::uint64_t batch) { return alerts_of(batch, 1 + batch % 2); };
  for (const std::size_t keep : {0u, 1u}) {
    std::vector<std::map<std::string, std::string>> states;  // after each batch
    std::vector<std::string> positions;
    restore(folder, {});
    {
      const auto file = sink(100, keep);
      positions.push_back(file->recover(""));
      states.push_back(files_in(folder));
      for (std::uint64_t batch = 1; batch <= batches; ++batch) {
        positions.push_back(deliver(*file, batch, alerts(batch)));
        states.push_back(files_in(folder));
      }
    }
    std::string all;
    for (std::uint64_t batch = 1; batch <= batches; ++batch) all += lines_of(batch, 1 + batch % 2);
    ASSERT_EQ(states[batches].size(), 1 + (keep == 0 ? 4 : keep + 1));
    for (std::uint64_t done = 0; done < batches; ++done) {
      const auto& [name, bytes] = *states[done + 1].find(newest(states[done + 1]));
      for (std::size_t cut = states[done].contains(name) ? states[done].at(name).size() : 0; cut <= bytes.size(); cut += 37) {
        for (std::uint64_t noted = 0; noted <= done; ++noted) {
          auto torn = states[done];
          torn[name] = bytes.substr(0, cut);
          if (const auto list = states[done + 1].find("alerts.jsonl.series"); list != states[done + 1].end())
            torn[list->first] = list->second;  // the list is written first
          restore(folder, torn);
          const auto file = sink(100, keep);
          file->recover(positions[noted]);
          for (std::uint64_t batch = noted + 1; batch <= batches; ++batch) deliver(*file, batch, alerts(batch));
          const auto where = fmt::format("keep {} noted {} done {} cut {}", keep, noted, done, cut);
          if (torn.contains(newest(states[noted])) || keep == 0) {
            ASSERT_EQ(files_in(folder), states[batches]) << where;
          } else {  // the noted batches made room for newer files, whose numbers continue
            const std::string found = joined(files_in(folder));
            ASSERT_TRUE(all.ends_with(found)) << where;
            ASSERT_GE(found.size(), joined(states[batches]).size()) << where;
          }
        }
      }
    }
  }
}

// Like recover, but nothing that is whole is removed: neither behind the position nor in later files.
TEST_F(FileSinkTest, KeepsWhatLiesBeyondThePosition) {
  std::string noted;
  {
    const auto file = sink(lines_of(1, 4).size());
    file->recover("");
    noted = deliver(*file, 1, alerts_of(1, 2));
    for (std::uint64_t batch = 2; batch <= 6; ++batch) deliver(*file, batch, alerts_of(batch, 2));
  }
  const auto files = files_in(fs::path(path_).parent_path());
  ASSERT_EQ(files.size(), 4U);
  std::vector<std::string> held;
  const auto keep = [&](const std::string& position) {
    held.clear();
    return sink()->keep(position, [&](std::string_view alert) {
      held.emplace_back(alert);
      return true;
    });
  };
  const std::string end = keep(noted);
  std::vector<std::string> expected;
  for (std::uint64_t batch = 2; batch <= 6; ++batch) {
    for (std::size_t i = 0; i < 2; ++i) expected.push_back(alert_of(batch, i));
  }
  EXPECT_EQ(held, expected);
  EXPECT_EQ(files_in(fs::path(path_).parent_path()), files);
  EXPECT_EQ(keep(end), end);
  EXPECT_TRUE(held.empty());
}

TEST_F(FileSinkTest, KeepsNoTornLine) {
  {
    const auto file = sink();
    file->recover("");
    deliver(*file, 1, alerts_of(1, 2));
  }
  write_file(path_, read_file(path_) + alert_of(2, 0) + '\n' + alert_of(2, 1).substr(0, 9));
  std::vector<std::string> held;
  const std::string whole = lines_of(1, 2) + lines_of(2, 1);
  EXPECT_EQ(sink()->keep("0:" + std::to_string(lines_of(1, 2).size()),
                         [&](std::string_view alert) {
                           held.emplace_back(alert);
                           return true;
                         }),
            "0:" + std::to_string(whole.size()));
  EXPECT_EQ(read_file(path_), whole);
  EXPECT_THAT(held, ElementsAre(alert_of(2, 0)));
}

TEST_F(FileSinkTest, GoesOnBehindAFileThatNoPositionIsNotedFor) {
  write_file(path_, "before\n");
  const auto file = sink();
  EXPECT_EQ(file->recover(""), "0:7");
  deliver(*file, 1, alerts_of(1, 1));
  EXPECT_EQ(read_file(path_), "before\n" + lines_of(1, 1));
  write_file(folder_.file("alerts-000012.jsonl"), "later\n");
  write_file(folder_.file("alerts-13.jsonl"), "no number of ours\n");
  write_file(folder_.file("alerts.jsonl.series"), "12\n13\n");
  EXPECT_EQ(sink()->recover(""), "12:6");
}

TEST_F(FileSinkTest, EndsALineThatSomebodyElseDidNot) {
  write_file(path_, "first\n{\"v\":1,\"id\":\"torn");
  const auto file = sink();
  EXPECT_EQ(file->recover(""), "0:24");
  deliver(*file, 1, alerts_of(1, 1));
  EXPECT_EQ(read_file(path_), "first\n{\"v\":1,\"id\":\"torn\n" + lines_of(1, 1));
}

/// Other files may lie beside the sink's files, under names that could be the sink's.
TEST_F(FileSinkTest, FilesOfOthersAreNeitherWrittenNorRemoved) {
  const std::string dated = folder_.file("alerts-20261122.jsonl");
  const std::string next = folder_.file("alerts-000002.jsonl");
  write_file(dated, "mine\n");
  write_file(next, "mine, too\n");
  std::string noted;
  {
    const auto file = sink(1, 1);
    EXPECT_EQ(file->recover(""), "0:0");
    noted = deliver(*file, 1, alerts_of(1, 1));
    for (std::uint64_t batch = 2; batch <= 4; ++batch) deliver(*file, batch, alerts_of(batch, 1));
  }
  EXPECT_EQ(files_in(fs::path(path_).parent_path()),
            (std::map<std::string, std::string>{{"alerts-000002.jsonl", "mine, too\n"},
                                                {"alerts-000003.jsonl", lines_of(3, 1)},
                                                {"alerts-000004.jsonl", lines_of(4, 1)},
                                                {"alerts-20261122.jsonl", "mine\n"},
                                                {"alerts.jsonl.series", "1\n3\n4\n"}}));
  EXPECT_EQ(sink()->recover("3:" + std::to_string(lines_of(3, 1).size())), "3:" + std::to_string(lines_of(3, 1).size()));
  EXPECT_FALSE(fs::exists(folder_.file("alerts-000004.jsonl")));
  EXPECT_EQ(sink()->recover(""), "3:" + std::to_string(lines_of(3, 1).size()));
  EXPECT_EQ(read_file(dated) + read_file(next), "mine\nmine, too\n");
}

TEST_F(FileSinkTest, AListThatIsNoneIsAnError) {
  write_file(folder_.file("alerts.jsonl.series"), "1\nx\n");
  EXPECT_THAT(error_of([&] { sink()->recover(""); }), HasSubstr("alerts.jsonl.series: is not a list of the sink's files"));
}

TEST_F(FileSinkTest, ASeriesMayNameItsOwnFiles) {
  const FileSeries series(path_);
  for (const char* own : {"alerts.jsonl", "alerts-000001.jsonl", "alerts-20261122.jsonl", "alerts.jsonl.series"})
    EXPECT_TRUE(series.may_name(folder_.file(own))) << own;
  for (const char* other : {"alerts-1.jsonl", "alerts-000000.jsonl", "alerts-000001.json", "other.jsonl", "no/alerts.jsonl"})
    EXPECT_FALSE(series.may_name(folder_.file(other))) << other;
}

TEST_F(FileSinkTest, RefusesAFileThatLacksWhatWasDelivered) {
  write_file(path_, "12345");
  EXPECT_THAT(error_of([&] { sink()->recover("0:6"); }),
              HasSubstr("is 5 bytes long, but 6 bytes were delivered to it by sink 'file'"));
  EXPECT_THAT(error_of([&] { sink()->recover("1:6"); }), HasSubstr("alerts-000001.jsonl: is gone, but 6 bytes were delivered"));
  EXPECT_EQ(read_file(path_), "12345");
  EXPECT_FALSE(fs::exists(folder_.file("alerts-000001.jsonl")));
  for (const char* position : {"6", "a:b", "0:", ":0", "0:1x", "-1:0", "0:99999999999999999999"})
    EXPECT_THAT(error_of([&] { sink()->recover(position); }), HasSubstr("is not one in a file")) << position;
}

/// After a change of the path, the file there belongs to another sink, and stays as it is.
TEST_F(FileSinkTest, RefusesAFileThatIsNotTheOneThatWasDeliveredTo) {
  write_file(path_, "a longer file of somebody else\n");
  const std::string error = error_of([&] { sink()->recover("0:9"); });
  EXPECT_THAT(error, HasSubstr("is not the file that sink 'file' wrote, since no line ends at byte 9"));
  EXPECT_THAT(error, HasSubstr("give the sink another name"));
  EXPECT_THAT(error_of([&] { sink()->keep("0:9", [](std::string_view) { return true; }); }), HasSubstr("is not the file"));
  EXPECT_EQ(read_file(path_), "a longer file of somebody else\n");
}

TEST_F(FileSinkTest, NoticesThatItsFileWasMovedOrCutByOthers) {
  const auto file = sink();
  file->recover("");
  const std::string position = deliver(*file, 1, alerts_of(1, 1));
  fs::rename(path_, path_ + ".1");
  EXPECT_THAT(error_of([&] { deliver(*file, 2, alerts_of(2, 1)); }), HasSubstr("rotate_size"));
  fs::rename(path_ + ".1", path_);
  deliver(*file, 2, alerts_of(2, 1));
  fs::resize_file(path_, 3);
  EXPECT_THAT(error_of([&] { deliver(*file, 3, alerts_of(3, 1)); }), HasSubstr("is 3 bytes long"));
}

TEST_F(FileSinkTest, TwoProcessesDoNotWriteTheSameFile) {
  const auto one = sink();
  one->recover("");
  EXPECT_THAT(error_of([&] { sink()->recover(""); }), HasSubstr("another process writes it"));
}

TEST_F(FileSinkTest, PathsThatCannotBeWrittenAreErrors) {
  EXPECT_THAT(error_of([&] { make_file_sink("f", folder_.file("no/alerts.jsonl"), 0, 0)->recover(""); }), HasSubstr("no"));
  fs::create_directory(folder_.file("folder"));
  EXPECT_THAT(error_of([&] { make_file_sink("f", folder_.file("folder"), 0, 0)->recover(""); }), HasSubstr("folder"));
  EXPECT_THAT(error_of([&] { make_file_sink("f", "/dev/full", 0, 0)->recover(""); }), HasSubstr("is not a regular file"));
  EXPECT_THAT(error_of([&] { sink()->begin(1); }), HasSubstr("not recovered"));
}

TEST_F(FileSinkTest, ADiskThatIsFullCostsNothingOnceThereIsSpace) {
  const auto file = sink();
  file->recover("");
  deliver(*file, 1, alerts_of(1, 2));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{lines_of(1, 2).size() + 10, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  const std::string error = error_of([&] { deliver(*file, 2, alerts_of(2, 2)); });
  file->abort();
  const std::string again = error_of([&] { deliver(*file, 2, alerts_of(2, 2)); });
  file->abort();
  setrlimit(RLIMIT_FSIZE, &before);
  static_cast<void>(std::signal(SIGXFSZ, handler));
  EXPECT_THAT(error, HasSubstr("alerts.jsonl: cannot be written"));
  EXPECT_THAT(error, HasSubstr("free some space"));
  EXPECT_EQ(again, error);
  EXPECT_EQ(read_file(path_), lines_of(1, 2));
  deliver(*file, 2, alerts_of(2, 2));
  EXPECT_EQ(read_file(path_), lines_of(1, 2) + lines_of(2, 2));
}

}  // namespace
}  // namespace deltamatch::ingest
