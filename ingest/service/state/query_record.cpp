#include "ingest/service/state/query_record.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "deltamatch/error.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

constexpr int version = 1;

[[noreturn]] void refuse(std::string_view where, std::string_view what) {
  throw Error(where, fmt::format("this record of a query cannot be used: {}", what),
              "use the release that wrote it, or restore the topic from a backup");
}

}  // namespace

std::string to_json(const QueryRecord& record) {
  std::string out = fmt::format(R"({{"v":{},"batch":{},"name":)", version, record.batch);
  append_json_string(out, record.name);
  out += R"(,"definition":)";
  out += record.definition ? *record.definition : "null";
  out += '}';
  return out;
}

std::optional<QueryRecord> parse_query_record(std::string_view json, std::string_view where) {
  const nlohmann::json object = nlohmann::json::parse(json, nullptr, false);
  if (!object.is_object() || !object.contains("v") || !object.contains("definition")) return std::nullopt;
  QueryRecord record;
  try {
    if (object.at("v").get<int>() != version) refuse(where, "it has another version");
    record.batch = object.at("batch").get<std::uint64_t>();
    record.name = object.at("name").get<std::string>();
    const nlohmann::json& definition = object.at("definition");
    if (!definition.is_null() && !definition.is_object()) refuse(where, "its definition is no object");
    if (definition.is_object()) record.definition = definition.dump();
  } catch (const nlohmann::json::exception& error) {
    refuse(where, error.what());
  }
  return record;
}

std::map<std::string, QueryRecord> left_after(std::span<const QueryRecord> records) {
  std::map<std::string, QueryRecord> left;
  for (const QueryRecord& record : records) {
    if (record.definition) {
      left.insert_or_assign(record.name, record);
    } else {
      left.erase(record.name);
    }
  }
  return left;
}

}  // namespace deltamatch::ingest
