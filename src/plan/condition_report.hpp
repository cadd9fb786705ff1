// What explain and validate say of a query's conditions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deltamatch/query.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::plan {

/// Describes the conditions of a valid query, as lines. They say where such a query is matched. The parts of the condition
/// follow in normal form, with numbers from 1, and then the bounds of times. `remarks` are written behind the parts. Empty: the
/// query has no conditions.
[[nodiscard]] std::vector<std::string> condition_lines(const Query& query, std::span<const std::string> remarks = {});

/// How many elements of a sample satisfy a condition.
struct Selectivity {
  std::uint64_t sampled = 0;
  std::uint64_t satisfied = 0;
};

/// The most edges, or vertices, that are sampled for a condition.
inline constexpr std::uint32_t largest_sample = 10'000;

/// Tests a condition that reads one edge or one vertex on a sample of those whose labels the query admits there. `condition` is
/// an index into BoundQuery::conditions. Nullopt: it reads several elements, or none. The sample depends on the graph alone.
[[nodiscard]] std::optional<Selectivity> sample_condition(const BoundQuery& query, std::size_t condition);

/// The remarks for condition_lines: what samples tell, if the graph has edges. The query's symbols must be bound.
[[nodiscard]] std::vector<std::string> selectivity_remarks(const BoundQuery& query);

}  // namespace deltamatch::plan
