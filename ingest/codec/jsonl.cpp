// JSON: a record is one object, or an array of objects.
//   {"op":"+","source":"a","target":7,"label":"PAYS","source_label":"Account","target_label":"Shop","time":1700000000000000}
//   {"op":"-","vertex":"a"}
//   {"op":"u","before":{"source":"a","target":7},"after":{"source":"a","target":8},"ts_ms":1700000000000}      (a change event)
// Fields may have any order. Other fields are ignored, but must be JSON. A field that is null is absent. The record is walked
// once, along the tree of the fields that are read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/doubts.hpp"
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
        operations_(options.op_values, spelling_of(options)),
        columns_(options.columns),
        spelling_(spelling_of(options)),
        doubts_(options.doubts),
        vertices_(options.vertices),
        event_(options.envelope == Envelope::debezium),
        tree_(named_columns(options), options.envelope, options.vertices),
        seen_(tree_.nodes().size()) {
    const ColumnSpec spec = parse_columns(options.columns);
    const std::optional<std::string>& op = spec.name(Role::op);
    op_is_flag_ = op && is_deletion_flag(*op);
    watches_ = doubts_ != nullptr && !event_ && !op && !spec.name(Role::deleted);
    watches_label_ = watches_ && !spec.name(Role::label);
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
    unescaped_.reserve(record.size());  // views into it must stay valid
    begin();
    std::optional<RejectReason> refused;
    if (const auto error = read(record, refused)) {
      const bool structured = record[first] == '{' || record[first] == '[';
      return refuse(RejectReason::malformed,
                    structured ? simdjson::error_message(error) : R"(it is no JSON object such as {"source":1,"target":2})");
    }
    if (refused) {
      if (!lacking_.empty()) message_ += fields_there(record);
      return {{}, refused, message_, {}};
    }
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

  [[nodiscard]] std::string advice(RejectReason reason, std::string_view /*record*/) const override {
    if (reason != RejectReason::missing_time) return {};
    if (has_unread_time_.load(std::memory_order_acquire)) return time_column_advice(spelling_, columns_, unread_time_);
    return {};
  }

  /// Call it before an object is walked.
  void begin() {
    std::fill_n(scalars_.begin(), event_ ? slot_count : role_count, Scalar());
    message_.clear();
    lacking_ = {};
    ++records_;
    for (const std::uint8_t slot : touched_) aliases_[slot] = {};
    touched_.clear();
    removal_field_.clear();
  }

  struct TopName {
    std::string name;
    bool is_array = false;                  // of objects
    std::vector<std::string> of_its_first;  // the names in its first object
  };

  /// The names in an object. Empty if the record is not an object.
  static std::vector<TopName> top_names(std::string_view record) {
    std::vector<TopName> names;
    ondemand::parser parser;
    const simdjson::padded_string bytes(record);
    ondemand::document document;
    ondemand::object object;
    if (parser.iterate(bytes).get(document) != simdjson::SUCCESS || document.get_object().get(object) != simdjson::SUCCESS)
      return names;
    for (auto item : object) {
      ondemand::field field;
      std::string_view key;
      if (std::move(item).get(field) != simdjson::SUCCESS || field.unescaped_key().get(key) != simdjson::SUCCESS) break;
      TopName& top = names.emplace_back(std::string(key), false, std::vector<std::string>());
      const std::string_view token = field.value().raw_json_token();  // it ends before the next token
      top.is_array = token.starts_with('[') && token.data()[token.size()] == '{';
      if ((top.is_array ? take_names_of_first(field.value(), top.of_its_first) : pass(field.value())) != simdjson::SUCCESS)
        break;
    }
    return names;
  }

  static simdjson::error_code take_names_of_first(ondemand::value value, std::vector<std::string>& names) {
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return error;
    bool first = true;
    for (auto item : array) {
      ondemand::value element;
      if (const auto error = item.get(element)) return error;
      if (!std::exchange(first, false)) {
        if (const auto error = pass(element)) return error;
        continue;
      }
      ondemand::object object;
      if (const auto error = element.get_object().get(object)) return error;
      for (auto inner : object) {
        ondemand::field field;
        std::string_view key;
        if (const auto error = std::move(inner).get(field)) return error;
        if (const auto error = field.unescaped_key().get(key)) return error;
        names.emplace_back(key);
        if (const auto error = pass(field.value())) return error;
      }
    }
    return simdjson::SUCCESS;
  }

  /// Whether an object with these names states edges.
  [[nodiscard]] bool states_edges(const std::vector<std::string>& names) const {
    const ColumnSpec spec = parse_columns(columns_);
    const auto has = [&](Role role) {
      return std::ranges::any_of(names, [&](const std::string& name) {
        return spec.name(role) ? name == *spec.name(role) : role_by_usual_name(name) == role;
      });
    };
    return has(Role::source) && has(Role::target);
  }

  [[nodiscard]] bool is_read(std::string_view name) const {
    const std::vector<JsonTree::Node>& nodes = tree_.nodes();
    return std::ranges::any_of(nodes[JsonTree::root].children, [&](std::uint32_t node) { return nodes[node].name == name; });
  }

  /// Names the fields that stand there in place of the one that is lacking.
  [[nodiscard]] std::string fields_there(std::string_view record) const {
    constexpr std::size_t most = 12;
    const std::vector<TopName> there = top_names(record);
    const auto is_of_edges = [&](const TopName& top) { return top.is_array && states_edges(top.of_its_first); };
    auto array = std::ranges::find_if(there, is_of_edges);
    const auto is_unread_array = [&](const TopName& top) { return top.is_array && !is_read(top.name); };
    if (array == there.end()) array = std::ranges::find_if(there, is_unread_array);
    if (array != there.end()) {
      return fmt::format("; {0} holds an array of records, and `jq -c '.{1}[]'` makes a line of each", in_ticks(array->name),
                         array->name);
    }
    std::string names;
    std::size_t count = 0;
    for (const TopName& top : there) {
      if (is_read(top.name)) continue;
      if (count++ < most) names += (names.empty() ? "" : ", ") + in_ticks(top.name);
    }
    if (names.empty()) return {};
    return fmt::format(" among {}{}; {} names it", names, count > most ? ", ..." : "",
                       spelling_("columns", with_column(columns_, fmt::format("{}=NAME", lacking_))));
  }

  /// Takes values under the usual names, for roles that have no other value in the record. Complains if such a value cannot be
  /// taken.
  void take_aliases(Part part) {
    if (touched_.empty()) return;
    const bool told_vertex = has(part, Role::vertex);
    const auto of_role = [&](Role role) -> Alias& { return aliases_[slot(part, role)]; };
    const auto there = [&](Role role) { return has(part, role) || of_role(role).count != 0; };
    const bool edge = !told_vertex && there(Role::source) && there(Role::target);
    const bool vertex = !edge && there(Role::vertex);
    // A single letter may mean anything: v may be a version. So u counts only with v.
    const bool letters = is_letter(of_role(Role::source)) != is_letter(of_role(Role::target));
    for (const std::uint8_t touched : touched_) {
      if (touched / role_count != static_cast<std::size_t>(part)) continue;
      const auto role = static_cast<Role>(touched % role_count);
      Alias& alias = aliases_[touched];
      const bool end = role == Role::source || role == Role::target;
      if (scalars_[touched].kind != Scalar::Kind::absent || alias.count == 0) continue;
      if ((end && (vertex || (letters && is_letter(alias)))) || (role == Role::vertex && !vertex)) continue;
      const std::string& name = tree_.nodes()[alias.node].path;
      if (alias.count > 1) {
        complain(fmt::format("two fields say the {}; {} reads that one", role_name(role), columns(role, name)));
      } else if (alias.scalar.kind == Scalar::Kind::absent) {
        complain(fmt::format("field {} is neither a string nor a number; {} says that there is no {}", in_ticks(name),
                             columns(role, ""), role_name(role)));
      }
      scalars_[touched] = alias.scalar;
    }
  }

  [[nodiscard]] std::string columns(Role role, std::string_view name) const {
    return spelling_("columns", with_column(columns_, fmt::format("{}={}", role_name(role), name)));
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

  /// Appends the updates of the object that was walked. Returns a reason if it is refused.
  std::optional<RejectReason> say() {
    for (const Part part : {Part::row, Part::before}) take_aliases(part);
    if (!message_.empty()) return RejectReason::malformed;
    return event_ ? change() : row();
  }

  simdjson::error_code walk(ondemand::object object, std::uint32_t node) {  // NOLINT(misc-no-recursion): as deep as the tree
    for (auto item : object) {
      ondemand::field field;
      if (const auto error = std::move(item).get(field)) return error;
      std::uint32_t child = JsonTree::none;
      if (const auto error = find_child(node, field, child)) return error;
      if (child == watched) {
        if (const auto error = watch(field.value())) return error;
      } else if (const auto error = child == JsonTree::none ? pass(field.value()) : take(child, field.value())) {
        return error;
      }
    }
    return simdjson::SUCCESS;
  }

  /// Looks at a field that is not read and whose name, the last key read, may mean the operation.
  simdjson::error_code watch(ondemand::value value) {
    ondemand::json_type type{};
    if (const auto error = value.type().get(type)) return error;
    if (type == ondemand::json_type::string || type == ondemand::json_type::boolean || type == ondemand::json_type::number) {
      std::string_view token = token_text(value.raw_json_token());
      if (token.size() > 1 && token.front() == '"' && token.back() == '"') token = token.substr(1, token.size() - 2);
      if (says_removal(key_, token)) {
        removal_field_ = key_;
        removal_ = token;
      }
    }
    return pass(value);
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

  /// Finds the child that the field's key names. Compares the key as it is written first, then without escapes. Usual names are
  /// compared in any case.
  simdjson::error_code find_child(std::uint32_t node, ondemand::field& field, std::uint32_t& found) {
    const char* const raw = field.key().raw();
    const std::vector<JsonTree::Node>& nodes = tree_.nodes();
    if (is_ignored(node, raw)) {
      found = JsonTree::none;
      return simdjson::SUCCESS;
    }
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
    for (const std::uint32_t child : nodes[node].children) {
      found = child;
      if (nodes[child].usual && same_letters(nodes[child].name, key)) return simdjson::SUCCESS;
    }
    found = JsonTree::none;
    if (records_ <= most_looked_at && node == JsonTree::root && !has_unread_time_ && may_be_time(key)) {
      unread_time_ = key;
      has_unread_time_.store(true, std::memory_order_release);
    }
    if (watches_ && node == JsonTree::root && may_say_operation(key)) {
      found = watched;
      key_ = key;
      return simdjson::SUCCESS;
    }
    const bool plain = key.size() < Record::padding && raw[key.size()] == '"' && std::memcmp(raw, key.data(), key.size()) == 0;
    if (plain && ignored_.size() < most_ignored) ignored_.push_back({node, std::string(key)});
    return simdjson::SUCCESS;
  }

  /// Whether a key was looked up before and is not read. Records mostly have their keys in the same order. So it compares only
  /// the key after the last one, and one more.
  bool is_ignored(std::uint32_t node, const char* raw) noexcept {
    const std::size_t start = next_ignored_;
    for (std::size_t tries = 0; tries < 2 && !ignored_.empty(); ++tries) {
      if (next_ignored_ >= ignored_.size()) next_ignored_ = 0;
      const Ignored& ignored = ignored_[next_ignored_++];
      const std::string& name = ignored.name;
      if (ignored.node == node && raw[name.size()] == '"' && std::memcmp(raw, name.data(), name.size()) == 0) return true;
    }
    next_ignored_ = start;
    return false;
  }

  simdjson::error_code take(std::uint32_t index, ondemand::value value) {  // NOLINT(misc-no-recursion)
    const JsonTree::Node& node = tree_.nodes()[index];
    Seen& seen = seen_[index];
    if (node.alias) return take_alias(index, value);
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
        return complain(
                   fmt::format("field {} is no object{}", in_ticks(node.path),
                               array ? fmt::format("; {0}.0 is the first of its elements alone, and `jq -c '.{0}[]'` makes a "
                                                   "record of each",
                                                   node.path)
                                     : "")),
               pass(value);
      }
      seen.object = true;
      ondemand::object object;
      if (const auto error = value.get_object().get(object)) return error;
      return walk(object, index);
    }
    Scalar scalar;
    if (type == ondemand::json_type::string || type == ondemand::json_type::number) {
      if (const auto error = take_scalar(type, value, scalar)) return error;
    } else if (type == ondemand::json_type::boolean && std::ranges::all_of(node.slots, says_operation)) {
      bool yes = false;
      if (const auto error = value.get_bool().get(yes)) return error;
      scalar = {Scalar::Kind::boolean, yes ? "true" : "false"};
    } else {
      return complain(fmt::format("field {} is neither a string nor a number", in_ticks(node.path))), pass(value);
    }
    for (const std::uint8_t slot : node.slots) {
      if (scalars_[slot].kind != Scalar::Kind::absent) [[unlikely]]  // only for the operation, which has several usual names
        complain(fmt::format("two fields say the operation; {} reads that one", columns(Role::op, node.path)));
      scalars_[slot] = scalar;
    }
    return simdjson::SUCCESS;
  }

  simdjson::error_code take_scalar(ondemand::json_type type, ondemand::value& value, Scalar& scalar) {
    if (type == ondemand::json_type::string) {
      scalar.kind = Scalar::Kind::string;
      scalar.text = token_text(value.raw_json_token());
      return take_quotes(scalar.text, unescaped_) ? simdjson::SUCCESS : simdjson::STRING_ERROR;
    }
    scalar = {Scalar::Kind::number, token_text(value.raw_json_token())};
    return is_number(scalar.text) ? simdjson::SUCCESS : simdjson::NUMBER_ERROR;
  }

  /// Takes a value whose field has one of several names of its role. Whether it counts is decided when the record has been
  /// read.
  simdjson::error_code take_alias(std::uint32_t index, ondemand::value value) {
    ondemand::json_type type{};
    if (const auto error = value.type().get(type)) return error;
    if (type == ondemand::json_type::null) return pass(value);
    seen_[index] = {records_, false};
    const std::uint8_t slot = tree_.nodes()[index].slots[0];
    Alias& alias = aliases_[slot];
    const auto role = static_cast<Role>(slot % role_count);
    if (alias.count == 0) {
      touched_.push_back(slot);
    } else if (role == Role::source || role == Role::target) {
      const bool letter = tree_.nodes()[index].name.size() == 1;
      if (letter && !is_letter(alias)) return pass(value);  // v may be a version: words go first
      if (!letter && is_letter(alias)) alias = {};
    }
    ++alias.count;
    alias.node = index;
    if (type != ondemand::json_type::string && type != ondemand::json_type::number) return pass(value);
    return take_scalar(type, value, alias.scalar);
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
  /// The name that the role's field has in the data. If it has several, the one in this record.
  [[nodiscard]] std::string name(Part part, Role role) const {
    const Part where = tree_.in_envelope(role) ? Part::envelope : part;
    const auto target = static_cast<std::uint8_t>(slot(where, role));
    std::string_view named = role_name(role);
    bool first = true;
    for (std::size_t node = 0; node < tree_.nodes().size(); ++node) {
      const std::vector<std::uint8_t>& slots = tree_.nodes()[node].slots;
      if (std::find(slots.begin(), slots.end(), target) == slots.end()) continue;
      const bool there = seen_[node].record == records_ && (!tree_.nodes()[node].alias || has(where, role));
      if (std::exchange(first, false) || there) named = tree_.nodes()[node].path;
      if (there && !tree_.nodes()[node].alias) break;
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
    if (!states && !removal_field_.empty()) tell_unread_operation(*doubts_, spelling_, columns_, removal_field_, removal_);
    if (watches_label_) watch_label(states);
    return state(Part::row, inserts, updates_.emplace_back());
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
    if (update.source_label) tell_several_labels(doubts_, *update.source_label);
    return std::nullopt;
  }

  std::optional<RejectReason> edge(Part part, bool inserts, Update& update) {
    for (const Role role : {Role::source, Role::target}) {
      if (has(part, role)) continue;
      if (vertices_ && !has(part, Role::source) && !has(part, Role::target)) {
        lacking_ = role_name(Role::vertex);
        return fault(RejectReason::wrong_arity, fmt::format("there is no {}", name(part, Role::vertex)));
      }
      const std::string path = name(part, role);
      if (!event_ && path.find('.') == std::string::npos) lacking_ = role_name(role);
      return fault(RejectReason::wrong_arity, fmt::format("there is no {}", name(part, role)));
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
      if (ids_ == IdKind::automatic && is_missing_value(scalar.text)) fault = IdFault::missing;
      id = Id(scalar.text);
    } else {
      fault = parse_id(scalar.text, ids_ == IdKind::automatic ? IdKind::integer : ids_, id);
    }
    if (fault == IdFault::none) [[likely]]
      return true;
    message_ = fmt::format("{} {} {}", name(part, role), in_ticks(scalar.text), fault_text(fault));
    if (fault == IdFault::missing) message_ += missing_id_remedy(spelling_, false);
    return false;
  }

  /// The value under a usual name that is not the role's own.
  struct Alias {
    Scalar scalar;  // absent: neither a string nor a number
    std::uint32_t node = JsonTree::none;
    std::size_t count = 0;
  };
  [[nodiscard]] bool is_letter(const Alias& alias) const noexcept {
    return alias.count != 0 && tree_.nodes()[alias.node].name.size() == 1;
  }
  static constexpr std::uint32_t watched = JsonTree::none - 1;

  struct Seen {
    std::uint64_t record = 0;  // the last one that had the field
    bool object = false;
  };

  IdKind ids_;
  TimeReader times_;
  std::string edge_label_;
  Operations operations_;
  std::string columns_;
  OptionSpelling spelling_;
  Doubts* doubts_;
  bool vertices_;
  bool watches_ = false;
  bool watches_label_ = false;  // the label has a usual name
  std::string key_;             // of the field that is being looked at
  std::string removal_field_;   // field that is not read and says a removal
  std::string_view removal_;
  struct Ignored {
    std::uint32_t node;
    std::string name;
  };
  static constexpr std::size_t most_ignored = 256;
  std::vector<Ignored> ignored_;
  std::size_t next_ignored_ = 0;
  static constexpr std::uint64_t most_looked_at = 100;
  std::string unread_time_;  // first field that may hold times; other threads read it once it is set
  std::atomic<bool> has_unread_time_ = false;
  std::string_view lacking_;  // role of the field that is missing
  std::array<Alias, slot_count> aliases_;
  std::vector<std::uint8_t> touched_;  // slots of the aliases in this record
  bool op_is_flag_ = false;
  bool event_;
  JsonTree tree_;
  std::vector<Seen> seen_;     // by node
  std::uint64_t records_ = 0;  // objects walked so far, with the present one
  ondemand::parser parser_;
  std::vector<char> bytes_;
  std::string unescaped_;
  std::array<Scalar, slot_count> scalars_;
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
