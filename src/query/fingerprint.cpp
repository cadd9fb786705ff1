#include "query/fingerprint.hpp"

#include <xxhash.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>

#include "condition/normal.hpp"

namespace deltamatch::query {
namespace {

/// Builds an unambiguous byte string: every number has eight bytes, and every text follows its length.
class Bytes {
 public:
  void add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(number >> shift & 0xff));
  }
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    bytes_.append(text);
  }
  void add(const LabelSet& labels) {
    add(std::uint64_t{labels.size()});
    for (const std::string& label : labels) add(std::string_view(label));
  }
  [[nodiscard]] const std::string& get() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

/// Returns source and target; for an undirected edge the smaller end first.
std::pair<std::uint32_t, std::uint32_t> ends(const QueryEdge& edge) {
  if (edge.directed) return {edge.source, edge.target};
  return std::minmax(edge.source, edge.target);
}

// These numbers belong to the format. They do not follow the enumerations, because those may be reordered but a fingerprint
// must not change.
std::uint64_t code(MatchMode mode) {
  switch (mode) {
    case MatchMode::isomorphism:
      return 0;
    case MatchMode::edge_distinct:
      return 1;
    case MatchMode::homomorphism:
      return 2;
  }
  return 3;
}

/// The normal form of the query's condition, with edges numbered in canonical order.
std::string condition_bytes(const Query& query) {
  const std::vector<std::uint32_t> order = canonical_edge_order(query);
  std::vector<std::uint32_t> numbers(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) numbers[order[i]] = i;
  std::string bytes;
  condition::append_bytes(bytes, condition::normal_form(*query.where, numbers));
  return bytes;
}

}  // namespace

std::vector<std::uint32_t> canonical_edge_order(const Query& query) {
  std::vector<std::uint32_t> order(query.edges.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const QueryEdge& x = query.edges[a];
    const QueryEdge& y = query.edges[b];
    return std::make_tuple(ends(x), x.directed, std::cref(x.labels)) <
           std::make_tuple(ends(y), y.directed, std::cref(y.labels));
  });
  return order;
}

Fingerprint fingerprint(const Query& query, MatchMode mode, CountMode count, std::span<const Path> paths) {
  Bytes bytes;
  bytes.add(std::string_view("deltamatch query 1"));
  bytes.add(code(mode));
  bytes.add(std::uint64_t{count == CountMode::subgraphs ? 0U : 1U});
  bytes.add(std::uint64_t{query.vertices.size()});
  for (const QueryVertex& vertex : query.vertices) bytes.add(vertex.labels);
  bytes.add(std::uint64_t{query.edges.size()});
  for (const std::uint32_t e : canonical_edge_order(query)) {
    const QueryEdge& edge = query.edges[e];
    const auto [from, to] = ends(edge);
    bytes.add(std::uint64_t{from});
    bytes.add(std::uint64_t{to});
    bytes.add(std::uint64_t{edge.directed ? 1U : 0U});
    bytes.add(edge.labels);
  }
  if (query.where) {
    bytes.add(std::string_view("where"));
    bytes.add(std::string_view(condition_bytes(query)));
  }
  if (query.within) {
    bytes.add(std::string_view("within"));
    bytes.add(static_cast<std::uint64_t>(query.within->microseconds));
  }
  if (!paths.empty()) bytes.add(std::string_view("paths"));
  for (const Path& path : paths) {
    const std::uint32_t start = query.edges[path.first_edge].source;
    const std::uint32_t end = query.edges[path.first_edge + path.steps - 1].target;
    for (const std::uint32_t part : {start, end, path.steps, path.first_vertex}) bytes.add(std::uint64_t{part});
  }
  const XXH128_hash_t hash = XXH3_128bits(bytes.get().data(), bytes.get().size());
  return {hash.high64, hash.low64};
}

Fingerprint fingerprint_of_variants(const Query& query, MatchMode mode, CountMode count) {
  if (!has_paths(query)) return fingerprint(query, mode, count);
  Bytes bytes;
  bytes.add(std::string_view("deltamatch variants 1"));
  for (const Variant& variant : expand(query)) {
    const Fingerprint one = fingerprint(variant.query, mode, count, variant.paths);
    bytes.add(one.high);
    bytes.add(one.low);
  }
  const XXH128_hash_t hash = XXH3_128bits(bytes.get().data(), bytes.get().size());
  return {hash.high64, hash.low64};
}

}  // namespace deltamatch::query
