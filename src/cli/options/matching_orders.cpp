#include "cli/options/matching_orders.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "deltamatch/error.hpp"

namespace deltamatch::cli {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string_view name = text.substr(at, comma - at);
    at = comma + 1;
    const std::size_t first = std::min(name.find_first_not_of(' '), name.size());
    name = name.substr(first, name.find_last_not_of(' ') + 1 - first);
    names.emplace_back(name);
  }
  return names;
}

std::size_t place_of(const std::string& text, std::size_t sign, const std::vector<NamedQuery>& queries) {
  if (sign == std::string::npos) {
    if (queries.size() == 1) return 0;
    throw Error(ErrorKind::usage, "--matching-order " + text, fmt::format("there are {} queries", queries.size()),
                fmt::format("name one of them: {}={}", queries.front().query.name, text));
  }
  const std::string name = text.substr(0, sign);
  const auto found = std::ranges::find_if(queries, [&](const NamedQuery& query) { return query.query.name == name; });
  if (found != queries.end()) return static_cast<std::size_t>(found - queries.begin());
  std::vector<std::string_view> names;
  names.reserve(queries.size());
  for (const NamedQuery& query : queries) names.push_back(query.query.name);
  throw Error(ErrorKind::usage, "--matching-order " + text, fmt::format("there is no query '{}'", name),
              fmt::format("choose one of {}", fmt::join(names, ", ")));
}

}  // namespace

MatchingOrders::MatchingOrders(const std::vector<std::string>& texts, const std::vector<NamedQuery>& queries)
    : planners_(queries.size()) {
  for (const std::string& text : texts) {
    const std::size_t sign = text.rfind('=');  // no name of a vertex in an order holds one
    const std::size_t place = place_of(text, sign, queries);
    const std::string where = "--matching-order " + text;
    if (planners_[place]) {
      throw Error(ErrorKind::usage, where, fmt::format("query {} has an order already", queries[place].query.name),
                  "give each query one order");
    }
    const std::string_view order = sign == std::string::npos ? std::string_view(text) : std::string_view(text).substr(sign + 1);
    planners_[place] = make_fixed_order(queries[place].query, split(order), where);
  }
}

QueryOptions MatchingOrders::apply(QueryOptions options, std::size_t query) const {
  if (query < planners_.size()) options.planner = planners_[query].get();
  return options;
}

}  // namespace deltamatch::cli
