// Filtering before a whole graph is matched: which vertices each query vertex can be mapped to.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace deltamatch {

/// How far candidates are filtered. Each level includes those before it. `automatic` refines at once or later, by the times
/// that matching and filtering are expected to take and have taken. It matches on what is left if enough is gone.
/// docs/guide/whole-graphs.md has the rule.
enum class Filter : std::uint8_t { automatic, none, label, degree, refine };

/// Steps left out of those that a Filter takes, so that what each is worth can be measured. Labels are what the others begin
/// with. No bearing on the answer.
struct FilterWithout {
  bool degree = false;
  bool refine = false;
  bool unite = false;
  [[nodiscard]] bool any() const noexcept { return degree || refine || unite; }
};

/// One step of filtering: "label", "degree", a round of "refine", or "unite" of sets that are little apart.
struct FilterStep {
  std::string_view name;
  std::vector<std::uint64_t> candidates;  ///< left after it, by query vertex
  double seconds = 0;
};

/// What filtering did before a static match. Independent of the number of threads, except for the seconds.
struct FilterReport {
  std::vector<FilterStep> steps;  ///< those that were run; where one left no candidates, the last
  bool used = false;              ///< matching reads candidates only
  std::uint64_t entries = 0;      ///< where used, of the lists that matching reads instead of the graph's
  std::size_t bytes = 0;          ///< where used, of these lists
  double seconds = 0;             ///< of all steps and of making the lists
};

}  // namespace deltamatch
