#include <algorithm>
#include <deque>
#include <string>

#include "base/types.hpp"
#include "deltamatch/engine.hpp"
#include "deltamatch/mine.hpp"

namespace deltamatch {

struct SimpleGraph::Data {
  std::vector<std::uint64_t> begin{0};  // by vertex, and the end
  std::vector<Vertex> neighbours;
  std::vector<Id> ids;            // empty: numbers are the ids
  std::deque<std::string> texts;  // texts of the ids that are strings
};

namespace {

using Pair = std::pair<SimpleGraph::Vertex, SimpleGraph::Vertex>;

}  // namespace

SimpleGraph::SimpleGraph(Vertex vertices, std::span<const std::pair<Vertex, Vertex>> edges) {
  if (vertices > max_vertices) throw Error("graph", "the graph has more vertices than can be numbered", "split the graph");
  for (const auto& [u, v] : edges) {
    if (u >= vertices || v >= vertices) {
      throw Error("graph",
                  "an edge joins " + std::to_string(u) + " and " + std::to_string(v) + ", but there are " +
                      std::to_string(vertices) + " vertices",
                  "number vertices from 0");
    }
  }
  const auto data = std::make_shared<Data>();
  // Stores both directions of every edge by vertex. Then sorts each list, removes repeats, and moves it to the end of the list
  // before.
  std::vector<std::uint64_t>& begin = data->begin;
  std::vector<Vertex>& neighbours = data->neighbours;
  begin.assign(std::size_t{vertices} + 1, 0);
  const auto for_each_half = [&](auto&& visit) {
    for (const auto& [u, v] : edges) {
      if (u == v) continue;
      visit(u, v);
      visit(v, u);
    }
  };
  for_each_half([&](Vertex u, Vertex) { ++begin[u + 1]; });
  for (std::size_t v = 0; v < vertices; ++v) begin[v + 1] += begin[v];
  neighbours.resize(begin[vertices]);
  std::vector<std::uint64_t> next(begin.begin(), begin.end() - 1);
  for_each_half([&](Vertex u, Vertex v) { neighbours[next[u]++] = v; });
  std::uint64_t end = 0;
  for (std::size_t v = 0; v < vertices; ++v) {
    const std::span list = std::span(neighbours).subspan(begin[v], next[v] - begin[v]);
    std::sort(list.begin(), list.end());
    begin[v] = end;
    for (const Vertex u : list) {
      if (end == begin[v] || neighbours[end - 1] != u) neighbours[end++] = u;
    }
  }
  begin[vertices] = end;
  neighbours.resize(end);
  data_ = data;
}

SimpleGraph SimpleGraph::of(const Engine& engine) {
  std::vector<Id> ids;
  std::deque<std::string> texts;
  std::vector<Pair> edges;
  const auto number = [&](const Id& id) {
    return static_cast<Vertex>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
  };
  std::optional<Id> source;  // edges come in order of their sources
  Vertex source_number = 0;
  engine.for_each([&](const Update& update) {
    if (update.kind == UpdateKind::insert_vertex) {
      ids.push_back(update.source.is_text() ? Id(texts.emplace_back(update.source.text())) : update.source);
      return;
    }
    if (!source || *source != update.source) {
      source_number = number(update.source);
      source = ids[source_number];
    }
    edges.emplace_back(source_number, number(update.target));
  });
  SimpleGraph graph(static_cast<Vertex>(ids.size()), edges);
  const auto data = std::const_pointer_cast<Data>(graph.data_);  // not shared yet
  data->ids = std::move(ids);
  data->texts = std::move(texts);
  return graph;
}

SimpleGraph::Vertex SimpleGraph::vertices() const noexcept { return static_cast<Vertex>(data_->begin.size() - 1); }

std::uint64_t SimpleGraph::edges() const noexcept { return data_->neighbours.size() / 2; }

std::span<const SimpleGraph::Vertex> SimpleGraph::neighbours(Vertex vertex) const noexcept {
  const Vertex* const all = data_->neighbours.data();
  return {all + data_->begin[vertex], all + data_->begin[vertex + 1]};
}

Id SimpleGraph::id(Vertex vertex) const noexcept {
  return data_->ids.empty() ? Id(static_cast<std::int64_t>(vertex)) : data_->ids[vertex];
}

std::size_t SimpleGraph::bytes() const noexcept {
  std::size_t total =
      data_->begin.size() * sizeof(std::uint64_t) + data_->neighbours.size() * sizeof(Vertex) + data_->ids.size() * sizeof(Id);
  for (const std::string& text : data_->texts) total += sizeof(std::string) + text.capacity();
  return total;
}

}  // namespace deltamatch
