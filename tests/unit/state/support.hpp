// Helpers of the tests of the state directory: folders that are removed, a journal that records, streams to log.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/log.hpp"
#include "support/properties.hpp"

namespace deltamatch::ingest {

inline const std::string fingerprint = "0123456789abcdef0123456789abcdef";

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "deltamatch-state-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class TestJournal : public Journal {
 public:
  void tell(Level, std::string_view event, std::initializer_list<Field> fields) noexcept override {
    std::string line(event);
    for (const Field& field : fields) line += " " + std::string(field.key) + "=" + field.value;
    const std::scoped_lock lock(mutex_);
    lines_.push_back(line);
  }
  /// The lines about this event.
  [[nodiscard]] std::vector<std::string> told(std::string_view event) const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> found;
    for (const std::string& line : lines_) {
      if (line.substr(0, line.find(' ')) == event) found.push_back(line);
    }
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::remove(path);  // some file systems sync a file that is written over
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// An update as text, complete, for comparison.
inline std::string to_text(const Update& update) {
  const auto id = [](const Id& of) { return of.is_text() ? "'" + std::string(of.text()) + "'" : std::to_string(of.number()); };
  const auto label = [](const std::optional<std::string_view>& of) { return of ? "<" + std::string(*of) + ">" : "-"; };
  const bool edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
  return std::to_string(static_cast<int>(update.kind)) + " " + id(update.source) + label(update.source_label) +
         (edge ? " " + id(update.target) + label(update.target_label) + " [" + std::string(update.label) + "]" : "") +
         (update.time ? " @" + std::to_string(*update.time) : "") + test::properties_text(update);
}

/// A batch that owns everything that an entry of the log holds.
struct Drawn {
  CommitPoint mark;
  UpdateBatch updates;
  std::vector<std::vector<std::string>> texts;  // by sink: ids and alerts in turn
  std::vector<std::string> sinks;

  [[nodiscard]] std::vector<SinkAlerts> alerts() const {
    std::vector<SinkAlerts> all;
    for (std::size_t s = 0; s < sinks.size(); ++s) {
      SinkAlerts& sink = all.emplace_back();
      sink.sink = sinks[s];
      for (std::size_t i = 0; i + 1 < texts[s].size(); i += 2) sink.alerts.push_back({texts[s][i], texts[s][i + 1]});
    }
    return all;
  }
};

/// A whole batch as text, for comparison.
inline std::string to_text(const CommitPoint& mark, const UpdateBatch& updates, const std::vector<SinkAlerts>& alerts) {
  std::string text = to_json(mark) + "\n";
  const std::optional<Timestamp> watermark = updates.sets_watermark() ? updates.watermark() : mark.watermark;
  if (watermark) text += "watermark " + std::to_string(*watermark) + "\n";
  if (const auto steps = updates.steps()) {
    text += "steps";
    for (const WatermarkStep& step : *steps) text += " " + std::to_string(step.first) + ":" + std::to_string(step.time);
    text += "\n";
  }
  for (const Update& update : updates.updates()) text += to_text(update) + "\n";
  for (const SinkAlerts& sink : alerts) {
    text += "sink " + sink.sink + "\n";
    for (const LoggedAlert& alert : sink.alerts) text += "  " + std::string(alert.id) + " " + std::string(alert.text) + "\n";
  }
  return text;
}
inline std::string to_text(const Drawn& drawn) { return to_text(drawn.mark, drawn.updates, drawn.alerts()); }
inline std::string to_text(const LoggedBatch& batch) { return to_text(batch.mark, batch.updates, batch.alerts); }

/// Draws batches that an engine takes, with everything that an update may have. There are few vertices, so that edges come and
/// go. Vertices are deleted and relabelled, and times span windows.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}
  /// Updates also get keys and attributes of any kind, which an engine does not take.
  Draws(std::uint64_t seed, test::PropertiesDraw& properties) : random_(seed), properties_(&properties) {}

  std::uint64_t below(std::uint64_t count) { return std::uniform_int_distribution<std::uint64_t>(0, count - 1)(random_); }

  /// The next batch. If `engine` is not null, it applies the batch and states the watermark.
  std::unique_ptr<Drawn> batch(std::size_t updates, Engine* engine = nullptr) {
    auto drawn = std::make_unique<Drawn>();
    for (std::size_t i = 0; i < updates; ++i) add_update(drawn->updates);
    if (below(3) == 0) {
      drawn->updates.set_watermark(time_ - static_cast<Timestamp>(below(50)));
      if (batch_ % 2 == 0) drawn->updates.set_steps({{1, time_ - 60}, {5 + batch_ % 3, time_ - 50}});
      if (engine == nullptr) {
        drawn->mark.retention = static_cast<Timestamp>(batch_ % 3);
        drawn->mark.watches_vertices = batch_ % 2 == 0;
        drawn->mark.digest = {{batch_, 2}, {UINT64_MAX, batch_ % 5}};
      }
    }
    drawn->mark.batch = ++batch_;
    drawn->mark.ends[{"edges", 0}] = static_cast<std::int64_t>(10 * batch_);
    drawn->mark.ends[{"edges", 1}] = static_cast<std::int64_t>(7 * batch_);
    if (below(2) == 0) drawn->mark.queries.push_back({"ring", std::string(32, 'a')});
    if (engine != nullptr) {
      engine->absorb(drawn->updates);
      drawn->mark.watermark = engine->watermark();
      drawn->mark.digest = engine->digest();
    }
    for (std::uint64_t s = below(3); s > 0; --s) {
      drawn->sinks.push_back(s == 1 ? "file" : "hook");
      std::vector<std::string>& texts = drawn->texts.emplace_back();
      for (std::uint64_t i = below(4); i > 0; --i) {
        texts.push_back(below(4) == 0 ? "" : std::string(32, static_cast<char>('0' + below(10))));
        texts.push_back("alert " + std::to_string(below(1'000'000)) + std::string(below(40), 'x'));
      }
    }
    return drawn;
  }

 private:
  void add_update(UpdateBatch& batch) {
    static constexpr std::string_view labels[] = {"", "PAYS", "KNOWS", "a longer label with blanks"};
    static constexpr std::string_view names[] = {"ann", "bob", "", "\xff\x01"};
    const auto id = [&] {
      switch (below(8)) {
        case 0:
          return Id(names[below(4)]);
        case 1:
          return Id(INT64_MIN + static_cast<std::int64_t>(below(2)));
        default:
          return Id(static_cast<std::int64_t>(below(12)));
      }
    };
    Update update;
    const std::uint64_t kind = below(20);
    update.kind = kind < 13   ? UpdateKind::insert_edge
                  : kind < 17 ? UpdateKind::delete_edge
                  : kind < 19 ? UpdateKind::insert_vertex
                              : UpdateKind::delete_vertex;
    update.source = id();
    if (kind < 17) {
      update.target = id();
      update.label = labels[below(4)];
      if (below(6) == 0) update.target_label = labels[below(3)];
    }
    if (kind >= 17 || below(6) == 0) update.source_label = labels[below(3)];
    time_ += static_cast<Timestamp>(below(20));
    if (below(30) != 0) update.time = time_ - static_cast<Timestamp>(below(40));
    if (properties_ != nullptr) properties_->add_to(update);
    batch.add(update);
  }

  std::mt19937_64 random_;
  test::PropertiesDraw* properties_ = nullptr;
  std::uint64_t batch_ = 0;
  Timestamp time_ = 1'700'000'000'000'000;
};

inline void append(Log& log, const Drawn& drawn) {
  log.append(drawn.mark, drawn.updates.updates(), drawn.updates.watermark(), drawn.alerts(), {}, drawn.updates.steps());
}

/// The contents of an engine.
inline std::string to_text(const Engine& engine) {
  std::string text = std::to_string(engine.batch()) + " ";
  text += engine.watermark() ? std::to_string(*engine.watermark()) : "-";
  engine.for_each([&](const Update& update) { text += "\n" + to_text(update); });
  return text;
}

/// The message of the Error that `act` throws, or "" if it throws none.
template <class F>
std::string refusal(F act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace deltamatch::ingest
