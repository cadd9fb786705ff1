// Counts embeddings before and after a stream. The benchmarks check the program against these counts.
//
// Reads t/v/e files of undirected graphs without parallel edges, and ignores edge labels. It shares no code with the library.
// It has sets of edges, neighbours by vertex label, and a depth-first assignment. A path of five vertices or a cycle of six
// takes minutes on a graph of a million edges.
//
//   bench_count GRAPH STREAM|- QUERY...    prints per query: path, embeddings before, embeddings after
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Vertex = std::uint32_t;
using Label = std::uint32_t;

struct Graph {
  std::vector<Label> labels;
  std::set<std::pair<Vertex, Vertex>> edges;

  /// Takes the records of a file: v, e and -e.
  void read(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error(path + " cannot be read");
    std::string line;
    while (std::getline(file, line)) {
      std::istringstream fields(line);
      std::string kind;
      Vertex a = 0;
      Vertex b = 0;
      if (!(fields >> kind) || kind == "t") continue;
      if (!(fields >> a >> b)) throw std::runtime_error(path + ": cannot make sense of " + line);
      if (kind == "v") {
        if (labels.size() <= a) labels.resize(std::size_t{a} + 1);
        labels[a] = b;
      } else if (kind == "e") {
        edges.insert(std::minmax(a, b));
      } else if (kind == "-e") {
        edges.erase(std::minmax(a, b));
      } else {
        throw std::runtime_error(path + ": cannot make sense of " + line);
      }
    }
  }
};

/// Sorted neighbours by vertex and by their label.
class Neighbours {
 public:
  explicit Neighbours(const Graph& graph) : labels_(graph.labels), lists_(graph.labels.size()) {
    for (const auto& [a, b] : graph.edges) {
      lists_.at(a)[labels_.at(b)].push_back(b);
      lists_.at(b)[labels_.at(a)].push_back(a);
    }
    for (auto& by_label : lists_) {
      for (auto& [label, list] : by_label) std::sort(list.begin(), list.end());
    }
  }

  [[nodiscard]] const std::vector<Vertex>& of(Vertex vertex, Label label) const {
    static const std::vector<Vertex> none;
    const auto found = lists_[vertex].find(label);
    return found == lists_[vertex].end() ? none : found->second;
  }

  [[nodiscard]] const std::vector<Label>& labels() const { return labels_; }

 private:
  const std::vector<Label>& labels_;
  std::vector<std::map<Label, std::vector<Vertex>>> lists_;
};

class Counter {
 public:
  Counter(const Neighbours& data, const Graph& query) : data_(data), query_(query), images_(query.labels.size()) {
    const auto adjacent = [&](Vertex a, Vertex b) { return query.edges.contains(std::minmax(a, b)); };
    std::vector<Vertex> rest;
    for (Vertex v = 0; v < query.labels.size(); ++v) rest.push_back(v);
    while (!rest.empty()) {  // the next vertex: the one with the most neighbours before it
      const auto bound = [&](Vertex v) {
        return std::count_if(order_.begin(), order_.end(), [&](Vertex u) { return adjacent(u, v); });
      };
      const auto next = std::max_element(rest.begin(), rest.end(), [&](Vertex a, Vertex b) { return bound(a) < bound(b); });
      auto& earlier = earlier_.emplace_back();
      std::copy_if(order_.begin(), order_.end(), std::back_inserter(earlier), [&](Vertex u) { return adjacent(u, *next); });
      if (earlier.empty() && !order_.empty()) throw std::runtime_error("a query is not connected");
      order_.push_back(*next);
      rest.erase(next);
    }
  }

  std::uint64_t count() {
    std::uint64_t total = 0;
    for (Vertex v = 0; v < data_.labels().size(); ++v) {
      if (data_.labels()[v] != query_.labels[order_[0]]) continue;
      images_[order_[0]] = v;
      total += extend(1);
    }
    return total;
  }

 private:
  std::uint64_t extend(std::size_t depth) {
    const Label label = query_.labels[order_[depth]];
    std::vector<const std::vector<Vertex>*> lists;
    for (const Vertex u : earlier_[depth]) lists.push_back(&data_.of(images_[u], label));
    std::sort(lists.begin(), lists.end(), [](const auto* a, const auto* b) { return a->size() < b->size(); });
    std::uint64_t total = 0;
    for (const Vertex v : *lists[0]) {
      const auto reaches = [&](const auto* list) { return std::binary_search(list->begin(), list->end(), v); };
      if (!std::all_of(lists.begin() + 1, lists.end(), reaches)) continue;
      if (std::any_of(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(depth),
                      [&](Vertex u) { return images_[u] == v; }))
        continue;
      images_[order_[depth]] = v;
      total += depth + 1 == order_.size() ? 1 : extend(depth + 1);
    }
    return total;
  }

  const Neighbours& data_;
  const Graph& query_;
  std::vector<Vertex> images_;
  std::vector<Vertex> order_;
  std::vector<std::vector<Vertex>> earlier_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() < 3) throw std::runtime_error("usage: bench_count GRAPH STREAM|- QUERY...");
    std::vector<std::vector<std::uint64_t>> counts(arguments.size());
    Graph graph;
    for (std::size_t stage = 0; stage < 2; ++stage) {
      if (arguments[stage] != "-") graph.read(arguments[stage]);
      const Neighbours neighbours(graph);
      for (std::size_t q = 2; q < arguments.size(); ++q) {
        Graph query;
        query.read(arguments[q]);
        counts[q].push_back(Counter(neighbours, query).count());
      }
    }
    for (std::size_t q = 2; q < arguments.size(); ++q) {
      std::cout << arguments[q] << ' ' << counts[q][0] << ' ' << counts[q][1] << '\n';
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "bench_count: " << error.what() << '\n';
    return 1;
  }
}
