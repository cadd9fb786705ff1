// Bytes through detection, every codec and the batcher. The first four bytes choose the options, the rest is the stream.
// Whatever comes, the stream ends or an Error ends it; and reading ahead or another cut into batches changes nothing.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/formats.hpp"
#include "ingest/codec/schema_text.hpp"
#include "ingest/stream.hpp"

namespace {

using namespace deltamatch;
using namespace deltamatch::ingest;

struct Outcome {
  std::vector<std::uint64_t> lines;
  std::vector<Timestamp> times;
  std::uint64_t refused = 0;
  std::string error;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

void check_properties(const Update& update, const CodecOptions& options) {
  const bool edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
  if (edge && (options.edges == EdgeModel::keyed) != update.key().has_value()) std::abort();
  if (update.by_key && (update.kind != UpdateKind::delete_edge || !update.key())) std::abort();
  if (update.properties == nullptr || update.properties->attributes.empty()) return;
  const auto& declared = edge ? options.attributes : options.vertex_attributes;
  if (update.properties->attributes.size() != declared.size()) std::abort();
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const AttributeValue& value = update.properties->attributes[i];
    if (const auto* real = std::get_if<double>(&value); real != nullptr && !std::isfinite(*real)) std::abort();
    const bool symbol = declared[i].attribute.type.kind == AttributeType::Kind::symbol;
    if (!std::holds_alternative<std::monostate>(value) && symbol != std::holds_alternative<std::string_view>(value))
      std::abort();
  }
}

Outcome read(std::string_view bytes, const ReadOptions& options) {
  Outcome outcome;
  try {
    const auto stream = open_memory(bytes, "fuzz", options);
    PositionedBatch batch;
    while (stream->next(batch)) {
      if (batch.updates.empty()) std::abort();
      for (std::size_t i = 0; i < batch.updates.size(); ++i) {
        const Update& update = batch.updates.updates()[i];
        outcome.lines.push_back(batch.position(i).number);
        if (i == 0 && update.continues) std::abort();  // a record is never split
        outcome.times.push_back(update.time.value_or(0));
        if (update.source.is_text() && update.source.text().empty()) std::abort();
        if (update.source.is_text() && options.codec.ids == IdKind::integer) std::abort();
        check_properties(update, options.codec);
      }
      stream->settle(batch, {});
    }
    outcome.refused = stream->refused().total();
  } catch (const Error& error) {
    outcome.error = error.what();
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  ReadOptions options;
  options.read_ahead = 0;
  options.on_error = OnError::skip;
  options.max_record = 256;
  const std::size_t format = data[0] % (formats().size() + 1);
  if (format != 0) options.format = formats()[format - 1].format;
  options.codec.ids = static_cast<IdKind>(data[1] % 3);
  options.codec.negative_ids = data[1] % 2 == 1 && options.codec.ids == IdKind::integer;
  // Attributes go with columns that name them.
  const char* const columns[] = {"", "source,target,label,time", "source=a,target=b", "vertex,label",
                                 "op,source,target,-,time"};
  const char* const with_attributes[] = {"", "edge,source,target,n,m", "edge=k,source=a,target=b", "vertex,label,n",
                                         "op,edge,source,target,m,s,t,r,b"};
  if ((data[1] & 16) != 0) {
    options.codec.edges = EdgeModel::keyed;
    options.codec.attributes = parse_attributes("n:int,m:decimal(2),s:symbol,t:time,r:float,b:bool", AttributesOf::edges, "");
    options.codec.vertex_attributes = parse_attributes("n:int", AttributesOf::vertices, "");
    options.codec.columns = with_attributes[data[2] % 5];
  } else {
    options.codec.columns = columns[data[2] % 5];
  }
  if (data[1] >= 128) options.codec.op_values = "x,1=-;y=+";
  if (data[2] >= 128) options.codec.time_format = "%Y%m%d %H%M%S";
  options.limits.max_updates = data[3] % 8;
  options.limits.max_span = data[3] / 8;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 4, size - 4);

  const Outcome outcome = read(bytes, options);
  options.limits = {};
  if (read(bytes, options) != outcome) std::abort();
  return 0;
}
