// One JSON record: a row, an array of rows, or a change event. The first byte says which.
// - Bytes behind the record, and records before it, change nothing.
// - What is accepted is JSON to a parser that reads it whole.
// - If its updates are written and read again, they are the same.
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/codec/binary.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/schema_text.hpp"
#include "ingest/codec/text_records.hpp"
#include "ingest/source/record_source.hpp"

namespace {

using namespace deltamatch;
using namespace deltamatch::ingest;

CodecOptions options_of(std::uint8_t choice) {
  CodecOptions options;
  options.ids = static_cast<IdKind>(choice % 3);
  if ((choice & 4) != 0) options.envelope = Envelope::debezium;
  constexpr const char* rows[] = {"", "source=a.b,target=a.c.d,source_label=a.k,target_label=a.k", R"(source=a\.b,target="c)",
                                  "vertex=id,label=a.k"};
  constexpr const char* events[] = {"", "label=.source.table,time=.ts_ms", "source=a.b,target=.source.to", "vertex=id"};
  constexpr const char* elements[] = {"source=0,target=1", "source=a.0.b,target=a.1",
                                      "deleted=a,op=", "op=__deleted,label=l.2"};
  options.columns = options.envelope == Envelope::none ? rows[choice >> 3 & 3] : events[choice >> 3 & 3];
  if ((choice & 128) != 0 && options.envelope == Envelope::none) {
    options.columns = elements[choice >> 3 & 3];
    options.op_values = "x,1=-;y=+";
  }
  if (options.ids == IdKind::string) {
    options.edges = EdgeModel::keyed;
    options.attributes = parse_attributes("n:decimal(2),s:symbol=z.s,b:bool", AttributesOf::edges, "");
    options.vertex_attributes = parse_attributes("n:int", AttributesOf::vertices, "");
  }
  if ((choice & 32) != 0) options.time_unit = TimeUnit::milliseconds;
  if ((choice & 64) != 0) options.vertices = true;
  return options;
}

/// What a record says, in bytes that can be compared.
struct Outcome {
  explicit Outcome(const Decoded& decoded) : refused(decoded.refused), message(decoded.message) {
    for (const Update& update : decoded.updates) {
      append_binary_framed(updates, update);
      append_jsonl(updates, update);  // with the key
    }
    if (refused && !decoded.updates.empty()) std::abort();
    if (!decoded.remedy.empty()) std::abort();
    for (std::size_t i = 0; i < decoded.updates.size(); ++i) {
      if (decoded.updates[i].continues != (i != 0)) std::abort();
    }
  }
  std::optional<RejectReason> refused;
  std::string message;
  std::string updates;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

void check_json(std::string_view record) {
  simdjson::dom::parser parser;
  const simdjson::padded_string copy(record);
  switch (parser.parse(copy).error()) {
    case simdjson::SUCCESS:
    case simdjson::NUMBER_ERROR:  // beyond 64 bits: not looked at, or a bad id or time
      return;
    case simdjson::STRING_ERROR:  // bytes that are not UTF-8 are written as halves of pairs
      if (record.find("\\uDC") != std::string_view::npos || record.find("\\udc") != std::string_view::npos ||
          record.find("\\udC") != std::string_view::npos || record.find("\\uDc") != std::string_view::npos) {
        return;
      }
      std::abort();
    default:
      std::abort();
  }
}

void check_rewritten(const Decoded& decoded, const CodecOptions& how) {
  const IdKind ids = *how.ids;
  CodecOptions options;
  options.ids = ids;
  options.edges = how.edges;
  options.attributes = how.attributes;
  options.vertex_attributes = how.vertex_attributes;
  for (AttributeColumn& column : options.attributes) column.column.clear();
  const Schema schema = schema_of(options);
  const auto again = make_codec(Format::jsonl, options);
  for (const Update& update : decoded.updates) {
    if (update.source.is_text() && update.source.text().empty()) std::abort();
    if (ids == IdKind::integer && (update.source.is_text() || update.target.is_text())) std::abort();
    std::string line;
    append_jsonl(line, update, schema);
    std::string expected;
    append_binary_framed(expected, update);
    append_jsonl(expected, update);
    if (Outcome(again->decode(line)).updates != expected) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const CodecOptions options = options_of(data[0]);
  const std::string_view record(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto codec = make_codec(Format::jsonl, options);
  const Decoded decoded = codec->decode(record);
  const Outcome outcome(decoded);
  check_rewritten(decoded, options);
  const bool blank = record.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (outcome.refused != RejectReason::malformed && !blank) check_json(record);

  for (const char tail : {'"', '}', '1', '\\'}) {
    std::string padded(record);
    padded.append(Record::padding, tail);
    if (Outcome(codec->decode_padded(std::string_view(padded).substr(0, record.size()))) != outcome) std::abort();
  }
  return 0;
}
