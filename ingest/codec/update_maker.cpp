#include "ingest/codec/update_maker.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "deltamatch/labels.hpp"
#include "ingest/codec/name_doubts.hpp"

namespace deltamatch::ingest {
namespace {

/// Whether a text may be one in quotes, or a word for a missing id. Most names are not by their first character or length.
bool may_be_no_name(std::string_view text) noexcept {
  switch (text.front()) {
    case '"':
    case '\'':
    case '(':
    case '<':
    case '[':
      return true;
    case 'N':
    case 'n':
    case '-':
    case '?':
      return text.size() <= 3;
    case '#':
      return text.size() >= 4 && text.size() <= 7;
    case 'U':
    case 'u':
      return text.size() == 9;
    default:
      return false;
  }
}

}  // namespace

UpdateMaker::UpdateMaker(IdKind ids, TimeReader times, std::string edge_label, Operations operations, Doubts* doubts,
                         OptionSpelling spelling, bool quotes)
    : ids_(ids),
      times_(std::move(times)),
      edge_label_(std::move(edge_label)),
      operations_(std::move(operations)),
      doubts_(doubts),
      spelling_(std::move(spelling)),
      quotes_(quotes) {}

void UpdateMaker::name_operations(std::string op, std::string deleted) {
  op_name_ = std::move(op);
  deleted_name_ = std::move(deleted);
  op_is_flag_ = is_deletion_flag(op_name_);
}

Decoded UpdateMaker::refuse(RejectReason reason, std::string message) {
  message_ = std::move(message);
  return {{}, reason, message_, {}};
}

bool UpdateMaker::take_id(const Layout& layout, std::span<const std::string_view> fields, Role role, Id& id) {
  const auto column = static_cast<std::size_t>(layout.column(role));
  const std::string_view field = fields[column];
  bool other = false;
  IdFault fault = parse_id(field, ids_, id, other);
  if (fault == IdFault::none) [[likely]] {
    if (doubts_names_ && id.is_text() && (other || may_be_no_name(field) || may_be_of_table(field) || may_be_addresses(field)))
        [[unlikely]]
      doubt_name(field, column, role, other);
    return true;
  }
  if (fault == IdFault::missing && column < names_.size() && names_[column] != 0) fault = parse_id(field, IdKind::string, id);
  if (fault == IdFault::none) return true;
  lacks_id_ = fault == IdFault::missing;
  message_ = fmt::format("{} {} {}", role_name(role), in_ticks(field), fault_text(fault));
  if (fault == IdFault::missing) message_ += missing_id_remedy(spelling_, quotes_);
  if (fault == IdFault::not_an_integer || fault == IdFault::out_of_range)
    message_ += " (--ids string, in a configuration ids: string, keeps it as text)";
  return false;
}

/// Reports an id that may stand for a missing one, or still has its quotes. If the format has quotes, the first one is told
/// once it is known whether it is quoted.
void UpdateMaker::doubt_name(std::string_view field, std::size_t column, Role role, bool other) {
  if (column >= names_.size()) {
    if (may_be_addresses(field)) doubt_addresses(*doubts_, role_name(role), field);
    if (other) doubt_invisible(*doubts_, role_name(role), field);
    doubt_table(*doubts_, role_name(role), field, role != Role::target);
  }
  const char mark = field.front();
  const bool within_marks = field.size() > 1 && field.back() == mark;
  const auto is_name = [&] { return fmt::format("{} says that it is a name", spelling_.common("ids", "string")); };
  if (within_marks && (mark == '\'' || (mark == '"' && !quotes_))) {
    doubts_->tell("quotes_as_id",
                  fmt::format("{} {} is read with its quotes, since {}", role_name(role), in_ticks(field),
                              quotes_ ? "csv has double quotes only" : "only csv has quotes"),
                  fmt::format("leave the quotes out: tr -d {} <FILE; {}", mark == '"' ? "'\"'" : "\"'\"", is_name()));
  } else if (may_stand_for_none(field)) {
    const bool looked = column < names_.size();
    if (quotes_ && !looked) lacks_id_ = true;
    if ((quotes_ && !looked) || (looked && names_[column] != 0)) return;
    doubts_->tell(
        "missing_as_id",
        fmt::format("{} {} may mean \"missing\"; all such records share one vertex", role_name(role), in_ticks(field)),
        fmt::format("leave such records out; {}{}", quotes_ ? "quotes around it, or " : "", is_name()));
  }
}

/// Reports a label that may stand for a missing one. If the format has quotes, the first one is told once it is known whether
/// it is quoted.
void UpdateMaker::look_at_label(std::string_view label, const Layout& layout, Role role) {
  if (!may_be_odd_label(label)) [[likely]]
    return;
  const auto column = static_cast<std::size_t>(layout.column(role));
  const bool looked = column < names_.size();
  if (quotes_ && !looked && is_missing_label(label)) {
    lacks_id_ = lacks_id_ || !doubts_->again("null_as_label");
    return;
  }
  if (!looked || names_[column] == 0) doubt_label(*doubts_, role_name(role), label, quotes_);
}

/// Returns false if a value is unknown, or if the two columns contradict each other. An empty flag means nothing.
bool UpdateMaker::take_operation(const Layout& layout, std::span<const std::string_view> fields, bool& inserts) {
  const auto field = [&](Role role) { return fields[static_cast<std::size_t>(layout.column(role))]; };
  std::optional<bool> op;
  if (layout.has(Role::op) && !(op_is_flag_ && field(Role::op).empty())) {
    op = operations_.read(field(Role::op), op_is_flag_);
    if (!op) {
      message_ = operations_.refusal(op_name_, field(Role::op), op_is_flag_);
      return false;
    }
  }
  std::optional<bool> flag;
  if (layout.has(Role::deleted) && !field(Role::deleted).empty()) {
    flag = operations_.read(field(Role::deleted), true);
    if (!flag) {
      message_ = operations_.refusal(deleted_name_, field(Role::deleted), true);
      return false;
    }
  }
  if (op && flag && *op != *flag) {
    message_ = operations_.contradiction(op_name_, field(Role::op), deleted_name_, field(Role::deleted));
    return false;
  }
  inserts = op.value_or(flag.value_or(true));
  return true;
}

void UpdateMaker::read_properties(const CodecOptions& options) {
  auto extras = std::make_unique<Extras>(options, times_);
  if (extras->properties.of_edges() || extras->properties.of_vertices() || !extras->surroundings.empty())
    extras_ = std::move(extras);
}

/// The fields of a record, for the reader of properties.
class UpdateMaker::Fields final : public PropertySource {
 public:
  Fields(const UpdateMaker& maker, const Layout& layout, std::span<const std::string_view> fields)
      : maker_(maker), layout_(layout), fields_(fields) {}

  [[nodiscard]] Scalar value(Role role) const override {
    if (!layout_.has(role)) return {};
    const auto column = static_cast<std::size_t>(layout_.column(role));
    if (const auto around = surrounding(column)) return maker_.extras_->surroundings.value(*around);
    return {Scalar::Kind::text, fields_[column], 0};
  }
  [[nodiscard]] std::string name(Role role) const override {
    const std::string own(maker_.extras_->spec.role_text(role));
    if (!layout_.has(role)) return own;
    const auto column = static_cast<std::size_t>(layout_.column(role));
    if (const auto around = surrounding(column)) return maker_.extras_->surroundings.name(*around);
    if (column < maker_.column_names_.size()) return maker_.column_names_[column];
    return own;
  }

 private:
  /// The number of a column that surrounds the message.
  [[nodiscard]] std::optional<std::size_t> surrounding(std::size_t column) const {
    const std::size_t columns = maker_.extras_->columns;
    return column >= columns ? std::optional(column - columns) : std::nullopt;
  }

  const UpdateMaker& maker_;
  const Layout& layout_;
  std::span<const std::string_view> fields_;
};

Decoded UpdateMaker::make(const Layout& layout, std::span<const std::string_view> fields, std::optional<bool> sign) {
  if (!extras_) [[likely]]
    return make_fields(layout, fields, sign);
  Extras& extras = *extras_;
  extras.properties.begin();
  extras.columns = fields.size();
  if (extras.surroundings.empty()) return make_fields(layout, fields, sign);
  if (std::string fault = extras.surroundings.take(frame_); !fault.empty())
    return refuse(RejectReason::malformed, std::move(fault));
  extras.layout = layout;
  extras.fields.assign(fields.begin(), fields.end());
  for (std::size_t column = 0; column < extras.surroundings.size(); ++column) {
    extras.layout.set(extras.surroundings.role(column), fields.size() + column);
    extras.fields.push_back(extras.surroundings.value(column).text);
  }
  return make_fields(extras.layout, extras.fields, sign);
}

/// Reads the ids of a vertex, or of an edge's ends. A deletion by key needs no ends.
bool UpdateMaker::take_ends(const Layout& layout, std::span<const std::string_view> fields, bool vertex, bool inserts) {
  const auto field = [&](Role role) { return fields[static_cast<std::size_t>(layout.column(role))]; };
  update_.by_key = false;
  if (vertex) return take_id(layout, fields, Role::vertex, update_.source);
  if (extras_ && !inserts && extras_->properties.keyed() && (field(Role::source).empty() || field(Role::target).empty())) {
    update_.by_key = true;
    update_.source = update_.target = Id();
    return true;
  }
  return take_id(layout, fields, Role::source, update_.source) && take_id(layout, fields, Role::target, update_.target);
}

bool UpdateMaker::take_time(const Layout& layout, std::span<const std::string_view> fields) {
  update_.time.reset();
  if (!layout.has(Role::time)) return true;
  const auto column = static_cast<std::size_t>(layout.column(Role::time));
  if (extras_ && column >= extras_->columns) {
    const Scalar& scalar = extras_->surroundings.value(column - extras_->columns);
    if (scalar.kind == Scalar::Kind::instant) {
      update_.time = scalar.number;
      return true;
    }
  }
  if (fields[column].empty()) return true;
  update_.time = times_.read(fields[column]);
  return update_.time.has_value();
}

std::string UpdateMaker::read_list(std::string_view cell) const {
  std::string labels = labels_in_cell(cell);
  tell_several_labels(doubts_, labels, LabelPlace::list);
  return labels;
}

/// Reads the labels of a vertex, those of `label` and of `labels`. An empty cell says nothing.
void UpdateMaker::take_labels(const Layout& layout, std::span<const std::string_view> fields, bool inserts) {
  const auto cell = [&](Role role) {
    return layout.has(role) ? fields[static_cast<std::size_t>(layout.column(role))] : std::string_view();
  };
  const auto list = [&](Role role) -> std::string_view {
    if (cell(role).empty()) return {};
    return labels_[static_cast<std::size_t>(role) - static_cast<std::size_t>(Role::labels)] = read_list(cell(role));
  };
  std::string_view label = list(Role::labels);
  if (const std::string_view own = cell(Role::label); !own.empty()) {
    if (lists_labels_) {
      label = labels_[0] = add_labels(label, read_list(own));
    } else {
      tell_several_labels(doubts_, own, LabelPlace::cell);
      label = label.empty() ? own : std::string_view(labels_[0] = add_labels(label, own));
    }
  }
  update_.source_label.reset();
  if (!label.empty()) update_.source_label.emplace(label);
  if (!inserts) return;
  update_.label = list(Role::add_labels);
  if (const std::string_view removed = list(Role::remove_labels); !removed.empty()) update_.target_label.emplace(removed);
}

Decoded UpdateMaker::make_fields(const Layout& layout, std::span<const std::string_view> fields, std::optional<bool> sign) {
  const auto field = [&](Role role) { return fields[static_cast<std::size_t>(layout.column(role))]; };
  lacks_id_ = false;
  bool inserts = sign.value_or(true);
  if (!sign && (layout.has(Role::op) || layout.has(Role::deleted)) && !take_operation(layout, fields, inserts))
    return {{}, RejectReason::bad_operation, message_, {}};
  const bool vertex = layout.has(Role::vertex);
  if (!take_ends(layout, fields, vertex, inserts)) return {{}, RejectReason::bad_id, message_, {}};
  if (!take_time(layout, fields)) {
    return refuse(RejectReason::bad_time,
                  fmt::format("time {} {}", in_ticks(field(Role::time)), times_.fault(field(Role::time))));
  }
  // Labels are set in place: copying an optional that was just made would wait for its parts.
  const auto take_label = [&](Role role, std::optional<std::string_view>& label) {
    label.reset();
    if (layout.has(role) && !field(role).empty()) label.emplace(field(role));
  };
  if (vertex) {
    update_.kind = inserts ? UpdateKind::insert_vertex : UpdateKind::delete_vertex;
    update_.label = {};
    update_.target_label.reset();
    if (layout.has_labels()) {
      take_labels(layout, fields, inserts);
    } else {
      take_label(Role::source_label, update_.source_label);
    }
  } else {
    update_.kind = inserts ? UpdateKind::insert_edge : UpdateKind::delete_edge;
    update_.label = layout.has(Role::label) ? field(Role::label) : std::string_view(edge_label_);
    take_label(Role::source_label, update_.source_label);
    take_label(Role::target_label, update_.target_label);
    if (lists_ends_[0] && update_.source_label) update_.source_label = labels_of_ends_[0] = read_list(*update_.source_label);
    if (lists_ends_[1] && update_.target_label) update_.target_label = labels_of_ends_[1] = read_list(*update_.target_label);
  }
  if (doubts_ != nullptr) {
    for (const Role role : {Role::label, Role::source_label, Role::target_label}) {
      if (layout.has(role) && !(vertex && lists_labels_)) look_at_label(field(role), layout, role);
    }
  }
  if (extras_) {
    if (update_.by_key) {
      update_.label = {};
      update_.source_label = update_.target_label = std::nullopt;
    }
    const Fields source(*this, layout, fields);
    PropertyReader& properties = extras_->properties;
    const auto refused = vertex ? properties.take_vertex(source, update_) : properties.take_edge(source, update_);
    if (refused) return refuse(*refused, properties.message());
  }
  return {{&update_, 1}, std::nullopt, {}, {}};
}

}  // namespace deltamatch::ingest
