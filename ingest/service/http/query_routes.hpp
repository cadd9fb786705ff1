// The queries of a running service over HTTP: /v1/queries. docs/reference/rest.md describes it for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/count.hpp"
#include "deltamatch/error.hpp"
#include "ingest/service/http/http_route.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// What is wrong with one part of a request.
struct QueryProblem {
  std::string key;  ///< of the definition, e.g. "budget.time"; empty if it concerns all of it
  std::string what;
  std::string remedy;
  std::size_t line = 0;    ///< in the pattern, from 1; 0 if no place in it is meant
  std::size_t column = 0;  ///< likewise
};

/// A request about queries cannot be granted. Nothing has changed, unless the text says otherwise.
class QueryRefusal : public Error {
 public:
  QueryRefusal(unsigned code, std::string_view what, std::string_view remedy, std::vector<QueryProblem> found = {})
      : Error(ErrorKind::configuration, "", what, remedy), status(code), problems(std::move(found)) {}
  unsigned status;  ///< of HTTP
  std::vector<QueryProblem> problems;
};

/// A query as the service knows it.
struct ListedQuery {
  ServiceQuery query;
  std::string fingerprint;
  std::string tag;                     ///< entity_tag
  std::optional<std::uint64_t> batch;  ///< that made it or changed it last, if it was made over HTTP
  bool suspended = false;
  std::uint64_t suspended_in = 0;       ///< the batch in which it exceeded its budget
  std::string_view over;                ///< which one: shortfall_name
  std::optional<Count> added, removed;  ///< matches since the start of the process
};

struct QueryListing {
  std::vector<ListedQuery> queries;  ///< by name
  std::uint64_t batch = 0;           ///< the last committed one
};

/// One change that a client wants.
struct QueryRequest {
  enum class Kind : std::uint8_t { create, put, remove } kind = Kind::create;
  std::string name;
  std::optional<ServiceQuery> query;  ///< not for remove
  std::string if_match;               ///< the header, or empty
  std::string if_none_match;          ///< likewise
  bool only_check = false;            ///< checks all that can be checked, and changes nothing
};

struct QueryOutcome {
  bool created = false;
  bool changed = false;     ///< false: the query was there already, exactly so
  std::uint64_t batch = 0;  ///< that committed the change; if nothing changed, the last one before
  std::string tag;          ///< of the query now; empty if it was removed
};

/// Several threads call these functions at a time. Each may throw QueryRefusal.
struct QueryHandlers {
  std::function<QueryListing()> list;
  /// The plans as text. May take a while.
  std::function<std::string(const ServiceQuery&)> plan;
  /// Reads a definition. `name` is the one in the path, if there is one. Refuses with 400 (no JSON) or 422.
  std::function<ServiceQuery(std::string_view json, const std::optional<std::string>& name)> define;
  /// Returns once the change is committed.
  std::function<QueryOutcome(const QueryRequest&)> change;
};

/// The limit for a definition, in bytes.
inline constexpr std::size_t most_definition = std::size_t{64} << 10;

/// GET and POST of /v1/queries; GET, PUT and DELETE of /v1/queries/{name}.
[[nodiscard]] std::vector<HttpRoute> query_routes(const QueryHandlers& handlers);

/// Whether one of the entity tags in a header If-Match or If-None-Match is `tag`. "*" stands for every tag.
[[nodiscard]] bool names_tag(std::string_view header, std::string_view tag);

}  // namespace deltamatch::ingest
