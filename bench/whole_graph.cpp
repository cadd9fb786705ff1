#include "whole_graph.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "deltamatch/engine.hpp"
#include "ingest/stream.hpp"
#include "match/enumerator.hpp"
#include "match/matcher.hpp"
#include "match/plan_index.hpp"
#include "thread_time.hpp"

namespace deltamatch::bench {

namespace {

std::vector<graph::Edge> edges_of(const graph::DataGraph& graph) {
  std::vector<graph::Edge> edges;
  edges.reserve(graph.edges());
  for (VertexId v = 0; v < graph.base().vertices(); ++v) {
    graph.for_each_edge(v, false, [&](const graph::Edge& edge, Timestamp) { edges.push_back(edge); });
  }
  return edges;
}

/// Takes matches and does nothing with them, but so that they must be there.
class Taker final : public match::FoundSink {
 public:
  void found(const match::Found& match) override { asm volatile("" : : "r"(match.vertices.data()), "r"(match.tags.data())); }
};

}  // namespace

std::unique_ptr<graph::DataGraph> read_graph(const std::string& path) {
  ingest::StreamOptions options;
  options.limits.max_updates = std::size_t{1} << 16;
  options.on_error = ingest::OnError::skip;
  const auto source = ingest::open_stream(path, options);
  Engine engine({.directed = false, .threads = 1});
  ingest::PositionedBatch batch;
  while (source->next(batch)) {
    source->settle(batch, engine.load(batch.updates, source->on_reject()).rejects);
  }
  auto graph = std::make_unique<graph::DataGraph>(false, false);
  graph::NetBatch all;
  engine.for_each([&](const Update& update) {
    if (update.kind == UpdateKind::insert_vertex) {
      graph->dictionary.create(update.source, graph->vertex_labels.intern(update.source_label.value_or("")));
    } else {
      all.inserted.push_back(graph->ranked(graph->dictionary.find(update.source), graph->dictionary.find(update.target),
                                           graph->edge_labels.intern(update.label)));
    }
  });
  std::sort(all.inserted.begin(), all.inserted.end());
  Workers workers(1);
  graph->stage(all);
  graph->settle(workers);
  return graph;
}

Count sum_embeddings(const Query& query, graph::DataGraph& graph, Workers& workers) {
  const plan::BoundQuery bound(query, MatchMode::isomorphism, CountMode::embeddings, graph);
  graph.resolve_all();
  plan::StaticPlanning how;
  how.listed = false;
  how.from = CountFrom::edges;
  const plan::QueryPlans plans = plan::make_static_plans(bound, how);
  const match::QueryTask task{&bound, &plans, false};
  std::vector<match::QueryResult> results(1);
  results[0].plans.resize(plans.plans.size());
  const std::vector<graph::Edge> anchors = edges_of(graph);
  const match::PassWork work{match::Pass::whole, anchors};
  match::MatchSteps steps;
  match::make_cpu_matcher(workers)->match(graph, {&work, 1}, {&task, 1}, results, nullptr, steps);
  return match::total(task, results[0].plans);
}

Walked walk(const Query& query, graph::DataGraph& graph) {
  const plan::BoundQuery bound(query, MatchMode::isomorphism, CountMode::subgraphs, graph);
  graph.resolve_all();
  plan::StaticPlanning how;
  how.sums = false;
  const plan::QueryPlans plans = plan::make_static_plans(bound, how);
  const std::vector<graph::Edge> anchors = edges_of(graph);
  const std::vector<graph::Resolved> resolved = graph.resolved();
  const match::QueryTask task{&bound, &plans, true};
  match::PlanIndex plan_index(graph, {&task, 1}, resolved);
  Walked walked;
  Taker taker;
  match::Scratch scratch;
  match::Partial partial(match::Lists(graph.base(), resolved, graph.directed(), match::Pass::whole), scratch);
  const double start = thread_seconds();
  for (const graph::Edge& anchor : anchors) {
    for (const match::PlanRef& ref : plan_index.of(anchor)) {
      partial.begin(plans.plans[ref.plan], anchor);
      match::Enumerator enumerator(partial, bound, true, nullptr);
      walked.matches += enumerator.run({}, &taker);
    }
  }
  walked.seconds = thread_seconds() - start;
  walked.embeddings = checked_mul(Count{walked.matches}, bound.group.order());
  return walked;
}

}  // namespace deltamatch::bench
