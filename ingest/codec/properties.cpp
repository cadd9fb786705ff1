#include "ingest/codec/properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ingest/codec/schema_text.hpp"

namespace deltamatch::ingest {

PropertyReader::PropertyReader(const CodecOptions& options, const TimeReader& times)
    : keyed_(options.edges == EdgeModel::keyed),
      keys_(options.ids == IdKind::string ? IdKind::string : IdKind::automatic),
      doubts_(options.doubts),
      spelling_(spelling_of(options)) {
  check_attributes(options);
  const ColumnSpec spec = parse_columns(options);
  const auto declare = [&](const std::vector<AttributeColumn>& columns, std::vector<Declared>& declared) {
    for (const AttributeColumn& column : columns) {
      const auto at = std::ranges::find(spec.attributes, column.attribute.name) - spec.attributes.begin();
      declared.push_back({attribute_role(static_cast<std::size_t>(at)), type_text(column.attribute.type),
                          ValueReader(column.attribute.type, column.base64, times, options.decimal, spelling_)});
    }
  };
  declare(options.attributes, edges_);
  declare(options.vertex_attributes, vertices_);
  // Those that are said to have no column are not missed.
  const auto none = [&](const Declared& declared) { return spec.name(declared.role) == std::string(); };
  if (doubts_ != nullptr && spec.named() && std::ranges::none_of(edges_, none)) doubts_->watch_attributes(options.attributes);
}

PropertyReader::Slot& PropertyReader::next_slot(std::size_t values) {
  if (used_ == slots_.size()) slots_.emplace_back();
  Slot& slot = slots_[used_++];
  slot.properties = {};
  slot.values.assign(values, std::monostate());
  return slot;
}

std::optional<RejectReason> PropertyReader::read_key(const Scalar& scalar, const std::string& name, std::optional<Id>& key) {
  using Kind = Scalar::Kind;
  if (scalar.kind == Kind::absent || scalar.kind == Kind::null || (scalar.kind != Kind::composed && scalar.text.empty())) {
    message_ = fmt::format("there is no {}, the key of the edge", name);
    return RejectReason::missing_key;
  }
  Id id;
  IdFault fault = IdFault::none;
  if (scalar.kind == Kind::string) {
    id = Id(scalar.text);
    if (keys_ == IdKind::automatic && is_missing_value(scalar.text)) fault = IdFault::missing;
  } else if (scalar.kind == Kind::number) {
    fault = parse_id(scalar.text, keys_ == IdKind::automatic ? IdKind::integer : keys_, id);
  } else if (scalar.kind == Kind::text) {
    fault = parse_id(scalar.text, keys_, id);
  } else {
    message_ = fmt::format("{}, the key of the edge, is neither an integer nor a text", name);
    return RejectReason::bad_id;
  }
  if (fault == IdFault::none) {
    key = id;
    return std::nullopt;
  }
  const bool missing = fault == IdFault::missing;
  message_ = fmt::format("{} {}, the key of the edge, {}", name, in_ticks(scalar.text),
                         missing ? "stands for a missing one" : fault_text(fault));
  if (missing) message_ += missing_id_remedy(spelling_, false);
  return missing ? RejectReason::missing_key : RejectReason::bad_id;
}

std::optional<RejectReason> PropertyReader::read_values(const PropertySource& source, const std::vector<Declared>& declared,
                                                        Slot& slot) {
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const Scalar scalar = source.value(declared[i].role);
    if (const auto fault = declared[i].reader.read(scalar, slot.values[i])) {
      const std::string value = scalar.text.empty() ? std::string() : in_ticks(scalar.text) + " ";
      message_ = fmt::format("{} {}{}; {}", source.name(declared[i].role), value, fault->what, fault->remedy);
      return RejectReason::bad_value;
    }
    if (doubts_ != nullptr && ValueReader::may_be_missing(scalar, slot.values[i]) && !doubts_->again("missing_as_value")) {
      doubts_->tell("missing_as_value",
                    fmt::format("{} {} may mean \"missing\", but is read as a symbol", source.name(declared[i].role),
                                in_ticks(scalar.text)),
                    "leave the field empty if there is no value");
    }
  }
  slot.properties.attributes = slot.values;
  return std::nullopt;
}

std::optional<RejectReason> PropertyReader::take_edge(const PropertySource& source, Update& update) {
  const bool inserts = update.kind == UpdateKind::insert_edge;
  update.properties = nullptr;
  if (!keyed_ && (!inserts || edges_.empty())) return std::nullopt;
  Slot& slot = next_slot(inserts ? edges_.size() : 0);
  if (keyed_) {
    const Scalar key = source.value(Role::edge);
    if (read_key(key, {}, slot.properties.key)) return read_key(key, source.name(Role::edge), slot.properties.key);
  }
  if (inserts) {
    if (const auto reason = read_values(source, edges_, slot)) return reason;
    if (doubts_ != nullptr) doubts_->see_attributes(slot.values);
  }
  update.properties = &slot.properties;
  return std::nullopt;
}

std::optional<RejectReason> PropertyReader::take_vertex(const PropertySource& source, Update& update) {
  update.properties = nullptr;
  if (update.kind != UpdateKind::insert_vertex || vertices_.empty()) return std::nullopt;
  const auto states = [&](const Declared& declared) { return source.value(declared.role).kind != Scalar::Kind::absent; };
  if (std::ranges::none_of(vertices_, states)) return std::nullopt;
  Slot& slot = next_slot(vertices_.size());
  if (const auto reason = read_values(source, vertices_, slot)) return reason;
  update.properties = &slot.properties;
  return std::nullopt;
}

std::optional<RejectReason> PropertyReader::take_key(const Scalar& scalar, const std::string& name, Update& update) {
  Slot& slot = next_slot(0);
  if (const auto reason = read_key(scalar, name, slot.properties.key)) return reason;
  update.properties = &slot.properties;
  return std::nullopt;
}

bool same_properties(const Update& a, const Update& b) {
  const Properties none;
  const Properties& of_a = a.properties == nullptr ? none : *a.properties;
  const Properties& of_b = b.properties == nullptr ? none : *b.properties;
  return of_a.key == of_b.key && std::ranges::equal(of_a.attributes, of_b.attributes);
}

}  // namespace deltamatch::ingest
