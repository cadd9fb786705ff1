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
  /// Self-loops, missing times, vertices mentioned under other labels or none. Without: every mention of a vertex bears the
  /// same label, and no record is bad.
  bool untidy = true;
  /// Counted queries of many vertices and edges and few labels: where counting without enumerating has most to subtract.
  bool counting = false;
  /// Queries of up to 8 vertices, and graphs with room for them.
  bool large = false;
};

[[nodiscard]] rc::Gen<Scenario> scenarios(const Traits& traits = {});

/// 0 to n - 1, each as likely as the others whatever the size; shrinks towards 0.
[[nodiscard]] rc::Gen<int> below(int n);

/// `DELTAMATCH_PROPERTY_SCALE`, by which the numbers of cases are multiplied; 1 where it is not set.
[[nodiscard]] double case_scale();

/// Checks a property on `cases` times `case_scale()` cases (a single case stays single) and fails the running test where it
/// does not hold, with the least case found and what RC_PARAMS reproduces it. Seeds are random unless RC_PARAMS says `seed=…`;
/// rapidcheck prints them.
void hold(int cases, const std::function<void()>& property);

}  // namespace deltamatch::property
