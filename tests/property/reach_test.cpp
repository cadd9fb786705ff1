// Which corners the drawn scenarios reach. A property says nothing about a corner that its cases never visit. Seeds are fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "property/draw.hpp"

namespace deltamatch::property {
namespace {

using oracle::Answer;
using oracle::DataEdge;
using oracle::Embedding;

/// How many cases visited a corner at least once.
class Corners {
 public:
  void visit(const std::string& corner, bool visited) {
    if (visited) seen_[corner] = true;
  }
  void close_case() {
    for (const auto& [corner, seen] : seen_) ++cases_[corner];
    seen_.clear();
  }
  [[nodiscard]] int operator[](const std::string& corner) const {
    const auto at = cases_.find(corner);
    return at == cases_.end() ? 0 : at->second;
  }

 private:
  std::map<std::string, bool> seen_;
  std::map<std::string, int> cases_;
};

std::string mode_of(const QueryOptions& options) {
  switch (options.mode) {
    case MatchMode::isomorphism:
      return options.count == CountMode::subgraphs ? "isomorphism, subgraphs" : "isomorphism, embeddings";
    case MatchMode::edge_distinct:
      return "edge_distinct";
    case MatchMode::homomorphism:
      return "homomorphism";
  }
  return "?";
}

void visit_batch(Corners& corners, const oracle::Model& model, const oracle::DataGraph& before, std::span<const Record> batch,
                 const oracle::Outcome& outcome) {
  for (const Reject& reject : outcome.rejects) {
    corners.visit(std::string(reject_name(reject.reason)), true);
    corners.visit("record refused behind its first update", reject.index > 0 && batch[reject.index].continues);
  }
  corners.visit("duplicate insert", outcome.ignored.duplicate_insert > 0);
  corners.visit("absent delete", outcome.ignored.absent_delete > 0);
  corners.visit("superseded", outcome.ignored.superseded > 0);
  corners.visit("late", outcome.ignored.late > 0);
  corners.visit("self_loop", outcome.ignored.self_loop > 0);
  corners.visit("expired", outcome.expired > 0);
  corners.visit("edge under a new label", std::any_of(outcome.deleted.begin(), outcome.deleted.end(),
                                                      [&](const DataEdge& edge) { return outcome.inserted.contains(edge); }));
  for (const auto& [id, label] : before.vertices) {
    const auto after = model.graph().vertices.find(id);
    corners.visit("vertex forgotten or deleted", after == model.graph().vertices.end());
    corners.visit("vertex relabelled", after != model.graph().vertices.end() && after->second != label);
  }
  std::map<std::pair<oracle::ExternalId, oracle::ExternalId>, int> pairs;
  for (const DataEdge& edge : model.graph().edges) {
    corners.visit("parallel edges", ++pairs[{edge.source, edge.target}] > 1);
    corners.visit("edges there and back", pairs.contains({edge.target, edge.source}));
  }
}

/// The vertices that get their first label while they have edges.
std::set<oracle::ExternalId> newly_labelled(const oracle::DataGraph& before, const oracle::DataGraph& after) {
  std::set<oracle::ExternalId> found;
  for (const DataEdge& edge : before.edges) {
    if (!after.edges.contains(edge)) continue;
    for (const oracle::ExternalId& end : {edge.source, edge.target}) {
      if (before.vertices.at(end).empty() && !after.vertices.at(end).empty()) found.insert(end);
    }
  }
  return found;
}

void visit_labelled(Corners& corners, const std::set<oracle::ExternalId>& labelled, const Answer& before, const Answer& after) {
  const auto touched = [&](const Embedding& match) {
    return std::any_of(match.vertices.begin(), match.vertices.end(),
                       [&](const oracle::ExternalId& vertex) { return labelled.contains(vertex); });
  };
  const auto any = [&](const Answer& of, const Answer& other, bool in_both) {
    return std::any_of(of.begin(), of.end(),
                       [&](const Embedding& match) { return touched(match) && other.contains(match) == in_both; });
  };
  corners.visit("a match stays at a vertex that takes its first label", any(after, before, true));
  corners.visit("a match appears at a vertex that takes its first label", any(after, before, false));
  corners.visit("a match vanishes at a vertex that takes its first label", any(before, after, false));
}

void visit_query(Corners& corners, const Standing& standing, bool directed, const Answer& before, const Answer& after) {
  const auto changed = [](const Answer& a, const Answer& b) {
    return std::any_of(a.begin(), a.end(), [&](const Embedding& embedding) { return !b.contains(embedding); });
  };
  const bool added = changed(after, before);
  const bool removed = changed(before, after);
  const Query& query = standing.query;
  corners.visit(mode_of(standing.options) + (directed ? ", directed" : ", undirected") + ": new", added);
  corners.visit(mode_of(standing.options) + (directed ? ", directed" : ", undirected") + ": removed", removed);
  if (!added && !removed) return;
  corners.visit("a match of " + std::to_string(query.vertices.size()) + " vertices", true);
  corners.visit("a match changes while others stay",
                std::any_of(after.begin(), after.end(), [&](const Embedding& match) { return before.contains(match); }));
  for (const QueryEdge& edge : query.edges) {
    corners.visit("wildcard edge", edge.labels.empty());
    corners.visit("label alternatives", edge.labels.size() > 1);
    corners.visit("undirected query edge over directed data", directed && !edge.directed);
    const auto between = [&](const QueryEdge& other) {
      return std::minmax(edge.source, edge.target) == std::minmax(other.source, other.target);
    };
    corners.visit("two query edges between the same vertices",
                  std::count_if(query.edges.begin(), query.edges.end(), between) > 1);
  }
}

void visit_scenario(Corners& corners, const Scenario& scenario) {
  oracle::Model model(scenario.directed, scenario.window);
  model.apply(views(scenario.start), scenario.on_reject);
  std::vector<oracle::Matcher> matchers;
  for (const auto& [query, options] : scenario.queries) matchers.emplace_back(query, options.mode, options.count);
  const auto answers = [&] {
    std::vector<Answer> result;
    for (const oracle::Matcher& matcher : matchers) result.push_back(matcher.match(model.graph(), enumerable));
    return result;
  };
  try {
    std::vector<Answer> after = answers();
    for (const auto batch : scenario.batches()) {
      const oracle::DataGraph graph = model.graph();
      visit_batch(corners, model, graph, batch, model.apply(views(batch), scenario.on_reject));
      const std::vector<Answer> before = std::exchange(after, answers());
      for (std::size_t q = 0; q < matchers.size(); ++q) {
        visit_query(corners, scenario.queries[q], scenario.directed, before[q], after[q]);
        visit_labelled(corners, newly_labelled(graph, model.graph()), before[q], after[q]);
      }
    }
  } catch (const oracle::TooMany&) {
    corners.visit("cut short", true);
  }
  corners.close_case();
}

TEST(Reach, DrawnScenariosVisitEveryCorner) {
  constexpr int cases = 400;
  const auto gen = scenarios();
  Corners corners;
  rc::Random random(20240229);
  for (int i = 0; i < cases; ++i) visit_scenario(corners, gen(random.split(), i * 100 / cases).value());
  for (const char* corner : {"self_loop",
                             "label_conflict",
                             "missing_time",
                             "record refused behind its first update",
                             "duplicate insert",
                             "absent delete",
                             "superseded",
                             "late",
                             "expired",
                             "edge under a new label",
                             "vertex forgotten or deleted",
                             "vertex relabelled",
                             "a match stays at a vertex that takes its first label",
                             "a match appears at a vertex that takes its first label",
                             "a match vanishes at a vertex that takes its first label",
                             "parallel edges",
                             "edges there and back",
                             "isomorphism, subgraphs, directed: new",
                             "isomorphism, subgraphs, directed: removed",
                             "isomorphism, subgraphs, undirected: new",
                             "isomorphism, subgraphs, undirected: removed",
                             "isomorphism, embeddings, directed: new",
                             "isomorphism, embeddings, directed: removed",
                             "isomorphism, embeddings, undirected: new",
                             "isomorphism, embeddings, undirected: removed",
                             "edge_distinct, directed: new",
                             "edge_distinct, directed: removed",
                             "edge_distinct, undirected: new",
                             "edge_distinct, undirected: removed",
                             "homomorphism, directed: new",
                             "homomorphism, directed: removed",
                             "homomorphism, undirected: new",
                             "homomorphism, undirected: removed",
                             "a match of 2 vertices",
                             "a match of 3 vertices",
                             "a match of 4 vertices",
                             "a match of 5 vertices",
                             "a match of 6 vertices",
                             "a match changes while others stay",
                             "wildcard edge",
                             "label alternatives",
                             "undirected query edge over directed data",
                             "two query edges between the same vertices"}) {
    EXPECT_GE(corners[corner], cases / 200) << corner;
    RecordProperty(corner, corners[corner]);
  }
  EXPECT_LE(corners["cut short"], cases / 4);
}

}  // namespace
}  // namespace deltamatch::property
