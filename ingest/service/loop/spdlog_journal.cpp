#include "ingest/service/loop/spdlog_journal.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/service/loop/repeat_filter.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

struct LevelName {
  std::string_view name;
  std::string_view padded;
  spdlog::level::level_enum level;
};

/// In the order of Level.
constexpr std::array levels{LevelName{"trace", "trace ", spdlog::level::trace},
                            LevelName{"debug", "debug ", spdlog::level::debug},
                            LevelName{"info", "info  ", spdlog::level::info}, LevelName{"warn", "warn  ", spdlog::level::warn},
                            LevelName{"error", "error ", spdlog::level::err}};

constexpr const LevelName& name_of(Level level) noexcept { return levels[static_cast<std::size_t>(level)]; }

bool is_plain(std::string_view text) noexcept {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '='; });
}

void append_value(std::string& out, std::string_view text) {
  if (is_plain(text)) {
    out += text;
  } else {
    append_json_string(out, text);
  }
}

/// The name of an event may contain blanks, but no control characters.
void append_event(std::string& out, std::string_view event) {
  const bool shows = std::ranges::all_of(event, [](char c) { return c >= ' ' && c < 0x7f; });
  if (shows) {
    out += event;
  } else {
    append_json_string(out, event);
  }
}

using Texts = std::vector<std::pair<std::string_view, std::string_view>>;

void append_text(std::string& out, Level level, std::string_view event, const Texts& fields) {
  out += name_of(level).padded;
  append_event(out, event);
  for (const auto& [key, value] : fields) {
    out += ' ';
    append_value(out, key);
    out += '=';
    append_value(out, value);
  }
}

/// Appends what follows the time.
void append_json(std::string& out, Level level, std::string_view event, const Texts& fields) {
  out += R"("level":")";
  out += name_of(level).name;
  out += R"(","event":)";
  append_json_string(out, event);
  for (const auto& [key, value] : fields) {
    out += ',';
    append_json_string(out, key);
    out += ':';
    append_json_string(out, value);
  }
  out += '}';
}

class SpdlogJournal final : public Journal {
 public:
  SpdlogJournal(const LoggingOptions& options, spdlog::sink_ptr sink) : json_(options.json), logger_("", std::move(sink)) {
    const auto found = std::ranges::find(levels, options.level, &LevelName::name);
    if (found == levels.end())
      throw Error(ErrorKind::configuration, "logging.level", "'" + options.level + "' is not a level",
                  "write trace, debug, info, warn or error");
    const char* pattern = json_ ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v)" : "%Y-%m-%dT%H:%M:%S.%eZ %v";
    logger_.set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
    logger_.set_level(found->level);
    logger_.flush_on(spdlog::level::trace);
    logger_.set_error_handler([](const std::string&) {});
    if (found->level >= spdlog::level::info) repeats_.emplace();
  }

  ~SpdlogJournal() override {
    try {
      if (repeats_) write(repeats_->forget_all());
    } catch (...) {  // NOLINT(bugprone-empty-catch): a failed log message does not end the service
    }
  }
  SpdlogJournal(const SpdlogJournal&) = delete;
  SpdlogJournal& operator=(const SpdlogJournal&) = delete;

  void tell(Level level, std::string_view event, std::initializer_list<Field> fields) noexcept override {
    try {
      if (!repeats_) {
        write(level, event, fields, 0);
        return;
      }
      const std::lock_guard lock(mutex_);
      const auto now = std::chrono::steady_clock::now();
      write(repeats_->forget(now));
      if (const auto left_out = repeats_->told(level, event, fields, now)) write(level, event, fields, *left_out);
    } catch (...) {  // NOLINT(bugprone-empty-catch): a failed log message does not end the service
    }
  }

 private:
  void write(Level level, std::string_view event, std::initializer_list<Field> fields, std::size_t left_out) {
    const std::string count = std::to_string(left_out);
    Texts texts;
    for (const Field& field : fields) texts.emplace_back(field.key, field.value);
    if (left_out > 0) texts.emplace_back("left_out", count);
    write(level, event, texts);
  }

  /// Tells how many were left out of events that do not come any more.
  void write(const std::vector<RepeatFilter::Rest>& rests) {
    for (const RepeatFilter::Rest& rest : rests) {
      const std::string count = std::to_string(rest.left_out);
      Texts texts{{"left_out", count}, {"of", rest.event}};
      texts.insert(texts.end(), rest.fields.begin(), rest.fields.end());
      write(Level::info, "repeats were left out", texts);
    }
  }

  void write(Level level, std::string_view event, const Texts& fields) {
    const spdlog::level::level_enum severity = name_of(level).level;
    if (!logger_.should_log(severity)) return;
    std::string line;
    (json_ ? append_json : append_text)(line, level, event, fields);
    logger_.log(severity, spdlog::string_view_t(line.data(), line.size()));
  }

  bool json_;
  spdlog::logger logger_;
  std::mutex mutex_;
  std::optional<RepeatFilter> repeats_;  // guarded by mutex_; who wants debug messages gets all
};

}  // namespace

std::unique_ptr<Journal> make_journal(const LoggingOptions& options) {
  return std::make_unique<SpdlogJournal>(options, std::make_shared<spdlog::sinks::stderr_sink_mt>());
}

std::unique_ptr<Journal> make_journal(const LoggingOptions& options, std::ostream& out) {
  return std::make_unique<SpdlogJournal>(options, std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
}

}  // namespace deltamatch::ingest
