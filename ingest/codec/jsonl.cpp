// JSON: a record is one object, or an array of objects.
//   {"op":"+","source":"a","target":7,"label":"PAYS","source_label":"Account","target_label":"Shop","time":1700000000000000}
//   {"op":"-","vertex":"a"}
//   {"op":"u","before":{"source":"a","target":7},"after":{"source":"a","target":8},"ts_ms":1700000000000}      (a change event)
// Fields may have any order. Other fields are ignored, but must be JSON. A field that is null is absent. The record is walked
// once, along the tree of the fields that are read.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "deltamatch/labels.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/json_advice.hpp"
#include "ingest/codec/json_fields.hpp"
#include "ingest/codec/json_rows.hpp"
#include "ingest/codec/json_value.hpp"
#include "ingest/codec/name_doubts.hpp"
#include "ingest/codec/operations.hpp"
#include "ingest/codec/properties.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {
namespace {

static_assert(simdjson::SIMDJSON_PADDING <= Record::padding);

class JsonlCodec final : public Codec {
 public:
  explicit JsonlCodec(const CodecOptions& options)
      : ids_(options.ids.value_or(IdKind::automatic)),
        times_(options.time_unit.value_or(TimeUnit::microseconds), options.time_format,
               options.time_unit ? nullptr : options.doubts),
        edge_label_(options.edge_label),
        operations_(options, is_flag(named_columns(options).name(Role::op))),
        columns_(options.columns),
        spelling_(spelling_of(options)),
        doubts_(options.doubts),
        doubts_names_(options.doubts != nullptr && !options.ids),
        vertices_(options.vertices),
        event_(options.envelope == Envelope::debezium),
        fields_(options, watches_operations(options)),
        properties_(options, times_),
        row_(fields_, Part::row),
        before_(fields_, Part::before),
        rows_are_arrays_(fields_.tree().nodes()[JsonTree::root].indexed),
        may_begin_with_words_(rows_are_arrays_ && !options.header) {
    watches_label_ = watches_operations(options) && !parse_columns(options).name(Role::label);
    if (event_ && !options.op_values.empty())
      throw Error(ErrorKind::usage, "op-values", "a change event has its own operations", "leave it out");
  }

  Decoded decode(std::string_view record) override {
    if (bytes_.size() < record.size() + Record::padding) bytes_.resize(2 * record.size() + Record::padding);
    std::memcpy(bytes_.data(), record.data(), record.size());
    return decode_padded({bytes_.data(), record.size()});
  }

  void surround(const MessageFrame* frame) override { fields_.surround(frame); }

  Decoded decode_padded(std::string_view record) override {
    const std::size_t first = record.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    updates_.clear();
    properties_.begin();
    fields_.reserve(record.size());
    begin();
    element_.reset();
    std::optional<RejectReason> refused;
    if (const auto error = read(record, refused)) {
      const bool structured = record[first] == '{' || record[first] == '[';
      return refuse(RejectReason::malformed,
                    structured ? simdjson::error_message(error_alone(record, error)) : std::string(no_object));
    }
    if (refused) return refuse_whole(record, *refused);
    if (std::exchange(may_begin_with_words_, false) && is_json_header(fields_)) return header();
    if (rows_are_arrays_ && doubts_ != nullptr && updates_.size() == 1) first_rows_.look(*doubts_, updates_[0], record);
    for (std::size_t i = 1; i < updates_.size(); ++i) updates_[i].continues = true;
    return {updates_, std::nullopt, {}, {}};
  }

 private:
  static constexpr std::string_view no_object = R"(it is no JSON object such as {"source":1,"target":2})";

  static ColumnSpec named_columns(const CodecOptions& options) {
    ColumnSpec spec = parse_columns(options);
    if (spec.named()) return spec;
    throw Error(ErrorKind::usage, "columns", "fields of JSON objects have names, not positions",
                "give e.g. source=payer,target=payee");
  }

  static bool is_flag(const std::optional<std::string>& name) { return name && is_deletion_flag(*name); }
  static bool watches_operations(const CodecOptions& options) {
    const ColumnSpec spec = parse_columns(options);
    return options.doubts != nullptr && options.envelope == Envelope::none && !spec.name(Role::op) && !spec.name(Role::deleted);
  }

  [[nodiscard]] std::string advice(RejectReason reason, std::string_view /*record*/) const override {
    const std::string_view unread = fields_.names().unread_time();
    if (reason != RejectReason::missing_time || unread.empty()) return {};
    return time_column_advice(spelling_, columns_, unread);
  }

  /// Call it before an object is walked.
  void begin() {
    fields_.begin();
    message_.clear();
    lacking_.reset();
  }

  Decoded refuse_whole(std::string_view record, RejectReason reason) {
    if (reason == RejectReason::malformed || lacking_)
      message_ += json_advice(record, {fields_.tree(), columns_, spelling_, lacking_, element_});
    if (element_) message_ = fmt::format("element {}, from 0: {}", *element_, message_);
    return {{}, reason, message_, {}};
  }

  Decoded header() {
    Decoded decoded = refuse(RejectReason::malformed, "the row looks like a header, whose words would be read as ids");
    decoded.remedy = "remove the row";
    return decoded;
  }

  /// A record that is refused is still read to its end, so that all of it is checked to be JSON.
  simdjson::error_code read(std::string_view record, std::optional<RejectReason>& refused) {
    ondemand::document document;
    if (const auto error = parser_.iterate(record.data(), record.size(), record.size() + Record::padding).get(document))
      return error;
    ondemand::json_type type{};
    if (const auto error = document.type().get(type)) return error;
    if (type == ondemand::json_type::array) {
      ondemand::array array;
      if (const auto error = document.get_array().get(array)) return error;
      if (rows_are_arrays_) {
        if (const auto error = fields_.walk(array, JsonTree::root)) return error;
        refused = say();
      } else if (const auto error = read_elements(array, refused)) {
        return error;
      }
    } else {
      ondemand::object object;
      if (const auto error = document.get_object().get(object)) return error;
      if (const auto error = fields_.walk(object, JsonTree::root)) return error;
      refused = say();
    }
    return is_at_end(document) ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
  }

  /// What is wrong with a record that could not be read. simdjson looks at the byte behind a record: before a closing bracket
  /// it may find another error. So this reads a copy, which has none there.
  simdjson::error_code error_alone(std::string_view record, simdjson::error_code found) {
    const simdjson::padded_string copy(record);
    ondemand::document document;
    if (const auto error = parser_.iterate(copy).get(document)) return error;
    simdjson::error_code error{};
    if (record[record.find_first_not_of(" \t\r\n")] == '[') {
      ondemand::array array;
      error = document.get_array().get(array);
      if (!error) error = pass(array);
    } else {
      ondemand::object object;
      error = document.get_object().get(object);
      if (!error) error = pass(object);
    }
    if (error) return error;
    return is_at_end(document) ? found : simdjson::TRAILING_CONTENT;
  }

  static bool is_at_end(ondemand::document& document) { return document.current_location().error() == simdjson::OUT_OF_BOUNDS; }

  simdjson::error_code read_elements(ondemand::array array, std::optional<RejectReason>& refused) {
    std::size_t element = 0;
    for (auto item : array) {
      ondemand::value value;
      if (const auto error = item.get(value)) return error;
      if (refused) {
        if (const auto error = pass(value)) return error;
        continue;
      }
      ondemand::json_type type{};
      if (const auto error = value.type().get(type)) return error;
      begin();
      if (type == ondemand::json_type::object) {
        ondemand::object object;
        if (const auto error = value.get_object().get(object)) return error;
        if (const auto error = fields_.walk(object, JsonTree::root)) return error;
        refused = say();
      } else {
        const bool row = element == 0 && !event_;
        message_ = row ? no_row(type, columns_, vertices_, spelling_) : std::string(no_object);
        refused = RejectReason::malformed;
        if (const auto error = pass(value)) return error;
      }
      if (refused) element_ = element;
      ++element;
    }
    return simdjson::SUCCESS;
  }

  /// Appends the updates of the object that was walked. Returns a reason if it is refused.
  std::optional<RejectReason> say() {
    fields_.settle();
    if (!fields_.fault().empty()) return fault(RejectReason::malformed, fields_.fault());
    return event_ ? change() : row();
  }

  [[nodiscard]] const Scalar& of(Part part, Role role) const noexcept { return fields_.of(part, role); }
  [[nodiscard]] bool has(Part part, Role role) const noexcept { return fields_.has(part, role); }
  [[nodiscard]] std::string name(Part part, Role role) const { return fields_.name(part, role); }
  [[nodiscard]] std::optional<std::string_view> label(Part part, Role role) const noexcept {
    return has(part, role) ? std::optional(of(part, role).text) : std::nullopt;
  }

  Decoded refuse(RejectReason reason, std::string message) {
    message_ = std::move(message);
    return {{}, reason, message_, {}};
  }
  std::optional<RejectReason> fault(RejectReason reason, std::string message) {
    message_ = std::move(message);
    return reason;
  }

  std::optional<RejectReason> row() {
    bool inserts = true;
    const bool states = has(Part::row, Role::op) || has(Part::row, Role::deleted);
    if (states && !operations_.take(fields_, inserts, message_)) return RejectReason::bad_operation;
    if (!states && !fields_.removal_field().empty()) tell_unread_operation();
    if (watches_label_) watch_label(states);
    return state(Part::row, inserts, updates_.emplace_back());
  }

  void tell_unread_operation() {
    const std::string& field = fields_.removal_field();
    const bool unsure = may_count(field, fields_.removal());
    if (unsure ? doubts_->suspect_again(field) : doubts_->again("operation_unread")) return;
    const std::string what = what_of_operation(field, fields_.removal());
    const std::string remedy = remedy_of_unread(spelling_, columns_, field, fields_.removal(), fields_.insertion());
    if (unsure)
      doubts_->suspect_operation(field, what, remedy);
    else
      doubts_->tell("operation_unread", what, remedy);
  }

  void watch_label(bool states) {
    if (states) {
      watches_label_ = false;
    } else if (has(Part::row, Role::label)) {
      const std::string field = name(Part::row, Role::label);
      doubts_->guessed_label(field, of(Part::row, Role::label).text, remedy_of_label(spelling_, columns_, field));
      watches_label_ = doubts_->watches_labels();
    }
  }

  /// Applies a change event. The event for the tombstone of a removed row has a null payload and means nothing.
  std::optional<RejectReason> change() {
    const JsonTree& tree = fields_.tree();
    const bool tombstone = fields_.is_there(tree.payload) && !fields_.is_object(tree.payload);
    const Scalar& op = of(Part::envelope, Role::op);
    if (op.kind == Scalar::Kind::absent)
      return tombstone ? std::nullopt
                       : fault(RejectReason::wrong_arity, "the event has no field op, which says what has changed");
    const char kind = op.kind == Scalar::Kind::string && op.text.size() == 1 ? op.text[0] : '?';
    if (kind != 'c' && kind != 'r' && kind != 'u' && kind != 'd') {
      const std::string_view known = debezium_refusal(op.text);
      return fault(RejectReason::bad_operation,
                   fmt::format("op {} {}", in_ticks(op.text), known.empty() ? "is none of c, r, u and d" : known));
    }
    const auto lacks = [&](std::uint32_t node) {
      const std::string_view whole = "; let the database log whole rows (PostgreSQL: REPLICA IDENTITY FULL)";
      return fault(RejectReason::wrong_arity, fmt::format("the event has op {} and no row {}{}", in_ticks(op.text),
                                                          tree.nodes()[node].path, node == tree.before ? whole : ""));
    };
    // A row before that is missing or has its key alone is enough to delete an edge by its key.
    const bool keeps = kind == 'u' && properties_.keyed() && !has(Part::row, Role::vertex) && !has(Part::before, Role::edge);
    if (kind != 'c' && kind != 'r' && !keeps && !fields_.is_object(tree.before)) return lacks(tree.before);
    if (kind != 'd' && !fields_.is_object(tree.after)) return lacks(tree.after);
    if (kind == 'd') return state(Part::before, false, updates_.emplace_back());
    if (kind != 'u' || keeps) return state(Part::row, true, updates_.emplace_back());
    return replacement();
  }

  std::optional<RejectReason> replacement() {
    Update removed;
    Update added;
    std::optional<RejectReason> fault = state(Part::before, false, removed);
    if (!fault) fault = state(Part::row, true, added);
    if (fault) return fault;
    const bool vertices = removed.kind == UpdateKind::delete_vertex && added.kind == UpdateKind::insert_vertex;
    const bool same = !vertices && removed.source == added.source && removed.target == added.target &&
                      removed.label == added.label && removed.source_label == added.source_label &&
                      removed.target_label == added.target_label && removed.time == added.time;
    if (properties_.keyed() && !vertices) return keyed_replacement(removed, added);
    if (same && !attributes_changed()) return std::nullopt;
    removed.time = added.time;  // the time of the change, not of the earlier row
    // Deleting the vertex would delete its edges.
    if (!vertices || removed.source != added.source) updates_.push_back(removed);
    updates_.push_back(added);
    return std::nullopt;
  }

  /// An insertion replaces the edge of its key. Only another key needs a deletion.
  std::optional<RejectReason> keyed_replacement(Update& removed, const Update& added) {
    removed.time = added.time;
    if (removed.key() != added.key()) updates_.push_back(removed);
    updates_.push_back(added);
    return std::nullopt;
  }

  /// Whether the attributes in the two rows of a change event differ.
  bool attributes_changed() {
    if (fields_.tree().columns().attributes.empty()) return false;
    Update before;
    Update after;
    before.kind = after.kind = UpdateKind::insert_edge;
    const bool read = !properties_.take_edge(before_, before) && !properties_.take_edge(row_, after);
    return !read || !same_properties(before, after);
  }

  /// Reads the update that a row states.
  std::optional<RejectReason> state(Part part, bool inserts, Update& update) {
    update = {};
    if (of(part, Role::time).kind == Scalar::Kind::instant) {
      update.time = of(part, Role::time).number;
    } else if (has(part, Role::time)) {
      const std::string_view text = of(part, Role::time).text;
      update.time = times_.read(text, of(part, Role::time).kind == Scalar::Kind::number);
      if (!update.time && !has(part, Role::source) && !has(part, Role::vertex)) return edge(part, inserts, update);
      if (!update.time) {
        return fault(RejectReason::bad_time,
                     fmt::format("{} {} {}", name(part, Role::time), in_ticks(text), times_.fault(text)));
      }
    }
    return has(part, Role::vertex) ? vertex(part, inserts, update) : edge(part, inserts, update);
  }

  std::optional<RejectReason> vertex(Part part, bool inserts, Update& update) {
    if (has(part, Role::source) || has(part, Role::target)) {
      return fault(RejectReason::wrong_arity,
                   fmt::format("give a vertex or an edge, not {} with {} or {}", name(part, Role::vertex),
                               name(part, Role::source), name(part, Role::target)));
    }
    if (!take_id(part, Role::vertex, update.source)) return RejectReason::bad_id;
    update.kind = inserts ? UpdateKind::insert_vertex : UpdateKind::delete_vertex;
    update.source_label = label(part, has(part, Role::label) ? Role::label : Role::labels);
    if (has(part, Role::label) && has(part, Role::labels))
      update.source_label = fields_.unite(of(part, Role::label).text, of(part, Role::labels).text);
    if (inserts) {
      update.label = label(part, Role::add_labels).value_or(std::string_view());
      update.target_label = label(part, Role::remove_labels);
    }
    look_at_labels(part);
    for (const Role role : {Role::label, Role::labels}) {
      if (!is_several_labels(of(part, role).text)) tell_several_labels(doubts_, of(part, role).text, LabelPlace::json);
    }
    return told(properties_.take_vertex(part == Part::before ? before_ : row_, update));
  }

  /// Takes the message about properties that are refused.
  std::optional<RejectReason> told(std::optional<RejectReason> refused) {
    if (refused) message_ = properties_.message();
    return refused;
  }

  std::optional<RejectReason> edge(Part part, bool inserts, Update& update) {
    update.kind = inserts ? UpdateKind::insert_edge : UpdateKind::delete_edge;
    const bool ends = has(part, Role::source) && has(part, Role::target);
    // A change event need not have the whole row that is deleted, so its ends are not to be trusted.
    update.by_key = properties_.keyed() && !inserts && (event_ || !ends);
    if (update.by_key) return told(properties_.take_edge(part == Part::before ? before_ : row_, update));
    for (const Role role : {Role::source, Role::target}) {
      if (has(part, role)) continue;
      if (vertices_ && !has(part, Role::source) && !has(part, Role::target)) {
        lacking_ = Role::vertex;
        return fault(RejectReason::wrong_arity, fmt::format("there is no {}", name(part, Role::vertex)));
      }
      const std::string path = name(part, role);
      if (fields_.tree().columns().name(role).value_or("").find('.') == std::string::npos) lacking_ = role;
      return fault(RejectReason::wrong_arity, fmt::format("there is no {}", path));
    }
    if (!take_id(part, Role::source, update.source) || !take_id(part, Role::target, update.target)) return RejectReason::bad_id;
    update.label = label(part, Role::label).value_or(std::string_view(edge_label_));
    if (is_several_labels(update.label)) {
      return fault(RejectReason::malformed, fmt::format("{} are several labels, but an edge has one", name(part, Role::label)));
    }
    update.source_label = label(part, Role::source_label);
    update.target_label = label(part, Role::target_label);
    look_at_labels(part);
    return told(properties_.take_edge(part == Part::before ? before_ : row_, update));
  }

  void look_at_labels(Part part) {
    if (doubts_ == nullptr) return;
    for (const Role role : {Role::label, Role::source_label, Role::target_label}) {
      const std::string_view text = of(part, role).text;
      if (may_be_odd_label(text) && !is_several_labels(text)) [[unlikely]]
        doubt_label(*doubts_, role_name(role), text, false, true);
    }
  }

  bool take_id(Part part, Role role, Id& id) {
    const Scalar& scalar = of(part, role);
    IdFault fault = IdFault::none;
    if (scalar.kind == Scalar::Kind::text) {
      fault = parse_id(scalar.text, ids_, id);
    } else if (scalar.kind == Scalar::Kind::string && ids_ != IdKind::integer) {
      if (scalar.text.empty()) fault = IdFault::empty;
      if (ids_ == IdKind::automatic && may_be_missing(scalar.text) && is_missing_value(scalar.text)) fault = IdFault::missing;
      id = Id(scalar.text);
    } else {
      fault = parse_id(scalar.text, ids_ == IdKind::automatic ? IdKind::integer : ids_, id);
    }
    if (fault == IdFault::none) [[likely]] {
      if (doubts_names_ && id.is_text() && has_other_bytes(id.text())) [[unlikely]]
        doubt_invisible(*doubts_, role_name(role), id.text(), true);
      if (doubts_names_ && id.is_text() && may_be_addresses(id.text())) [[unlikely]]
        doubt_addresses(*doubts_, role_name(role), id.text());
      return true;
    }
    message_ = fmt::format("{} {} {}", name(part, role), in_ticks(scalar.text), fault_text(fault));
    if (fault == IdFault::missing) message_ += missing_id_remedy(spelling_, false);
    return false;
  }

  IdKind ids_;
  TimeReader times_;
  std::string edge_label_;
  JsonOperation operations_;
  std::string columns_;
  OptionSpelling spelling_;
  Doubts* doubts_;
  bool doubts_names_;  // nobody has stated what ids are
  bool vertices_;
  bool event_;
  JsonFields fields_;
  PropertyReader properties_;
  Row row_;                     // of a record; in a change event the row after the change
  Row before_;                  // of a change event
  bool watches_label_ = false;  // the label has a usual name
  bool rows_are_arrays_;
  bool may_begin_with_words_;  // the first row, if rows are arrays
  FirstRows first_rows_;
  std::optional<Role> lacking_;         // its field is missing
  std::optional<std::size_t> element_;  // of the record's array that is refused
  ondemand::parser parser_;
  std::vector<char> bytes_;
  std::vector<Update> updates_;
  std::string message_;
};

}  // namespace

bool reads_arrays_as_rows(const CodecOptions& options) {
  const JsonTree tree(options);
  return tree.nodes()[JsonTree::root].indexed;
}

std::unique_ptr<Codec> make_jsonl_codec(const CodecOptions& options) { return std::make_unique<JsonlCodec>(options); }

}  // namespace deltamatch::ingest
