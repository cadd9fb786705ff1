// Which queries an instance knows: those of its configuration file, and those that were made over HTTP.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/http/query_routes.hpp"
#include "ingest/service/loop/pipeline.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/commit_point.hpp"
#include "ingest/service/state/query_record.hpp"

namespace deltamatch::ingest {

/// Not thread-safe.
class QueryBook {
 public:
  using Define = std::function<ServiceQuery(std::string_view json, const std::optional<std::string>& name)>;

  /// `topic` is the one of queries made over HTTP, for messages.
  QueryBook(std::vector<ServiceQuery> from_file, std::string topic);

  /// Replaces the queries of the file. Throws Error(configuration), and changes nothing, if one has the name of a query that
  /// was made over HTTP.
  void set_file(std::vector<ServiceQuery> from_file);
  [[nodiscard]] const std::vector<ServiceQuery>& from_file() const noexcept { return from_file_; }

  /// Takes over the queries that are left after these changes. `define` reads their definitions. Throws Error(configuration) if
  /// one does not fit the configuration. Call set_file() before the next call.
  void load(std::span<const QueryRecord> records, const Define& define);
  /// Throws Error if the topic and the last commit record do not belong together. Either a query that was made over HTTP is
  /// missing here, and the file has none of its name. Or a change is newer than the last batch. `unread` says why the topic
  /// could not be read, if so.
  void must_belong_to(const CommitPoint& last, std::string_view unread) const;

  /// All queries: those of the file, then the others by name.
  [[nodiscard]] std::vector<ServiceQuery> all() const;
  /// Those that were made over HTTP, by name.
  [[nodiscard]] std::vector<ServiceQuery> made() const;
  /// All for display, by name, without what only a working instance knows.
  [[nodiscard]] std::vector<ListedQuery> listed() const;

  struct Prepared {
    QueryOutcome outcome;           ///< without its batch
    std::optional<QueryWish> wish;  ///< nothing if there is nothing to do
  };
  /// What a request leads to. `suspended`: whether its query is suspended; sending it again lets it stand. Throws QueryRefusal.
  [[nodiscard]] Prepared prepare(const QueryRequest& request, bool suspended) const;
  /// Notes that the request was committed with this batch.
  void apply(const QueryRequest& request, std::uint64_t batch);

 private:
  struct Made {
    ServiceQuery query;
    std::uint64_t batch = 0;
  };

  void must_differ(std::span<const ServiceQuery> from_file) const;
  [[nodiscard]] const ServiceQuery* in_file(std::string_view name) const;

  std::vector<ServiceQuery> from_file_;
  std::map<std::string, Made, std::less<>> made_;  // over HTTP
  std::uint64_t newest_ = 0;                       // batch of the latest change
  std::string topic_;
};

}  // namespace deltamatch::ingest
