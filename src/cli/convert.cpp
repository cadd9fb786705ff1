// deltamatch convert: a stream in another format.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/option_kinds.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/paths.hpp"
#include "cli/values.hpp"
#include "ingest/codec/binary.hpp"
#include "ingest/codec/text_records.hpp"
#include "ingest/sink/output_file.hpp"
#include "ingest/stream.hpp"

namespace deltamatch::cli {
namespace {

constexpr const char* examples = R"(Examples:
  deltamatch convert payments.csv payments.dmu --to binary --columns source=payer,target=payee,time=at
  deltamatch convert events.jsonl - --to jsonl --envelope debezium | deltamatch replay --updates - --query config/patterns
  zstd -dc log.dmu.zst | deltamatch convert - log.tsv --to tsv)";

using ingest::Format;

struct Convert {
  std::string input;
  std::string out;
  Format to = Format::binary;
  GraphOptions common;
  InputOptions reading;
};

/// Gives what the format does not hold of the update.
std::string_view append(std::string& out, Format format, const Update& update) {
  if (format == Format::tsv) return ingest::append_tsv(out, update);
  if (format == Format::jsonl)
    ingest::append_jsonl(out, update);
  else
    ingest::append_binary_framed(out, update);
  return {};
}

int convert(const Convert& options) {
  check(options.common);
  check_apart({{"INPUT", options.input}}, {{"OUT", options.out}, {"--dead-letters", options.common.dead_letters}});
  const std::shared_ptr<ingest::DeadLetterSink> letters =
      options.common.dead_letters.empty() ? nullptr : ingest::make_dead_letter_file(options.common.dead_letters);
  const auto stream =
      ingest::open_stream(options.input, stream_options(options.common, options.reading, {.max_updates = 8192}, letters));
  ingest::OutputFile out(options.out);
  if (options.to == Format::binary) ingest::append_binary_preamble(out.text());
  std::uint64_t written = 0;
  ingest::PositionedBatch batch;
  while (stream->next(batch)) {
    for (std::size_t i = 0; i < batch.updates.size(); ++i) {
      const std::string_view lost = append(out.text(), options.to, batch.updates.updates()[i]);
      if (lost.empty()) continue;
      throw Error(fmt::format("{}:{}", stream->name(), batch.position(i).number),
                  fmt::format("{} does not hold {}", ingest::format_name(options.to), lost), "convert to binary or jsonl");
    }
    written += batch.updates.size();
    out.commit();
    stream->settle(batch, {});
  }
  out.commit();
  const std::string summary =
      fmt::format("{} updates written, {} records refused\n", grouped(written), grouped(stream->refused().total()));
  if (options.out != "-")
    print_out(summary);
  else
    print_err(summary);
  return exit_ok;
}

}  // namespace

void add_convert(const Command& program, Run& run) {
  const Command command = program.add_command("convert", "Write a stream in another format", examples);
  const auto options = std::make_shared<Convert>();
  command.add_argument("INPUT", options->input, "The stream, or - for standard input");
  command.add_argument("OUT", options->out, "Where it goes, or - for standard output");
  add_choice(
      command, "--to", options->to, "The format that is written",
      std::vector<std::pair<std::string, Format>>{{"binary", Format::binary}, {"jsonl", Format::jsonl}, {"tsv", Format::tsv}})
      .required();
  add_conversion_options(command, options->common, options->reading);
  command.runs(run, [options] { return convert(*options); });
}

}  // namespace deltamatch::cli
