// deltamatch cliques, deltamatch quasi-cliques: sets of vertices that are all, or nearly all, joined to each other.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "cli/commands/commands.hpp"
#include "cli/commands/mining.hpp"
#include "cli/options/option_kinds.hpp"
#include "mine/motif_formulas.hpp"

namespace deltamatch::cli {
namespace {

constexpr const char* clique_examples = R"(Examples:
  deltamatch cliques --graph friends.txt -k 5
  deltamatch cliques --graph friends.txt --json
  deltamatch cliques --graph friends.txt -k 4 --emit subgraphs --out cliques.csv

The graph is read as undirected and simple: directions, labels and parallel edges play no part.)";

constexpr const char* quasi_examples = R"(Examples:
  deltamatch quasi-cliques --graph friends.txt -k 6 --density 0.8
  deltamatch quasi-cliques --graph friends.txt -k 8 --density 0.9 --emit subgraphs --limit 100

It counts connected sets of k vertices that have at least the share --density of the k(k-1)/2
possible edges.
The graph is read as undirected and simple: directions, labels and parallel edges play no part.)";

struct Cliques {
  MiningOptions mining;
  std::optional<unsigned> k;
};

struct QuasiCliques {
  MiningOptions mining;
  unsigned k = 0;
  double density = 0;
};

std::vector<SimpleGraph::Vertex> ascending(std::span<const SimpleGraph::Vertex> vertices) {
  std::vector<SimpleGraph::Vertex> sorted(vertices.begin(), vertices.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

CliqueResult count(Mining& mining, std::optional<unsigned> k) {
  const auto run = [&] { return count_cliques(mining.graph(), k, mining.run_options()); };
  return k ? counted(fmt::format("cliques of {} vertices", *k), run) : counted("cliques", run, "count only one size, with -k");
}

int cliques(const Cliques& options) {
  if (options.mining.list && !options.k) throw Error(ErrorKind::usage, "--emit subgraphs", "a list needs one size", "add -k K");
  Mining mining(options.mining);
  MiningAnswer answer{.rows_name = "cliques", .column = "k"};
  if (options.mining.list) {
    mining.open_list({}, *options.k);
    const ListResult result =
        list_cliques(mining.graph(), *options.k, options.mining.limit, mining.run_options(),
                     [&](std::span<const SimpleGraph::Vertex> clique) { mining.write({}, ascending(clique)); });
    answer.rows = {{std::to_string(*options.k), result.listed}};
    answer.complete = result.complete;
    answer.seconds = result.seconds;
    return mining.finish(answer);
  }
  const CliqueResult result = count(mining, options.k);
  if (options.k) {
    answer.rows = {{std::to_string(*options.k), result.counts.size() > *options.k ? result.counts[*options.k] : 0}};
  } else {
    for (std::size_t k = 1; k < result.counts.size(); ++k) answer.rows.push_back({std::to_string(k), result.counts[k]});
  }
  answer.complete = result.complete;
  answer.seconds = result.seconds;
  answer.kernel_seconds = result.kernel_seconds;
  return mining.finish(answer);
}

int quasi_cliques(const QuasiCliques& options) {
  const unsigned pairs = options.k * (options.k - 1) / 2;
  const unsigned least = std::max(edges_of_density(options.k, options.density), options.k - 1);
  MiningOptions mining_options = options.mining;
  if (pairs - least + 2 > options.k) mining_options.only_on_cores = "the CPU counts sets that may lack more than k - 2 edges";
  if (mine::formulas_count_sets(options.k, pairs - std::min(least, pairs))) mining_options.worth_a_device = std::nullopt;
  Mining mining(mining_options);
  MiningAnswer answer{.rows_name = "quasi_cliques", .column = "edges"};
  answer.notes = {{"k", std::to_string(options.k), true}, {"least", std::to_string(least), true}};
  std::vector<Count> by_missing(pairs - least + 1, 0);
  if (options.mining.list) {
    mining.open_list("edges", options.k);
    const auto store = [&](std::span<const SimpleGraph::Vertex> found, unsigned missing) {
      ++by_missing[missing];
      mining.write({"edges", std::to_string(pairs - missing), true}, ascending(found));
    };
    const ListResult result =
        list_quasi_cliques(mining.graph(), options.k, least, options.mining.limit, mining.run_options(), store);
    answer.complete = result.complete;
    answer.seconds = result.seconds;
  } else {
    const QuasiCliqueResult result = counted(fmt::format("quasi-cliques of {} vertices", options.k), [&] {
      return count_quasi_cliques(mining.graph(), options.k, least, mining.run_options());
    });
    by_missing = result.by_missing;
    answer.complete = result.complete;
    answer.seconds = result.seconds;
    answer.kernel_seconds = result.kernel_seconds;
  }
  for (unsigned missing = 0; missing < by_missing.size(); ++missing) {
    answer.rows.push_back({std::to_string(pairs - missing), by_missing[missing]});
  }
  return mining.finish(answer);
}

}  // namespace

void add_cliques(const Command& program, Run& run) {
  const Command command = program.add_command("cliques", "Count or list the cliques of a graph", clique_examples);
  const auto options = std::make_shared<Cliques>();
  add_number(command, "-k", options->k, "Vertices of the cliques (default: every size up to the largest)", 1, 1U << 31)
      .group("Cliques");
  add_mining_options(command, options->mining);
  command.runs(run, [options] { return cliques(*options); });
}

void add_quasi_cliques(const Command& program, Run& run) {
  const Command command = program.add_command("quasi-cliques", "Count or list nearly complete subgraphs", quasi_examples);
  const auto options = std::make_shared<QuasiCliques>();
  const std::string group = "Quasi-cliques";
  add_number(command, "-k", options->k, "Vertices, 2 to 24", 2, max_quasi_clique).group(group).required();
  add_fraction(command, "--density", options->density, "Least share of the possible edges, 0 to 1", 0, 1)
      .group(group)
      .required();
  add_mining_options(command, options->mining);
  command.runs(run, [options] { return quasi_cliques(*options); });
}

}  // namespace deltamatch::cli
