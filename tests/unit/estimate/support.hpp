// Graphs, standing queries and a staged batch for estimates, drawn from a seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/query.hpp"
#include "estimate/estimator.hpp"
#include "match/matcher.hpp"

namespace deltamatch::estimate {

struct WorldOptions {
  bool directed = false;
  unsigned vertices = 24;
  unsigned edges = 80;
  unsigned inserted = 12;
  unsigned removed = 12;
  unsigned vertex_labels = 1;
  unsigned edge_labels = 1;
  double skew = 1;  ///< above 1: low numbers are drawn more often
};

/// A settled graph with queries and a staged batch.
class World {
 public:
  World(const WorldOptions& options, unsigned seed) : graph(options.directed, false), random_(seed) {
    for (unsigned l = 0; l < options.vertex_labels; ++l) {
      vertex_labels_.push_back(graph.vertex_labels.intern("V" + std::to_string(l)));
    }
    for (unsigned l = 0; l < options.edge_labels; ++l) {
      edge_labels_.push_back(graph.edge_labels.intern("E" + std::to_string(l)));
    }
    for (unsigned v = 0; v < options.vertices; ++v) {
      graph.dictionary.create(std::int64_t{v}, vertex_labels_[random_() % vertex_labels_.size()]);
    }
    std::set<graph::Edge> all;
    for (unsigned tries = 0; all.size() < options.edges + options.inserted && tries < 100 * options.edges; ++tries) {
      const VertexId a = vertex(options);
      const VertexId b = vertex(options);
      if (a != b) all.insert(graph.ranked(a, b, edge_labels_[random_() % edge_labels_.size()]));
    }
    std::vector<graph::Edge> shuffled(all.begin(), all.end());
    std::shuffle(shuffled.begin(), shuffled.end(), random_);
    const auto split = shuffled.begin() + std::min<std::ptrdiff_t>(options.inserted, std::ssize(shuffled));
    batch_.inserted.assign(shuffled.begin(), split);
    graph::NetBatch start;
    start.inserted.assign(split, shuffled.end());
    batch_.removed.assign(start.inserted.begin(),
                          start.inserted.begin() + std::min<std::ptrdiff_t>(options.removed, std::ssize(start.inserted)));
    for (auto* edges : {&batch_.inserted, &batch_.removed, &start.inserted}) std::sort(edges->begin(), edges->end());
    Workers workers(1);
    graph.stage(start);
    graph.settle(workers);
  }

  ~World() { graph.unstage(); }  // before the queries release what they read
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void add(const Query& query, MatchMode mode = MatchMode::isomorphism, CountMode count = CountMode::subgraphs,
           bool list = false) {
    queries_.push_back(std::make_unique<plan::BoundQuery>(query, mode, count, graph));
    lists_.push_back(list);
  }

  /// Makes `hub` the neighbour of all vertices before `end`, except itself. The batch inserts its edge to `end`.
  void make_star(VertexId hub, VertexId end) {
    graph::NetBatch star;
    for (VertexId leaf = 0; leaf < end; ++leaf) {
      const graph::Edge edge = graph.ranked(hub, leaf, edge_labels_[0]);
      if (leaf != hub && !graph.contains(edge)) star.inserted.push_back(edge);
    }
    std::sort(star.inserted.begin(), star.inserted.end());
    Workers workers(1);
    graph.stage(star);
    graph.settle(workers);
    batch_.inserted.push_back(graph.ranked(hub, end, edge_labels_[0]));
  }

  /// Stages the batch. Call it once, when all queries are there.
  void stage() {
    graph.resolve_all();
    graph.stage(batch_);
    for (const auto& query : queries_) plans_.push_back(plan::make_delta_plans(*query));
    for (std::size_t q = 0; q < queries_.size(); ++q) tasks.push_back({queries_[q].get(), &plans_[q], lists_[q]});
    passes = {{match::Pass::removed, batch_.removed}, {match::Pass::added, batch_.inserted}};
    programs = match::make_programs(tasks, graph.resolved());
  }

  /// Takes the whole settled graph instead of a batch. Queries are counted from data vertices if `from` says so and they can
  /// be. Otherwise they are counted from data edges.
  void take_whole(CountFrom from) {
    graph.resolve_all();
    for (std::size_t q = 0; q < queries_.size(); ++q) {
      plans_.push_back(plan::make_static_plans(*queries_[q], {{}, true, lists_[q], from}));
    }
    for (std::size_t q = 0; q < queries_.size(); ++q) tasks.push_back({queries_[q].get(), &plans_[q], lists_[q]});
    programs = match::make_programs(tasks, graph.resolved());
    for (VertexId v = 0; v < graph.base().vertices(); ++v) {
      if (graph.degree(v) > 0) roots_.push_back(v);
      graph.for_each_edge(v, false, [&](const graph::Edge& edge, Timestamp) { anchors_.push_back(edge); });
    }
    if (std::ranges::all_of(plans_, [](const plan::QueryPlans& plans) { return plans.rooted.has_value(); })) {
      passes = {{match::Pass::whole, {}, roots_}};
    } else {
      passes = {{match::Pass::whole, anchors_}};
    }
  }
  /// Lets plans be counted with tables that need no prefix to be enumerated first. Returns the number of these plans.
  std::size_t use_tables() {
    std::size_t count = 0;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      for (std::size_t p = 0; p < programs[t].size(); ++p) {
        const plan::CountPlan& sums = tasks[t].plans->plans[p].count;
        if (!programs[t][p].sums || sums.prefix != 0 || sums.ordered) continue;
        programs[t][p].tables = sums;
        ++count;
      }
    }
    return count;
  }

  Query draw_query(unsigned vertices) {
    for (;;) {
      Query query = draw_any_query(vertices);
      try {
        validate(query, "test");
        return query;
      } catch (const Error&) {  // an edge was drawn twice
      }
    }
  }

  std::mt19937& random() noexcept { return random_; }

  graph::DataGraph graph;
  std::vector<match::PassWork> passes;
  std::vector<match::QueryTask> tasks;
  match::Programs programs;

 private:
  Query draw_any_query(unsigned vertices) {
    Query query;
    query.name = "drawn";
    const auto draw_labels = [&](const LabelTable& table, const std::vector<LabelId>& labels) {
      LabelSet set;
      if (random_() % 2 == 0) set.emplace_back(table.text(labels[random_() % labels.size()]));
      return set;
    };
    for (unsigned v = 0; v < vertices; ++v) {
      query.vertices.push_back({"v" + std::to_string(v), draw_labels(graph.vertex_labels, vertex_labels_)});
    }
    const auto join = [&](unsigned a, unsigned b) {
      const bool directed = graph.directed() && random_() % 3 != 0;
      if (random_() % 2 == 0) std::swap(a, b);
      query.edges.push_back({a, b, draw_labels(graph.edge_labels, edge_labels_), directed});
    };
    for (unsigned v = 1; v < vertices; ++v) join(static_cast<unsigned>(random_() % v), v);
    for (unsigned extra = static_cast<unsigned>(random_() % vertices); extra > 0 && vertices > 2; --extra) {
      const auto a = static_cast<unsigned>(random_() % vertices);
      const auto b = static_cast<unsigned>((a + 1 + random_() % (vertices - 1)) % vertices);
      const auto joined = [&](const QueryEdge& edge) {
        return (edge.source == a && edge.target == b) || (edge.source == b && edge.target == a);
      };
      // Sometimes adds a second edge between the same two vertices.
      if (std::none_of(query.edges.begin(), query.edges.end(), joined) || random_() % 4 == 0) join(a, b);
    }
    return query;
  }

  VertexId vertex(const WorldOptions& options) {
    const double u = std::uniform_real_distribution<double>(0, 1)(random_);
    return static_cast<VertexId>(std::min<double>(options.vertices - 1, std::pow(u, options.skew) * options.vertices));
  }

  std::mt19937 random_;
  std::vector<LabelId> vertex_labels_;
  std::vector<LabelId> edge_labels_;
  graph::NetBatch batch_;
  std::vector<std::unique_ptr<plan::BoundQuery>> queries_;
  std::vector<bool> lists_;
  std::vector<plan::QueryPlans> plans_;
  std::vector<VertexId> roots_;
  std::vector<graph::Edge> anchors_;
};

}  // namespace deltamatch::estimate
