#include "ingest/codec/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "deltamatch/error.hpp"
#include "ingest/codec/avro_source.hpp"
#include "ingest/codec/binary.hpp"
#include "ingest/codec/binary_source.hpp"
#include "ingest/codec/csv_beginning.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/json_layout.hpp"
#include "ingest/codec/mtx.hpp"
#include "ingest/codec/schema_reader.hpp"
#include "ingest/codec/schema_text.hpp"

namespace deltamatch::ingest {
namespace {

template <Format format>
std::unique_ptr<Codec> make_plain_codec(const CodecOptions& options) {
  return make_delimited_codec(format, options);
}

/// If records state vertices, and no columns are named, the columns are those of vertices.
void complete_positions(CodecOptions& options, std::string_view /*head*/) {
  if (options.vertices && options.columns.empty()) options.columns = "vertex,label";
}

std::unique_ptr<RecordSource> open_binary(ByteBuffer bytes, const CodecOptions& options, std::size_t max_record) {
  return std::make_unique<BinarySource>(std::move(bytes), max_record, schema_of(options));
}

std::unique_ptr<RecordSource> open_nothing(ByteBuffer bytes, const CodecOptions& /*options*/, std::size_t /*max_record*/) {
  throw Error(ErrorKind::usage, bytes.name(), "protobuf is a format of messages, whose ends a file does not tell",
              "write a file of another format, e.g. jsonl or avro");
}

constexpr std::array table{
    FormatTraits{.format = Format::snap,
                 .name = "snap",
                 .columns = ColumnForm::positions,
                 .message = MessageForm::line,
                 .complete = complete_positions,
                 .make = make_plain_codec<Format::snap>},
    FormatTraits{.format = Format::csv,
                 .name = "csv",
                 .columns = ColumnForm::header,
                 .message = MessageForm::lines,
                 .has_separator = true,
                 .has_names_as_ids = true,
                 .complete = complete_csv,
                 .directed = csv_is_directed,
                 .make = make_csv_codec},
    FormatTraits{.format = Format::tsv,
                 .name = "tsv",
                 .columns = ColumnForm::positions,
                 .message = MessageForm::line,
                 .has_names_as_ids = true,
                 .complete = complete_positions,
                 .make = make_plain_codec<Format::tsv>},
    FormatTraits{.format = Format::tve,
                 .name = "tve",
                 .message = MessageForm::line,
                 .assumes_undirected = true,
                 .begins = begins_tve,
                 .claim_rank = 3,
                 .message_fault = tve_message_fault,
                 .make = make_tve_codec},
    FormatTraits{.format = Format::jlg,
                 .name = "jlg",
                 .begins = begins_jlg,
                 .claim_rank = 4,
                 .directed = jlg_is_directed,
                 .make = make_plain_codec<Format::jlg>},
    FormatTraits{.format = Format::mtx,
                 .name = "mtx",
                 .alias = "matrix-market",
                 .begins = begins_mtx,
                 .claim_rank = 1,
                 .directed = mtx_is_directed,
                 .make = make_mtx_codec},
    FormatTraits{.format = Format::jsonl,
                 .name = "jsonl",
                 .alias = "json",
                 .configured_by_alias = true,
                 .columns = ColumnForm::names,
                 .message = MessageForm::lines,
                 .has_envelope = true,
                 .tells_kinds = true,
                 .open_text = open_json,
                 .begins = begins_json,
                 .claim_rank = 2,
                 .make = make_jsonl_codec},
    FormatTraits{.format = Format::binary,
                 .name = "binary",
                 .message = MessageForm::bytes,
                 .tells_kinds = true,
                 .magic = binary_magic,
                 .open_bytes = open_binary,
                 .make = make_binary_codec},
    FormatTraits{.format = Format::avro,
                 .name = "avro",
                 .columns = ColumnForm::names,
                 .message = MessageForm::bytes,
                 .has_envelope = true,
                 .has_schema = true,
                 .tells_kinds = true,
                 .magic = avro_magic,
                 .open_bytes = open_avro,
                 .make = make_avro_codec},
    FormatTraits{.format = Format::protobuf,
                 .name = "protobuf",
                 .columns = ColumnForm::names,
                 .message = MessageForm::bytes,
                 .has_envelope = true,
                 .has_schema = true,
                 .has_files = false,
                 .tells_kinds = true,
                 .open_bytes = open_nothing,
                 .make = make_protobuf_codec},
};

/// Says what edges lack whose columns are fixed.
void check_fixed(const FormatTraits& traits, const CodecOptions& options) {
  check_attributes(options);
  if (options.edges == EdgeModel::keyed) {
    throw Error(ErrorKind::usage, "edges",
                fmt::format("{} records have no key of an edge, which the model keyed needs", traits.name),
                "choose another model, or another format of the data");
  }
  if (options.attributes.empty() || options.doubts == nullptr) return;
  options.doubts->tell("attribute_absent",
                       fmt::format("{} records have no attributes, so all attributes of these edges are NULL", traits.name),
                       "convert the data to csv or jsonl and add them");
}

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].format) != i || table[i].name.empty()) return false;
    if (table[i].configured_by_alias && table[i].alias.empty()) return false;
  }
  return true;
}
static_assert(is_in_order(), "each value of Format has its entry, in the same order");

}  // namespace

std::span<const FormatTraits> formats() noexcept { return table; }

const FormatTraits& traits_of(Format format) noexcept { return table[static_cast<std::size_t>(format)]; }

std::optional<Format> claiming_format(const TextHead& head) {
  const FormatTraits* first = nullptr;
  for (const FormatTraits& traits : table) {
    if (traits.begins == nullptr || (first != nullptr && first->claim_rank < traits.claim_rank)) continue;
    if (traits.begins(head)) first = &traits;
  }
  return first == nullptr ? std::nullopt : std::optional(first->format);
}

std::string_view format_name(Format format) noexcept { return traits_of(format).name; }

std::optional<Format> format_by_name(std::string_view name) noexcept {
  const auto* const found =
      std::ranges::find_if(table, [&](const FormatTraits& traits) { return name == traits.name || name == traits.alias; });
  if (found == table.end() || name.empty()) return std::nullopt;
  return found->format;
}

std::unique_ptr<Codec> make_codec(Format format, const CodecOptions& options) {
  const FormatTraits& traits = traits_of(format);
  if (options.envelope != Envelope::none && !traits.has_envelope) {
    throw Error(ErrorKind::usage, "envelope", std::string(traits.name) + " records have none", "leave it out");
  }
  if (options.schema != SchemaOptions() && !traits.has_schema) {
    throw Error(ErrorKind::usage, "schema", std::string(traits.name) + " records have none", "leave it out");
  }
  if (traits.columns == ColumnForm::fixed && traits.is_text() && !options.vertices) check_fixed(traits, options);
  return traits.make(options);
}

}  // namespace deltamatch::ingest
