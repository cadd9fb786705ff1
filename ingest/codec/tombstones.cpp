#include "ingest/codec/tombstones.hpp"

#include <fmt/format.h>

#include <utility>

#include "ingest/codec/formats.hpp"

namespace deltamatch::ingest {
namespace {

CodecOptions of_message(CodecOptions options) {
  options.message = true;
  options.doubts = nullptr;
  return options;
}

/// The columns, if the format has columns that can be named.
ColumnSpec columns_of(Format format, const CodecOptions& options) {
  return traits_of(format).columns == ColumnForm::fixed ? ColumnSpec() : parse_columns(of_message(options));
}

}  // namespace

TombstoneReader::TombstoneReader(Format format, const CodecOptions& options)
    : spec_(columns_of(format, options)),
      surroundings_(spec_),
      times_(options.time_unit.value_or(format == Format::jsonl ? TimeUnit::microseconds : TimeUnit::seconds),
             options.time_format),
      properties_(of_message(traits_of(format).columns == ColumnForm::fixed ? CodecOptions() : options), times_),
      ids_(options.ids.value_or(IdKind::automatic)),
      vertex_(surroundings_.has(Role::vertex)),
      deletes_(vertex_ || surroundings_.has(Role::edge)) {}

Scalar TombstoneReader::value(Role role) const {
  for (std::size_t column = 0; column < surroundings_.size(); ++column) {
    if (surroundings_.role(column) == role) return surroundings_.value(column);
  }
  return {};
}

Decoded TombstoneReader::decode(const MessageFrame& frame) {
  if (std::string fault = surroundings_.take(&frame); !fault.empty()) return refuse(RejectReason::malformed, std::move(fault));
  update_ = {};
  update_.kind = vertex_ ? UpdateKind::delete_vertex : UpdateKind::delete_edge;
  const Scalar time = value(Role::time);
  if (time.kind == Scalar::Kind::instant) {
    update_.time = time.number;
  } else if (!time.text.empty() && !(update_.time = times_.read(time.text))) {
    return refuse(RejectReason::bad_time, fmt::format("time {} is not a time, or beyond the range", in_ticks(time.text)));
  }
  if (vertex_) {
    const Scalar id = value(Role::vertex);
    const bool text = id.kind == Scalar::Kind::string && ids_ != IdKind::integer;
    const IdFault fault = text && !id.text.empty() ? IdFault::none : parse_id(id.text, ids_, update_.source);
    if (text) update_.source = Id(id.text);
    if (fault == IdFault::none) return {{&update_, 1}, std::nullopt, {}, {}};
    return refuse(RejectReason::bad_id, fmt::format("the message's key {} {}", in_ticks(id.text), fault_text(fault)));
  }
  update_.by_key = true;
  properties_.begin();
  if (const auto reason = properties_.take_key(value(Role::edge), "kafka:key", update_))
    return refuse(*reason, properties_.message());
  return {{&update_, 1}, std::nullopt, {}, {}};
}

Decoded TombstoneReader::refuse(RejectReason reason, std::string message) {
  message_ = std::move(message);
  return {{}, reason, message_, {}};
}

}  // namespace deltamatch::ingest
