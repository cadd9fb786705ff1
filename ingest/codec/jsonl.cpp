// One JSON object per record:
//   {"op":"+","source":"a","target":7,"label":"PAYS","source_label":"Account","target_label":"Shop","time":1700000000000000}
//   {"op":"-","vertex":"a"}
// Fields in any order, others ignored but still checked to be JSON; a field that is null is absent. simdjson needs readable
// bytes behind the record, so each is copied first.
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

namespace deltamatch::ingest {
namespace {

namespace ondemand = simdjson::ondemand;

/// A scalar of interest.
struct Scalar {
  enum class Kind : std::uint8_t { absent, string, number };
  Kind kind = Kind::absent;
  std::string_view text;
};

std::string_view token_text(std::string_view token) noexcept {
  const std::size_t last = token.find_last_not_of(" \t\r\n");
  return token.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

/// JSON's grammar of numbers, of any length.
bool is_number(std::string_view text) noexcept {
  const auto digits = [&text] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  const auto take = [&text](std::string_view any) {
    const bool found = !text.empty() && any.find(text[0]) != std::string_view::npos;
    text.remove_prefix(found ? 1 : 0);
    return found;
  };
  take("-");
  const bool zero = text.starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (take(".") && digits() == 0) return false;
  if (take("eE")) {
    take("+-");
    if (digits() == 0) return false;
  }
  return text.empty();
}

/// How deep ignored values may nest; the stack pays for each level.
constexpr int deepest = 256;

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
    case ondemand::json_type::string:
      return value.get_string().error();
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
        times_(options.time_unit.value_or(TimeUnit::microseconds), options.time_format),
        edge_label_(options.edge_label) {
    const ColumnSpec spec = parse_columns(options.columns);
    if (!spec.named()) {
      throw Error(ErrorKind::usage, "columns", "fields of JSON objects have names, not positions",
                  "give e.g. source=payer,target=payee");
    }
    for (std::size_t r = 0; r < role_count; ++r)
      names_[r] = spec.names[r].value_or(std::string(role_name(static_cast<Role>(r))));
  }

  Decoded decode(std::string_view record) override {
    if (record.find_first_not_of(" \t\r") == std::string_view::npos) return {};
    scalars_ = {};
    message_.clear();
    if (const auto error = read(record)) return refuse(RejectReason::malformed, simdjson::error_message(error));
    if (!message_.empty()) return {{}, RejectReason::malformed, message_, {}};
    return make();
  }

 private:
  simdjson::error_code read(std::string_view record) {
    if (bytes_.size() < record.size() + simdjson::SIMDJSON_PADDING)
      bytes_.resize(2 * record.size() + simdjson::SIMDJSON_PADDING);
    std::memcpy(bytes_.data(), record.data(), record.size());
    std::memset(bytes_.data() + record.size(), ' ', simdjson::SIMDJSON_PADDING);
    ondemand::document document;
    if (const auto error = parser_.iterate(bytes_.data(), record.size(), bytes_.size()).get(document)) return error;
    ondemand::object object;
    if (const auto error = document.get_object().get(object)) return error;
    for (auto item : object) {
      ondemand::field field;
      if (const auto error = std::move(item).get(field)) return error;
      std::string_view key;
      if (const auto error = field.unescaped_key().get(key)) return error;
      const auto* const name = std::find(names_.begin(), names_.end(), key);
      if (const auto error = name == names_.end() || key.empty()
                                 ? pass(field.value())
                                 : take(static_cast<std::size_t>(name - names_.begin()), field.value())) {
        return error;
      }
    }
    return document.current_location().error() == simdjson::OUT_OF_BOUNDS ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
  }

  simdjson::error_code take(std::size_t role, ondemand::value value) {
    if (std::exchange(seen(role), true))
      return complain(fmt::format("field {} is there twice", in_ticks(names_[role]))), pass(value);
    ondemand::json_type type{};
    if (const auto error = value.type().get(type)) return error;
    Scalar& scalar = scalars_[role].scalar;
    switch (type) {
      case ondemand::json_type::string:
        scalar.kind = Scalar::Kind::string;
        return value.get_string().get(scalar.text);
      case ondemand::json_type::number:
        scalar = {Scalar::Kind::number, token_text(value.raw_json_token())};
        return is_number(scalar.text) ? simdjson::SUCCESS : simdjson::NUMBER_ERROR;
      case ondemand::json_type::null:
        return pass(value);
      default:
        complain(fmt::format("field {} is neither a string nor a number", in_ticks(names_[role])));
        return pass(value);
    }
  }

  bool& seen(std::size_t role) noexcept { return scalars_[role].seen; }
  void complain(std::string message) {
    if (message_.empty()) message_ = std::move(message);
  }
  [[nodiscard]] const Scalar& of(Role role) const noexcept { return scalars_[static_cast<std::size_t>(role)].scalar; }
  [[nodiscard]] bool has(Role role) const noexcept { return of(role).kind != Scalar::Kind::absent; }
  [[nodiscard]] const std::string& name(Role role) const noexcept { return names_[static_cast<std::size_t>(role)]; }
  [[nodiscard]] std::optional<std::string_view> label(Role role) const noexcept {
    return has(role) ? std::optional(of(role).text) : std::nullopt;
  }

  Decoded refuse(RejectReason reason, std::string message) {
    message_ = std::move(message);
    return {{}, reason, message_, {}};
  }

  bool take_id(Role role, Id& id) {
    const Scalar& scalar = of(role);
    IdFault fault = IdFault::none;
    if (scalar.kind == Scalar::Kind::string && ids_ != IdKind::integer) {
      if (scalar.text.empty()) fault = IdFault::empty;
      id = Id(scalar.text);
    } else {
      fault = parse_id(scalar.text, ids_ == IdKind::automatic ? IdKind::integer : ids_, id);
    }
    if (fault == IdFault::none) [[likely]]
      return true;
    message_ = fmt::format("{} {} {}", name(role), in_ticks(scalar.text), fault_text(fault));
    return false;
  }

  Decoded make() {
    bool inserts = true;
    if (has(Role::op)) {
      const auto operation = of(Role::op).kind == Scalar::Kind::string ? parse_operation(of(Role::op).text) : std::nullopt;
      if (!operation) {
        return refuse(RejectReason::bad_operation,
                      fmt::format("{} {} is none of +, -, insert and delete", name(Role::op), in_ticks(of(Role::op).text)));
      }
      inserts = *operation;
    }
    update_.time.reset();
    if (has(Role::time)) {
      update_.time = times_.read(of(Role::time).text);
      if (!update_.time) {
        return refuse(RejectReason::bad_time,
                      fmt::format("{} {} is not a time, or beyond the range", name(Role::time), in_ticks(of(Role::time).text)));
      }
    }
    return has(Role::vertex) ? vertex(inserts) : edge(inserts);
  }

  Decoded vertex(bool inserts) {
    if (has(Role::source) || has(Role::target)) {
      return refuse(RejectReason::wrong_arity,
                    fmt::format("{} stands beside {} or {}", name(Role::vertex), name(Role::source), name(Role::target)));
    }
    if (!take_id(Role::vertex, update_.source)) return {{}, RejectReason::bad_id, message_, {}};
    update_.kind = inserts ? UpdateKind::insert_vertex : UpdateKind::delete_vertex;
    update_.source_label = label(Role::label);
    update_.target_label.reset();
    update_.target = Id();
    update_.label = {};
    return {{&update_, 1}, std::nullopt, {}, {}};
  }

  Decoded edge(bool inserts) {
    for (const Role role : {Role::source, Role::target}) {
      if (!has(role)) return refuse(RejectReason::wrong_arity, fmt::format("there is no {}", name(role)));
    }
    if (!take_id(Role::source, update_.source) || !take_id(Role::target, update_.target))
      return {{}, RejectReason::bad_id, message_, {}};
    update_.kind = inserts ? UpdateKind::insert_edge : UpdateKind::delete_edge;
    update_.label = label(Role::label).value_or(std::string_view(edge_label_));
    update_.source_label = label(Role::source_label);
    update_.target_label = label(Role::target_label);
    return {{&update_, 1}, std::nullopt, {}, {}};
  }

  struct Slot {
    Scalar scalar;
    bool seen = false;
  };

  IdKind ids_;
  TimeReader times_;
  std::string edge_label_;
  std::array<std::string, role_count> names_;
  ondemand::parser parser_;
  std::vector<char> bytes_;
  std::array<Slot, role_count> scalars_;
  Update update_;
  std::string message_;
};

}  // namespace

std::unique_ptr<Codec> make_jsonl_codec(const CodecOptions& options) { return std::make_unique<JsonlCodec>(options); }

}  // namespace deltamatch::ingest
