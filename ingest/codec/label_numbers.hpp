// Numbers in a label column that nobody has named: weights or times, rather than labels.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// Looks at the labels of an input while all of them are numbers or dates. Not thread-safe.
class LabelNumbers {
 public:
  /// Looks at the label of the record at `position`. Returns false if no more labels matter. O(1), amortised.
  bool see(std::string_view label, Position position);
  /// Judges the labels so far.
  [[nodiscard]] std::optional<Doubts::Doubt> doubt(const OptionSpelling& spelling) const;

 private:
  bool words_ = false;       // a label is neither a number nor a date
  std::uint64_t count_ = 0;  // of labels
  std::uint64_t times_ = 0;  // of labels that can be times
  std::uint64_t weights_ = 0;
  Position first_;         // the first label
  Position first_weight_;  // the first number with a fraction or below 0
  boost::unordered_flat_set<std::string> different_;
};

/// The doubt about a column of times, with this number from 1. `as`: why they may be weights.
[[nodiscard]] Doubts::Doubt weight_as_time(const OptionSpelling& spelling, Position position, std::size_t column,
                                           std::string_view as);
/// The doubt about the third column, of labels. `times`: they may be times, not weights.
[[nodiscard]] Doubts::Doubt number_as_label(const OptionSpelling& spelling, Position position, std::string_view as, bool times);

}  // namespace deltamatch::ingest
