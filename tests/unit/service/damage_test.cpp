// One damaged byte of a service's state. The service starts with the graph that it had, or says why it does not. Delivered
// alerts stay.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "ingest/service/alert/alert_sinks.hpp"
#include "ingest/service/alert/deliverer.hpp"
#include "ingest/service/loop/backlog.hpp"
#include "ingest/service/state/log_segment.hpp"
#include "ingest/service/state/recovery.hpp"
#include "unit/state/support.hpp"

namespace deltamatch::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t batches = 12;
constexpr std::size_t alerts_of_a_batch = 3;

/// In either version.
std::string alert_text(std::uint64_t batch, std::size_t number) {
  return R"({"v":)" + std::to_string(1 + batch % 2) + R"(,"id":")" + std::string(30, 'a') + std::to_string(10 + number) +
         R"(","query":"q","sign":"+","batch":)" + std::to_string(batch) + R"(,"time":null,"bindings":{"a":)" +
         std::to_string(batch * 7 + number) + "}}";
}

std::string lines_up_to(std::uint64_t batch) {
  std::string lines;
  for (std::uint64_t b = 1; b <= batch; ++b) {
    for (std::size_t n = 0; n < alerts_of_a_batch; ++n) lines += alert_text(b, n) + "\n";
  }
  return lines;
}

/// A folder in memory, if there is one: a test syncs thousands of files.
class QuickFolder {
 public:
  QuickFolder() {
    const fs::path memory = "/dev/shm";
    std::string name = ((fs::exists(memory) ? memory : fs::temp_directory_path()) / "deltamatch-damage-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~QuickFolder() { fs::remove_all(path_); }
  QuickFolder(const QuickFolder&) = delete;
  QuickFolder& operator=(const QuickFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

using Files = std::map<std::string, std::string>;

Files files_in(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder)] = read_bytes(entry.path());
  }
  return files;
}

/// Every byte, or every DELTAMATCH_DAMAGE_STRIDE-th one.
std::size_t stride() {
  const char* const wanted = std::getenv("DELTAMATCH_DAMAGE_STRIDE");
  return wanted == nullptr ? 41 : std::stoul(wanted);
}

/// A service without brokers: its state, two sinks with files, and what recovery makes of them.
class DamageTest : public testing::Test {
 protected:
  DamageTest() {
    SinkOptions plain;
    plain.name = "plain";
    plain.kind = SinkOptions::Kind::file;
    plain.path = folder_.path() / "plain.jsonl";
    SinkOptions rotated = plain;
    rotated.name = "rotated";
    rotated.path = folder_.path() / "rotated.jsonl";
    rotated.rotate_bytes = 700;
    options_.application = "test";
    options_.sinks = {plain, rotated};
    engine_.threads = 1;
  }

  [[nodiscard]] StateIdentity identity() const {
    return {.application = "test", .directed = true, .window = 0, .topics = {"edges"}};
  }
  [[nodiscard]] fs::path state() const { return folder_.path() / "state"; }

  static std::unique_ptr<Drawn> with_alerts(std::unique_ptr<Drawn> drawn) {
    drawn->sinks = {"plain", "rotated"};
    drawn->texts.assign(2, {});
    for (std::vector<std::string>& texts : drawn->texts) {
      for (std::size_t n = 0; n < alerts_of_a_batch; ++n) {
        texts.push_back(std::string(30, 'a') + std::to_string(10 + n));
        texts.push_back(alert_text(drawn->mark.batch, n));
      }
    }
    return drawn;
  }

  /// The alerts are in the batch's own entry, or in pieces before it.
  static void log_batch(Log& log, const Drawn& drawn, bool streamed) {
    if (!streamed) return append(log, drawn);
    std::vector<StreamedAlerts> streams;
    for (std::size_t s = 0; s < drawn.sinks.size(); ++s) {
      const std::vector<std::string>& texts = drawn.texts[s];
      streams.push_back({drawn.sinks[s], false, texts.size() / 2, [&texts](const auto& take) {
                           for (std::size_t i = 1; i < texts.size(); i += 2) take(texts[i]);
                         }});
    }
    log.append(drawn.mark, drawn.updates.updates(), drawn.updates.watermark(), {}, streams);
  }

  /// Processes all batches. Delivers those up to `delivered`. Makes a snapshot after some batches.
  void work(std::uint64_t delivered, std::initializer_list<std::uint64_t> snapshots, std::uint64_t segment_bytes = 1500) {
    const StateDirectory directory(state(), identity(), journal_);
    Log log(directory.path(), directory.fingerprint(), 0, {segment_bytes, ::fdatasync});
    Draws draws(7);
    Engine engine(engine_);
    std::map<std::string, std::unique_ptr<AlertSink>> sinks;
    for (const SinkOptions& sink : options_.sinks) {
      sinks[sink.name] = make_alert_sink("test", sink, journal_);
      sinks[sink.name]->recover("");
    }
    marks_[0] = CommitPoint{};
    for (std::uint64_t batch = 1; batch <= batches; ++batch) {
      drawn_[batch] = with_alerts(draws.batch(4, &engine));
      const Drawn& drawn = *drawn_[batch];
      log_batch(log, drawn, streamed_ && batch % 3 != 0);
      marks_[batch] = drawn.mark;
      if (batch <= delivered) {
        for (auto& [name, sink] : sinks) {
          sink->begin(batch);
          for (std::size_t n = 0; n < alerts_of_a_batch; ++n) sink->write("", alert_text(batch, n));
          log.delivered({name, batch, sink->commit()});
        }
      }
      for (const std::uint64_t snapshot : snapshots) {
        if (snapshot == batch) engine.save(directory.snapshot_path(batch), to_json(drawn.mark));
      }
    }
    log.sync();
    graph_ = to_text(engine);
    next_ = with_alerts(draws.batch(4, &engine));
    files_ = files_in(folder_.path());
  }

  void put_back() {
    for (const auto& entry : fs::directory_iterator(folder_.path())) fs::remove_all(entry);
    fs::create_directory(state());
    for (const auto& [name, bytes] : files_) write_bytes(folder_.path() / name, bytes);
  }

  /// Starts with the state on disk, delivers what waits, and takes one more batch. Returns the graph before that batch.
  std::string start() {
    TestJournal journal;
    const StateDirectory directory(state(), identity(), journal);
    RecoveryInput input;
    input.committed = marks_.at(batches);
    input.record = [this](std::uint64_t batch) { return std::optional(marks_.at(batch)); };
    input.engine = engine_;
    input.begin = [this] { return Engine(engine_); };
    Recovered recovered = recover(directory, input, journal);
    if (recovered.reached.batch < batches) {  // as from the input, by the commit records
      for (std::uint64_t batch = recovered.reached.batch + 1; batch <= batches; ++batch) {
        recovered.engine.absorb(drawn_.at(batch)->updates);
      }
      recovered.engine.save(directory.snapshot_path(batches), to_json(marks_.at(batches)));
      recovered.log.reset();
      recovered.log = std::make_unique<Log>(directory.path(), directory.fingerprint(), batches);
    }
    Log& log = *recovered.log;
    settle_sinks(options_, directory, log, batches, journal);
    Deliverer deliverer(delivery_targets(options_, directory, log, batches, journal), delivery_hooks(directory, log, journal),
                        journal);
    append(log, *next_);
    log.sync();
    for (const SinkOptions& sink : options_.sinks) {
      AlertList alerts;
      for (std::size_t n = 0; n < alerts_of_a_batch; ++n) alerts.add(alert_text(batches + 1, n));
      deliverer.submit(sink.name, batches + 1, std::move(alerts));
    }
    EXPECT_TRUE(deliverer.stop(std::chrono::steady_clock::now() + std::chrono::seconds(20)));
    lost_ = journal.told("alerts");
    return to_text(recovered.engine);
  }

  [[nodiscard]] std::string held(const std::string& sink) const {
    std::map<std::size_t, std::string> by_number;  // rotated.jsonl, rotated-000001.jsonl …
    for (const auto& [name, bytes] : files_in(folder_.path())) {
      if (name.starts_with(sink) && name.ends_with(".jsonl")) by_number[name.size() * 1000 + by_number.size()] = bytes;
    }
    std::string all;
    for (const auto& [number, bytes] : by_number) all += bytes;
    return all;
  }

  /// Checks a damaged state: either everything is as without the damage, or a refusal leaves everything alone.
  void expect_nothing_lost(const std::string& what) {
    Files before = files_in(folder_.path());
    std::string refused;
    try {
      EXPECT_EQ(start(), graph_) << what;
    } catch (const Error& error) {
      refused = error.what();
    }
    if (!refused.empty()) {
      ++refusals_;
      EXPECT_THAT(refused, testing::HasSubstr(folder_.path().string())) << what;
      EXPECT_THAT(refused, testing::HasSubstr("; ")) << what;  // a remedy
      Files after = files_in(folder_.path());
      before.erase("state/lock");
      after.erase("state/lock");
      EXPECT_EQ(after, before) << what << ": " << refused;
      return;
    }
    for (const SinkOptions& sink : options_.sinks) {
      ASSERT_EQ(held(sink.name), lines_up_to(batches + 1)) << what << ", sink " << sink.name;
    }
  }

  void flip(const fs::path& file, std::size_t at, unsigned bit) {
    std::string bytes = read_bytes(file);
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ (1 << bit));
    write_bytes(file, bytes);
  }

  /// The files of the state, without the lock.
  [[nodiscard]] std::vector<std::string> state_files() const {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : files_) {
      if (name.starts_with("state/") && name != "state/lock") names.push_back(name);
    }
    return names;
  }

  void flip_every_byte() {
    std::size_t number = 0;
    for (const std::string& name : state_files()) {
      for (std::size_t at = number % stride(); at < files_.at(name).size(); at += stride()) {
        put_back();
        const unsigned bit = (at * 5 + number++) % 8;
        flip(folder_.path() / name, at, bit);
        expect_nothing_lost(name + " byte " + std::to_string(at) + " bit " + std::to_string(bit));
        if (HasFatalFailure()) return;
      }
    }
  }

  QuickFolder folder_;
  TestJournal journal_;
  ServiceOptions options_;
  EngineOptions engine_;
  std::map<std::uint64_t, std::unique_ptr<Drawn>> drawn_;
  std::unique_ptr<Drawn> next_;
  std::map<std::uint64_t, CommitPoint> marks_;
  std::string graph_;
  Files files_;
  bool streamed_ = false;  // whether most batches have streamed alerts
  std::size_t refusals_ = 0;
  std::vector<std::string> lost_;
};

TEST_F(DamageTest, NoFlippedBitAfterACleanStopTakesAlertsBack) {
  work(batches, {5, batches});
  EXPECT_GT(segments_in(state()).size(), 2U);
  EXPECT_GT(held("rotated").size(), 5 * 700U);
  flip_every_byte();
  EXPECT_GT(refusals_, 0U);  // of state.json
}

TEST_F(DamageTest, NorInALogOfOneSegment) {
  work(batches, {5, batches}, std::uint64_t{1} << 20);
  EXPECT_EQ(segments_in(state()).size(), 1U);
  flip_every_byte();
}

TEST_F(DamageTest, NorAfterACrash) {
  work(batches, {5});  // the graph after it is in the log, or otherwise in the input
  flip_every_byte();
}

TEST_F(DamageTest, NorWhereAlertsLieInPieces) {
  streamed_ = true;
  work(batches, {5, batches});
  flip_every_byte();
}

TEST_F(DamageTest, FilesThatAreCutShortTakeNoAlertsBack) {
  work(batches, {5, batches});
  std::size_t number = 0;
  for (const std::string& name : state_files()) {
    for (std::size_t at = number++ % stride(); at < files_.at(name).size(); at += stride()) {
      put_back();
      write_bytes(folder_.path() / name, files_.at(name).substr(0, at));
      expect_nothing_lost(name + " cut to " + std::to_string(at));
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

TEST_F(DamageTest, FilesThatAreGoneTakeNoAlertsBack) {
  work(batches, {5, batches});
  for (const std::string& name : state_files()) {
    put_back();
    fs::remove(folder_.path() / name);
    expect_nothing_lost(name + " is gone");
    ASSERT_FALSE(HasFatalFailure());
  }
  put_back();
  for (const std::string& name : state_files()) {
    if (name.find("log-") != std::string::npos) fs::remove(folder_.path() / name);
  }
  expect_nothing_lost("the log is gone");
  EXPECT_EQ(refusals_, 1U);  // without state.json
}

/// A crash may leave files with more than is noted: whole batches, a part of one, and a torn line.
class DamageBeyondNotesTest : public DamageTest, public testing::WithParamInterface<bool> {};

TEST_P(DamageBeyondNotesTest, AlertsAreNeitherLostNorDoubledWhateverIsDamaged) {
  streamed_ = GetParam();
  work(8, {5, batches});
  files_.at("plain.jsonl") +=
      lines_up_to(9).substr(lines_up_to(8).size()) + alert_text(10, 0) + "\n" + alert_text(10, 1).substr(0, 40);
  const std::size_t first = lines_up_to(8).size();
  std::size_t number = 0;
  for (const std::string& name : state_files()) {
    for (std::size_t at = number % stride(); at < files_.at(name).size(); at += stride()) {
      put_back();
      flip(folder_.path() / name, at, (at * 3 + number++) % 8);
      std::string refused;
      try {
        EXPECT_EQ(start(), graph_);
      } catch (const Error& error) {
        refused = error.what();
      }
      if (!refused.empty()) continue;
      // Some batches were in no file, and in the damaged part of the log. They are lost, wholly or in part, and this is
      // reported.
      const std::string plain = held("plain");
      ASSERT_GE(plain.size(), first) << name << " at " << at;
      EXPECT_EQ(plain.substr(0, first), lines_up_to(8));
      std::size_t here = first;
      std::vector<std::uint64_t> missing;
      for (std::uint64_t batch = 9; batch <= batches + 1; ++batch) {
        for (std::size_t n = 0; n < alerts_of_a_batch; ++n) {
          const std::string line = alert_text(batch, n) + "\n";
          if (plain.compare(here, line.size(), line) == 0) {
            here += line.size();
          } else {
            missing.push_back(batch);
          }
        }
      }
      EXPECT_EQ(here, plain.size()) << "something is there twice, or torn: " << name << " at " << at << "\n"
                                    << plain.substr(here);
      EXPECT_EQ(missing.empty() || missing.front() >= 10, true) << name << " at " << at;
      if (!missing.empty()) {
        EXPECT_FALSE(lost_.empty()) << "batch " << missing.front() << " is missing and not told: " << name << " at " << at;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Alerts, DamageBeyondNotesTest, testing::Bool(),
                         [](const auto& streamed) { return streamed.param ? "InPieces" : "InTheirBatch"; });

TEST_F(DamageTest, WhatIsSettledIsToldOnce) {
  work(batches, {5, batches}, std::uint64_t{1} << 20);
  const std::vector<SegmentFile> segments = segments_in(state());
  flip(segments.front().path, fs::file_size(segments.front().path) / 2, 3);
  for (const bool first : {true, false}) {
    TestJournal journal;
    const StateDirectory directory(state(), identity(), journal);
    Log log(directory.path(), directory.fingerprint(), batches);
    EXPECT_FALSE(log.lost().empty());
    settle_sinks(options_, directory, log, batches, journal);
    EXPECT_EQ(journal.told("the").size(), first ? 2U : 0U);
    EXPECT_EQ(journal.told("alerts").size(), first ? 2U : 0U);
    for (const Delivered& position : log.positions()) EXPECT_EQ(position.batch, batches) << position.sink;
    EXPECT_EQ(held("plain"), lines_up_to(batches));
  }
}

/// The commit records name no batch after `batches`. So whatever a file holds of later ones was never committed.
TEST_F(DamageTest, OnlyWhatIsKnownToBeUncommittedIsTakenBack) {
  work(batches, {5, batches});
  files_.at("plain.jsonl") += alert_text(batches + 1, 0) + "\n" + alert_text(batches + 2, 0) + "\n";
  put_back();
  expect_nothing_lost("a sound log");
  put_back();
  const std::vector<SegmentFile> segments = segments_in(state());
  flip(segments.back().path, log_format::head_size + 30, 2);
  expect_nothing_lost("a damaged log");
}

}  // namespace
}  // namespace deltamatch::ingest
