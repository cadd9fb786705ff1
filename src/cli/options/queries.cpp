#include "cli/options/queries.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/options/small_file.hpp"
#include "cli/terminal/counted.hpp"
#include "cli/terminal/values.hpp"
#include "deltamatch/error.hpp"
#include "query/recognise.hpp"

namespace deltamatch::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* remedy =
    "name a file with a pattern or a t/v/e graph, as FILE or name=FILE, or a directory of them; or write a pattern such as "
    "(a)-->(b) or name=(a)-->(b)";

// The endings of the query files in a directory.
constexpr std::array<std::string_view, 4> query_extensions = {".pattern", ".graph", ".q", ".query"};

std::string without_blanks(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? std::string() : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

/// Whether a file is hidden, or is one that an editor or a package keeps beside another.
bool is_backup(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::string extension = file.extension().string();
  return name.starts_with('.') || name.ends_with('~') || extension == ".bak" || extension == ".orig" || extension == ".swp" ||
         extension.starts_with(".dpkg-") || extension.starts_with(".rpm");
}

/// Whether a file begins like a query.
bool looks_like_query(const fs::path& file) {
  constexpr std::size_t enough = 4096;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return false;
  std::string head(enough, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return query::recognise_query(head) != query::QueryForm::neither;
}

/// Refuses a file of a directory that looks like a query but has another ending. Otherwise nobody would notice that it is
/// missing.
void refuse_query(const fs::path& file) {
  throw Error(ErrorKind::configuration, file.string(),
              fmt::format("it looks like a query, but of a directory only *{} and files without an ending are read",
                          fmt::join(query_extensions, ", *")),
              "rename it, name it by itself, or move it elsewhere");
}

/// `name=FILE`, taken apart; nothing if no file has that name.
struct NamedFile {
  std::string name;
  std::string file;
};
std::optional<NamedFile> named_file(const std::string& source) {
  const std::size_t sign = source.find('=');
  std::error_code error;
  if (sign == std::string::npos || !fs::is_regular_file(source.substr(sign + 1), error)) return std::nullopt;
  return NamedFile{without_blanks(source.substr(0, sign)), source.substr(sign + 1)};
}

NamedQuery read_pattern(std::string_view text, const std::string& name) {
  const std::string where = fmt::format("--query {}", name);
  return {parse_pattern(text, name, where), where};
}

/// What the options name, in their order. A pattern without a name keeps its place, and is read once the other names are known.
struct Read {
  struct Nameless {
    std::size_t place;
    std::string_view pattern;
  };
  std::vector<NamedQuery> queries;
  std::vector<std::string_view> patterns;  ///< by query: as the option has it; empty for a file
  std::vector<Nameless> nameless;
  void add(NamedQuery query, std::string_view pattern = {}) {
    queries.push_back(std::move(query));
    patterns.push_back(pattern);
  }
  /// The file that holds a query, or its option.
  [[nodiscard]] std::string place(std::size_t query) const {
    return patterns[query].empty() ? queries[query].where : fmt::format("--query '{}'", patterns[query]);
  }
};

void read_source(const std::string& source, bool directed, Read& read) {
  std::error_code error;
  const fs::file_status status = fs::status(source, error);
  if (fs::is_directory(status)) {
    for (const fs::path& file : query_files(source)) read.add(read_query_file(file, directed));
    return;
  }
  if (fs::exists(status)) {
    read.add(read_query_file(source, directed));
    return;
  }
  if (const std::optional<NamedFile> named = named_file(source); named && !named->name.empty()) {
    NamedQuery query = read_query_file(named->file, directed);
    query.query.name = named->name;
    read.add(std::move(query));
    return;
  }
  const std::size_t sign = source.find('=');
  const bool named = sign < source.find('(');  // also a query that is called match
  if (!named && query::recognise_query(source) == query::QueryForm::pattern) {
    read.nameless.push_back({read.queries.size(), source});
    read.add({}, source);
    return;
  }
  if (sign == std::string::npos || source.find('(', sign) == std::string::npos) {
    throw Error(ErrorKind::configuration, fmt::format("--query {}", source), "no such file", remedy);
  }
  const std::string name = without_blanks(source.substr(0, sign));
  if (name.empty()) throw Error(ErrorKind::configuration, fmt::format("--query {}", source), "the name is empty", remedy);
  read.add(read_pattern(std::string_view(source).substr(sign + 1), name), source);
}

/// Reads the patterns without a name and calls them pattern, pattern2, pattern3, ..., without the names of others.
void name_patterns(Read& read) {
  std::set<std::string> taken;
  for (const NamedQuery& query : read.queries) taken.insert(query.query.name);
  std::size_t number = 0;
  for (const auto& [place, pattern] : read.nameless) {
    std::string name;
    do {
      ++number;
      name = number == 1 ? "pattern" : fmt::format("pattern{}", number);
    } while (taken.contains(name));
    read.queries[place] = read_pattern(pattern, name);
  }
}

}  // namespace

NamedQuery read_query_file(const fs::path& path, bool directed) {
  const std::string text = read_small_file(path, "the query");
  const std::string name = path.stem().string();
  const std::string where = path.string();
  return {query::parse_query_text(text, name, directed, where), where};
}

std::vector<fs::path> query_files(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const std::string extension = entry->path().extension().string();
    if (std::ranges::find(query_extensions, extension) != query_extensions.end()) {
      files.push_back(entry->path());
    } else if (!is_backup(entry->path()) && looks_like_query(entry->path())) {
      if (!extension.empty()) refuse_query(entry->path());
      files.push_back(entry->path());
    }
  }
  if (error) throw Error(ErrorKind::configuration, directory.string(), error.message(), "check the directory's permissions");
  if (files.empty()) {
    throw Error(
        ErrorKind::configuration, directory.string(),
        fmt::format("no *{}, and no query in a file without an ending, in this directory", fmt::join(query_extensions, ", *")),
        remedy);
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
    } else if (const std::optional<NamedFile> named = named_file(source)) {
      paths.push_back(named->file);
    }
  }
  return paths;
}

std::vector<NamedQuery> read_queries(const std::vector<std::string>& sources, bool directed) {
  Read read;
  for (const std::string& source : sources) read_source(source, directed, read);
  name_patterns(read);
  std::map<std::string_view, std::size_t> names;
  for (std::size_t i = 0; i < read.queries.size(); ++i) {
    const std::string& name = read.queries[i].query.name;
    const auto [first, is_new] = names.emplace(name, i);
    if (!is_new) {
      throw Error(ErrorKind::configuration, read.place(i),
                  fmt::format("the name '{}' already belongs to {}", name, read.place(first->second)),
                  "give each query its own name, e.g. other=PATTERN");
    }
  }
  return std::move(read.queries);
}

std::string match_size(std::span<const Query> variants) {
  const Query& least = variants.front();
  const Query& most = variants.back();
  if (variants.size() == 1) return graph_size(least.vertices.size(), least.edges.size());
  return fmt::format("{} to {} vertices, {} to {} edges", least.vertices.size(), most.vertices.size(), least.edges.size(),
                     most.edges.size());
}

std::string short_window(const EngineOptions& engine, const Query& query) {
  Timestamp needed = 0;
  if (engine.window == 0 || !query.within) return {};
  if (__builtin_add_overflow(query.within->microseconds, engine.allowed_lateness, &needed) || needed > engine.window) {
    return fmt::format(
        "edges live for the window of {} only, and matches of the query {} may span {}{}", duration_text(engine.window),
        query.name, duration_text(query.within->microseconds),
        engine.allowed_lateness == 0 ? std::string() : " and come late by " + duration_text(engine.allowed_lateness));
  }
  return {};
}

}  // namespace deltamatch::cli
