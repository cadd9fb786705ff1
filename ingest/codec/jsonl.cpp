// One JSON object per record:
//   {"op":"+","source":"a","target":7,"label":"PAYS","source_label":"Account","target_label":"Shop","time":1700000000000000}
//   {"op":"-","vertex":"a"}
//   {"op":"u","before":{"source":"a","target":7},"after":{"source":"a","target":8},"ts_ms":1700000000000}      (a change event)
// Fields in any order, others ignored but still checked to be JSON; a field that is null is absent. The record is walked once,
// along the tree of the fields that are looked at.
#include <fmt/format.h>

// Without simdjson's exceptions an error that is not looked at does not compile.
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/json_string.hpp"
#include "ingest/codec/json_tree.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(simdjson::SIMDJSON_PADDING <= Record::padding);

/// A scalar of interest.
struct Scalar {
  enum class Kind : std::uint8_t { absent, string, number };
  Kind kind = Kind::absent;
  std::string_view text;
};

std::string_view token_text(std::string_view token) noexcept {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!token.empty() && blank(token.back())) token.remove_suffix(1);
  return token;
}

/// JSON's grammar of numbers, of any length.
bool is_number(std::string_view text) noexcept {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto digits = [&] {
    const char* const start = at;
    while (at != end && *at >= '0' && *at <= '9') ++at;
    return at - start;
  };
  const auto take = [&](char a, char b) {
    const bool found = at != end && (*at == a || *at == b);
    if (found) ++at;
    return found;
  };
  take('-', '-');
  const bool zero = at != end && *at == '0';
  const auto whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (at == end) return true;
  if (take('.', '.') && digits() == 0) return false;
  if (take('e', 'E')) {
    take('+', '-');
    if (digits() == 0) return false;
  }
  return at == end;
}

/// How deep ignored values may nest; the stack pays for each level.
constexpr int deepest = 256;

/// Of a string's token to what it holds: a view of the record where that has no escapes, else of what is appended to
/// `unescaped`.
bool take_quotes(std::string_view& token, std::string& unescaped) {
  if (token.size() < 2 || token.back() != '"') return false;
  token = token.substr(1, token.size() - 2);
  if (token.find('\\') == std::string_view::npos) return true;
  const std::size_t start = unescaped.size();
  if (!append_unescaped(unescaped, token)) return false;
  token = std::string_view(unescaped).substr(start);
  return true;
}

/// Reads a value to its end, so that what is ignored is valid all the same.
simdjson::error_code pass(ondemand::value value, int depth = 0) {
  if (depth > deepest) return simdjson::DEPTH_ERROR;
  ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  switch (type) {
    case ondemand::json_type::array: {
      ondemand::array array;
      if (const auto error = value.get_array().get(array)) return error;
      for (auto item : array) {
        ondemand::value inner;
        if (const auto error = item.get(inner)) return error;
        if (const auto error = pass(inner, depth + 1)) return error;
      }
      return simdjson::SUCCESS;
    }
    case ondemand::json_type::object: {
      ondemand::object object;
      if (const auto error = value.get_object().get(object)) return error;
      for (auto item : object) {
        ondemand::field field;
        if (const auto error = std::move(item).get(field)) return error;
        if (const auto error = field.unescaped_key().error()) return error;
        if (const auto error = pass(field.value(), depth + 1)) return error;
      }
      return simdjson::SUCCESS;
    }
    case ondemand::json_type::string: {
      std::string_view text = token_text(value.raw_json_token());
      std::string unescaped;
      return take_quotes(text, unescaped) ? simdjson::SUCCESS : simdjson::STRING_ERROR;
    }
    case ondemand::json_type::boolean:
      return value.get_bool().error();
    case ondemand::json_type::number:
      return is_number(token_text(value.raw_json_token())) ? simdjson::SUCCESS : simdjson::NUMBER_ERROR;
    case ondemand::json_type::null:
      return token_text(value.raw_json_token()) == "null" ? simdjson::SUCCESS : simdjson::N_ATOM_ERROR;
  }
  return simdjson::TAPE_ERROR;
}

class JsonlCodec final : public Codec {
 public:
  explicit JsonlCodec(const CodecOptions& options)
      : ids_(options.ids.value_or(IdKind::automatic)),
        times_(options.time_unit.value_or(TimeUnit::microseconds), options.time_format,
               options.time_unit ? nullptr : options.doubts),
        edge_label_(options.edge_label),
        event_(options.envelope == Envelope::debezium),
        tree_(named_columns(options), options.envelope),
        seen_(tree_.nodes().size()) {}

  Decoded decode(std::string_view record) override {
    if (bytes_.size() < record.size() + Record::padding) bytes_.resize(2 * record.size() + Record::padding);
    std::memcpy(bytes_.data(), record.data(), record.size());
    return decode_padded({bytes_.data(), record.size()});
  }

  Decoded decode_padded(std::string_view record) override {
    if (record.find_first_not_of(" \t\r") == std::string_view::npos) return {};
    std::fill_n(scalars_.begin(), event_ ? slot_count : role_count, Scalar());
    message_.clear();
    unescaped_.clear();
    unescaped_.reserve(record.size());  // it must not move once views point into it
    ++records_;
    if (const auto error = read(record)) {
      const bool object = record[record.find_first_not_of(" \t\r")] == '{';
      return refuse(RejectReason::malformed,
                    object ? simdjson::error_message(error) : R"(it is no JSON object such as {"source":1,"target":2})");
    }
    if (!message_.empty()) return {{}, RejectReason::malformed, message_, {}};
    return event_ ? change() : row();
  }

 private:
  static ColumnSpec named_columns(const CodecOptions& options) {
    ColumnSpec spec = parse_columns(options.columns);
    if (spec.named()) return spec;
    throw Error(ErrorKind::usage, "columns", "fields of JSON objects have names, not positions",
                "give e.g. source=payer,target=payee");
  }

  simdjson::error_code read(std::string_view record) {
    ondemand::document document;
    if (const auto error = parser_.iterate(record.data(), record.size(), record.size() + Record::padding).get(document))
      return error;
    ondemand::object object;
    if (const auto error = document.get_object().get(object)) return error;
    if (const auto error = walk(object, JsonTree::root)) return error;
    return document.current_location().error() == simdjson::OUT_OF_BOUNDS ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
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
      if (type != ondemand::json_type::object)
        return complain(fmt::format("field {} is no object", in_ticks(node.path))), pass(value);
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
    } else {
      return complain(fmt::format("field {} is neither a string nor a number", in_ticks(node.path))), pass(value);
    }
    for (const std::uint8_t slot : node.slots) scalars_[slot] = scalar;
    return simdjson::SUCCESS;
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
  /// The role, by the name that its field has in the data.
  [[nodiscard]] std::string name(Part part, Role role) const {
    const Part where = tree_.in_envelope(role) ? Part::envelope : part;
    for (const JsonTree::Node& node : tree_.nodes()) {
      const auto target = static_cast<std::uint8_t>(slot(where, role));
      if (std::find(node.slots.begin(), node.slots.end(), target) != node.slots.end()) return node.path;
    }
    return std::string(role_name(role));
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
  Decoded updates(std::size_t count, std::optional<RejectReason> fault) {
    if (fault) return {{}, fault, message_, {}};
    return {{updates_.data(), count}, std::nullopt, {}, {}};
  }

  Decoded row() {
    bool inserts = true;
    if (has(Part::row, Role::op)) {
      const Scalar& op = of(Part::row, Role::op);
      const auto operation = op.kind == Scalar::Kind::string ? parse_operation(op.text) : std::nullopt;
      if (!operation) {
        return refuse(RejectReason::bad_operation,
                      fmt::format("{} {} is none of +, -, insert and delete", name(Part::row, Role::op), in_ticks(op.text)));
      }
      inserts = *operation;
    }
    return updates(1, state(Part::row, inserts, updates_[0]));
  }

  /// What a change event says. The event of a removed row's tombstone has a null payload and says nothing.
  Decoded change() {
    const bool tombstone = seen_[tree_.payload].record == records_ && !is_object(tree_.payload);
    const Scalar& op = of(Part::envelope, Role::op);
    if (op.kind == Scalar::Kind::absent) return tombstone ? Decoded() : refuse(RejectReason::wrong_arity, "there is no op");
    const char kind = op.kind == Scalar::Kind::string && op.text.size() == 1 ? op.text[0] : '?';
    if (kind != 'c' && kind != 'r' && kind != 'u' && kind != 'd')
      return refuse(RejectReason::bad_operation, fmt::format("op {} is none of c, r, u and d", in_ticks(op.text)));
    const auto lacks = [&](std::uint32_t node) {
      return refuse(RejectReason::wrong_arity, fmt::format("op {} has no {}", in_ticks(op.text), tree_.nodes()[node].path));
    };
    if (kind != 'c' && kind != 'r' && !is_object(tree_.before)) return lacks(tree_.before);
    if (kind != 'd' && !is_object(tree_.after)) return lacks(tree_.after);
    if (kind == 'd') return updates(1, state(Part::before, false, updates_[0]));
    if (kind != 'u') return updates(1, state(Part::row, true, updates_[0]));
    return replacement();
  }

  Decoded replacement() {
    auto& [removed, added] = updates_;
    std::optional<RejectReason> fault = state(Part::before, false, removed);
    if (!fault) fault = state(Part::row, true, added);
    if (fault) return updates(0, fault);
    const bool vertices = removed.kind == UpdateKind::delete_vertex && added.kind == UpdateKind::insert_vertex;
    if (vertices && removed.source == added.source) {  // to delete the vertex would be to delete its edges
      removed = added;
      return updates(1, std::nullopt);
    }
    const bool same = !vertices && removed.source == added.source && removed.target == added.target &&
                      removed.label == added.label && removed.source_label == added.source_label &&
                      removed.target_label == added.target_label && removed.time == added.time;
    if (same) return {};
    added.continues = true;
    removed.time = added.time;  // of the change, not of the row's earlier state
    return updates(2, std::nullopt);
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
  bool event_;
  JsonTree tree_;
  std::vector<Seen> seen_;     // by node
  std::uint64_t records_ = 0;  // decoded so far, this one included
  ondemand::parser parser_;
  std::vector<char> bytes_;
  std::string unescaped_;
  std::array<Scalar, slot_count> scalars_;
  std::array<Update, 2> updates_;
  std::string message_;
};

}  // namespace

std::unique_ptr<Codec> make_jsonl_codec(const CodecOptions& options) { return std::make_unique<JsonlCodec>(options); }

}  // namespace deltamatch::ingest
