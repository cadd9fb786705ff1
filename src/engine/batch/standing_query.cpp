#include "engine/batch/standing_query.hpp"

#include "deltamatch/error.hpp"
#include "plan/estimates.hpp"

namespace deltamatch::engine {

namespace {

// New plans are made once the graph has grown or shrunk by this factor, and by at least this many edges.
constexpr std::uint64_t drift_factor = 2;
constexpr std::uint64_t drift_edges = 1000;

}  // namespace

void StandingQuery::refresh_plans(std::optional<double>& closure) {
  const std::uint64_t before = plans.planned_edges;
  const std::uint64_t edges = bound.graph().edges();
  if (planned && edges <= drift_factor * before + drift_edges && before <= drift_factor * edges + drift_edges) return;
  if (!closure) closure = plan::triangle_closure(bound.graph());
  plan::QueryPlans fresh = plan::make_delta_plans(bound, {}, closure);
  std::vector<plan::PlanActuals> zero(fresh.plans.size());
  plans = std::move(fresh);
  actuals = std::move(zero);
  planned = true;
  next_trial = 0;
  first_tried = 0;
}

QueryFamily::QueryFamily(const Query& wanted, const QueryOptions& how, graph::DataGraph& graph, Timestamp lateness)
    : query(wanted), options(how) {
  validate(query, "query " + query.name);
  if (options.induced && graph.keeps_loops()) {
    throw Error(ErrorKind::configuration, "query " + query.name, "induced matches of a graph that keeps self-loops",
                "leave self-loops out, or ask for matches that are not induced");
  }
  if (query.once) once = std::make_unique<OnceRule>(*query.once, lateness);
  for (query::Variant& variant : query::expand(query)) {
    variants.push_back(std::make_unique<StandingQuery>(variant.query, options, graph, std::move(variant.paths)));
    if (once) once->add_variant(variants.back()->bound);
  }
}

std::string variants_text(const QueryFamily& family) {
  if (!query::has_paths(family.query)) return "";
  std::string text = "paths make these variants; the plans are those of the last\n";
  for (const auto& variant : family.variants) {
    std::string lengths;
    for (const query::Path& path : variant->paths)
      lengths += (lengths.empty() ? "  " : ", ") + path.name + " of " + std::to_string(path.steps);
    text += lengths + ": " + std::to_string(variant->bound.vertices()) + " vertices, " +
            std::to_string(variant->bound.edges.size()) + " edges";
    Count matches = 0;
    std::uint64_t anchors = 0;
    for (const plan::PlanActuals& actuals : variant->actuals) {
      matches += actuals.matches;
      anchors += actuals.anchors;
    }
    if (anchors > 0) text += ", " + to_string(matches) + (matches == 1 ? " match" : " matches") + " found so far";
    text += '\n';
  }
  return text;
}

void QueryFamily::bind_anew(graph::DataGraph& graph) {
  for (std::unique_ptr<StandingQuery>& variant : variants) {
    variant->bound.bind_symbols();
    if (!variant->bound.outdated()) continue;
    auto fresh = std::make_unique<StandingQuery>(variant->query, options, graph, variant->paths);
    fresh->wait = std::move(variant->wait);
    variant = std::move(fresh);
  }
}

}  // namespace deltamatch::engine
