#include "engine/listing/delivery.hpp"

#include <xxhash.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace deltamatch::engine {

namespace {

void append(std::string& bytes, std::uint64_t number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof number); }

void append(std::string& bytes, std::string_view text) {
  append(bytes, std::uint64_t{text.size()});
  bytes.append(text);
}

void append(std::string& bytes, const Id& id) {
  bytes.push_back(id.is_text() ? 's' : 'i');
  if (id.is_text()) {
    append(bytes, id.text());
  } else {
    append(bytes, static_cast<std::uint64_t>(id.number()));
  }
}

}  // namespace

MatchedEdge external_edge(const graph::DataGraph& graph, const graph::Edge& edge) {
  const Id tail = graph.dictionary.external(edge.tail);
  const Id head = graph.dictionary.external(edge.head);
  const bool swap = !graph.directed() && head < tail;
  MatchedEdge external{swap ? head : tail, graph.edge_labels.text(graph.label_of(edge)), swap ? tail : head};
  if (graph.edge_table) {
    const graph::EdgeTable& table = *graph.edge_table;
    external.time = table.time(edge.which);
    if (table.keyed()) {
      external.key = table.external_key(edge.which);
    } else {
      external.ordinal = table.ordinal(edge.which);
    }
  }
  return external;
}

Delivery::Delivery(const plan::BoundQuery& query, const Query& named, std::vector<query::Path> paths)
    : query_(&query),
      fingerprint_(query::fingerprint(named, query.mode, query.count, paths)),
      action_(query.query),
      edge_order_(query::canonical_edge_order(query.pattern)),
      paths_(std::move(paths)) {
  if (query.mode != MatchMode::homomorphism) orbits_ = query::arc_orbits(query.query, query.group);
  for (const QueryVertex& vertex : query.pattern.vertices) names_.push_back(vertex.name);
  if (!paths_.empty()) names_.resize(paths_.front().first_vertex);
}

MatchId Delivery::id_of(const graph::DataGraph& graph, std::span<const VertexId> vertices,
                        std::span<const graph::Edge> edges) const {
  thread_local std::string bytes;
  bytes.clear();
  for (const std::uint64_t part : {fingerprint_.high, fingerprint_.low}) append(bytes, part);
  for (const VertexId vertex : vertices.first(query_->pattern.vertices.size()))
    append(bytes, graph.dictionary.external(vertex));
  for (const std::uint32_t e : edge_order_) {
    if (graph.model() == EdgeModel::keyed) {  // the key alone identifies the edge
      append(bytes, graph.edge_table->external_key(edges[e].which));
      continue;
    }
    const MatchedEdge edge = external_edge(graph, edges[e]);
    append(bytes, edge.source);
    append(bytes, edge.label);
    append(bytes, edge.target);
    if (graph.edge_table) append(bytes, Id(static_cast<std::int64_t>(edge.ordinal)));
  }
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

void Delivery::add(const graph::DataGraph& graph, std::span<const VertexId> vertices, std::span<const graph::Edge> edges,
                   Batch& batch) const {
  batch.vertices.insert(batch.vertices.end(), vertices.begin(), vertices.end());
  batch.edges.insert(batch.edges.end(), edges.begin(), edges.end());
  batch.ids.push_back(id_of(graph, vertices, edges));
  batch.digest.add(batch.ids.back());
}

namespace {

/// Puts ids in ascending order.
void sort_by_id(Delivery::Batch& batch) {
  batch.order.resize(batch.ids.size());
  std::iota(batch.order.begin(), batch.order.end(), 0u);
  std::sort(batch.order.begin(), batch.order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return batch.ids[a] < batch.ids[b]; });
  std::sort(batch.ids.begin(), batch.ids.end());
}

}  // namespace

query::Permutation Delivery::least_image(const graph::DataGraph& graph, std::span<const VertexId> vertices,
                                         std::span<VertexId> image) const {
  return query::least_image<VertexId>(query_->group, vertices, image, [&](VertexId a, VertexId b) {
    return graph.dictionary.external(a) < graph.dictionary.external(b);
  });
}

Delivery::Batch Delivery::translate(const graph::DataGraph& graph, const match::FoundMatches& found) const {
  Batch batch;
  const std::size_t n = query_->vertices();
  const std::size_t m = query_->edges.size();
  std::vector<VertexId> image(n);
  std::vector<graph::Edge> edges(m);
  const bool classes = query_->count == CountMode::subgraphs;
  for (std::size_t i = 0; i < found.count; ++i) {
    const auto vertices = std::span(found.vertices).subspan(i * n, n);
    const auto found_edges = std::span(found.edges).subspan(i * m, m);
    const query::Permutation g = classes ? least_image(graph, vertices, image) : query::identity();
    for (std::size_t v = 0; v < n; ++v) image[v] = vertices[g[v]];
    for (std::uint32_t e = 0; e < m; ++e) edges[e] = found_edges[action_.image(e, g)];
    add(graph, image, edges, batch);
  }
  sort_by_id(batch);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < batch.ids.size(); ++i) {
    if (kept > 0 && batch.ids[kept - 1] == batch.ids[i]) continue;
    batch.ids[kept] = batch.ids[i];
    batch.order[kept++] = batch.order[i];
  }
  batch.keep_first(kept);
  return batch;
}

Delivery::Batch Delivery::translate(const graph::DataGraph& graph, const match::QueryTask& task, const match::Records& records,
                                    const StopFlag* stop) const {
  Batch batch;
  const std::size_t n = query_->vertices();
  const std::size_t m = query_->edges.size();
  std::vector<graph::Edge> edges(m);
  std::vector<graph::Edge> image_edges(m);
  std::vector<VertexId> image(n);
  std::size_t matches = 0;
  for (const std::uint32_t plan : records.plans) matches += match::ordered(task) ? 1 : task.plans->plans[plan].orbit;
  batch.ids.reserve(matches);
  batch.vertices.reserve(matches * n);
  batch.edges.reserve(matches * m);
  for (std::size_t r = 0; r < records.plans.size(); ++r) {
    throw_if_stopped(stop);
    const std::span<const VertexId> vertices(records.words.data() + r * (n + m), n);
    const std::uint32_t* tags = vertices.data() + n;
    for (std::size_t e = 0; e < m; ++e) {
      const VertexId source = vertices[query_->edges[e].source];
      const VertexId target = vertices[query_->edges[e].target];
      edges[e] = (tags[e] & 1u) != 0 ? graph.ranked(target, source, tags[e] >> 1) : graph.ranked(source, target, tags[e] >> 1);
    }
    const auto add_image = [&](const query::Permutation& g) {
      for (std::size_t e = 0; e < m; ++e) image_edges[e] = edges[action_.image(static_cast<std::uint32_t>(e), g)];
      for (std::size_t v = 0; v < n; ++v) image[v] = vertices[g[v]];
      add(graph, image, image_edges, batch);
    };
    const plan::Plan& plan = task.plans->plans[records.plans[r]];
    if (match::ordered(task)) {
      add_image(least_image(graph, vertices, image));
    } else if (plan.orbit == 1) {
      add(graph, vertices, edges, batch);
    } else {
      for (const query::ArcOrbit& orbit : orbits_) {
        if (orbit.representative != plan.anchor) continue;
        for (const query::Permutation& to : orbit.transversal) add_image(query::inverse(to));
      }
    }
  }
  sort_by_id(batch);
  return batch;
}

void Delivery::Batch::append(const ListedMatch& match) {
  order.push_back(static_cast<std::uint32_t>(ids.size()));
  ids.push_back(match.id);
  vertices.insert(vertices.end(), match.vertices.begin(), match.vertices.end());
  edges.insert(edges.end(), match.edges.begin(), match.edges.end());
  digest.add(match.id);
}

void Delivery::Batch::keep_first(std::size_t count) {
  ids.resize(std::min(count, ids.size()));
  order.resize(ids.size());
  digest = {};
  for (const MatchId& id : ids) digest.add(id);
}

Delivery::Writer::Writer(const Delivery& delivery, const graph::DataGraph& graph, const MatchContext& context, MatchSink& sink,
                         const SlotRule* slots)
    : delivery_(&delivery),
      graph_(&graph),
      context_(context),
      sink_(&sink),
      slots_(slots),
      vertices_(delivery.query_->pattern.vertices.size()),
      edges_(delivery.query_->edges.size()),
      width_(graph.edge_table ? graph.edge_table->values().width() : 0),
      values_(edges_.size() * width_) {
  for (const query::Path& path : delivery.paths_) paths_.push_back({path.name, path.first_edge, path.steps, path.first_vertex});
}

void Delivery::Writer::write(const ListedMatch& match) {
  for (std::size_t v = 0; v < vertices_.size(); ++v) vertices_[v] = graph_->dictionary.external(match.vertices[v]);
  cause_.clear();
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    const graph::Edge& edge = match.edges[e];
    edges_[e] = external_edge(*graph_, edge);
    if (width_ > 0) {
      const auto values = std::span(values_).subspan(e * width_, width_);
      graph_->edge_table->values().values(edge.which, values);
      edges_[e].attributes = values;
    }
    if (std::binary_search(context_.changed.begin(), context_.changed.end(), edge)) {
      cause_.push_back(static_cast<std::uint32_t>(e));
    }
  }
  sink_->write({match.id, delivery_->query_->query.name, context_.added, context_.batch, context_.time, delivery_->names_,
                vertices_, edges_, cause_, paths_, slots_ == nullptr ? 0 : slots_->slot_of(match)});
}

void Delivery::write(const graph::DataGraph& graph, const Batch& batch, const MatchContext& context, MatchSink& sink) const {
  Writer writer(*this, graph, context, sink);
  for (std::size_t i = 0; i < batch.ids.size(); ++i) writer.write(batch.match(i, query_->vertices(), query_->edges.size()));
}

}  // namespace deltamatch::engine
