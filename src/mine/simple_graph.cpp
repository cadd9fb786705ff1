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
  std::vector<Id> ids;            // empty: vertices are called by their numbers
  std::deque<std::string> texts;  // what ids that are strings point into
};

namespace {

using Pair = std::pair<SimpleGraph::Vertex, SimpleGraph::Vertex>;

/// Both directions of every edge, ascending, once each.
std::vector<Pair> half_edges(std::span<const Pair> edges) {
  std::vector<Pair> halves;
  halves.reserve(2 * edges.size());
  for (const auto& [u, v] : edges) {
    if (u == v) continue;
    halves.emplace_back(u, v);
    halves.emplace_back(v, u);
  }
  std::sort(halves.begin(), halves.end());
  halves.erase(std::unique(halves.begin(), halves.end()), halves.end());
  return halves;
}

}  // namespace

SimpleGraph::SimpleGraph(Vertex vertices, std::span<const std::pair<Vertex, Vertex>> edges) {
  if (vertices > max_vertices) throw Error("graph", "more vertices than there are numbers for", "split the graph");
  for (const auto& [u, v] : edges) {
    if (u >= vertices || v >= vertices) {
      throw Error("graph",
                  "an edge joins " + std::to_string(u) + " and " + std::to_string(v) + ", but there are " +
                      std::to_string(vertices) + " vertices",
                  "number vertices from 0");
    }
  }
  const auto data = std::make_shared<Data>();
  const std::vector<Pair> halves = half_edges(edges);
  data->begin.assign(std::size_t{vertices} + 1, 0);
  data->neighbours.reserve(halves.size());
  for (const auto& [u, v] : halves) {
    ++data->begin[u + 1];
    data->neighbours.push_back(v);
  }
  for (std::size_t v = 0; v < vertices; ++v) data->begin[v + 1] += data->begin[v];
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
  const auto data = std::const_pointer_cast<Data>(graph.data_);  // shared with nobody yet
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
  for (const std::string& text : data_->texts) total += sizeof text + text.capacity();
  return total;
}

}  // namespace deltamatch
