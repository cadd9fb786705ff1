#include "cli/report/filter_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <numeric>

#include "cli/terminal/values.hpp"

namespace deltamatch::cli {

void write_filter(JsonWriter& json, const FilterReport& filter) {
  if (filter.steps.empty()) return;
  json.key("filter").begin_object().key("steps").begin_array();
  for (const FilterStep& step : filter.steps) {
    json.begin_object().key("step").string(step.name).key("candidates").begin_array();
    for (const std::uint64_t candidates : step.candidates) json.number(candidates);
    json.end_array().key("seconds").seconds(step.seconds).end_object();
  }
  json.end_array().key("used").boolean(filter.used);
  if (filter.used) json.key("entries").number(filter.entries).key("bytes").number(filter.bytes);
  json.key("seconds").seconds(filter.seconds).end_object();
}

std::string filter_text(std::string_view query, const FilterReport& filter) {
  if (filter.steps.empty()) return {};
  std::string text = fmt::format("filter   {}: {}", query, human_seconds(filter.seconds));
  auto out = std::back_inserter(text);
  if (filter.used) {
    fmt::format_to(out, ", matched on lists of {} entries, {}\n", grouped(filter.entries), human_bytes(filter.bytes));
  } else {
    text += ", matched on the graph\n";
  }
  for (const FilterStep& step : filter.steps) {
    const std::uint64_t sum = std::accumulate(step.candidates.begin(), step.candidates.end(), std::uint64_t{0});
    fmt::format_to(out, "  {:<7}{} candidates: {} ({})\n", step.name, grouped(sum), fmt::join(step.candidates, " "),
                   human_seconds(step.seconds));
  }
  return text;
}

}  // namespace deltamatch::cli
