// deltamatch validate: checks that queries can be registered, or that a service can start with its configuration. Nothing is
// run.
#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands/commands.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/option_kinds.hpp"
#include "cli/options/queries.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/output.hpp"
#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "ingest/codec/schema_text.hpp"
#include "plan/condition_report.hpp"
#ifdef DELTAMATCH_WITH_SERVICE
#include "cli/config/service_config.hpp"
#endif

namespace deltamatch::cli {
namespace {

constexpr const char* examples = R"(Examples:
  deltamatch validate --edges keyed --attributes 'amount:decimal(2)' --query config/patterns
  deltamatch validate --query q1.graph --undirected --mode homomorphism
  deltamatch validate --config config/service.yaml

If something is wrong, the exit code is 78. Of queries it names the first error, of a configuration
all of them.)";

struct Validate {
  QuerySelection queries;
  std::optional<bool> directed;
  std::optional<SelfLoops> self_loops;
  SchemaOptions schema;
  std::string config;
  std::optional<std::uint32_t> shard;

  [[nodiscard]] bool describes_queries() const {
    return directed || self_loops || schema.given() || queries.count || queries.induced ||
           queries.mode != MatchMode::isomorphism;
  }
};

/// "edges: keyed; amount decimal(2), channel symbol". Empty if nothing was declared.
std::string schema_lines(const SchemaOptions& options, const Schema& schema) {
  std::string text;
  const auto add = [&](std::string_view what, std::string_view model, const std::vector<Attribute>& attributes) {
    const std::string declared = ingest::attributes_text(attributes);
    fmt::format_to(std::back_inserter(text), "{}: {}{}{}\n", what, model, model.empty() || declared.empty() ? "" : "; ",
                   declared);
  };
  if (options.edges || !schema.edges.empty()) add("edges", ingest::model_name(schema.model), schema.edges);
  if (!schema.vertices.empty()) add("vertices", "", schema.vertices);
  return text;
}

int validate_queries(const Validate& options) {
  const Schema schema = options.schema.schema();
  Engine engine(EngineOptions{.directed = options.directed.value_or(true),
                              .threads = 1,
                              .schema = schema,
                              .self_loops = options.self_loops.value_or(SelfLoops::leave_out)});
  std::string text = schema_lines(options.schema, schema);
  for (const NamedQuery& query : read_queries(options.queries.sources, options.directed.value_or(false))) {
    engine.add_query(query.query, options.queries.options(true));
    const std::vector<Query> lengths = variants(query.query);
    fmt::format_to(std::back_inserter(text), "{}: {}: {}\n", query.query.name, match_size(lengths), to_pattern(query.query));
    if (lengths.size() > 1) fmt::format_to(std::back_inserter(text), "  {} variants; the longest:\n", lengths.size());
    for (const std::string& line : plan::condition_lines(lengths.back())) {
      fmt::format_to(std::back_inserter(text), "  {}\n", line);
    }
  }
  print_out(text);
  return exit_ok;
}

#ifdef DELTAMATCH_WITH_SERVICE
int validate_config(const Validate& options) {
  if (options.describes_queries()) {
    throw Error(ErrorKind::usage, "--config", "the configuration says this for its queries",
                "leave --directed, --undirected, --self-loops, --edges, --attributes, --mode, --induced and --count out");
  }
  const ServiceConfig config = read_service_config(options.config, process_environment(), options.shard);
  for (const std::string& warning : config.warnings) print_err("deltamatch: warning: " + warning + '\n');
  print_out(summary(config));
  return exit_ok;
}
#endif

int validate(const Validate& options) {
#ifdef DELTAMATCH_WITH_SERVICE
  if (!options.config.empty()) return validate_config(options);
#endif
  if (options.shard) {
    throw Error(ErrorKind::usage, "--shard", "only a configuration has shards", "add --config FILE, or leave it out");
  }
  if (options.queries.sources.empty()) {
    throw Error(ErrorKind::usage, "validate", "there is nothing to check", "name queries with --query, see validate --help");
  }
  return validate_queries(options);
}

}  // namespace

void add_validate(const Command& program, Run& run) {
  const Command command =
      program.add_command("validate", "Check queries or a configuration without running anything", examples);
  const auto options = std::make_shared<Validate>();
  [[maybe_unused]] const Option queries = add_query_options(command, options->queries);
  command.add_flag("--induced", options->queries.induced, "Only matches whose vertices are joined by no further edge")
      .group("Queries");
  add_direction_options(command, options->directed);
  add_self_loops_option(command, options->self_loops);
  add_schema_options(command, options->schema);
#ifdef DELTAMATCH_WITH_SERVICE
  command.add_text("--config", options->config, "Configuration of a service, in place of --query", "FILE")
      .group("Service")
      .excludes(queries);
  add_number(command, "--shard", options->shard, "Which shard of the configuration to show; by default 0", 0,
             std::numeric_limits<std::uint32_t>::max())
      .group("Service");
#endif
  command.runs(run, [options] { return validate(*options); });
}

}  // namespace deltamatch::cli
