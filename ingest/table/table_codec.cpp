// Reads the rows of a table. Ends, labels and times are read where they lie. Keys and attributes become scalars as those of
// JSON, so that values mean the same in both.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/labels.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/codec/name_doubts.hpp"
#include "ingest/codec/operations.hpp"
#include "ingest/codec/properties.hpp"
#include "ingest/codec/unread_operations.hpp"
#include "ingest/table/table_roles.hpp"
#include "ingest/table/table_source.hpp"

namespace deltamatch::ingest {
namespace {

class TableCodec final : public Codec, private PropertySource {
 public:
  TableCodec(const TableSource& source, const TableRoles& roles, const CodecOptions& options)
      : source_(source),
        layout_(lay_out(source.table(), roles, options)),
        spelling_(spelling_of(options)),
        ids_(options.ids.value_or(IdKind::automatic)),
        edge_label_(options.edge_label),
        vertices_(options.vertices),
        doubts_(options.doubts),
        times_(options.time_unit.value_or(TimeUnit::seconds), options.time_format,
               options.time_unit ? nullptr : options.doubts),
        operations_(options.op_values, spelling_),
        properties_(without_columns(options), times_),
        unread_(spelling_, {}),
        watches_label_(layout_.label_by_usual_name && doubts_ != nullptr && !vertices_),
        rooms_(role_count + layout_.attributes.size()) {
    keyed_ = properties_.keyed() && !vertices_;
    has_properties_ = vertices_ ? properties_.of_vertices() : properties_.of_edges();
    if (watches_label_) label_remedy_ = remedy_of_label(spelling_, {}, name(Role::label));
    watch_unread();
  }

  Decoded decode(std::string_view /*record*/) override {
    properties_.begin();
    update_.properties = nullptr;
    bool inserts = true;
    if ((has(Role::op) || has(Role::deleted)) && !take_operation(inserts)) return refusal(RejectReason::bad_operation);
    if (!take_ends(inserts)) return refusal(RejectReason::bad_id);
    if (!take_time()) return refusal(RejectReason::bad_time);
    if (vertices_) {
      update_.kind = inserts ? UpdateKind::insert_vertex : UpdateKind::delete_vertex;
      if (!take_labels_of_vertex(inserts)) return refusal(RejectReason::malformed);
    } else {
      update_.kind = inserts ? UpdateKind::insert_edge : UpdateKind::delete_edge;
      if (!take_labels_of_edge()) return refusal(RejectReason::malformed);
    }
    if (has_properties_) {
      if (keyed_ && !check_key()) return refusal(RejectReason::bad_id);
      const auto refused = vertices_ ? properties_.take_vertex(*this, update_) : properties_.take_edge(*this, update_);
      if (refused) {
        message_ = properties_.message();
        return refusal(*refused);
      }
    }
    if (!unread_.empty()) [[unlikely]]
      see_unread();
    return {{&update_, 1}, std::nullopt, {}, {}};
  }

 private:
  static CodecOptions without_columns(CodecOptions options) {
    options.columns.clear();
    return options;
  }

  [[nodiscard]] bool has(Role role) const noexcept { return layout_.columns.has(role); }
  [[nodiscard]] const Column& column(Role role) const noexcept {
    return source_.table().columns()[static_cast<std::size_t>(layout_.columns.column(role))];
  }
  [[nodiscard]] Cell cell(Role role) const noexcept { return has(role) ? column(role).cell(source_.row()) : Cell(); }
  [[nodiscard]] std::string_view text(Role role, const Cell& cell) const noexcept {
    return text_of(cell, rooms_[static_cast<std::size_t>(role)]);
  }
  [[nodiscard]] std::string_view role_text(Role role) const noexcept {
    return is_attribute(role) ? std::string_view(layout_.attributes[attribute_of(role)]) : role_name(role);
  }

  // The scalars of keys and attributes.
  [[nodiscard]] std::string name(Role role) const override {
    return has(role) ? column(role).name() : std::string(role_text(role));
  }
  [[nodiscard]] Scalar value(Role role) const override {
    if (!has(role)) return {};
    Cell cell = this->cell(role);
    if (role == Role::edge && cell.kind == Cell::Kind::decimal) take_whole(cell);
    switch (cell.kind) {
      case Cell::Kind::null:
        return {Scalar::Kind::null};
      case Cell::Kind::integer:
      case Cell::Kind::decimal:
      case Cell::Kind::real:
        return {Scalar::Kind::number, text(role, cell)};
      case Cell::Kind::boolean:
        return {Scalar::Kind::boolean, text(role, cell)};
      case Cell::Kind::text:
        return {Scalar::Kind::string, cell.text};
      case Cell::Kind::time:
        if (in_range(cell.number)) return {Scalar::Kind::instant, text(role, cell), static_cast<std::int64_t>(cell.number)};
        return {Scalar::Kind::string, text(role, cell)};
      case Cell::Kind::other:
        break;
    }
    return {Scalar::Kind::composed, cell.text};
  }

  /// Makes a decimal that is a whole number an integer.
  static void take_whole(Cell& cell) noexcept {
    std::int64_t number = 0;
    if (whole_number(cell, number) == WholeFault::none) cell = {.kind = Cell::Kind::integer, .number = number};
  }

  static bool in_range(Int128 time) noexcept {
    // The graph means an edge without a time by the least number.
    return time > std::numeric_limits<Timestamp>::min() && time <= std::numeric_limits<Timestamp>::max();
  }

  bool take_operation(bool& inserts) {
    std::optional<bool> op;
    std::optional<bool> flag;
    const auto read = [&](Role role, std::optional<bool>& says) {
      if (!has(role)) return true;
      const Cell cell = this->cell(role);
      if (cell.kind == Cell::Kind::null && role == Role::deleted) return true;
      const std::string_view value = text(role, cell);
      says = value == "+" || value == "-" ? std::optional(value == "+") : operations_.read(value, role == Role::deleted);
      if (!says) message_ = operations_.refusal(name(role), value, role == Role::deleted);
      return says.has_value();
    };
    if (!read(Role::op, op) || !read(Role::deleted, flag)) return false;
    if (op && flag && *op != *flag) {
      message_ = operations_.contradiction(name(Role::op), text(Role::op, cell(Role::op)), name(Role::deleted),
                                           text(Role::deleted, cell(Role::deleted)));
      return false;
    }
    inserts = op.value_or(flag.value_or(true));
    return true;
  }

  /// A deletion by key needs no ends.
  bool take_ends(bool inserts) {
    update_.by_key = false;
    if (vertices_) return take_id(Role::vertex, update_.source);
    const Cell source = cell(Role::source);
    const Cell target = cell(Role::target);
    if (keyed_ && !inserts && (source.kind == Cell::Kind::null || target.kind == Cell::Kind::null)) {
      update_.by_key = true;
      update_.source = update_.target = Id();
      return true;
    }
    return take_id(Role::source, source, update_.source) && take_id(Role::target, target, update_.target);
  }

  bool take_id(Role role, Id& id) { return take_id(role, cell(role), id); }
  bool take_id(Role role, const Cell& cell, Id& id) {
    switch (cell.kind) {
      case Cell::Kind::integer:
      case Cell::Kind::real:
      case Cell::Kind::decimal: {
        std::int64_t number = 0;
        const WholeFault fault = whole_number(cell, number);
        if (fault != WholeFault::none) [[unlikely]]
          return refuse_number(role, cell, fault);
        if (ids_ != IdKind::string) [[likely]] {
          id = Id(number);
          return true;
        }
        id = Id(text(role, Cell{.kind = Cell::Kind::integer, .number = number}));
        return true;
      }
      case Cell::Kind::text:
        return take_text_id(role, cell.text, id);
      case Cell::Kind::null:
        message_ = fmt::format("{} is null, so the row has no {}", in_ticks(name(role)), role_text(role));
        return false;
      case Cell::Kind::boolean:
      case Cell::Kind::time:
      case Cell::Kind::other:
        break;
    }
    message_ =
        fmt::format("{} is a {}, but a {} is an integer or a text", in_ticks(name(role)), type_of(role, cell), role_text(role));
    return false;
  }

  bool refuse_number(Role role, const Cell& cell, WholeFault fault) {
    std::string_view why;
    switch (fault) {
      case WholeFault::inexact:
        why = "is a float of 2^53 or more, which may stand for several integers; read the column as int64, or as a text";
        break;
      case WholeFault::out_of_range:
        why = "does not fit in 64 bits; read the column as a text";
        break;
      case WholeFault::fraction:
      case WholeFault::none:
        why = "is no whole number; an id is an integer or a text";
        break;
    }
    message_ = fmt::format("{} {}, the {}, {}", name(role), in_ticks(text(role, cell)), role_text(role), why);
    return false;
  }

  /// As in JSON, a text that is an id may hold any character.
  bool take_text_id(Role role, std::string_view text, Id& id) {
    IdFault fault = text.empty() ? IdFault::empty : IdFault::none;
    if (ids_ == IdKind::automatic && may_be_missing(text) && is_missing_value(text)) fault = IdFault::missing;
    if (ids_ == IdKind::integer) fault = parse_id(text, IdKind::integer, id);
    if (ids_ != IdKind::integer) id = Id(text);
    if (fault == IdFault::none) [[likely]]
      return true;
    message_ = fmt::format("{} {}, the {}, {}", name(role), in_ticks(text), role_text(role),
                           fault == IdFault::missing ? "stands for a missing one" : fault_text(fault));
    if (fault == IdFault::missing) message_ += missing_id_remedy(spelling_, false);
    return false;
  }

  /// Keys of floats are judged as ids are. All else is left to the reader of properties.
  bool check_key() {
    const Cell key = cell(Role::edge);
    std::int64_t number = 0;
    if (key.kind != Cell::Kind::real && key.kind != Cell::Kind::decimal) return true;
    const WholeFault fault = whole_number(key, number);
    return fault == WholeFault::none || refuse_number(Role::edge, key, fault);
  }

  bool take_time() {
    update_.time.reset();
    if (!has(Role::time)) return true;
    const Cell cell = this->cell(Role::time);
    switch (cell.kind) {
      case Cell::Kind::null:
        return true;
      case Cell::Kind::time:
        if (in_range(cell.number)) [[likely]] {
          update_.time.emplace(static_cast<Timestamp>(cell.number));
          return true;
        }
        break;
      case Cell::Kind::integer:
      case Cell::Kind::decimal:
      case Cell::Kind::real:
      case Cell::Kind::text:
        if (cell.kind == Cell::Kind::text && cell.text.empty()) return true;
        update_.time = times_.read(text(Role::time, cell));
        if (update_.time) return true;
        break;
      case Cell::Kind::boolean:
      case Cell::Kind::other:
        break;
    }
    message_ = fmt::format("{} {} is not a time, or beyond the range", name(Role::time), in_ticks(text(Role::time, cell)));
    return false;
  }

  /// A label is a text or a number. Null and the empty text say none.
  bool take_label(Role role, std::string_view& label) {
    const Cell cell = this->cell(role);
    if (cell.kind == Cell::Kind::boolean || cell.kind == Cell::Kind::time) {
      message_ = fmt::format("{} is a {}, but a label is a text or a number", in_ticks(name(role)), type_of(role, cell));
      return false;
    }
    if (cell.kind == Cell::Kind::other) {
      if (says_labels(role) && role != Role::label && column(role).lists_texts()) return take_list(role, label);
      if (vertices_ && column(role).lists_texts()) return take_list(role, label);
      message_ = fmt::format("{} is a {}, but a label is a text or a number", in_ticks(name(role)), type_of(role, cell));
      return false;
    }
    if (is_label_list(role) && cell.kind == Cell::Kind::text) {
      list_of(role) = labels_in_cell(cell.text);
      label = list_of(role);
      return true;
    }
    label = text(role, cell);
    if (doubts_ != nullptr && may_be_odd_label(label)) [[unlikely]]
      doubt_label(*doubts_, role_name(role), label, false);
    return true;
  }

  bool take_list(Role role, std::string_view& label) {
    const Column& lists = column(role);
    const Column::Range range = lists.list(source_.row());
    std::vector<std::string_view> labels;
    for (std::int64_t item = range.first; item < range.last; ++item) labels.push_back(lists.items().cell(item).text);
    list_of(role) = join_labels(std::move(labels));
    label = list_of(role);
    return true;
  }

  std::string& list_of(Role role) noexcept { return lists_[static_cast<std::size_t>(role)]; }

  bool take_labels_of_edge() {
    update_.label = edge_label_;
    update_.source_label.reset();
    update_.target_label.reset();
    if (update_.by_key) {
      update_.label = {};
      return true;
    }
    if (has(Role::label)) {
      std::string_view label;
      if (!take_label(Role::label, label)) return false;
      if (!label.empty()) update_.label = label;
      if (watches_label_) [[unlikely]] {
        doubts_->guessed_label(name(Role::label), label, label_remedy_);
        watches_label_ = doubts_->watches_labels();
      }
    }
    return take_end_label(Role::source_label, update_.source_label) && take_end_label(Role::target_label, update_.target_label);
  }

  bool take_end_label(Role role, std::optional<std::string_view>& label) {
    if (!has(role)) return true;
    std::string_view text;
    if (!take_label(role, text)) return false;
    if (!text.empty()) label.emplace(text);
    return true;
  }

  /// `label` and `labels` set labels; null leaves them as they are.
  bool take_labels_of_vertex(bool inserts) {
    update_.label = {};
    update_.source_label.reset();
    update_.target_label.reset();
    std::string_view own;
    std::string_view listed;
    if (has(Role::label) && !take_label(Role::label, own)) return false;
    if (has(Role::labels) && !take_label(Role::labels, listed)) return false;
    if (!own.empty() && !listed.empty()) {
      list_of(Role::labels) = add_labels(listed, own);
      own = list_of(Role::labels);
    } else if (own.empty()) {
      own = listed;
    }
    if (!own.empty()) update_.source_label.emplace(own);
    if (!inserts) return true;
    std::string_view removed;
    if (has(Role::add_labels) && !take_label(Role::add_labels, update_.label)) return false;
    if (has(Role::remove_labels) && !take_label(Role::remove_labels, removed)) return false;
    if (!removed.empty()) update_.target_label.emplace(removed);
    return true;
  }

  [[nodiscard]] std::string type_of(Role role, const Cell& cell) const {
    switch (cell.kind) {
      case Cell::Kind::boolean:
        return "bool";
      case Cell::Kind::time:
        return "time";
      case Cell::Kind::other:
        return std::string(cell.text);
      default:
        return column(role).type();
    }
  }

  void watch_unread() {
    if (doubts_ == nullptr || has(Role::op) || has(Role::deleted)) return;
    std::vector<std::string_view> names;
    for (const Column& column : source_.table().columns()) names.push_back(column.name());
    unread_.watch(layout_.unread, names);
    fields_.resize(names.size());
    unread_rooms_.resize(names.size());
  }

  void see_unread() {
    for (const std::size_t column : layout_.unread)
      fields_[column] = text_of(source_.table().columns()[column].cell(source_.row()), unread_rooms_[column]);
    unread_.see(fields_, *doubts_);
  }

  [[nodiscard]] Decoded refusal(RejectReason reason) const { return {{}, reason, message_, {}}; }

  const TableSource& source_;
  TableLayout layout_;
  OptionSpelling spelling_;
  IdKind ids_;
  std::string edge_label_;
  bool vertices_;
  Doubts* doubts_;
  TimeReader times_;
  Operations operations_;
  PropertyReader properties_;
  UnreadOperations unread_;
  bool keyed_ = false;
  bool has_properties_ = false;
  bool watches_label_;
  std::string label_remedy_;
  Update update_;
  std::string message_;
  std::array<std::string, role_count> lists_;  // labels that were joined, by role
  mutable std::vector<NumberText> rooms_;      // texts of numbers, by role
  std::vector<std::string_view> fields_;       // of columns that are not read
  std::vector<NumberText> unread_rooms_;
};

}  // namespace

std::unique_ptr<Codec> make_table_codec(const TableSource& source, const TableRoles& roles, const CodecOptions& options) {
  return std::make_unique<TableCodec>(source, roles, options);
}

}  // namespace deltamatch::ingest
