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

/// Reads a file that holds one query, which is named by the file's stem: .graph: t/v/e, any other: a pattern. `directed` says
/// how the edges of t/v/e queries are meant. Throws Error(configuration) where it cannot be read.
[[nodiscard]] NamedQuery read_query_file(const std::filesystem::path& path, bool directed);

/// The *.pattern and *.graph files of a directory in byte order. Throws Error(configuration) where there are none or it cannot
/// be read.
[[nodiscard]] std::vector<std::filesystem::path> query_files(const std::filesystem::path& directory);

/// Reads what each `--query` names, in the order given: an existing file (.graph: t/v/e, any other: one pattern; the query is
/// named by the file's stem), an existing directory (its *.pattern and *.graph files in byte order), or name=PATTERN.
/// `directed` says how the edges of t/v/e queries are meant. Throws Error(configuration) for unreadable or bad queries, and
/// where two queries bear one name.
[[nodiscard]] std::vector<NamedQuery> read_queries(const std::vector<std::string>& sources, bool directed);

/// The files among the sources, those of directories one by one. Throws Error(configuration) for a directory that cannot be
/// read or holds no query.
[[nodiscard]] std::vector<std::string> query_paths(const std::vector<std::string>& sources);

}  // namespace deltamatch::cli
