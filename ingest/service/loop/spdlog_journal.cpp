#include "ingest/service/loop/spdlog_journal.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <string>

#include "deltamatch/error.hpp"
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

void append_text(std::string& out, Level level, std::string_view event, std::initializer_list<Field> fields) {
  out += name_of(level).padded;
  append_event(out, event);
  for (const Field& field : fields) {
    out += ' ';
    append_value(out, field.key);
    out += '=';
    append_value(out, field.value);
  }
}

/// Appends what follows the time.
void append_json(std::string& out, Level level, std::string_view event, std::initializer_list<Field> fields) {
  out += R"("level":")";
  out += name_of(level).name;
  out += R"(","event":)";
  append_json_string(out, event);
  for (const Field& field : fields) {
    out += ',';
    append_json_string(out, field.key);
    out += ':';
    append_json_string(out, field.value);
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
  }

  void tell(Level level, std::string_view event, std::initializer_list<Field> fields) noexcept override {
    try {
      const spdlog::level::level_enum severity = name_of(level).level;
      if (!logger_.should_log(severity)) return;
      std::string line;
      (json_ ? append_json : append_text)(line, level, event, fields);
      logger_.log(severity, spdlog::string_view_t(line.data(), line.size()));
    } catch (...) {  // NOLINT(bugprone-empty-catch): a failed log message does not end the service
    }
  }

 private:
  bool json_;
  spdlog::logger logger_;
};

}  // namespace

std::unique_ptr<Journal> make_journal(const LoggingOptions& options) {
  return std::make_unique<SpdlogJournal>(options, std::make_shared<spdlog::sinks::stderr_sink_mt>());
}

std::unique_ptr<Journal> make_journal(const LoggingOptions& options, std::ostream& out) {
  return std::make_unique<SpdlogJournal>(options, std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
}

}  // namespace deltamatch::ingest
