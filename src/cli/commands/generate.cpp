// deltamatch generate: makes synthetic graphs and streams. Equal options give equal bytes on every machine.
#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/commands/commands.hpp"
#include "cli/options/option_kinds.hpp"
#include "cli/options/paths.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/values.hpp"
#include "generate/chung_lu.hpp"
#include "generate/payments.hpp"
#include "generate/rmat.hpp"
#include "generate/synthetic_stream.hpp"

namespace deltamatch::cli {
namespace {

namespace gen = deltamatch::generate;

constexpr std::uint64_t most_32 = std::numeric_limits<std::uint32_t>::max();
constexpr const char* graph_group = "Graph";
constexpr const char* stream_group = "Stream";
constexpr const char* output_group = "Output";

constexpr const char* payments_examples = R"(Examples:
  deltamatch generate payments --updates payments.csv --truth truth.csv --records 1000000
  deltamatch generate payments --updates - --format jsonl --seed 7 |
    deltamatch replay --updates - --edges keyed --attributes 'amount:decimal(2)' \
      --query config/patterns)";

constexpr const char* rmat_examples = R"(Example:
  deltamatch generate rmat --scale 14 --deletions 0.05 --graph start.graph --updates stream.txt
  deltamatch replay --graph start.graph --updates stream.txt --query 'triangle=(a)--(b)--(c)--(a)')";

constexpr const char* chung_lu_examples = R"(Example:
  deltamatch generate chung-lu --vertices 9000 --edges 50000 --graph start.graph --updates s.txt
  deltamatch replay --graph start.graph --updates s.txt --query 'path=(a:0)--(b:1)--(c:2)')";

struct Payments {
  gen::PaymentsOptions options;
  std::uint32_t planted = 100;
  std::optional<std::uint32_t> decoys;
  std::string updates;
  std::string truth;
};

/// The two files of a generated graph. The options have the names of replay's inputs.
struct GraphFiles {
  std::string graph;
  std::string updates;
};

std::string summary(const gen::PaymentsSummary& made) {
  std::string text = fmt::format("{} inserts, {} deletes; planted:", grouped(made.inserts), grouped(made.deletes));
  std::map<gen::PlantedKind, std::uint64_t> kinds;
  std::uint64_t decoys = 0;
  for (const gen::PlantedPattern& pattern : made.planted)
    ++(pattern.misses == gen::Miss::nothing ? kinds[pattern.kind] : decoys);
  for (const auto& [kind, count] : kinds)
    fmt::format_to(std::back_inserter(text), " {} {}", gen::planted_name(kind), grouped(count));
  return fmt::format("{}{}; decoys: {}\n", text, kinds.empty() ? " none" : "", grouped(decoys));
}

int payments(Payments options) {
  check_apart({}, {{"--updates", options.updates}, {"--truth", options.truth}});
  check_files({{"--truth", options.truth}});
  options.options.planted.fill(options.planted);
  options.options.decoys = options.decoys.value_or(options.planted / 10 + (options.planted % 10 == 0 ? 0 : 1));
  if (options.updates == "-") {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> truth(
        options.truth.empty() ? nullptr : std::fopen(options.truth.c_str(), "wbe"),
        [](std::FILE* file) { return std::fclose(file); });
    if (!options.truth.empty() && !truth) throw Error(options.truth, "cannot be written", "check the path and its permissions");
    const auto made = gen::write_payments(options.options, stdout, truth.get());
    if (truth && std::fflush(truth.get()) != 0) throw Error(options.truth, "cannot be written", "check the free space");
    print_out("");
    print_err(summary(made));
    return exit_ok;
  }
  print_out(summary(gen::write_payments(options.options, options.updates, options.truth)));
  return exit_ok;
}

/// `make` makes the graph, which may take long. So errors about the files are reported before.
template <typename Make>
int write_stream(const Make& make, const gen::GeneratorOptions& options, const GraphFiles& files) {
  check_apart({}, {{"--graph", files.graph}, {"--updates", files.updates}});
  check_files({{"--graph", files.graph}});
  gen::Graph graph = make();
  const bool directed = graph.directed;
  const gen::Stream stream = gen::make_stream(std::move(graph), options);
  gen::write_graph(stream, files.graph);
  const bool piped = files.updates == "-";
  if (piped) {
    gen::write_updates(stream, stdout);
    print_out("");
  } else if (!files.updates.empty()) {
    gen::write_updates(stream, files.updates);
  }
  const std::string text =
      fmt::format("{} vertices, {} edges to start with; {} valid inserts, {} valid deletes{}\n", grouped(stream.graph.vertices),
                  grouped(stream.start_edges().size()), grouped(stream.inserted_edges().size()),
                  grouped(stream.deleted_edges().size()), directed ? "; directed, so replay it with --directed" : "");
  piped ? print_err(text) : print_out(text);
  return exit_ok;
}

void add_seed(const Command& command, std::uint64_t& seed) {
  add_number(command, "--seed", seed, "Equal seeds give equal output (default: 1)", 0).group(output_group);
}

void add_stream(const Command& command, gen::GeneratorOptions& options, GraphFiles& files) {
  add_fraction(command, "--insertions", options.insertions, "Share of the edges that the stream inserts (default: 0.1)", 0, 1)
      .group(stream_group);
  add_fraction(command, "--deletions", options.deletions, "Share of the start graph that the stream deletes (default: 0)", 0, 1)
      .group(stream_group);
  add_fraction(command, "--noise", options.noise, "Vain updates, as a share of the valid ones (default: 0)", 0, 1)
      .group(stream_group);
  add_number(command, "--edge-labels", options.edge_labels, "Number of edge labels; 0: no label column (default: 1)", 0,
             most_32)
      .group(stream_group);
  command.add_text("--graph", files.graph, "Where the start graph goes, as t/v/e", "FILE").required().group(output_group);
  command.add_text("--updates", files.updates, "Where the stream goes, as t/v/e, or - for standard output", "FILE")
      .group(output_group);
}

void add_payments(const Command& generate, Run& run) {
  const Command command =
      generate.add_command("payments", "Payments with planted laundering patterns, and where they are", payments_examples);
  const auto options = std::make_shared<Payments>();
  gen::PaymentsOptions& o = options->options;
  command.add_text("--updates", options->updates, "Where the stream goes, or - for standard output", "FILE")
      .required()
      .group(output_group);
  command.add_text("--truth", options->truth, "Where the planted patterns are listed, as CSV", "FILE").group(output_group);
  add_choice(command, "--format", o.format, "Format of the stream (default: csv)",
             std::vector<std::pair<std::string, gen::PaymentsFormat>>{{"csv", gen::PaymentsFormat::csv},
                                                                      {"jsonl", gen::PaymentsFormat::jsonl}})
      .group(output_group);
  add_choice(command, "--ids", o.ids, "Vertex ids: text such as acct-17, or numbers (default: text)",
             std::vector<std::pair<std::string, gen::IdStyle>>{{"text", gen::IdStyle::text}, {"number", gen::IdStyle::number}})
      .group(output_group);
  add_seed(command, o.seed);

  add_number(command, "--records", o.updates, "Records in all (default: 1000000)", 0).group(stream_group);
  add_number(command, "--planted", options->planted, "Planted patterns of each kind (default: 100)", 0, most_32)
      .group(stream_group);
  add_number(command, "--decoys", options->decoys,
             "Decoys of each kind and missed condition (default: a tenth of --planted, rounded up)", 0, most_32)
      .group(stream_group);
  add_number(command, "--accounts", o.accounts, "Accounts (default: 50000)", 0, most_32).group(stream_group);
  add_number(command, "--merchants", o.merchants, "Merchants (default: 2000)", 0, most_32).group(stream_group);
  add_number(command, "--atms", o.atms, "Cash machines (default: 200)", 0, most_32).group(stream_group);
  add_fraction(command, "--exponent", o.exponent, "Power law of activity (default: 2.5)", 2, 10).group(stream_group);
  add_fraction(command, "--charge-backs", o.charge_backs, "Share of records that delete a recent payment (default: 0.01)", 0, 1)
      .group(stream_group);
  add_fraction(command, "--recalled", o.recalled, "Share of planted patterns that lose a payment again (default: 0.1)", 0, 1)
      .group(stream_group);
  add_fraction(command, "--repeated", o.repeated, "Share of rings and chains with a second payment of a pair (default: 0.2)", 0,
               1)
      .group(stream_group);
  add_duration(command, "--duration", o.duration, "Event time of the whole stream (default: 10d)").group(stream_group);
  command.runs(run, [options] { return payments(*options); });
}

void add_rmat(const Command& generate, Run& run) {
  struct Rmat {
    gen::RmatOptions graph;
    gen::GeneratorOptions stream;
    GraphFiles files;
  };
  const Command command =
      generate.add_command("rmat", "An R-MAT graph with distinct edges, and a stream over it", rmat_examples);
  const auto options = std::make_shared<Rmat>();
  gen::RmatOptions& o = options->graph;
  add_number(command, "--scale", o.scale, "2^N vertices (default: 16)", 1, 30).group(graph_group);
  add_fraction(command, "--edge-factor", o.edge_factor, "Edges per vertex (default: 16)", 0, 1e9).group(graph_group);
  add_fraction(command, "--a", o.a, "Probability of the first quadrant (default: 0.57)", 0, 1).group(graph_group);
  add_fraction(command, "--b", o.b, "Probability of the second quadrant (default: 0.19)", 0, 1).group(graph_group);
  add_fraction(command, "--c", o.c, "Probability of the third quadrant (default: 0.19)", 0, 1).group(graph_group);
  command.add_flag("--directed", o.directed, "Edges have a direction").group(graph_group);
  command.add_flag(
             "--no-shuffle", [&o] { o.shuffle = false; }, "Keep vertex numbers; low ones have the highest degree")
      .group(graph_group);
  add_number(command, "--vertex-labels", o.vertex_labels, "Number of vertex labels (default: 1)", 1, most_32)
      .group(graph_group);
  add_stream(command, options->stream, options->files);
  add_seed(command, o.seed);
  command.runs(run, [options] {
    options->stream.seed = options->graph.seed;
    return write_stream([&] { return gen::rmat(options->graph); }, options->stream, options->files);
  });
}

void add_chung_lu(const Command& generate, Run& run) {
  struct ChungLu {
    gen::ChungLuOptions graph;
    gen::GeneratorOptions stream;
    GraphFiles files;
  };
  const Command command =
      generate.add_command("chung-lu", "An undirected graph with power-law degrees, and a stream over it", chung_lu_examples);
  const auto options = std::make_shared<ChungLu>();
  gen::ChungLuOptions& o = options->graph;
  add_number(command, "--vertices", o.vertices, "Vertices (default: 100000)", 2, most_32).group(graph_group);
  add_number(command, "--edges", o.edges, "Edges (default: 1000000)", 0).group(graph_group);
  add_fraction(command, "--exponent", o.exponent, "Exponent of the degree distribution (default: 2.5)", 2, 10)
      .group(graph_group);
  add_number(command, "--max-degree", o.max_degree, "Expected degree of the heaviest vertex (default: 1000)", 1, most_32)
      .group(graph_group);
  add_number(command, "--vertex-labels", o.vertex_labels, "Number of vertex labels (default: 6)", 1, most_32)
      .group(graph_group);
  add_stream(command, options->stream, options->files);
  add_seed(command, o.seed);
  command.runs(run, [options] {
    options->stream.seed = options->graph.seed;
    return write_stream([&] { return gen::chung_lu(options->graph); }, options->stream, options->files);
  });
}

}  // namespace

void add_generate(const Command& program, Run& run) {
  const Command command = program.add_command("generate", "Make synthetic graphs and streams");
  command.require_command();
  add_payments(command, run);
  add_rmat(command, run);
  add_chung_lu(command, run);
}

}  // namespace deltamatch::cli
