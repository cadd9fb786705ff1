// A small matcher for small graphs, written independently of the generators and the library: edges in sets, plain backtracking.
// Queries have directed edges and one label per vertex and edge. It finds isomorphic matches, one for each set of data edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "deltamatch/query.hpp"
#include "deltamatch/update.hpp"

namespace deltamatch::generate::test {

using Name = std::variant<std::int64_t, std::string>;  // ordered as Id is
using Names = std::vector<Name>;

inline Name name_of(const Id& id) { return id.is_text() ? Name(std::string(id.text())) : Name(id.number()); }

inline std::string text_of(const Name& name) {
  return name.index() == 0 ? std::to_string(std::get<0>(name)) : std::get<1>(name);
}

inline std::vector<std::string> texts_of(const Names& names) {
  std::vector<std::string> texts;
  for (const Name& name : names) texts.push_back(text_of(name));
  return texts;
}

class PlainGraph {
 public:
  using Key = std::tuple<Name, std::string, Name>;

  /// Returns true if the edge was not there.
  bool insert(const Update& update) {
    const Key key{name_of(update.source), update.label, name_of(update.target)};
    labels[std::get<0>(key)] = *update.source_label;
    labels[std::get<2>(key)] = *update.target_label;
    return insert(key);
  }
  bool insert(const Key& key) {
    const auto& [source, label, target] = key;
    if (!edges[label].emplace(source, target).second) return false;
    out[{source, label}].insert(target);
    in[{target, label}].insert(source);
    return true;
  }
  /// Returns true if the edge was there.
  bool erase(const Key& key) {
    const auto& [source, label, target] = key;
    if (edges[label].erase({source, target}) == 0) return false;
    out[{source, label}].erase(target);
    in[{target, label}].erase(source);
    return true;
  }

  std::map<Name, std::string> labels;
  std::map<std::string, std::set<std::pair<Name, Name>>> edges;  // by label
  std::map<std::pair<Name, std::string>, std::set<Name>> out;    // targets by source and label
  std::map<std::pair<Name, std::string>, std::set<Name>> in;     // sources by target and label
};

/// The matches of a query. Of the bindings with the same set of data edges, it takes the least one in the order of the query's
/// vertices.
class PlainMatcher {
 public:
  PlainMatcher(const PlainGraph& graph, const Query& query) : graph_(graph), query_(query), bound_(query.vertices.size()) {
    plan();
  }

  std::set<Names> run() {
    const QueryEdge& first = query_.edges[order_.front()];
    const auto found = graph_.edges.find(first.labels.front());
    if (found == graph_.edges.end()) return {};
    for (const auto& [source, target] : found->second) {
      bind(first.source, source, [&] { bind(first.target, target, [&] { extend(1); }); });
    }
    std::set<Names> result;
    for (const auto& [image, names] : least_) result.insert(names);
    return result;
  }

 private:
  // Takes the edge with the rarest label first, then edges that touch bound vertices.
  void plan() {
    std::vector<bool> used(query_.edges.size());
    std::vector<bool> reached(query_.vertices.size());
    const auto rarity = [&](std::size_t e) {
      const auto found = graph_.edges.find(query_.edges[e].labels.front());
      return found == graph_.edges.end() ? 0 : found->second.size();
    };
    while (order_.size() < query_.edges.size()) {
      std::size_t best = query_.edges.size();
      for (std::size_t e = 0; e < query_.edges.size(); ++e) {
        const QueryEdge& edge = query_.edges[e];
        if (used[e] || (!order_.empty() && !reached[edge.source] && !reached[edge.target])) continue;
        if (best == query_.edges.size() || rarity(e) < rarity(best)) best = e;
      }
      used[best] = true;
      reached[query_.edges[best].source] = reached[query_.edges[best].target] = true;
      order_.push_back(best);
    }
  }

  template <typename Next>
  void bind(std::size_t vertex, const Name& name, Next next) {
    if (graph_.labels.at(name) != query_.vertices[vertex].labels.front()) return;
    for (const Name* other : bound_) {
      if (other != nullptr && *other == name) return;
    }
    bound_[vertex] = &name;
    next();
    bound_[vertex] = nullptr;
  }

  void extend(std::size_t depth) {
    if (depth == order_.size()) return found();
    const QueryEdge& edge = query_.edges[order_[depth]];
    const std::string& label = edge.labels.front();
    if (bound_[edge.source] != nullptr) {
      const auto targets = graph_.out.find({*bound_[edge.source], label});
      if (targets == graph_.out.end()) return;
      if (bound_[edge.target] != nullptr) {
        if (targets->second.contains(*bound_[edge.target])) extend(depth + 1);
        return;
      }
      for (const Name& target : targets->second) bind(edge.target, target, [&] { extend(depth + 1); });
      return;
    }
    const auto sources = graph_.in.find({*bound_[edge.target], label});
    if (sources == graph_.in.end()) return;
    for (const Name& source : sources->second) bind(edge.source, source, [&] { extend(depth + 1); });
  }

  void found() {
    std::set<PlainGraph::Key> image;
    for (const QueryEdge& edge : query_.edges) image.emplace(*bound_[edge.source], edge.labels.front(), *bound_[edge.target]);
    Names names;
    for (const Name* name : bound_) names.push_back(*name);
    const auto [place, is_new] = least_.emplace(std::move(image), names);
    if (!is_new && names < place->second) place->second = names;
  }

  const PlainGraph& graph_;
  const Query& query_;
  std::vector<const Name*> bound_;
  std::vector<std::size_t> order_;
  std::map<std::set<PlainGraph::Key>, Names> least_;
};

}  // namespace deltamatch::generate::test
