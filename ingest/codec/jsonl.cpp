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
#include "ingest/codec/columns.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/json_advice.hpp"
#include "ingest/codec/json_fields.hpp"
#include "ingest/codec/json_value.hpp"
#include "ingest/codec/name_doubts.hpp"
#include "ingest/codec/operations.hpp"
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
        operations_(options.op_values, spelling_of(options), options.columns),
        columns_(options.columns),
        spelling_(spelling_of(options)),
        doubts_(options.doubts),
        doubts_names_(options.doubts != nullptr && !options.ids),
        vertices_(options.vertices),
        event_(options.envelope == Envelope::debezium),
        op_is_flag_(is_flag(named_columns(options).name(Role::op))),
        fields_(options, watches_operations(options)),
        rows_are_arrays_(fields_.tree().nodes()[JsonTree::root].indexed),
        may_begin_with_words_(rows_are_arrays_ && !options.header) {
    watches_label_ = watches_operations(options) && !parse_columns(options.columns).name(Role::label);
    if (event_ && !options.op_values.empty())
      throw Error(ErrorKind::usage, "op-values", "a change event has its own operations", "leave it out");
  }

  Decoded decode(std::string_view record) override {
    if (bytes_.size() < record.size() + Record::padding) bytes_.resize(2 * record.size() + Record::padding);
    std::memcpy(bytes_.data(), record.data(), record.size());
    return decode_padded({bytes_.data(), record.size()});
  }

  Decoded decode_padded(std::string_view record) override {
    const std::size_t first = record.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    updates_.clear();
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
    if (std::exchange(may_begin_with_words_, false) && is_header()) return header();
    if (first_rows_ < rows_that_tell && rows_are_arrays_ && doubts_ != nullptr) look_at_row(record);
    for (std::size_t i = 1; i < updates_.size(); ++i) updates_[i].continues = true;
    return {updates_, std::nullopt, {}, {}};
  }

 private:
  static constexpr std::string_view no_object = R"(it is no JSON object such as {"source":1,"target":2})";

  static ColumnSpec named_columns(const CodecOptions& options) {
    ColumnSpec spec = parse_columns(options.columns);
    if (spec.named()) return spec;
    throw Error(ErrorKind::usage, "columns", "fields of JSON objects have names, not positions",
                "give e.g. source=payer,target=payee");
  }

  static bool is_flag(const std::optional<std::string>& name) { return name && is_deletion_flag(*name); }
  static bool watches_operations(const CodecOptions& options) {
    const ColumnSpec spec = parse_columns(options.columns);
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

  /// Whether the values of a row are names of a header.
  [[nodiscard]] bool is_header() const {
    const auto is = [&](Role at, Role named) {
      const std::string_view text = fields_.of(Part::row, at).text;
      return text.size() > 1 && role_by_usual_name(text) == named;
    };
    if (is(Role::vertex, Role::vertex)) return is(Role::label, Role::label);
    return (is(Role::source, Role::source) && is(Role::target, Role::target)) ||
           (is(Role::source, Role::target) && is(Role::target, Role::source));
  }

  /// Reports a first row of words above two rows of numbers: it may be a header.
  void look_at_row(std::string_view record) {
    if (updates_.size() != 1) return;
    const Update& update = updates_[0];
    const bool edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
    const bool source = is_numeric(update.source);
    const bool target = edge ? is_numeric(update.target) : source;
    const bool as_expected = first_rows_ == 0 ? !source && !target : source && target;
    first_rows_ = as_expected ? first_rows_ + 1 : rows_that_tell + 1;
    if (first_rows_ == 1) first_row_ = {doubts_->position(), in_ticks(record)};
    if (first_rows_ != rows_that_tell) return;
    doubts_->report_at(first_row_.at, "header_as_record",
                       fmt::format("the words of {} are read as ids, but numbers follow: it may be a header", first_row_.text),
                       "leave the row out if it is one");
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
        message_ = element == 0 ? no_row(type) : std::string(no_object);
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

  /// What is wrong with a record that is an array whose first element is no object.
  [[nodiscard]] std::string no_row(ondemand::json_type type) const {
    if (event_) return std::string(no_object);
    if (type == ondemand::json_type::array) return "it is an array in an array; `jq -c '.[]'` makes a line of each";
    return fmt::format("the array holds values and no objects; {} reads it as a row",
                       columns_of_rows(spelling_, columns_, vertices_));
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
    if (states && !take_operation(inserts)) return RejectReason::bad_operation;
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

  /// Returns false if a value is unknown, or if the two fields contradict each other. An empty flag means nothing.
  bool take_operation(bool& inserts) {
    std::array<std::optional<bool>, 2> said;
    constexpr std::array roles{Role::op, Role::deleted};
    for (std::size_t i = 0; i < roles.size(); ++i) {
      const Scalar& scalar = of(Part::row, roles[i]);
      const bool flag = op_is_flag_ || roles[i] == Role::deleted;
      if (scalar.kind == Scalar::Kind::absent || (flag && scalar.text.empty())) continue;
      said[i] = operations_.read(scalar.text, flag);
      if (said[i]) continue;
      message_ = operations_.refusal(name(Part::row, roles[i]), scalar.text, flag);
      return false;
    }
    if (said[0] && said[1] && *said[0] != *said[1]) {
      message_ = operations_.contradiction(name(Part::row, Role::op), of(Part::row, Role::op).text,
                                           name(Part::row, Role::deleted), of(Part::row, Role::deleted).text);
      return false;
    }
    inserts = said[0].value_or(said[1].value_or(true));
    return true;
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
    if (kind != 'c' && kind != 'r' && !fields_.is_object(tree.before)) return lacks(tree.before);
    if (kind != 'd' && !fields_.is_object(tree.after)) return lacks(tree.after);
    if (kind == 'd') return state(Part::before, false, updates_.emplace_back());
    if (kind != 'u') return state(Part::row, true, updates_.emplace_back());
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
    if (same) return std::nullopt;
    removed.time = added.time;  // the time of the change, not of the earlier row
    // Deleting the vertex would delete its edges.
    if (!vertices || removed.source != added.source) updates_.push_back(removed);
    updates_.push_back(added);
    return std::nullopt;
  }

  /// Reads the update that a row states.
  std::optional<RejectReason> state(Part part, bool inserts, Update& update) {
    update = {};
    if (has(part, Role::time)) {
      const std::string_view text = of(part, Role::time).text;
      update.time = times_.read(text);
      if (!update.time && !has(part, Role::source) && !has(part, Role::vertex)) return edge(part, inserts, update);
      if (!update.time) {
        return fault(RejectReason::bad_time,
                     fmt::format("{} {} is not a time, or beyond the range", name(part, Role::time), in_ticks(text)));
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
    update.source_label = label(part, Role::label);
    look_at_labels(part);
    if (update.source_label) tell_several_labels(doubts_, *update.source_label);
    return std::nullopt;
  }

  std::optional<RejectReason> edge(Part part, bool inserts, Update& update) {
    for (const Role role : {Role::source, Role::target}) {
      if (has(part, role)) continue;
      if (vertices_ && !has(part, Role::source) && !has(part, Role::target)) {
        lacking_ = Role::vertex;
        return fault(RejectReason::wrong_arity, fmt::format("there is no {}", name(part, Role::vertex)));
      }
      const std::string path = name(part, role);
      if (parse_columns(columns_).name(role).value_or("").find('.') == std::string::npos) lacking_ = role;
      return fault(RejectReason::wrong_arity, fmt::format("there is no {}", path));
    }
    if (!take_id(part, Role::source, update.source) || !take_id(part, Role::target, update.target)) return RejectReason::bad_id;
    update.kind = inserts ? UpdateKind::insert_edge : UpdateKind::delete_edge;
    update.label = label(part, Role::label).value_or(std::string_view(edge_label_));
    update.source_label = label(part, Role::source_label);
    update.target_label = label(part, Role::target_label);
    look_at_labels(part);
    return std::nullopt;
  }

  void look_at_labels(Part part) {
    if (doubts_ == nullptr) return;
    for (const Role role : {Role::label, Role::source_label, Role::target_label}) {
      const std::string_view text = of(part, role).text;
      if (may_be_odd_label(text)) [[unlikely]]
        doubt_label(*doubts_, role_name(role), text, false, true);
    }
  }

  bool take_id(Part part, Role role, Id& id) {
    const Scalar& scalar = of(part, role);
    IdFault fault = IdFault::none;
    if (scalar.kind == Scalar::Kind::string && ids_ != IdKind::integer) {
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
  Operations operations_;
  std::string columns_;
  OptionSpelling spelling_;
  Doubts* doubts_;
  bool doubts_names_;  // nobody has stated what ids are
  bool vertices_;
  bool event_;
  bool op_is_flag_;
  JsonFields fields_;
  bool watches_label_ = false;  // the label has a usual name
  bool rows_are_arrays_;
  bool may_begin_with_words_;  // the first row, if rows are arrays
  static constexpr std::size_t rows_that_tell = 3;
  std::size_t first_rows_ = 0;  // that may be a header and numbers; more than rows_that_tell: they are not
  struct {
    Position at;
    std::string text;
  } first_row_;
  std::optional<Role> lacking_;         // its field is missing
  std::optional<std::size_t> element_;  // of the record's array that is refused
  ondemand::parser parser_;
  std::vector<char> bytes_;
  std::vector<Update> updates_;
  std::string message_;
};

}  // namespace

bool reads_arrays_as_rows(const CodecOptions& options) {
  const JsonTree tree(parse_columns(options.columns), options.envelope, options.vertices);
  return tree.nodes()[JsonTree::root].indexed;
}

std::unique_ptr<Codec> make_jsonl_codec(const CodecOptions& options) { return std::make_unique<JsonlCodec>(options); }

}  // namespace deltamatch::ingest
