#include "cli/commands/mining.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <optional>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "cli/commands/interrupt.hpp"
#include "cli/commands/session.hpp"
#include "cli/options/option_kinds.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "ingest/text/csv_text.hpp"
#include "ingest/text/json_text.hpp"
#include "mine/cliques.hpp"

namespace deltamatch::cli {
namespace {

// A CSV header has up to this many columns for vertices, even if the graph has fewer vertices.
constexpr std::uint64_t most_spare_places = 64;

/// Throws Error(usage) if the options contradict each other.
void check_mining(const MiningOptions& options) {
  check(options.graph, {});
  const auto refuse = [](std::string_view where, std::string_view what, std::string_view remedy) {
    throw Error(ErrorKind::usage, where, what, remedy);
  };
  if (options.graph.graphs.empty() && options.graph.snapshot.empty()) {
    refuse("graph", "there is none", "name one with --graph or --snapshot");
  }
  if (!options.counts_on_devices() && options.graph.backend.insists()) {
    refuse("--backend", options.list ? "lists are made on CPU cores" : options.only_on_cores,
           "leave --backend and the options of devices out");
  }
  if (options.json && options.csv) refuse("--csv", "--json writes to standard output too", "choose one of them");
  if (!options.list) {
    if (!options.out.empty() || !options.out_format.empty()) {
      refuse(options.out.empty() ? "--out-format" : "--out", "nothing is listed", "add --emit subgraphs");
    }
    if (options.limit) refuse("--limit", "nothing is listed", "add --emit subgraphs, or use --timeout");
  } else if ((options.out.empty() || options.out == "-") && (options.json || options.csv)) {
    refuse(options.json ? "--json" : "--csv", "the list goes to standard output too",
           "write the subgraphs to a file with --out FILE");
  } else if (options.out_format.empty() && std::filesystem::path(options.out).extension() == ".dmm") {
    // Readers choose the format by this name, and would find text.
    refuse("--out " + options.out, ".dmm means binary; subgraphs need jsonl or csv",
           "use another ending, or choose a format with --out-format");
  }
  check_apart(input_paths(options.graph, {}, {}), {{"--out", options.out}, {"--dead-letters", options.graph.dead_letters}});
}

/// "0-1 0-2 1-2"
std::string drawn(const Pattern& pattern) {
  std::string text;
  for (const auto& [i, j] : pattern.edges()) text += fmt::format("{}{}-{}", text.empty() ? "" : " ", i, j);
  return text;
}

bool has_patterns(const MiningAnswer& answer) {
  return std::any_of(answer.rows.begin(), answer.rows.end(), [](const MiningRow& row) { return row.pattern.has_value(); });
}

std::string csv(const MiningAnswer& answer) {
  std::string text = answer.column + ",count" + (has_patterns(answer) ? ",name,edges\n" : "\n");
  for (const MiningRow& row : answer.rows) {
    ingest::append_csv_cell(text, row.name);
    text += ',' + to_string(row.count);
    if (row.pattern) text += ',' + std::string(row.pattern->common_name()) + ',' + drawn(*row.pattern);
    text += '\n';
  }
  return text;
}

/// The sum over all rows. Returns nothing beyond 128 bits; the rows may still have their counts.
std::optional<Count> total(const MiningAnswer& answer) {
  Count sum = 0;
  try {
    for (const MiningRow& row : answer.rows) sum = checked_add(sum, row.count);
  } catch (const CountOverflow&) {
    return std::nullopt;
  }
  return sum;
}

}  // namespace

void add_mining_options(const Command& command, MiningOptions& options) {
  const std::string output = "Output";
  add_choice(command, "--emit", options.list, "Count only, or also list the vertices of each (default: counts)",
             std::vector<std::pair<std::string, bool>>{{"counts", false}, {"subgraphs", true}})
      .group(output);
  command.add_text("--out", options.out, "Where --emit subgraphs writes (default: -, standard output)", "FILE").group(output);
  add_choice(command, "--out-format", options.out_format, "Format of the list (default: by the name of the file, or jsonl)",
             std::vector<std::pair<std::string, std::string>>{{"jsonl", "jsonl"}, {"csv", "csv"}})
      .group(output);
  add_number(command, "--limit", options.limit, "List at most N", 1).group(output);
  add_json_option(command, options.json);
  command.add_flag("--csv", options.csv, "Print the counts as CSV instead of a table").group(output);
  add_duration(command, "--timeout", options.timeout, "Stop after this time, e.g. 10s").group("Running");
  add_graph_options(command, options.graph, false, DeviceUse::counts);
}

Mining::Mining(const MiningOptions& options) : options_(options), progress_(options.graph.progress) {
  check_mining(options);
  check_writable(options.out);
  end_at_interrupt();
  GraphOptions graph = options.graph;
  const bool automatic = graph.backend.automatic();
  if (options.counts_on_devices() && !automatic) backend_ = make_backend(graph.backend);
  graph.backend = {};  // the engine only reads the graph
  graph.backend.name = "cpu";
  Session session(graph, {});
  Report report;
  session.load(report);
  graph_ = SimpleGraph::of(session.engine());
  load_ = report.load;
  notes_ = std::move(report.notes);
  unused_ = report.unused;
  if (options.counts_on_devices() && automatic && options.worth_a_device &&
      mine::later_pairs(*graph_) >= *options.worth_a_device) {
    backend_ = make_backend(options.graph.backend);
  }
  watch_interrupts();
}

MineOptions Mining::run_options() {
  MineOptions run;
  run.backend = backend_;
  run.threads = options_.graph.threads;
  if (options_.timeout > 0) run.timeout = std::chrono::microseconds(options_.timeout);
  run.stop = [] { return interrupted(); };
  run.progress = [this](double share) {
    progress_.show("starting points", static_cast<std::uint64_t>(share * graph_->vertices()), share);
  };
  return run;
}

void Mining::open_list(std::string_view note, std::uint64_t k) {
  const std::string path = options_.out.empty() ? "-" : options_.out;
  file_is_csv_ = options_.out_format.empty() ? std::filesystem::path(path).extension() == ".csv" : options_.out_format == "csv";
  file_ = std::make_unique<TextFile>(path);
  if (!file_is_csv_) return;
  // A size far beyond the graph is allowed, but then no set is found.
  const std::uint64_t places = std::min<std::uint64_t>(k, std::max<std::uint64_t>(graph_->vertices(), most_spare_places));
  std::string header(note);
  for (std::uint64_t i = 0; i < places; ++i) header += fmt::format("{}v{}", header.empty() ? "" : ",", i);
  columns_ = places + (note.empty() ? 0 : 1);
  file_->line(header);
}

void Mining::write(const MiningNote& note, std::span<const SimpleGraph::Vertex> vertices) {
  if (file_is_csv_) {
    write_csv(note, vertices);
  } else {
    std::string line = "{";
    if (!note.name.empty()) {
      line += fmt::format("\"{}\":", note.name);
      if (note.is_number) {
        line += note.value;
      } else {
        ingest::append_json_string(line, note.value);
      }
      line += ',';
    }
    line += "\"vertices\":";
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      line += i == 0 ? '[' : ',';
      ingest::append_json_id(line, graph_->id(vertices[i]));
    }
    file_->line(line + "]}");
  }
  ++listed_;
}

void Mining::write_csv(const MiningNote& note, std::span<const SimpleGraph::Vertex> vertices) {
  const std::string first = note.name.empty() ? "" : ",";
  std::string line;
  ingest::append_csv_cell(line, note.value);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const Id id = graph_->id(vertices[i]);
    line += i == 0 ? first : ",";
    ingest::append_csv_cell(line, id.is_text() ? id.text() : std::to_string(id.number()));
  }
  file_->line(line);
}

std::string Mining::json(const MiningAnswer& answer) const {
  JsonWriter json;
  json.begin_object().key("v").number(1);
  // Sets of vertices are counted, each once.
  write_settings(json, {MatchMode::isomorphism, CountMode::subgraphs, thread_count(options_.graph.threads)});
  json.key("graph").begin_object();
  json.key("vertices").number(graph_->vertices()).key("edges").number(graph_->edges());
  json.key("bytes").number(graph_->bytes()).end_object();
  write_unused(json, unused_);
  notes_.write(json);
  for (const MiningNote& note : answer.notes) {
    json.key(note.name);
    if (note.is_number) {
      json.number(std::stoull(note.value));
    } else {
      json.string(note.value);
    }
  }
  json.key(answer.rows_name).begin_array();
  for (const MiningRow& row : answer.rows) {
    json.begin_object().key(answer.column);
    if (row.pattern) {
      json.string(row.name).key("name").string(row.pattern->common_name()).key("edges").begin_array();
      for (const auto& [i, j] : row.pattern->edges()) json.begin_array().number(i).number(j).end_array();
      json.end_array();
    } else {
      json.number(std::stoull(row.name));
    }
    json.key("count").number(row.count).end_object();
  }
  json.end_array().key("total");
  if (const std::optional<Count> sum = total(answer)) {
    json.number(*sum);
  } else {
    json.null();
  }
  if (file_) json.key("listed").number(listed_);
  if (!answer.complete) json.key("complete").boolean(false).key("partial").string(cause());
  if (answer.kernel_seconds) json.key("backend").string(backend_->name()).key("kernel_seconds").seconds(*answer.kernel_seconds);
  json.key("seconds").begin_object().key("load").seconds(load_).key("mine").seconds(answer.seconds);
  json.end_object().end_object();
  return json.text();
}

std::string Mining::table(const MiningAnswer& answer) const {
  std::string text;
  auto out = std::back_inserter(text);
  const std::string_view mark = answer.complete ? "" : "at least ";
  if (!answer.complete) text += "INCOMPLETE: counts are what was found before the run was stopped\n";
  text += notes_.first_line();
  fmt::format_to(out, "graph    {} vertices, {} edges (undirected, simple), {}\n", grouped(graph_->vertices()),
                 grouped(graph_->edges()), human_bytes(graph_->bytes()));
  text += ignored_text(unused_.ignored);
  for (const MiningNote& note : answer.notes) fmt::format_to(out, "{:<8} {}\n", note.name, note.value);
  fmt::format_to(out, "time     load {}, mine {}", human_seconds(load_), human_seconds(answer.seconds));
  if (answer.kernel_seconds)
    fmt::format_to(out, ", of that {} in kernels ({})", human_seconds(*answer.kernel_seconds), backend_->name());
  text += '\n';
  if (file_) fmt::format_to(out, "listed   {}\n", grouped(listed_));
  std::size_t name_width = answer.column.size();
  std::size_t count_width = 5;
  std::size_t common_width = 4;
  for (const MiningRow& row : answer.rows) {
    name_width = std::max(name_width, row.name.size());
    count_width = std::max(count_width, mark.size() + grouped(row.count).size());
    if (row.pattern) common_width = std::max(common_width, row.pattern->common_name().size());
  }
  const std::optional<Count> sum = total(answer);
  const std::string sum_text = sum ? std::string(mark) + grouped(*sum) : "beyond 2^128-1";
  count_width = std::max(count_width, sum_text.size());
  name_width = std::max<std::size_t>(name_width, 5);
  const auto line = [&](std::string_view name, std::string_view count, std::string_view common, std::string_view edges) {
    std::string row =
        fmt::format("{:<{}}  {:>{}}  {:<{}}  {}", name, name_width, count, count_width, common, common_width, edges);
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  };
  text += '\n';
  const bool patterns = has_patterns(answer);
  line(answer.column, "count", patterns ? "name" : "", patterns ? "edges" : "");
  for (const MiningRow& row : answer.rows) {
    line(row.name, std::string(mark) + grouped(row.count), row.pattern ? row.pattern->common_name() : "",
         row.pattern ? drawn(*row.pattern) : "");
  }
  if (answer.rows.size() != 1) line("total", sum_text, "", "");
  return text;
}

std::string Mining::shortfall(const MiningAnswer& answer) const {
  if (answer.complete) return "";
  if (interrupted()) return fmt::format("deltamatch: stopped by {}, so the answer is partial\n", interrupt_name());
  return fmt::format("deltamatch: stopped by --{0}, so the answer is partial; raise --{0} for all of it\n", cause());
}

/// Says what has cut the answer short.
std::string_view Mining::cause() const {
  if (interrupted()) return "stopped";
  return options_.limit && listed_ == *options_.limit ? "limit" : "timeout";
}

/// Writes the last line of a list that is not whole, so that nobody takes it for whole.
void Mining::mark_file() {
  if (file_is_csv_) {
    file_->line(fmt::format("partial:{}{}", cause(), std::string(columns_ - 1, ',')));
  } else {
    file_->line(fmt::format(R"({{"partial":"{}","listed":{}}})", cause(), listed_));
  }
}

int Mining::finish(const MiningAnswer& answer) {
  progress_.clear();
  if (file_ && !answer.complete) mark_file();
  if (file_) file_->close();
  const bool lines_to_stdout = file_ != nullptr && (options_.out.empty() || options_.out == "-");
  if (options_.json) {
    print_out(json(answer) + '\n');
  } else if (options_.csv) {
    print_out(csv(answer));
  } else if (lines_to_stdout) {
    print_err(table(answer));
  } else {
    print_out(table(answer));
  }
  print_err(shortfall(answer) + notes_.verdict());
  if (answer.complete) return notes_.too_many_refused() ? exit_runtime : exit_ok;
  return interrupted() ? interrupt_exit_code() : exit_runtime;
}

}  // namespace deltamatch::cli
