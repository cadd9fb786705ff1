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
      times_(options.time_unit.value_or(traits_of(format).columns == ColumnForm::names ? TimeUnit::microseconds
                                                                                       : TimeUnit::seconds),
             options.time_format),
      properties_(of_message(traits_of(format).columns == ColumnForm::fixed ? CodecOptions() : options), times_),
      ids_(options.ids.value_or(IdKind::automatic)),
      edge_label_(options.edge_label),
      vertex_(surroundings_.has(Role::vertex)),
      ends_(!vertex_ && !surroundings_.has(Role::edge) && surroundings_.has(Role::source) && surroundings_.has(Role::target)),
      model_(options.edges),
      deletes_(vertex_ || surroundings_.has(Role::edge) || ends_) {}

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
  } else if (!time.text.empty() && !(update_.time = times_.read(time.text, time.kind == Scalar::Kind::number))) {
    return refuse(RejectReason::bad_time, fmt::format("time {} is not a time, or beyond the range", in_ticks(time.text)));
  }
  if (vertex_) {
    if (take_id(Role::vertex, update_.source)) return {{&update_, 1}, std::nullopt, {}, {}};
    return {{}, RejectReason::bad_id, message_, {}};
  }
  if (ends_) return delete_by_ends();
  update_.by_key = true;
  properties_.begin();
  if (const auto reason = properties_.take_key(value(Role::edge), "kafka:key", update_))
    return refuse(*reason, properties_.message());
  return {{&update_, 1}, std::nullopt, {}, {}};
}

/// Reads an id. Returns false and sets the message if it is none.
bool TombstoneReader::take_id(Role role, Id& id) {
  const Scalar found = value(role);
  const bool text = found.kind == Scalar::Kind::string && ids_ != IdKind::integer;
  const IdFault fault = text && !found.text.empty() ? IdFault::none : parse_id(found.text, ids_, id);
  if (text) id = Id(found.text);
  if (fault == IdFault::none) return true;
  message_ = fmt::format("the message's key {} {}", in_ticks(found.text), fault_text(fault));
  return false;
}

Decoded TombstoneReader::delete_by_ends() {
  if (model_ != EdgeModel::simple) {
    return refuse(
        RejectReason::malformed,
        "a message without a value has the ends of its edge, but here edges are more than their ends; give edges keys, "
        "and name the one in the message's key: edge=kafka:key");
  }
  const auto& label_column = spec_.name(Role::label);
  if (!surroundings_.has(Role::label) && (!label_column || !label_column->empty())) {
    return refuse(RejectReason::malformed,
                  "a message without a value does not say the label of its edge; let the message's key have it, or say that no "
                  "record has one: label=");
  }
  if (!take_id(Role::source, update_.source) || !take_id(Role::target, update_.target))
    return {{}, RejectReason::bad_id, message_, {}};
  const Scalar label = value(Role::label);
  update_.label = label.kind == Scalar::Kind::absent ? std::string_view(edge_label_) : label.text;
  return {{&update_, 1}, std::nullopt, {}, {}};
}

Decoded TombstoneReader::refuse(RejectReason reason, std::string message) {
  message_ = std::move(message);
  return {{}, reason, message_, {}};
}

}  // namespace deltamatch::ingest
