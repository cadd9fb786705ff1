#include "ingest/service/state/delivery_note.hpp"

#include <nlohmann/json.hpp>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

// Builds before 0.1.0 pass over such a record, because it names no batch.
constexpr std::string_view beginning = R"({"v":1,"delivered":)";

}  // namespace

std::string to_json(const DeliveryNote& note) {
  return std::string(beginning) + nlohmann::json(note.delivered).dump() + R"(,"up_to":)" + std::to_string(note.up_to) + "}";
}

std::optional<DeliveryNote> parse_note(std::string_view json, std::string_view where) {
  if (!json.starts_with(beginning)) return std::nullopt;
  try {
    const nlohmann::json object = nlohmann::json::parse(json);
    DeliveryNote note;
    note.up_to = object.at("up_to").get<std::uint64_t>();
    const nlohmann::json& delivered = object.at("delivered");
    if (!delivered.is_object()) throw Error(where, "this is not a note of deliveries: its sinks are no object");
    for (const auto& [sink, batch] : delivered.items()) note.delivered[sink] = batch.get<std::uint64_t>();
    return note;
  } catch (const nlohmann::json::exception& error) {
    throw Error(where, std::string("this is not a note of deliveries: ") + error.what());
  }
}

}  // namespace deltamatch::ingest
