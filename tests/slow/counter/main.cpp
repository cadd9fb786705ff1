// count_embeddings GRAPH FOLDER SECONDS QUERY_SECONDS: counts embeddings, induced or not, of the queries in a folder. Queries
// and graph are t/v/e files. The limits are CPU time, for all counts and for one. Writes one line per count that it finishes:
// the file's name without .graph, 0 or 1 for induced, and the number.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <tuple>

#include "counter.hpp"

namespace {

struct Read {
  std::vector<std::uint32_t> labels;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
};

/// Reads vertices with labels, and edges. Further fields of a line, edge labels and degrees, are ignored.
Read read(const std::filesystem::path& path, std::map<std::string, std::uint32_t>& names) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path.string() + ": cannot be opened");
  Read graph;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string kind, label;
    std::uint32_t one = 0, other = 0;
    fields >> kind;
    if (kind == "v" && fields >> one >> label) {
      if (graph.labels.size() <= one) graph.labels.resize(one + 1);
      graph.labels[one] = names.emplace(label, names.size()).first->second;
    } else if (kind == "e" && fields >> one >> other) {
      if (one != other) graph.edges.emplace_back(one, other);
    } else if (kind != "t") {
      throw std::runtime_error(path.string() + ": a line that does not parse: " + line);
    }
  }
  return graph;
}

double number(const char* text) {
  double value = 0;
  const char* end = text + std::string_view(text).size();
  if (std::from_chars(text, end, value).ptr != end || end == text)
    throw std::invalid_argument(std::string(text) + " is no number");
  return value;
}

counter::Clock::duration seconds(double value) {
  return std::chrono::duration_cast<counter::Clock::duration>(std::chrono::duration<double>(value));
}

void count_all(char** arguments) {
  std::map<std::string, std::uint32_t> names;
  Read data = read(arguments[0], names);
  const counter::Graph graph(std::move(data.labels), data.edges);
  struct Task {
    std::string name;
    counter::Pattern pattern;
    bool induced;
  };
  std::vector<Task> tasks;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) {
    const Read query = read(entry.path(), names);
    for (const bool induced : {false, true}) {
      tasks.push_back({entry.path().stem().string(), counter::embedding_pattern(query.labels, query.edges, induced), induced});
    }
  }
  std::sort(tasks.begin(), tasks.end(), [](const Task& one, const Task& other) {
    return std::tuple(one.pattern.size(), one.name, one.induced) < std::tuple(other.pattern.size(), other.name, other.induced);
  });
  counter::Counter counter(graph);
  const auto end = counter::Clock::now() + seconds(number(arguments[2]));
  for (const double share : {1.0 / 16, 1.0}) {  // hard counts wait until all others are done
    const auto of_one = seconds(share * number(arguments[3]));
    std::erase_if(tasks, [&](const Task& task) {
      try {
        const counter::Number count = counter.count(task.pattern, std::min(end, counter::Clock::now() + of_one));
        std::cout << task.name << ' ' << task.induced << ' ' << counter::to_string(count) << std::endl;
        return true;
      } catch (const counter::TimeUp&) {
        return false;
      } catch (const std::overflow_error&) {
        return true;
      }
    });
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    std::cerr << "usage: count_embeddings GRAPH FOLDER SECONDS QUERY_SECONDS\n";
    return 2;
  }
  try {
    count_all(arguments + 1);
  } catch (const std::exception& error) {
    std::cerr << "count_embeddings: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
