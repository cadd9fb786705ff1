// Generators of scenarios, biased towards many matches: few labels, few vertices, many edges.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>
#include <string>

#include "property/scenario.hpp"

namespace deltamatch::property {

/// What a stream may hold.
struct Traits {
  bool vertex_records = true;
  bool windows = true;
  /// Self-loops, missing times, and vertices with changing labels or none. If false, every record of a vertex has the same
  /// label, and no record is bad.
  bool untidy = true;
  /// Counted queries with many vertices and edges and few labels. For these, counting without enumerating has most to subtract.
  bool counting = false;
  /// Queries of up to 8 vertices, and graphs with room for them.
  bool large = false;
  /// The model of edges. If it is not `simple`, queries have conditions.
  EdgeModel edges = EdgeModel::simple;
  /// Edges, unless they are `simple`, and vertices have attributes, and conditions read them.
  bool attributes = false;
  /// All queries have WITHIN, so edges are kept for conditions.
  bool within = false;
  /// The stream only inserts edges.
  bool insertions = false;
  /// Many records of vertices, which set, add and remove labels.
  bool restless = false;
  /// The graph keeps self-loops, and queries may have some.
  bool loops = false;
  /// All queries have paths.
  bool paths = false;
  /// Conditions count.
  bool counts = false;
};

[[nodiscard]] rc::Gen<Scenario> scenarios(const Traits& traits = {});

/// A number from 0 to n - 1, all equally likely for any size. Shrinks towards 0.
[[nodiscard]] rc::Gen<int> below(int n);

/// The value of `DELTAMATCH_PROPERTY_SCALE`, which multiplies the numbers of cases; 1 if it is not set.
[[nodiscard]] double case_scale();

/// Checks a property on `cases` times `case_scale()` cases; a single case stays single.
///
/// If the property does not hold, it fails the running test. It prints the smallest case found and the RC_PARAMS that
/// reproduces it. Seeds are random unless RC_PARAMS says `seed=…`; rapidcheck prints them.
void hold(int cases, const std::function<void()>& property);

}  // namespace deltamatch::property
