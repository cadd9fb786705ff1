// deltamatch snapshot: describes, checks and exports the files that replay --save-snapshot writes.
#include <fmt/format.h>
#include <memory>
#include <string>

#include "cli/commands/commands.hpp"
#include "cli/options/option_kinds.hpp"
#include "cli/options/paths.hpp"
#include "cli/terminal/counted.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/json_writer.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/values.hpp"
#include "deltamatch/engine.hpp"
#include "ingest/codec/schema_text.hpp"
#include "ingest/codec/text_records.hpp"
#include "ingest/sink/output_file.hpp"

namespace deltamatch::cli {
namespace {

constexpr const char* examples = R"(Examples:
  deltamatch replay --updates log.csv --query 'pair=(a)-->(b)-->(a)' --save-snapshot after.dms
  deltamatch snapshot info after.dms
  deltamatch snapshot verify after.dms && cp after.dms /backup
  deltamatch snapshot export after.dms --out after.jsonl
  deltamatch match --graph after.jsonl --query 'pair=(a)-->(b)-->(a)')";

struct Snapshot {
  std::string file;
  std::string out = "-";
  bool json = false;
};

int info(const Snapshot& options) {
  const Engine engine = Engine::restore(options.file);
  const GraphStatistics graph = engine.graph();
  const EngineOptions& saved = engine.options();
  if (options.json) {
    JsonWriter json;
    json.begin_object().key("v").number(1).key("graph").begin_object();
    json.key("vertices").number(graph.vertices).key("edges").number(graph.edges).key("bytes").number(graph.bytes).end_object();
    json.key("directed").boolean(saved.directed);
    json.key("window").number(static_cast<std::uint64_t>(saved.window));
    json.key("digest").string(to_string(engine.digest().now));
    if (saved.order == EventOrder::time) json.key("order").string("time");
    if (saved.self_loops == SelfLoops::keep) json.key("self_loops").string("keep");
    if (saved.schema != Schema{}) {
      json.key("edges").string(ingest::model_name(saved.schema.model));
      json.key("attributes").string(ingest::attributes_text(saved.schema.edges));
      json.key("vertex_attributes").string(ingest::attributes_text(saved.schema.vertices));
      json.key("allowed_lateness").number(static_cast<std::uint64_t>(saved.allowed_lateness));
    }
    json.end_object();
    print_out(json.text() + '\n');
    return exit_ok;
  }
  std::string schema;
  const auto add = [&](std::string_view what, std::string_view text) {
    if (!text.empty()) schema += fmt::format("{:<7} {}\n", what, text);
  };
  if (saved.schema.model != EdgeModel::simple) {
    const std::string declared = ingest::attributes_text(saved.schema.edges);
    add("edges", fmt::format("{}{}{}", ingest::model_name(saved.schema.model), declared.empty() ? "" : "; ", declared));
  }
  add("vertices", ingest::attributes_text(saved.schema.vertices));
  if (saved.allowed_lateness != 0) add("late", "up to " + human_seconds(static_cast<double>(saved.allowed_lateness) / 1e6));
  if (saved.order == EventOrder::time) add("order", "time");
  if (saved.self_loops == SelfLoops::keep) add("loops", "kept");
  print_out(fmt::format("graph   {}, {}, {} in memory\nwindow  {}\ndigest  {}\n", saved.directed ? "directed" : "undirected",
                        graph_size(graph.vertices, graph.edges), human_bytes(graph.bytes),
                        saved.window == 0 ? "none" : human_seconds(static_cast<double>(saved.window) / 1e6),
                        to_string(engine.digest().now)) +
            schema);
  return exit_ok;
}

int export_graph(const Snapshot& options) {
  check_apart({{"FILE", options.file}}, {{"--out", options.out}});
  const Engine engine = Engine::restore(options.file);
  ingest::OutputFile out(options.out);
  const Schema& schema = engine.options().schema;
  engine.for_each([&](const Update& update) {
    Update record = update;
    if (record.source_label == "") record.source_label.reset();  // that of a vertex without a label
    ingest::append_jsonl(out.text(), record, schema);
    out.spill_if_large();
  });
  out.commit();
  return exit_ok;
}

int verify(const Snapshot& options) {
  static_cast<void>(Engine::restore(options.file));
  print_out(options.file + ": sound\n");
  return exit_ok;
}

}  // namespace

void add_snapshot(const Command& program, Run& run) {
  const Command command = program.add_command("snapshot", "Describe, check and export snapshots", examples);
  command.require_command();
  const auto options = std::make_shared<Snapshot>();
  const auto add = [&](const char* name, const char* help, int (*action)(const Snapshot&)) {
    const Command sub = command.add_command(name, help);
    sub.add_argument("FILE", options->file, "The snapshot");
    sub.runs(run, [options, action] { return action(*options); });
    return sub;
  };
  add("info", "Say what a snapshot holds", info).add_flag("--json", options->json, "Print one JSON object instead of a table");
  add("export", "Write the graph as JSONL: its vertices, then its edges", export_graph)
      .add_text("--out", options->out, "Where it goes (default: -, standard output)", "FILE");
  add("verify", "Read the whole snapshot and check it", verify);
}

}  // namespace deltamatch::cli
