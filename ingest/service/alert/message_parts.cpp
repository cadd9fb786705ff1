#include "ingest/service/alert/message_parts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

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
  std::string said = value_text(edge.at("label"));
  const auto say = [&said](const std::string& text) { said += (said.empty() ? "" : ", ") + text; };
  for (const auto& [name, value] : edge.items()) {
    if (!own.contains(name)) say(name + ' ' + value_text(value));
  }
  if (const auto time = edge.find("time_text"); time != edge.end() && !time->is_null()) say(value_text(*time));
  return value_text(edge.at("source")) + " → " + value_text(edge.at("target")) + (said.empty() ? "" : "  " + said);
}

std::string rest_line(std::string_view application, const LeftOut& rest) {
  constexpr std::size_t most_named = 10;
  std::vector<std::pair<std::string_view, std::uint64_t>> queries(rest.alerts.begin(), rest.alerts.end());
  std::ranges::stable_sort(queries, std::greater<>(), &decltype(queries)::value_type::second);
  std::uint64_t all = 0;
  std::string named;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto& [query, alerts] = queries[i];
    all += alerts;
    if (i < most_named) named += (i == 0 ? "" : ", ") + clipped(query, 100) + ' ' + std::to_string(alerts);
  }
  if (queries.size() > most_named) named += ", and " + std::to_string(queries.size() - most_named) + " more queries";
  std::string line = "deltamatch " + std::string(application) + ": " + std::to_string(all) + " more alerts of batch " +
                     std::to_string(rest.batch) + " are not shown here (" + named + ")";
  return rest.where.empty() ? line : line + ". They are in " + rest.where;
}

}  // namespace deltamatch::ingest
