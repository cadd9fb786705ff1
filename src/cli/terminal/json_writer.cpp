#include "cli/terminal/json_writer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace deltamatch::cli {
namespace {

/// Quotes and escapes a text. Bytes that are not UTF-8, which a file's name may have, become U+FFFD.
std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void JsonWriter::separate() {
  if (!first_) text_ += ',';
  first_ = false;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  text_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view raw) {
  separate();
  text_ += raw;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  value(quoted(name));
  text_ += ':';
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view text) { return value(quoted(text)); }
JsonWriter& JsonWriter::number(Count number) { return value(to_string(number)); }
JsonWriter& JsonWriter::boolean(bool truth) { return value(truth ? "true" : "false"); }
JsonWriter& JsonWriter::real(double number) { return value(fmt::format("{}", number)); }
JsonWriter& JsonWriter::seconds(double seconds) { return value(fmt::format("{:.6f}", seconds)); }

}  // namespace deltamatch::cli
