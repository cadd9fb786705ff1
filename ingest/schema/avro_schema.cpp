#include "ingest/schema/avro_schema.hpp"

// Without simdjson's exceptions, an error that is ignored does not compile.
#define SIMDJSON_EXCEPTIONS 0
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "ingest/schema/record_text.hpp"

namespace deltamatch::ingest {
namespace {

namespace dom = simdjson::dom;
using Kind = AvroType::Kind;
using Meaning = AvroType::Meaning;

constexpr std::array<std::pair<std::string_view, Kind>, 8> primitives{{{"null", Kind::null},
                                                                       {"boolean", Kind::boolean},
                                                                       {"int", Kind::int32},
                                                                       {"long", Kind::int64},
                                                                       {"float", Kind::float32},
                                                                       {"double", Kind::float64},
                                                                       {"bytes", Kind::bytes},
                                                                       {"string", Kind::string}}};

std::optional<Kind> primitive(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(primitives, name, [](const auto& known) { return known.first; });
  return found == primitives.end() ? std::nullopt : std::optional(found->second);
}

/// What a long means by its logical type, or by the name that Kafka Connect and Debezium give it.
Meaning time_of(std::string_view name) noexcept {
  constexpr std::array<std::pair<std::string_view, Meaning>, 9> known{
      {{"timestamp-millis", Meaning::milliseconds},
       {"local-timestamp-millis", Meaning::milliseconds},
       {"timestamp-micros", Meaning::microseconds},
       {"local-timestamp-micros", Meaning::microseconds},
       {"timestamp-nanos", Meaning::nanoseconds},
       {"local-timestamp-nanos", Meaning::nanoseconds},
       {"io.debezium.time.Timestamp", Meaning::milliseconds},
       {"io.debezium.time.MicroTimestamp", Meaning::microseconds},
       {"io.debezium.time.NanoTimestamp", Meaning::nanoseconds}}};
  const auto* const found = std::ranges::find(known, name, [](const auto& entry) { return entry.first; });
  return found == known.end() ? Meaning::none : found->second;
}

}  // namespace

/// Reads the texts of a schema into one table of types. A member function that fails sets the fault, and its result means
/// nothing.
class AvroSchemaReader {
 public:
  /// Returns false if the text cannot be read.
  bool read(std::string_view text) {
    dom::parser parser;
    dom::element root;
    const simdjson::padded_string copy(text);
    if (const auto error = parser.parse(copy).get(root)) {
      std::string_view word = text;
      while (!word.empty() && (word.back() == ' ' || word.back() == '\n')) word.remove_suffix(1);
      if (!primitive(word)) return fail(fmt::format("it is not JSON: {}", simdjson::error_message(error)));
      schema_.root_ = add(*primitive(word));
      return true;
    }
    schema_.root_ = type(root, "", 0);
    return fault_.empty();
  }

  [[nodiscard]] std::string& fault() noexcept { return fault_; }
  [[nodiscard]] AvroSchema& schema() noexcept { return schema_; }

 private:
  bool fail(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
    return false;
  }

  std::uint32_t add(Kind kind) {
    schema_.types_.emplace_back().kind = kind;
    return static_cast<std::uint32_t>(schema_.types_.size() - 1);
  }
  AvroType& at(std::uint32_t number) { return schema_.types_[number]; }

  static std::string_view text_of(dom::object object, std::string_view key) {
    std::string_view text;
    return object.at_key(key).get_string().get(text) == simdjson::SUCCESS ? text : std::string_view();
  }

  std::uint32_t type(dom::element element, const std::string& space, std::size_t depth) {  // NOLINT(misc-no-recursion)
    if (depth > AvroSchema::deepest) return fail("it nests too deep"), 0;
    if (!fault_.empty()) return 0;
    std::string_view name;
    dom::array array;
    dom::object object;
    if (element.get_string().get(name) == simdjson::SUCCESS) return named(name, space);
    if (element.get_array().get(array) == simdjson::SUCCESS) return alternatives(array, space, depth);
    if (element.get_object().get(object) == simdjson::SUCCESS) return complex(object, space, depth);
    return fail("a type is neither a name nor an object nor a list"), 0;
  }

  std::uint32_t named(std::string_view name, const std::string& space) {
    if (const std::optional<Kind> kind = primitive(name)) {
      const auto index = static_cast<std::size_t>(*kind);
      if (!plain_[index]) plain_[index] = add(*kind);
      return *plain_[index];
    }
    auto found = names_.end();
    if (name.find('.') == std::string_view::npos && !space.empty()) found = names_.find(fmt::format("{}.{}", space, name));
    if (found == names_.end()) found = names_.find(std::string(name));
    if (found != names_.end()) return found->second;
    return fail(fmt::format("the type {} is not known", name)), 0;
  }

  std::uint32_t alternatives(dom::array array, const std::string& space, std::size_t depth) {  // NOLINT(misc-no-recursion)
    const std::uint32_t number = add(Kind::alternatives);
    std::vector<std::uint32_t> types;
    for (const dom::element element : array) types.push_back(type(element, space, depth + 1));
    if (types.empty()) fail("a union has no types");
    at(number).alternatives = std::move(types);
    return number;
  }

  std::uint32_t complex(dom::object object, const std::string& space, std::size_t depth) {  // NOLINT(misc-no-recursion)
    dom::element inner;
    if (object.at_key("type").get(inner) != simdjson::SUCCESS) return fail("a type has no key `type`"), 0;
    std::string_view kind;
    if (inner.get_string().get(kind) != simdjson::SUCCESS) return type(inner, space, depth + 1);  // {"type": {…}}
    if (kind == "array" || kind == "map") {
      const std::string_view key = kind == "array" ? "items" : "values";
      dom::element items;
      if (object.at_key(key).get(items) != simdjson::SUCCESS) return fail(fmt::format("an {} has no key `{}`", kind, key)), 0;
      const std::uint32_t number = add(kind == "array" ? Kind::array : Kind::map);
      const std::uint32_t of = type(items, space, depth + 1);
      at(number).items = of;
      return number;
    }
    if (kind == "record" || kind == "error") return record(object, space, depth);
    if (kind == "enum") return enumeration(object, space);
    if (kind == "fixed") return fixed(object, space);
    if (const std::optional<Kind> known = primitive(kind)) return with_meaning(object, *known);
    return named(kind, space);
  }

  /// The full name of a record, an enum or a fixed. Its namespace becomes `inside`.
  std::string full_name(dom::object object, const std::string& space, std::string& inside) {
    const std::string_view name = text_of(object, "name");
    if (name.empty()) fail("a record, an enum or a fixed has no name");
    std::string_view own;
    const bool told = object.at_key("namespace").get_string().get(own) == simdjson::SUCCESS;
    if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos)
      inside = name.substr(0, dot);
    else
      inside = told ? std::string(own) : space;
    if (name.find('.') != std::string_view::npos || inside.empty()) return std::string(name);
    return fmt::format("{}.{}", inside, name);
  }

  std::uint32_t define(Kind kind, const std::string& name) {
    const std::uint32_t number = add(kind);
    if (!names_.try_emplace(name, number).second) fail(fmt::format("the type {} is defined twice", name));
    return number;
  }

  std::uint32_t record(dom::object object, const std::string& space, std::size_t depth) {  // NOLINT(misc-no-recursion)
    std::string inside;
    const std::string name = full_name(object, space, inside);
    const std::uint32_t number = define(Kind::record, name);  // so fields may be of this type
    dom::array array;
    if (object.at_key("fields").get_array().get(array) != simdjson::SUCCESS)
      return fail(fmt::format("the record {} has no fields", name)), 0;
    std::vector<AvroType::Field> fields;
    for (const dom::element element : array) {
      dom::object field;
      dom::element of;
      if (element.get_object().get(field) != simdjson::SUCCESS || field.at_key("type").get(of) != simdjson::SUCCESS ||
          text_of(field, "name").empty()) {
        return fail(fmt::format("a field of the record {} has no name or no type", name)), 0;
      }
      fields.push_back({RecordText::quoted(text_of(field, "name")), type(of, inside, depth + 1)});
      if (!fault_.empty()) return 0;
    }
    at(number).fields = std::move(fields);
    return number;
  }

  std::uint32_t enumeration(dom::object object, const std::string& space) {
    std::string inside;
    const std::uint32_t number = define(Kind::enumeration, full_name(object, space, inside));
    dom::array symbols;
    if (object.at_key("symbols").get_array().get(symbols) != simdjson::SUCCESS) return fail("an enum has no symbols"), 0;
    for (const dom::element element : symbols) {
      std::string_view symbol;
      if (element.get_string().get(symbol) != simdjson::SUCCESS) return fail("a symbol of an enum is no text"), 0;
      at(number).symbols.emplace_back(symbol);
    }
    return number;
  }

  std::uint32_t fixed(dom::object object, const std::string& space) {
    std::string inside;
    const std::uint32_t number = define(Kind::fixed, full_name(object, space, inside));
    if (object.at_key("size").get_uint64().get(at(number).size) != simdjson::SUCCESS) return fail("a fixed has no size"), 0;
    take_decimal(object, number);
    return number;
  }

  std::uint32_t with_meaning(dom::object object, Kind kind) {
    const std::uint32_t number = add(kind);
    const std::string_view logical = text_of(object, "logicalType");
    if (kind == Kind::int64) {
      at(number).meaning = time_of(logical.empty() ? text_of(object, "connect.name") : logical);
    } else if (kind == Kind::int32) {
      const bool days = logical == "date" || (logical.empty() && text_of(object, "connect.name") == "io.debezium.time.Date");
      if (days) at(number).meaning = Meaning::days;
    } else if (kind == Kind::bytes) {
      take_decimal(object, number);
    }
    return number;
  }

  /// A decimal whose scale is none means nothing: Avro reads its bytes then.
  void take_decimal(dom::object object, std::uint32_t number) {
    if (text_of(object, "logicalType") != "decimal") return;
    std::uint64_t scale = 0;
    std::uint64_t precision = std::numeric_limits<std::uint32_t>::max();
    const auto take = [&](std::string_view key, std::uint64_t& digits) {
      const auto found = object.at_key(key);
      return found.error() == simdjson::NO_SUCH_FIELD || found.get_uint64().get(digits) == simdjson::SUCCESS;
    };
    if (!take("scale", scale) || !take("precision", precision)) return;
    if (precision > std::numeric_limits<std::uint32_t>::max() || scale > precision) return;
    at(number).meaning = Meaning::decimal;
    at(number).scale = static_cast<std::uint32_t>(scale);
  }

  AvroSchema schema_;
  std::map<std::string, std::uint32_t, std::less<>> names_;
  std::array<std::optional<std::uint32_t>, primitives.size()> plain_;
  std::string fault_;
};

std::variant<AvroSchema, std::string> AvroSchema::read(std::string_view text, std::span<const std::string> references) {
  AvroSchemaReader reader;
  for (const std::string& reference : references) {
    if (!reader.read(reference)) return fmt::format("a schema that it refers to cannot be read: {}", reader.fault());
  }
  if (!reader.read(text)) return std::move(reader.fault());
  return std::move(reader.schema());
}

}  // namespace deltamatch::ingest
