// Options and report of the filter, which computes candidates for each query vertex before a whole graph is matched.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace deltamatch {

/// How strongly candidates are filtered. Each level includes those before it. `automatic` refines at once or later, based on
/// the expected and measured times of matching and filtering. It matches on the remaining candidates if enough are gone.
/// docs/guide/whole-graphs.md has the rule.
enum class Filter : std::uint8_t { automatic, none, label, degree, refine };

/// Steps to leave out of a Filter's steps, to measure what each is worth. Labels are always used, because the other steps begin
/// with them. Does not change the answer.
struct FilterWithout {
  bool degree = false;
  bool refine = false;
  bool unite = false;
  [[nodiscard]] bool any() const noexcept { return degree || refine || unite; }
};

/// One step of filtering: "label", "degree", a round of "refine", or "unite", which merges similar sets.
struct FilterStep {
  std::string_view name{};
  std::vector<std::uint64_t> candidates{};  ///< remaining after this step, by query vertex
  double seconds = 0;
};

/// What filtering did before a static match. Only the seconds depend on the number of threads.
struct FilterReport {
  std::vector<FilterStep> steps{};  ///< the steps that ran; a step that leaves no candidates is the last
  bool used = false;                ///< matching reads only the candidates' lists
  std::uint64_t entries = 0;        ///< if used, entries of the lists that matching reads instead of the graph's
  std::size_t bytes = 0;            ///< if used, size of these lists
  double seconds = 0;               ///< of all steps, including making the lists
};

}  // namespace deltamatch
