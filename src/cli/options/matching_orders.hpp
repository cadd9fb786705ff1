// Matching orders that the command line gives for queries.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/options/queries.hpp"
#include "deltamatch/planner.hpp"
#include "deltamatch/query_options.hpp"

namespace deltamatch::cli {

/// The planners of the queries that have an order. They must outlive the engine's use of the queries.
class MatchingOrders {
 public:
  MatchingOrders() = default;
  /// Reads texts such as `a,b,c` and `ring=a,b,c`. Without a name, there must be one query. Throws Error(usage) if a query is
  /// unknown or gets two orders, and as make_fixed_order does.
  MatchingOrders(const std::vector<std::string>& texts, const std::vector<NamedQuery>& queries);

  /// The options of a query by its number, with its order if it has one.
  [[nodiscard]] QueryOptions apply(QueryOptions options, std::size_t query) const;

 private:
  std::vector<std::unique_ptr<Planner>> planners_;  // by query; null: the default
};

}  // namespace deltamatch::cli
