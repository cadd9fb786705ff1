// deltamatch convert: writes a stream in another format, or the graph that it leaves.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/commands/inputs.hpp"
#include "cli/commands/records_in_order.hpp"
#include "cli/commands/session.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/option_kinds.hpp"
#include "cli/options/paths.hpp"
#include "cli/report/report.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/values.hpp"
#include "deltamatch/misfit.hpp"
#include "engine/storage/bulk_loader.hpp"
#include "ingest/batch/absent_times.hpp"
#include "ingest/batch/late_records.hpp"
#include "ingest/codec/binary.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/codec/text_records.hpp"
#include "ingest/sink/output_file.hpp"
#include "ingest/stream.hpp"

namespace deltamatch::cli {
namespace {

constexpr const char* examples = R"(Examples:
  deltamatch convert log.csv log.dmu --to binary --columns source=payer,target=payee,time=at
  deltamatch convert friends.txt friends.dmg --to graph --undirected
  deltamatch convert events.jsonl - --to jsonl --envelope debezium |
    deltamatch replay --updates - --query ring.pattern
  zstd -dc log.dmu.zst | deltamatch convert - log.tsv --to tsv)";

using ingest::Format;

struct Convert {
  std::string input;
  std::string out;
  std::optional<Format> to = Format::binary;  ///< nothing: a graph file
  GraphOptions common;
  InputOptions reading;
  bool times = false;
  std::optional<EventOrder> order;  ///< nothing: arrival
  std::string given;                ///< options beside --to, --order and --columns, as they were given
};

// Longer than the distance between any two times, so no edge expires: 146,000 years.
constexpr Timestamp forever = Timestamp{1} << 62;

void check(const Convert& options) {
  check(options.common, {});
  check_apart({{"INPUT", options.input}}, {{"OUT", options.out}, {"--dead-letters", options.common.dead_letters}});
  for (const std::string& labels : options.common.labels) check_apart({{"--labels", labels}}, {{"OUT", options.out}});
  if (!options.to) {
    if (options.order == EventOrder::time)
      throw Error(ErrorKind::usage, "--order time", "a graph file has no order of records", "leave it out");
    return check_files({{"OUT", options.out}});
  }
  const auto refuse = [](std::string_view option) {
    throw Error(ErrorKind::usage, option, "this option is for graph files only", "add --to graph, or leave it out");
  };
  if (options.common.directed) refuse(*options.common.directed ? "--directed" : "--undirected");
  if (!options.common.labels.empty()) refuse("--labels");
  if (options.times) refuse("--times");
  if (options.common.max_labels != Engine::default_label_limit) refuse("--max-labels");
}

/// "2 records refused: bad_id 2"
std::string refused_text(const ingest::RefusalCounters& refused) {
  const std::string count = fmt::format("{} {} refused", grouped(refused.total()), refused.total() == 1 ? "record" : "records");
  return refused.total() == 0 ? count : fmt::format("{}: {}", count, reasons_text(refused));
}

/// Writes the graph that a stream leaves, or that of a snapshot.
int convert_graph(const Convert& options) {
  GraphOptions graph = options.common;
  if (engine::SectionMap::recognises(options.input, engine::snapshot_file)) {
    graph.snapshot = options.input;
  } else {
    graph.graphs = {options.input};
    graph.graph_input = options.reading;
  }
  const auto without_times = [&](std::string_view noun) {
    throw Error(ErrorKind::usage, "--times", fmt::format("the edges of the {} {} have no times", noun, options.input),
                "leave it out");
  };
  if (options.times && engine::GraphFile::recognises(options.input) && !engine::GraphFile(options.input).timed()) {
    without_times("graph file");
  }
  ReplayOptions stream;
  if (options.times && graph.snapshot.empty()) stream.window = forever;
  check_replaceable(options.out);
  Session session(graph, stream);
  if (options.times && session.engine().options().window == 0) without_times("snapshot");
  Report report;
  session.load(report);
  engine::BulkLoader::save(session.engine(), options.out);
  const GraphStatistics written = session.engine().graph();
  const std::uint64_t loops = report.unused.ignored.self_loop;
  print_out(fmt::format("{} vertices and {} edges written, {}{}\n", grouped(written.vertices), grouped(written.edges),
                        refused_text(report.notes.refused()),
                        loops > 0 ? fmt::format(", {} self-loops left out", grouped(loops)) : ""));
  print_err(report.notes.verdict());
  return report.notes.too_many_refused() ? exit_runtime : exit_ok;
}

/// How the command begins that converts the input for good. It makes a file in order of time, even if the input was only to be
/// looked at.
std::string conversion(const Convert& options) {
  std::string out = options.out;
  if (out == "-") out = (options.input == "-" ? "updates" : std::filesystem::path(options.input).stem().string()) + ".dmu";
  const std::string_view to = ingest::format_name(options.out == "-" ? Format::binary : *options.to);
  const std::string_view order = options.order == EventOrder::arrival ? "" : " --order time";
  return fmt::format("deltamatch convert {} {} --to {}{}{}", ingest::shell_quoted(options.input), ingest::shell_quoted(out), to,
                     order, options.given);
}

/// Returns what the format cannot hold of the update; empty if it holds all.
std::string_view append(std::string& out, ingest::BinaryStreamWriter* binary, Format format, const Update& update,
                        const Schema& schema) {
  if (format == Format::tsv) return ingest::append_tsv(out, update);
  if (binary == nullptr)
    ingest::append_jsonl(out, update, schema);
  else
    binary->add(out, update);
  return {};
}

int convert(const Convert& options) {
  check(options);
  if (!options.to) return convert_graph(options);
  const Format to = *options.to;
  const std::shared_ptr<ingest::DeadLetterSink> letters =
      options.common.dead_letters.empty() ? nullptr : ingest::make_dead_letter_file(options.common.dead_letters);
  check_writable(options.common.dead_letters);
  ingest::Input input = ingest::open_input(options.input);
  GraphOptions common = options.common;
  take_schema(common.schema, input);
  const Schema schema = common.schema.schema();
  ingest::ReadOptions reading = read_options(common, options.reading, {.max_updates = 8192}, 0, letters);
  if (to != Format::tsv) reading.conversion = conversion(options);  // which may have attributes
  const auto stream = ingest::open_stream(std::move(input), reading);
  ingest::OutputFile out(options.out);
  if (letters) letters->commit();  // the file of an earlier run is kept until here
  std::optional<ingest::BinaryStreamWriter> binary;
  if (to == Format::binary) binary.emplace(out.text(), schema);
  // A binary stream without a schema holds any attributes. All else would lose those that are not declared.
  const bool holds_any = binary && schema == Schema{};
  const auto write = [&](const Update& update, ingest::Position position) {
    const std::string_view lost = append(out.text(), binary ? &*binary : nullptr, to, update, schema);
    if (lost.empty()) return;
    throw Error(stream->where(position), fmt::format("{} cannot hold {}", ingest::format_name(to), lost),
                "convert to binary or jsonl");
  };
  std::optional<RecordsInOrder> sorted;
  if (options.order == EventOrder::time) sorted.emplace();
  std::uint64_t written = 0;
  ingest::PositionedBatch batch;
  std::vector<Reject> rejects;
  ingest::AbsentTimes times;
  ingest::LateRecords late(0);
  std::optional<Timestamp> watermark;
  while (stream->next(batch)) {
    rejects.clear();
    times.add(batch.updates.updates());
    watermark = late.add(batch, watermark);
    for (std::size_t i = 0; i < batch.updates.size(); ++i) {
      const Update& update = batch.updates.updates()[i];
      if (!holds_any && find_misfit(schema, update)) {
        rejects.push_back({i, RejectReason::bad_value});
        continue;
      }
      if (sorted)
        sorted->add(update, batch.position(i));
      else
        write(update, batch.position(i));
    }
    written += batch.updates.size() - rejects.size();
    if (binary) binary->flush(out.text());
    out.commit();
    stream->settle(batch, rejects);
  }
  if (sorted) sorted->for_each(write);
  if (binary) binary->finish(out.text());
  out.commit();
  InputNotes notes;
  notes.take(*stream, options.common.max_refused);
  notes.tell_empty(*stream);
  if (auto absent = times.unread(stream->name(), stream->advice_on_unread_times())) notes.warn(std::move(*absent));
  if (!options.order && late.count() > 0) {
    notes.warn(late.unread(stream->where(late.first()), "add --order time, or --order arrival if this order is meant"));
  }
  const std::string summary = fmt::format("{} updates written, {}\n", grouped(written), refused_text(notes.refused()));
  if (options.out != "-")
    print_out(summary);
  else
    print_err(summary);
  print_err(notes.verdict());
  return notes.too_many_refused() ? exit_runtime : exit_ok;
}

}  // namespace

void add_convert(const Command& program, Run& run) {
  const Command command = program.add_command("convert", "Write a stream in another format, or as a graph file", examples);
  const auto options = std::make_shared<Convert>();
  command.add_argument("INPUT", options->input, "Stream to read, or - for standard input");
  command.add_argument("OUT", options->out, "File to write, or - for standard output");
  add_choice<std::optional<Format>, std::optional<Format>>(
      command, "--to", options->to, "Format to write; graph: the final graph, for match --graph",
      {{"binary", Format::binary}, {"jsonl", Format::jsonl}, {"tsv", Format::tsv}, {"graph", std::nullopt}})
      .required();
  command.add_flag("--times", options->times, "In graph files, keep the latest time of each edge").group("Data graph");
  add_choice<std::optional<EventOrder>, std::optional<EventOrder>>(
      command, "--order", options->order,
      "Write the records as they come, or in order of time, with all of them in memory (default: arrival)",
      {{"arrival", EventOrder::arrival}, {"time", EventOrder::time}})
      .group("Order");
  add_direction_options(command, options->common.directed);
  add_schema_options(command, options->common.schema);
  add_labels_options(command, options->common);
  add_conversion_options(command, options->common, options->reading);
  command.runs(run, [options, command] {
    constexpr auto rewritten = std::to_array<std::string_view>({"--to", "--order", "--columns"});
    options->given = command.given(rewritten);
    return convert(*options);
  });
}

}  // namespace deltamatch::cli
