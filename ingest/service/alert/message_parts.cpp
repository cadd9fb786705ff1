#include "ingest/service/alert/message_parts.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "ingest/service/alert/alert_view.hpp"

namespace deltamatch::ingest {

using Json = nlohmann::ordered_json;

AlertLink::AlertLink(std::string_view application, std::string_view sink, std::string_view text)
    : application_(application), sink_(sink) {
  if (!text.empty()) template_.emplace(text, Escape::percent);
}

std::string AlertLink::of(const Json& view) const {
  std::string link;
  if (!template_) return link;
  const Json outer{{"application", application_}, {"sink", sink_}};
  const std::array<const Json*, 2> scopes{&outer, &view};
  template_->render(link, scopes);
  return link;
}

Json message_scope(std::string_view application, std::string_view sink, std::uint64_t batch, std::uint64_t part) {
  return {{"application", application}, {"sink", sink}, {"batch", batch}, {"part", part}};
}

std::string title_of(const Json& view) {
  if (view.at("kind") != "match") return view.at("summary").get<std::string>();
  return value_text(view.at("query")) + (view.at("appeared") == true ? ": a match appeared" : ": a match vanished");
}

std::string edge_line(const Json& edge) {
  static const std::set<std::string, std::less<>> own{"source", "label", "target", "time", "time_text", "attributes"};
  std::string line = value_text(edge.at("source")) + " → " + value_text(edge.at("target"));
  line += "  " + value_text(edge.at("label"));
  for (const auto& [name, value] : edge.items()) {
    if (!own.contains(name)) line += ", " + name + ' ' + value_text(value);
  }
  if (const auto time = edge.find("time_text"); time != edge.end() && !time->is_null()) line += ", " + value_text(*time);
  return line;
}

std::string rest_line(std::string_view application, std::uint64_t batch, std::uint64_t alerts) {
  return "deltamatch " + std::string(application) + ": " + std::to_string(alerts) + " more alerts of batch " +
         std::to_string(batch) + " are not shown here";
}

}  // namespace deltamatch::ingest
