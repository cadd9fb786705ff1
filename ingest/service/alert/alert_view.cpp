#include "ingest/service/alert/alert_view.hpp"

#include <nlohmann/json.hpp>

#include "deltamatch/error.hpp"
#include "deltamatch/value_text.hpp"

namespace deltamatch::ingest {
namespace {

using Json = nlohmann::ordered_json;

bool is_surrogate(std::string_view escape, std::string_view kinds) {
  constexpr std::string_view d = "dD";
  return escape.size() >= 6 && escape.starts_with("\\u") && d.find(escape[2]) != std::string_view::npos &&
         kinds.find(escape[3]) != std::string_view::npos;
}

/// Replaces escapes of lone low surrogates, which stand for bytes that are no UTF-8.
std::string with_valid_text(std::string_view alert) {
  std::string valid;
  valid.reserve(alert.size());
  while (!alert.empty()) {
    const std::size_t plain = std::min(alert.find('\\'), alert.size());
    valid += alert.substr(0, plain);
    alert.remove_prefix(plain);
    std::size_t length = std::min<std::size_t>(2, alert.size());
    if (is_surrogate(alert, "89abAB") && is_surrogate(alert.substr(6), "cdefCDEF")) length = 12;
    if (is_surrogate(alert, "cdefCDEF")) {
      valid += "\\ufffd";
      length = 0;
      alert.remove_prefix(6);
    }
    valid += alert.substr(0, length);
    alert.remove_prefix(length);
  }
  return valid;
}

void add_edge(Json& edges, const Json& edge) {
  Json flat = Json::object();
  if (edge.is_array()) {
    if (edge.empty() || edge[0].is_structured()) {  // the steps of a path
      for (const Json& step : edge) add_edge(edges, step);
      return;
    }
    flat["source"] = edge.at(0);
    flat["label"] = edge.at(1);
    flat["target"] = edge.at(2);
  } else {
    flat = edge;
    if (const auto time = edge.find("time"); time != edge.end()) {
      flat["time_text"] = time->is_null() ? Json() : Json(time_text(*time));
    }
    const Json attributes = edge.value("attributes", Json::object());
    for (const auto& [name, value] : attributes.items()) {
      if (!flat.contains(name)) flat[name] = value;
    }
  }
  edges.push_back(std::move(flat));
}

std::string name_list(const Json& bindings) {
  std::string text;
  for (const auto& [name, value] : bindings.items()) {
    text += (text.empty() ? "" : ", ") + name + ' ' + value_text(value);
  }
  return text;
}

std::string summary_of(const Json& view) {
  const std::string query = value_text(view.at("query"));
  if (view.contains("suppressed"))
    return query + ": " + value_text(view.at("suppressed")) + " alerts were left out by the rate limit";
  if (view.contains("partial"))
    return query + ": suspended, because it exceeded its budget in batch " + value_text(view.at("batch"));
  const std::string names = name_list(view.value("bindings", Json::object()));
  return query + (view.at("appeared") == true ? ": a match appeared" : ": a match vanished") +
         (names.empty() ? "" : ": " + names);
}

/// Adds what the alert itself does not have.
void complete(Json& view) {
  const bool match = view.contains("id");
  view["kind"] = match ? "match" : view.contains("suppressed") ? "suppressed" : "suspended";
  view["appeared"] = match && view.value("sign", "") == "+";
  view["vanished"] = match && view.value("sign", "") == "-";
  if (match) view["time_text"] = view.value("time", Json()).is_null() ? Json() : Json(time_text(view["time"]));
  if (const auto edges = view.find("edges"); edges != view.end()) {
    Json flat = Json::array();
    for (const Json& edge : *edges) add_edge(flat, edge);
    *edges = std::move(flat);
  }
  view["summary"] = summary_of(view);
}

}  // namespace

std::string to_text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string value_text(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return to_text(value);
  std::string text;
  for (const Json& item : value) text += (text.empty() ? "" : ", ") + value_text(item);
  return text;
}

std::string time_text(const Json& time) {
  return time.is_number_integer() ? deltamatch::time_text(time.get<Timestamp>()) : value_text(time);
}

std::string clipped(std::string_view text, std::size_t most) {
  const auto width = [](char c) -> std::size_t {
    const auto byte = static_cast<unsigned char>(c);
    return (byte & 0xc0) == 0x80 ? 0 : byte >= 0xf0 ? 2 : 1;
  };
  std::size_t units = 0, kept = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (units += width(text[i]); units > most) return std::string(text.substr(0, kept)) + "…";
    // A character is kept with all its bytes, if the ellipsis fits behind it.
    const bool ends = i + 1 == text.size() || width(text[i + 1]) != 0;
    if (ends && units + 1 <= most) kept = i + 1;
  }
  return std::string(text);
}

Json alert_view(std::string_view alert) {
  const bool odd = alert.find("\\u") != std::string_view::npos;
  Json view = odd ? Json::parse(with_valid_text(alert), nullptr, false) : Json::parse(alert, nullptr, false);
  if (!view.is_object() || !view.contains("query")) throw Error("alert", "this is not an alert");
  Json whole = view;
  try {
    complete(view);
  } catch (const Json::exception& error) {
    throw Error("alert", std::string("this is not an alert: ") + error.what());
  }
  view["alert"] = std::move(whole);
  return view;
}

}  // namespace deltamatch::ingest
