#include "ingest/service/state/query_definition.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>

namespace deltamatch::ingest {
namespace {

std::string_view name_of(MatchMode mode) {
  switch (mode) {
    case MatchMode::edge_distinct:
      return "edge-distinct";
    case MatchMode::homomorphism:
      return "homomorphism";
    case MatchMode::isomorphism:
      break;
  }
  return "isomorphism";
}

nlohmann::ordered_json budget_of(const ServiceBudget& budget) {
  nlohmann::ordered_json out{{"time", "none"}, {"matches", "none"}};
  if (budget.limits.time) {
    out["time"] = fmt::format("{}ms", std::chrono::duration_cast<std::chrono::milliseconds>(*budget.limits.time).count());
  }
  if (budget.limits.matches) out["matches"] = *budget.limits.matches;
  out["then"] = budget.then == OverBudget::stop ? "stop" : "suspend";
  return out;
}

}  // namespace

std::string pattern_of(const ServiceQuery& query) { return query.text.empty() ? to_pattern(query.query) : query.text; }

std::string definition_of(const ServiceQuery& query) {
  const nlohmann::ordered_json out{{"name", query.query.name},
                                   {"pattern", pattern_of(query)},
                                   {"mode", name_of(query.options.mode)},
                                   {"count", query.options.count == CountMode::subgraphs ? "subgraphs" : "embeddings"},
                                   {"induced", query.options.induced},
                                   {"sinks", query.sinks},
                                   {"report_existing", query.report_existing},
                                   {"budget", budget_of(query.budget)}};
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string fingerprint_of(const ServiceQuery& query) {
  QueryOptions options = query.options;
  options.list = !query.sinks.empty();
  return query_fingerprint(query.query, options);
}

std::string entity_tag(const ServiceQuery& query) {
  const std::string definition = definition_of(query);
  return fmt::format("\"{}-{:016x}\"", fingerprint_of(query), XXH3_64bits(definition.data(), definition.size()));
}

}  // namespace deltamatch::ingest
