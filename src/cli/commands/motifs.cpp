// deltamatch motifs: how often each pattern of k vertices occurs in a graph.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>

#include "cli/commands/commands.hpp"
#include "cli/commands/mining.hpp"
#include "cli/options/option_kinds.hpp"
#include "mine/small_graph.hpp"

namespace deltamatch::cli {
namespace {

constexpr const char* examples = R"(Examples:
  deltamatch motifs --graph friends.txt -k 4
  deltamatch motifs --graph friends.txt -k 6 --where 'edges >= 10 and max_degree <= 4' --json
  deltamatch motifs --graph friends.txt -k 5 --where 'triangles = 0' --emit subgraphs --limit 100

The graph is read as undirected and simple: directions, labels and parallel edges play no part.
A subgraph counts for the pattern of exactly the edges between its vertices. Each pattern has the
graph6 string of its canonical form as its name.
Conditions know vertices, edges, missing, min_degree, max_degree, triangles and leaves.)";

struct Motifs {
  MiningOptions mining;
  unsigned k = 0;
  MotifMethod method = MotifMethod::automatic;
  std::optional<Condition> where;
  std::optional<Condition> growing;
};

std::string name_of(MotifMethod method) {
  switch (method) {
    case MotifMethod::formulas:
      return "formulas";
    case MotifMethod::pairs:
      return "pairs";
    default:
      return "extend";
  }
}

MiningAnswer answer_of(const Motifs& options, const std::string& method) {
  MiningAnswer answer{.rows_name = "motifs", .column = "pattern"};
  answer.notes = {{"k", std::to_string(options.k), true}, {"method", method}};
  return answer;
}

MiningAnswer count(const Motifs& options, Mining& mining) {
  const MotifOptions how{
      .run = mining.run_options(), .method = options.method, .where = options.where, .growing = options.growing};
  const MotifResult result =
      counted(fmt::format("motifs of {} vertices", options.k), [&] { return count_motifs(mining.graph(), options.k, how); });
  MiningAnswer answer = answer_of(options, name_of(result.method));
  for (const Motif& motif : result.motifs) answer.rows.push_back({motif.pattern.graph6(), motif.count, motif.pattern});
  answer.complete = result.complete;
  answer.seconds = result.seconds;
  answer.kernel_seconds = result.kernel_seconds;
  return answer;
}

/// Decides where to count. With formulas a device has nothing to do. Up to 5 vertices they are faster than any device.
/// Enumeration takes long on any graph that is not small.
MiningOptions where_to_count(const Motifs& options) {
  MiningOptions mining = options.mining;
  if (options.method == MotifMethod::formulas) mining.only_on_cores = "formulas are evaluated on CPU cores";
  const bool has_formulas = options.k <= 5 && options.method == MotifMethod::automatic && !options.growing;
  mining.worth_a_device = has_formulas ? std::nullopt : std::optional(std::uint64_t{1} << 16);
  return mining;
}

/// Lists the motifs and counts them. The vertices of a line are in the order of the pattern's vertices.
MiningAnswer list(const Motifs& options, Mining& mining) {
  struct Seen {
    Pattern pattern;
    Count count = 0;
  };
  std::map<std::string, Seen> seen;
  std::vector<SimpleGraph::Vertex> places(options.k);
  mining.open_list("pattern", options.k);
  const auto store = [&](const Subgraph& found) {
    const mine::Canonical form = mine::canonical_form(options.k, found.key);
    for (unsigned i = 0; i < options.k; ++i) places[form.places.at(i)] = found.vertices[i];
    const Pattern pattern{options.k, form.key};
    const auto [entry, fresh] = seen.try_emplace(pattern.graph6(), Seen{pattern});
    ++entry->second.count;
    mining.write({"pattern", entry->first}, places);
  };
  SubgraphOptions how;
  how.run = mining.run_options();
  how.where = options.where;
  how.growing = options.growing;
  how.limit = options.mining.limit;
  const ListResult result = list_subgraphs(mining.graph(), options.k, how, store);
  MiningAnswer answer = answer_of(options, "extend");
  for (const auto& [name, entry] : seen) answer.rows.push_back({name, entry.count, entry.pattern});
  answer.complete = result.complete;
  answer.seconds = result.seconds;
  return answer;
}

int motifs(const Motifs& options) {
  if (options.mining.list && options.method != MotifMethod::automatic) {
    throw Error(ErrorKind::usage, "--method", "a list visits each subgraph, so there is no choice of method",
                "leave --method out");
  }
  if (options.method == MotifMethod::formulas && options.k > 5) {
    throw Error(ErrorKind::usage, "--method formulas", "there are formulas only up to -k 5",
                "choose pairs, or leave --method out");
  }
  if (options.growing && options.method != MotifMethod::automatic && options.method != MotifMethod::extend) {
    throw Error(ErrorKind::usage, "--growing", "this method does not grow each subgraph", "leave --method out");
  }
  const MiningOptions where = where_to_count(options);
  Mining mining(where);
  return mining.finish(options.mining.list ? list(options, mining) : count(options, mining));
}

Option add_condition(const Command& command, const std::string& name, std::optional<Condition>& target,
                     const std::string& help) {
  return command.add_value(
      name, [&target, name](const std::string& text) { target = Condition::parse(text, name); }, help, "EXPR");
}

}  // namespace

void add_motifs(const Command& program, Run& run) {
  const Command command = program.add_command("motifs", "Count the induced patterns of k vertices in a graph", examples);
  const auto options = std::make_shared<Motifs>();
  const std::string group = "Motifs";
  add_number(command, "-k", options->k, "Vertices of the patterns, 2 to 8", 2, Pattern::max_vertices).group(group).required();
  add_condition(command, "--where", options->where, "Only subgraphs such as 'edges >= 5 and max_degree <= 3'").group(group);
  add_condition(command, "--growing", options->growing, "Only subgraphs that satisfy this at every size as they are grown")
      .group(group);
  add_choice(command, "--method", options->method, "How to count (default: auto, the fastest that fits)",
             std::vector<std::pair<std::string, MotifMethod>>{{"auto", MotifMethod::automatic},
                                                              {"formulas", MotifMethod::formulas},
                                                              {"pairs", MotifMethod::pairs},
                                                              {"extend", MotifMethod::extend}})
      .group(group);
  add_mining_options(command, options->mining);
  command.runs(run, [options] { return motifs(*options); });
}

}  // namespace deltamatch::cli
