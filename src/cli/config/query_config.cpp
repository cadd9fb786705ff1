// Reads the standing queries.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "base/nearest.hpp"
#include "cli/config/service_sections.hpp"
#include "cli/options/queries.hpp"
#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::cli {
namespace {

/// Why no path of HTTP could name the query. Empty if one can.
std::string fault_of_name(std::string_view name) {
  if (name == "." || name == "..")
    return fmt::format("the name '{}' cannot be part of a path of HTTP, where it means a folder", name);
  for (std::size_t at = 0; at < name.size(); ++at) {
    const auto byte = static_cast<unsigned char>(name[at]);
    const bool later = byte == 0xc2 && at + 1 < name.size() && static_cast<unsigned char>(name[at + 1]) < 0xa0;  // U+0080 on
    if (byte < ' ' || byte == 0x7f || later)
      return fmt::format("character {} of the name is a control character (byte 0x{:02x})", at + 1,
                         later ? static_cast<unsigned char>(name[at + 1]) : byte);
  }
  return {};
}

/// Reads the queries, one entry after the other. An engine without data says whether they fit the graph and each other.
class QueryReader {
 public:
  QueryReader(ServiceConfig& config, const ingest::ServiceBudget& budget)
      : config_(config),
        budget_(budget),
        engine_(EngineOptions{.directed = config.service.engine.directed,
                              .threads = 1,
                              .window = config.service.engine.window,
                              .allowed_lateness = config.service.engine.allowed_lateness,
                              .schema = config.service.engine.schema,
                              .self_loops = config.service.engine.self_loops}) {}

  /// Reads a query made over HTTP: its pattern stands in the request, so it names no file of this machine. `name` is that in
  /// the request's path, if there is one.
  void read_definition(Section section, const std::optional<std::string>& in_path) {
    const ingest::ServiceQuery common = read_common(section);
    std::string name = in_path.value_or("");
    std::string pattern;
    const bool named = in_path ? true : section.require("name", R"j("name": "ring")j");
    const bool readable = !section.has("name") || section.name("name", name);
    if (in_path && readable && name != *in_path) {
      section.refuse("name", fmt::format("the path names the query '{}', but this is '{}'", *in_path, name),
                     "leave one of the two out");
    }
    const bool has_pattern =
        section.require("pattern", R"j("pattern": "(a)-->(b)-->(a)")j") && section.name("pattern", pattern);
    section.finish();
    if (named && readable && has_pattern) add_pattern(section, name, pattern, common);
  }

  void read(Section section) {
    const ingest::ServiceQuery common = read_common(section);
    std::string name;
    const bool named = section.name("name", name);
    std::string pattern;
    std::filesystem::path file;
    std::filesystem::path directory;
    const int sources = static_cast<int>(section.has("pattern")) + static_cast<int>(section.has("file")) +
                        static_cast<int>(section.has("directory"));
    const bool has_pattern = section.name("pattern", pattern);
    const bool has_file = section.path("file", file);
    const bool has_directory = section.path("directory", directory);
    section.finish();
    if (sources != 1) {
      section.refuse("a query comes from one of pattern, file and directory",
                     "write e.g. {name: ring, pattern: '(a)-->(b)-->(a)'}, {file: ring.pattern} or {directory: patterns}");
    } else if (has_pattern) {
      if (section.require("name", "name: ring")) add_pattern(section, name, pattern, common);
    } else if (has_file) {
      add_file(section, "file", file, named ? std::optional(name) : std::nullopt, common);
    } else if (has_directory) {
      if (named) section.refuse("name", "the queries of a directory are named by their files", "leave the name out");
      add_directory(section, directory, common);
    }
  }

 private:
  ingest::ServiceQuery read_common(Section& section) {
    constexpr std::array<std::pair<std::string_view, MatchMode>, 3> modes{{{"isomorphism", MatchMode::isomorphism},
                                                                           {"edge-distinct", MatchMode::edge_distinct},
                                                                           {"homomorphism", MatchMode::homomorphism}}};
    constexpr std::array<std::pair<std::string_view, CountMode>, 2> counts{
        {{"subgraphs", CountMode::subgraphs}, {"embeddings", CountMode::embeddings}}};
    ingest::ServiceQuery common;
    section.choice("mode", common.options.mode, modes);
    common.options.count = common.options.mode == MatchMode::isomorphism ? CountMode::subgraphs : CountMode::embeddings;
    section.choice("count", common.options.count, counts);
    section.flag("induced", common.options.induced);
    if (common.options.induced && common.options.mode != MatchMode::isomorphism) {
      section.refuse("induced", "a standing query is induced only with isomorphism", "leave it or mode out");
    }
    section.flag("report_existing", common.report_existing);
    common.budget = budget_;
    const Section own = section.section("budget");
    read_budget(own, common.budget);
    if (section.has("budget") && !own.has("time") && !own.has("matches") && !common.budget.limits.any()) {
      section.refuse("budget", "the budget limits nothing", "write e.g. budget: {matches: 1000000}, or leave it out");
    }
    read_sink_names(section, common.sinks);
    common.options.list = !common.sinks.empty();
    if (common.report_existing && common.sinks.empty() && section.has("report_existing")) {
      section.refuse("report_existing", "the query has no sink to report to", "name sinks, or leave it out");
    }
    return common;
  }

  void read_sink_names(Section& section, std::vector<std::string>& names) {
    std::vector<std::string> known;
    known.reserve(config_.service.sinks.size());
    for (const ingest::SinkOptions& sink : config_.service.sinks) known.push_back(sink.name);
    const Node* const list = section.find_list("sinks");
    if (!section.has("sinks")) names = known;
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      const Node& item = list->items[i];
      if (item.faulty) continue;
      if (std::find(known.begin(), known.end(), item.text) == known.end()) {
        const std::string meant = nearest(item.text, known);
        section.refuse("sinks", fmt::format("there is no sink {}", Section::shown(item)),
                       meant.empty() ? "name one of those under sinks" : fmt::format("did you mean {}?", meant));
      } else if (std::find(names.begin(), names.end(), item.text) != names.end()) {
        section.refuse("sinks", fmt::format("the sink {} is named twice", Section::shown(item)), "name it once");
      } else {
        names.push_back(item.text);
      }
    }
  }

  void add_pattern(Section& section, const std::string& name, const std::string& pattern, ingest::ServiceQuery query) {
    Problems& problems = section.context().problems;
    const std::size_t line = section.line_of("pattern");
    query.where = problems.where(line, join_path(section.key(), "pattern"));
    try {
      query.query = parse_pattern(pattern, name, query.where);
      query.text = pattern;
    } catch (const Error& error) {
      problems.add(line, error.what());  // it names the place itself, down to the column
      return;
    }
    add(section, "pattern", query);
  }

  void add_file(Section& section, std::string_view key, const std::filesystem::path& file,
                const std::optional<std::string>& name, ingest::ServiceQuery query) {
    query.where = file.string();
    const bool read = guarded(section, key, [&] {
      query.query = read_query_file(file, config_.service.engine.directed).query;
      if (name) query.query.name = *name;
    });
    section.note(&ConfigContext::files_read, key, query.where);
    if (read) add(section, key, query);
  }

  void add_directory(Section& section, const std::filesystem::path& directory, const ingest::ServiceQuery& common) {
    std::vector<std::filesystem::path> files;
    if (!guarded(section, "directory", [&] { files = query_files(directory); })) return;
    for (const std::filesystem::path& file : files) add_file(section, "directory", file, std::nullopt, common);
  }

  void add(Section& section, std::string_view key, const ingest::ServiceQuery& query) {
    if (!ingest::is_name(query.query.name)) {
      section.refuse(section.has("name") ? "name" : key,
                     fmt::format("the name of {} is not UTF-8", ingest::in_ticks(query.query.name)), "rename it");
      return;
    }
    if (const std::string fault = fault_of_name(query.query.name); !fault.empty()) {
      section.refuse(section.has("name") ? "name" : key, fault, "rename it");
      return;
    }
    for (const ingest::ServiceQuery& other : config_.service.queries) {
      if (other.query.name != query.query.name) continue;
      section.refuse(section.has("name") ? "name" : key,
                     fmt::format("the name '{}' already belongs to the query at {}", query.query.name, other.where),
                     "give each query its own name");
      return;
    }
    if (query.query.once && query.report_existing) {
      section.refuse("report_existing", fmt::format("the pattern of '{}' says ALERT ONCE", query.query.name),
                     "leave one of the two out: existing matches have no order of time");
      return;
    }
    const auto fits = [&] { engine_.add_query(query.query, query.options); };
    if (section.context().knows_schema && !guarded(section, key, fits)) return;
    config_.service.queries.push_back(query);
  }

  /// Reports what `action` throws as a problem with the key.
  template <typename Action>
  static bool guarded(Section& section, std::string_view key, Action action) {
    try {
      action();
      return true;
    } catch (const Error& error) {
      section.refuse(key, in_configuration(error.what()), "");
      return false;
    }
  }

  /// Spells the options that a message names as keys: `--edges keyed` is `graph.edges: keyed`.
  static std::string in_configuration(std::string text) {
    constexpr std::string_view option = "--edges ";
    for (std::size_t at = 0; (at = text.find(option, at)) != std::string::npos;)
      text.replace(at, option.size(), "graph.edges: ");
    return text;
  }

  ServiceConfig& config_;
  const ingest::ServiceBudget budget_;
  Engine engine_;
};

}  // namespace

void read_budget(Section section, ingest::ServiceBudget& budget) {
  using std::chrono::milliseconds;
  milliseconds time{0};
  if (section.duration("time", time, milliseconds(1), milliseconds(86'400'000), "none")) {
    budget.limits.time = time.count() == 0 ? std::nullopt : std::optional<std::chrono::nanoseconds>(time);
  }
  std::uint64_t matches = 0;
  if (section.number("matches", matches, 1, std::numeric_limits<std::uint64_t>::max(), "none")) {
    budget.limits.matches = matches == 0 ? std::nullopt : std::optional(matches);
  }
  constexpr std::array<std::pair<std::string_view, ingest::OverBudget>, 2> ends{
      {{"suspend", ingest::OverBudget::suspend}, {"stop", ingest::OverBudget::stop}}};
  section.choice("then", budget.then, ends);
  section.finish();
}

ingest::ServiceQuery read_definition(Section section, const ServiceConfig& config, const std::optional<std::string>& name) {
  ServiceConfig alone = config;
  alone.service.queries.clear();
  QueryReader(alone, config.budget).read_definition(section, name);
  return alone.service.queries.empty() ? ingest::ServiceQuery{} : std::move(alone.service.queries.front());
}

void read_queries(Section& top, ServiceConfig& config, const ingest::ServiceBudget& budget) {
  if (!top.require("queries", "queries: [{directory: patterns}]")) return;
  const Node* const list = top.find_list("queries");
  if (list == nullptr) return;
  QueryReader reader(config, budget);
  for (std::size_t i = 0; i < list->items.size(); ++i) reader.read(top.item("queries", *list, i));
}

}  // namespace deltamatch::cli
