#include "cli/queries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "cli/small_file.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* remedy = "name a pattern file, a .graph file, a directory of them, or write name=PATTERN";

void read_source(const std::string& source, bool directed, std::vector<NamedQuery>& queries) {
  std::error_code error;
  const fs::file_status status = fs::status(source, error);
  if (fs::is_directory(status)) {
    for (const fs::path& file : query_files(source)) queries.push_back(read_query_file(file, directed));
    return;
  }
  if (fs::exists(status)) {
    queries.push_back(read_query_file(source, directed));
    return;
  }
  const std::size_t sign = source.find('=');
  if (sign == std::string::npos) {
    throw Error(ErrorKind::configuration, fmt::format("--query {}", source), "no such file", remedy);
  }
  const std::string name = source.substr(0, sign);
  if (name.empty()) throw Error(ErrorKind::configuration, fmt::format("--query {}", source), "the name is empty", remedy);
  queries.push_back({parse_pattern(std::string_view(source).substr(sign + 1), name, fmt::format("--query {}", name)),
                     fmt::format("--query {}", name)});
}

}  // namespace

NamedQuery read_query_file(const fs::path& path, bool directed) {
  const std::string text = read_small_file(path, "the query");
  const std::string name = path.stem().string();
  const std::string where = path.string();
  if (path.extension() == ".graph") return {parse_query_graph(text, name, directed, where), where};
  return {parse_pattern(text, name, where), where};
}

std::vector<fs::path> query_files(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path extension = entry->path().extension();
    if (extension == ".pattern" || extension == ".graph") files.push_back(entry->path());
  }
  if (error) throw Error(ErrorKind::configuration, directory.string(), error.message(), "check the directory's permissions");
  if (files.empty()) {
    throw Error(ErrorKind::configuration, directory.string(), "no *.pattern or *.graph file in this directory", remedy);
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  return files;
}

std::vector<std::string> query_paths(const std::vector<std::string>& sources) {
  std::vector<std::string> paths;
  for (const std::string& source : sources) {
    std::error_code error;
    const fs::file_status status = fs::status(source, error);
    if (fs::is_directory(status)) {
      for (const fs::path& file : query_files(source)) paths.push_back(file.string());
    } else if (fs::exists(status)) {
      paths.push_back(source);
    }
  }
  return paths;
}

std::vector<NamedQuery> read_queries(const std::vector<std::string>& sources, bool directed) {
  std::vector<NamedQuery> queries;
  for (const std::string& source : sources) read_source(source, directed, queries);
  std::map<std::string_view, const NamedQuery*> names;
  for (const NamedQuery& query : queries) {
    const auto [other, is_new] = names.emplace(query.query.name, &query);
    if (!is_new) {
      throw Error(ErrorKind::configuration, query.where,
                  fmt::format("a second query named '{}' (the first: {})", query.query.name, other->second->where),
                  "give each query its own name, e.g. other=PATTERN");
    }
  }
  return queries;
}

}  // namespace deltamatch::cli
