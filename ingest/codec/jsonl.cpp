// One JSON object per record, or an array of them, which is one record all the same:
//   {"op":"+","source":"a","target":7,"label":"PAYS","source_label":"Account","target_label":"Shop","time":1700000000000000}
//   {"op":"-","vertex":"a"}
//   {"op":"u","before":{"source":"a","target":7},"after":{"source":"a","target":8},"ts_ms":1700000000000}      (a change event)
// Fields in any order, others ignored but still checked to be JSON; a field that is null is absent. The record is walked once,
// along the tree of the fields that are looked at.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/json_tree.hpp"
#include "ingest/codec/json_value.hpp"
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
        operations_(options.op_values),
        event_(options.envelope == Envelope::debezium),
        tree_(named_columns(options), options.envelope),
        seen_(tree_.nodes().size()) {
    const std::optional<std::string> op = parse_columns(options.columns).name(Role::op);
    op_is_flag_ = op && is_deletion_flag(*op);
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
    unescaped_.clear();
    unescaped_.reserve(record.size());  // it must not move once views point into it
    begin();
    std::optional<RejectReason> refused;
    if (const auto error = read(record, refused)) {
      const bool structured = record[first] == '{' || record[first] == '[';
      return refuse(RejectReason::malformed,
                    structured ? simdjson::error_message(error) : R"(it is no JSON object such as {"source":1,"target":2})");
    }
    if (refused) return {{}, refused, message_, {}};
    for (std::size_t i = 1; i < updates_.size(); ++i) updates_[i].continues = true;
    return {updates_, std::nullopt, {}, {}};
  }

 private:
  static ColumnSpec named_columns(const CodecOptions& options) {
    ColumnSpec spec = parse_columns(options.columns);
    if (spec.named()) return spec;
    throw Error(ErrorKind::usage, "columns", "fields of JSON objects have names, not positions",
                "give e.g. source=payer,target=payee");
  }

  /// Before an object is walked.
  void begin() {
    std::fill_n(scalars_.begin(), event_ ? slot_count : role_count, Scalar());
    message_.clear();
    ++records_;
  }

  /// Whatever is refused is read to its end, so that it is JSON all the same.
  simdjson::error_code read(std::string_view record, std::optional<RejectReason>& refused) {
    ondemand::document document;
    if (const auto error = parser_.iterate(record.data(), record.size(), record.size() + Record::padding).get(document))
      return error;
    ondemand::json_type type{};
    if (const auto error = document.type().get(type)) return error;
    if (type == ondemand::json_type::array) {
      ondemand::array array;
      if (const auto error = document.get_array().get(array)) return error;
      if (tree_.nodes()[JsonTree::root].indexed) {
        if (const auto error = walk(array, JsonTree::root)) return error;
        refused = say();
      } else if (const auto error = read_elements(array, refused)) {
        return error;
      }
    } else {
      ondemand::object object;
      if (const auto error = document.get_object().get(object)) return error;
      if (const auto error = walk(object, JsonTree::root)) return error;
      refused = say();
    }
    return document.current_location().error() == simdjson::OUT_OF_BOUNDS ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
  }

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
        if (const auto error = walk(object, JsonTree::root)) return error;
        refused = say();
      } else {
        complain(R"(it is no JSON object such as {"source":1,"target":2})");
        refused = RejectReason::malformed;
        if (const auto error = pass(value)) return error;
      }
      if (refused) message_ = fmt::format("element {}, from 0: {}", element, message_);
      ++element;
    }
    return simdjson::SUCCESS;
  }

  /// Appends the updates of the object that was walked, or gives why it is refused.
  std::optional<RejectReason> say() {
    if (!message_.empty()) return RejectReason::malformed;
    return event_ ? change() : row();
  }

  simdjson::error_code walk(ondemand::object object, std::uint32_t node) {  // NOLINT(misc-no-recursion): as deep as the tree
    for (auto item : object) {
      ondemand::field field;
      if (const auto error = std::move(item).get(field)) return error;
      std::uint32_t child = JsonTree::none;
      if (const auto error = find_child(node, field, child)) return error;
      if (const auto error = child == JsonTree::none ? pass(field.value()) : take(child, field.value())) return error;
    }
    return simdjson::SUCCESS;
  }

  simdjson::error_code walk(ondemand::array array, std::uint32_t node) {  // NOLINT(misc-no-recursion)
    std::size_t element = 0;
    for (auto item : array) {
      ondemand::value value;
      if (const auto error = item.get(value)) return error;
      std::uint32_t found = JsonTree::none;
      for (const std::uint32_t child : tree_.nodes()[node].children) {
        if (tree_.nodes()[child].index == element) found = child;
      }
      if (const auto error = found == JsonTree::none ? pass(value) : take(found, value)) return error;
      ++element;
    }
    return simdjson::SUCCESS;
  }

  /// The child that the field's key names. A key is looked up as it is written first; one with escapes is read then.
  simdjson::error_code find_child(std::uint32_t node, ondemand::field& field, std::uint32_t& found) {
    const char* const raw = field.key().raw();
    const std::vector<JsonTree::Node>& nodes = tree_.nodes();
    for (const std::uint32_t child : nodes[node].children) {
      const std::string& name = nodes[child].name;
      found = child;
      if (nodes[child].plain && raw[name.size()] == '"' && std::memcmp(raw, name.data(), name.size()) == 0)
        return simdjson::SUCCESS;
    }
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return error;
    for (const std::uint32_t child : nodes[node].children) {
      found = child;
      if (nodes[child].name == key) return simdjson::SUCCESS;
    }
    found = JsonTree::none;
    return simdjson::SUCCESS;
  }

  simdjson::error_code take(std::uint32_t index, ondemand::value value) {  // NOLINT(misc-no-recursion)
    const JsonTree::Node& node = tree_.nodes()[index];
    Seen& seen = seen_[index];
    if (seen.record == records_) return complain(fmt::format("field {} is there twice", in_ticks(node.path))), pass(value);
    seen = {records_, false};
    ondemand::json_type type{};
    if (const auto error = value.type().get(type)) return error;
    if (type == ondemand::json_type::null) return pass(value);
    if (node.slots.empty()) {
      if (type == ondemand::json_type::array && node.indexed) {
        seen.object = true;
        ondemand::array array;
        if (const auto error = value.get_array().get(array)) return error;
        return walk(array, index);
      }
      if (type != ondemand::json_type::object) {
        const bool array = type == ondemand::json_type::array;
        return complain(fmt::format("field {} is no object{}", in_ticks(node.path),
                                    array ? fmt::format("; {}.0 is the first of its elements", node.path) : "")),
               pass(value);
      }
      seen.object = true;
      ondemand::object object;
      if (const auto error = value.get_object().get(object)) return error;
      return walk(object, index);
    }
    Scalar scalar;
    if (type == ondemand::json_type::string) {
      scalar.kind = Scalar::Kind::string;
      scalar.text = token_text(value.raw_json_token());
      if (!take_quotes(scalar.text, unescaped_)) return simdjson::STRING_ERROR;
    } else if (type == ondemand::json_type::number) {
      scalar = {Scalar::Kind::number, token_text(value.raw_json_token())};
      if (!is_number(scalar.text)) return simdjson::NUMBER_ERROR;
    } else if (type == ondemand::json_type::boolean && std::ranges::all_of(node.slots, says_operation)) {
      bool yes = false;
      if (const auto error = value.get_bool().get(yes)) return error;
      scalar = {Scalar::Kind::boolean, yes ? "true" : "false"};
    } else {
      return complain(fmt::format("field {} is neither a string nor a number", in_ticks(node.path))), pass(value);
    }
    for (const std::uint8_t slot : node.slots) {
      if (scalars_[slot].kind != Scalar::Kind::absent) [[unlikely]]  // of the operation alone: it has several usual names
        complain(fmt::format("two fields say the operation; --columns op={} reads that one", node.path));
      scalars_[slot] = scalar;
    }
    return simdjson::SUCCESS;
  }

  static bool says_operation(std::uint8_t slot) noexcept {
    const auto role = static_cast<Role>(slot % role_count);
    return role == Role::op || role == Role::deleted;
  }
  void complain(std::string message) {
    if (message_.empty()) message_ = std::move(message);
  }
  [[nodiscard]] bool is_object(std::uint32_t node) const noexcept {
    return seen_[node].record == records_ && seen_[node].object;
  }
  [[nodiscard]] const Scalar& of(Part part, Role role) const noexcept {
    return scalars_[slot(tree_.in_envelope(role) ? Part::envelope : part, role)];
  }
  [[nodiscard]] bool has(Part part, Role role) const noexcept { return of(part, role).kind != Scalar::Kind::absent; }
  /// The role, by the name that its field has in the data: of several names by the one that is there.
  [[nodiscard]] std::string name(Part part, Role role) const {
    const Part where = tree_.in_envelope(role) ? Part::envelope : part;
    const auto target = static_cast<std::uint8_t>(slot(where, role));
    std::string_view named = role_name(role);
    bool first = true;
    for (std::size_t node = 0; node < tree_.nodes().size(); ++node) {
      const std::vector<std::uint8_t>& slots = tree_.nodes()[node].slots;
      if (std::find(slots.begin(), slots.end(), target) == slots.end()) continue;
      if (std::exchange(first, false) || seen_[node].record == records_) named = tree_.nodes()[node].path;
    }
    return std::string(named);
  }
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
    return state(Part::row, inserts, updates_.emplace_back());
  }

  /// False: a value is not known, or the two fields contradict each other. An empty flag says nothing.
  bool take_operation(bool& inserts) {
    std::array<std::optional<bool>, 2> said;
    constexpr std::array roles{Role::op, Role::deleted};
    for (std::size_t i = 0; i < roles.size(); ++i) {
      const Scalar& scalar = of(Part::row, roles[i]);
      const bool flag = op_is_flag_ || roles[i] == Role::deleted;
      if (scalar.kind == Scalar::Kind::absent || (flag && scalar.text.empty())) continue;
      said[i] = operations_.read(scalar.text, flag);
      if (said[i]) continue;
      message_ = Operations::refusal(name(Part::row, roles[i]), scalar.text, flag);
      return false;
    }
    if (said[0] && said[1] && *said[0] != *said[1]) {
      message_ = Operations::contradiction(name(Part::row, Role::op), of(Part::row, Role::op).text,
                                           name(Part::row, Role::deleted), of(Part::row, Role::deleted).text);
      return false;
    }
    inserts = said[0].value_or(said[1].value_or(true));
    return true;
  }

  /// What a change event says. The event of a removed row's tombstone has a null payload and says nothing.
  std::optional<RejectReason> change() {
    const bool tombstone = seen_[tree_.payload].record == records_ && !is_object(tree_.payload);
    const Scalar& op = of(Part::envelope, Role::op);
    if (op.kind == Scalar::Kind::absent) return tombstone ? std::nullopt : fault(RejectReason::wrong_arity, "there is no op");
    const char kind = op.kind == Scalar::Kind::string && op.text.size() == 1 ? op.text[0] : '?';
    if (kind != 'c' && kind != 'r' && kind != 'u' && kind != 'd') {
      const std::string_view known = debezium_refusal(op.text);
      return fault(RejectReason::bad_operation,
                   fmt::format("op {} {}", in_ticks(op.text), known.empty() ? "is none of c, r, u and d" : known));
    }
    const auto lacks = [&](std::uint32_t node) {
      return fault(RejectReason::wrong_arity, fmt::format("op {} has no {}", in_ticks(op.text), tree_.nodes()[node].path));
    };
    if (kind != 'c' && kind != 'r' && !is_object(tree_.before)) return lacks(tree_.before);
    if (kind != 'd' && !is_object(tree_.after)) return lacks(tree_.after);
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
    removed.time = added.time;  // of the change, not of the row's earlier state
    // To delete the vertex would be to delete its edges.
    if (!vertices || removed.source != added.source) updates_.push_back(removed);
    updates_.push_back(added);
    return std::nullopt;
  }

  /// The update that a row states.
  std::optional<RejectReason> state(Part part, bool inserts, Update& update) {
    update = {};
    if (has(part, Role::time)) {
      const std::string_view text = of(part, Role::time).text;
      update.time = times_.read(text);
      if (!update.time) {
        return fault(RejectReason::bad_time,
                     fmt::format("{} {} is not a time, or beyond the range", name(part, Role::time), in_ticks(text)));
      }
    }
    return has(part, Role::vertex) ? vertex(part, inserts, update) : edge(part, inserts, update);
  }

  std::optional<RejectReason> vertex(Part part, bool inserts, Update& update) {
    if (has(part, Role::source) || has(part, Role::target)) {
      return fault(RejectReason::wrong_arity, fmt::format("{} stands beside {} or {}", name(part, Role::vertex),
                                                          name(part, Role::source), name(part, Role::target)));
    }
    if (!take_id(part, Role::vertex, update.source)) return RejectReason::bad_id;
    update.kind = inserts ? UpdateKind::insert_vertex : UpdateKind::delete_vertex;
    update.source_label = label(part, Role::label);
    return std::nullopt;
  }

  std::optional<RejectReason> edge(Part part, bool inserts, Update& update) {
    for (const Role role : {Role::source, Role::target}) {
      if (!has(part, role)) return fault(RejectReason::wrong_arity, fmt::format("there is no {}", name(part, role)));
    }
    if (!take_id(part, Role::source, update.source) || !take_id(part, Role::target, update.target)) return RejectReason::bad_id;
    update.kind = inserts ? UpdateKind::insert_edge : UpdateKind::delete_edge;
    update.label = label(part, Role::label).value_or(std::string_view(edge_label_));
    update.source_label = label(part, Role::source_label);
    update.target_label = label(part, Role::target_label);
    return std::nullopt;
  }

  bool take_id(Part part, Role role, Id& id) {
    const Scalar& scalar = of(part, role);
    IdFault fault = IdFault::none;
    if (scalar.kind == Scalar::Kind::string && ids_ != IdKind::integer) {
      if (scalar.text.empty()) fault = IdFault::empty;
      id = Id(scalar.text);
    } else {
      fault = parse_id(scalar.text, ids_ == IdKind::automatic ? IdKind::integer : ids_, id);
    }
    if (fault == IdFault::none) [[likely]]
      return true;
    message_ = fmt::format("{} {} {}", name(part, role), in_ticks(scalar.text), fault_text(fault));
    return false;
  }

  struct Seen {
    std::uint64_t record = 0;  // the last one that had the field
    bool object = false;
  };

  IdKind ids_;
  TimeReader times_;
  std::string edge_label_;
  Operations operations_;
  bool op_is_flag_ = false;
  bool event_;
  JsonTree tree_;
  std::vector<Seen> seen_;     // by node
  std::uint64_t records_ = 0;  // objects walked so far, this one included
  ondemand::parser parser_;
  std::vector<char> bytes_;
  std::string unescaped_;
  std::array<Scalar, slot_count> scalars_;
  std::vector<Update> updates_;
  std::string message_;
};

}  // namespace

bool reads_arrays_as_rows(const CodecOptions& options) {
  const JsonTree tree(parse_columns(options.columns), options.envelope);
  return tree.nodes()[JsonTree::root].indexed;
}

std::unique_ptr<Codec> make_jsonl_codec(const CodecOptions& options) { return std::make_unique<JsonlCodec>(options); }

}  // namespace deltamatch::ingest
