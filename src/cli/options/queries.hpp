// The queries that the command line names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "deltamatch/query.hpp"

namespace deltamatch::cli {

/// A query and the place it came from, for messages.
struct NamedQuery {
  Query query;
  std::string where;
};

/// Reads a file that holds one query, a pattern or a t/v/e graph by its content, which is named by the file's stem. `directed`
/// says how the edges of t/v/e queries are meant. Throws Error(configuration) where it cannot be read.
[[nodiscard]] NamedQuery read_query_file(const std::filesystem::path& path, bool directed);

/// The *.pattern, *.graph, *.q and *.query files of a directory in byte order. Throws Error(configuration) where there are none
/// or it cannot be read, and where another file looks like a query: hidden files and backups may.
[[nodiscard]] std::vector<std::filesystem::path> query_files(const std::filesystem::path& directory);

/// Reads what each `--query` names, in the order given: an existing file (see read_query_file), an existing directory (its
/// files of query_files), or name=PATTERN. `directed` says how the edges of t/v/e queries are meant. Throws
/// Error(configuration) for unreadable or bad queries, and where two queries bear one name.
[[nodiscard]] std::vector<NamedQuery> read_queries(const std::vector<std::string>& sources, bool directed);

/// The files among the sources, those of directories one by one. Throws Error(configuration) for a directory that cannot be
/// read or holds no query.
[[nodiscard]] std::vector<std::string> query_paths(const std::vector<std::string>& sources);

}  // namespace deltamatch::cli
