// Reads the queries that the command line names.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch::cli {

/// A query, and the place it came from for messages.
struct NamedQuery {
  Query query;
  std::string where;
};

/// Reads a file that holds one query. Its content decides whether it is a pattern or a t/v/e graph; the file's stem is the
/// query's name. `directed` says how the edges of t/v/e queries are meant. Throws Error(configuration) if it cannot be read.
[[nodiscard]] NamedQuery read_query_file(const std::filesystem::path& path, bool directed);

/// The *.pattern, *.graph, *.q and *.query files of a directory, and those without an ending that look like a query, in byte
/// order. Throws Error(configuration) if there are none, or the directory cannot be read. Also throws if another file looks
/// like a query, unless it is hidden or a backup.
[[nodiscard]] std::vector<std::filesystem::path> query_files(const std::filesystem::path& directory);

/// Reads what each `--query` names, in the order given. That is an existing file (see read_query_file), an existing directory
/// (its query_files), name=FILE, name=PATTERN, or a pattern without a name. The last are called pattern, pattern2, pattern3,
/// ..., without names that others have. `directed` says how the edges of t/v/e queries are meant. Throws Error(configuration)
/// for unreadable or bad queries, and if two queries have the same name.
[[nodiscard]] std::vector<NamedQuery> read_queries(const std::vector<std::string>& sources, bool directed);

/// The files among the sources, and each file of the directories. Throws Error(configuration) for a directory that cannot be
/// read or has no query.
[[nodiscard]] std::vector<std::string> query_paths(const std::vector<std::string>& sources);

/// How large the matches of a query are, by its variants: "3 vertices, 3 edges", or "2 to 5 vertices, 2 to 5 edges".
[[nodiscard]] std::string match_size(std::span<const Query> variants);

/// Says that edges leave the window too early for matches of the query. Empty if they do not.
[[nodiscard]] std::string short_window(const EngineOptions& engine, const Query& query);

}  // namespace deltamatch::cli
