// deltamatch validate: whether queries can be registered, before anything runs.
#include <fmt/format.h>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/queries.hpp"
#include "deltamatch/engine.hpp"

namespace deltamatch::cli {
namespace {

constexpr const char* examples = R"(Examples:
  deltamatch validate --query config/patterns
  deltamatch validate --query q1.graph --undirected --mode homomorphism

Ends with exit code 78 and says what is wrong and where, at the first query that cannot be matched.)";

struct Validate {
  QuerySelection queries;
  std::optional<bool> directed;
};

int validate(const Validate& options) {
  Engine engine(EngineOptions{.directed = options.directed.value_or(true), .threads = 1});
  std::string text;
  for (const NamedQuery& query : read_queries(options.queries.sources, options.directed.value_or(false))) {
    engine.add_query(query.query, options.queries.options(true));
    fmt::format_to(std::back_inserter(text), "{}: {} vertices, {} edges: {}\n", query.query.name, query.query.vertices.size(),
                   query.query.edges.size(), to_pattern(query.query));
  }
  print_out(text);
  return exit_ok;
}

}  // namespace

void add_validate(const Command& program, Run& run) {
  const Command command = program.add_command("validate", "Check queries without running anything", examples);
  const auto options = std::make_shared<Validate>();
  add_query_options(command, options->queries);
  add_direction_options(command, options->directed);
  command.runs(run, [options] { return validate(*options); });
}

}  // namespace deltamatch::cli
