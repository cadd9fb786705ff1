#include "ingest/codec/message_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "deltamatch/error.hpp"
#include "ingest/codec/json_value.hpp"

namespace deltamatch::ingest {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view known = "write kafka:key, kafka:key.NAME, kafka:header.NAME or kafka:timestamp";

/// The value at a path in a key. The key may stand in a payload beside its schema.
std::optional<dom::element> at_path(dom::element root, const std::vector<std::string>& path) {
  dom::object object;
  dom::element payload;
  if (root.get_object().get(object) == simdjson::SUCCESS && object.at_key("schema").error() == simdjson::SUCCESS &&
      object.at_key("payload").get(payload) == simdjson::SUCCESS) {
    root = payload;
  }
  for (const std::string& name : path) {
    if (root.get_object().get(object) != simdjson::SUCCESS || object.at_key(name).get(root) != simdjson::SUCCESS)
      return std::nullopt;
  }
  return root;
}

/// The value as a scalar. Returns false if it is none.
bool to_scalar(dom::element element, std::string& text, Scalar& value) {
  std::string_view string;
  switch (element.type()) {
    case dom::element_type::STRING:
      if (element.get_string().get(string) != simdjson::SUCCESS) return false;
      text = string;
      value = {Scalar::Kind::string, text, 0};
      return true;
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
      text = simdjson::minify(element);
      value = {Scalar::Kind::number, text, 0};
      return true;
    case dom::element_type::BOOL:
      text = simdjson::minify(element);
      value = {Scalar::Kind::boolean, text, 0};
      return true;
    case dom::element_type::NULL_VALUE:
      return true;
    default:
      return false;
  }
}

}  // namespace

MessageColumns::MessageColumns(const ColumnSpec& spec) {
  for (std::size_t r = 0; r < spec.roles(); ++r) {
    const auto& name = spec.names[r];
    if (!name || !surrounds_message(*name)) continue;
    Column column;
    column.role = static_cast<Role>(r);
    column.name = *name;
    const std::string_view what = std::string_view(*name).substr(std::string_view("kafka:").size());
    const auto after = [&](std::string_view word) { return what.substr(word.size()); };
    if (what == "key") {
      column.kind = Kind::key;
    } else if (what.starts_with("key.") && what.size() > 4) {
      column.path = split_path(after("key."), *name);
    } else if (what.starts_with("header.") && what.size() > 7) {
      column.kind = Kind::header;
      column.path = {std::string(after("header."))};
    } else if (what == "timestamp") {
      column.kind = Kind::timestamp;
      if (column.role != Role::time && !is_attribute(column.role)) {
        throw Error(ErrorKind::usage, "columns", fmt::format("{} is a time, and no {}", *name, spec.role_text(column.role)),
                    "give it for time, or for an attribute of the type time");
      }
    } else {
      throw Error(ErrorKind::usage, "columns", fmt::format("`{}` is nothing that surrounds a message", *name), known);
    }
    columns_.push_back(std::move(column));
  }
}

bool MessageColumns::has(Role role) const noexcept {
  return std::ranges::any_of(columns_, [&](const Column& column) { return column.role == role; });
}

std::string MessageColumns::take(const MessageFrame* frame) {
  std::string fault;
  for (Column& column : columns_) {
    column.value = {};
    if (frame == nullptr) continue;
    switch (column.kind) {
      case Kind::timestamp:
        if (frame->time) column.value = {Scalar::Kind::instant, {}, *frame->time};
        break;
      case Kind::header:
        for (const MessageHeader& header : frame->headers) {  // the last of this name
          if (header.name != column.path[0]) continue;
          column.value = header.value ? Scalar{Scalar::Kind::text, *header.value, 0} : Scalar{};
        }
        break;
      case Kind::key:
        if (frame->key && fault.empty()) fault = take_key(column, *frame->key);
        break;
    }
  }
  return fault;
}

/// A key is a text, unless it is a JSON object or a JSON string.
std::string MessageColumns::take_key(Column& column, std::string_view key) {
  const bool json = key.starts_with('{') || (key.size() > 1 && key.starts_with('"') && key.ends_with('"'));
  if (!json && column.path.empty()) {
    column.value = {Scalar::Kind::text, key, 0};
    return {};
  }
  dom::parser parser;
  dom::element root;
  const simdjson::padded_string copy(key);
  if (parser.parse(copy).get(root) != simdjson::SUCCESS)
    return fmt::format("the message's key {} is not JSON, so it has no {}", in_ticks(key), column.name);
  const std::optional<dom::element> found = at_path(root, column.path);
  if (!found) return fmt::format("the message's key {} has no {}", in_ticks(key), column.name);
  if (to_scalar(*found, column.text, column.value)) return {};
  return fmt::format("{} of the message's key {} is neither a text nor an integer; kafka:key.NAME names a field in it",
                     column.name, in_ticks(key));
}

}  // namespace deltamatch::ingest
