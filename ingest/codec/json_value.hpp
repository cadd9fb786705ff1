// Reads values of a JSON record with simdjson.
#pragma once

// Without simdjson's exceptions, an error that is ignored does not compile.
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/codec/json_string.hpp"
#include "ingest/codec/scalar.hpp"

namespace deltamatch::ingest {

namespace ondemand = simdjson::ondemand;

inline std::string_view token_text(std::string_view token) noexcept {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!token.empty() && blank(token.back())) token.remove_suffix(1);
  return token;
}

/// Whether a text is a JSON number, of any length.
inline bool is_number(std::string_view text) noexcept {
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

/// How deep values that are not read may nest. Each level takes memory of the stack.
inline constexpr int deepest = 256;

/// Turns a string's token into its contents. Without escapes they are a view of the record, otherwise of text appended to
/// `unescaped`.
inline bool take_quotes(std::string_view& token, std::string& unescaped) {
  if (token.size() < 2 || token.back() != '"') return false;
  token = token.substr(1, token.size() - 2);
  if (token.find('\\') == std::string_view::npos) return true;
  const std::size_t start = unescaped.size();
  if (!append_unescaped(unescaped, token)) return false;
  token = std::string_view(unescaped).substr(start);
  return true;
}

/// Reads a string's token and steps over it. A string that is not stepped over passes for a key if a colon follows it.
inline simdjson::error_code take_token(ondemand::value& value, std::string_view& token) {
  token = token_text(value.raw_json_token());
  return value.get_raw_json_string().error();
}

inline simdjson::error_code pass(ondemand::value value, int depth = 0);

/// Reads an array to its end, so that values which are not used are still checked.
inline simdjson::error_code pass(ondemand::array array, int depth = 0) {
  for (auto item : array) {
    ondemand::value inner;
    if (const auto error = item.get(inner)) return error;
    if (const auto error = pass(inner, depth)) return error;
  }
  return simdjson::SUCCESS;
}

/// The same for an object.
inline simdjson::error_code pass(ondemand::object object, int depth = 0) {
  for (auto item : object) {
    ondemand::field field;
    if (const auto error = std::move(item).get(field)) return error;
    if (const auto error = field.unescaped_key().error()) return error;
    if (const auto error = pass(field.value(), depth)) return error;
  }
  return simdjson::SUCCESS;
}

/// The same for a value.
inline simdjson::error_code pass(ondemand::value value, int depth) {
  if (depth > deepest) return simdjson::DEPTH_ERROR;
  ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  switch (type) {
    case ondemand::json_type::array: {
      ondemand::array array;
      if (const auto error = value.get_array().get(array)) return error;
      return pass(array, depth + 1);
    }
    case ondemand::json_type::object: {
      ondemand::object object;
      if (const auto error = value.get_object().get(object)) return error;
      return pass(object, depth + 1);
    }
    case ondemand::json_type::string: {
      std::string_view text;
      if (const auto error = take_token(value, text)) return error;
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

}  // namespace deltamatch::ingest
