// Doubts about columns that may say the operation, and are read as labels or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// Looks at the labels of a column that nobody has named, and collects columns whose values so far are words for operations.
/// Not thread-safe.
class OperationDoubts {
 public:
  /// Looks at a label of the record at `position`. `remedy` is what to do if the column says the operation. Returns whether
  /// further labels matter. A column called `type` is watched for the first 4,096 labels. Any other one is watched up to the
  /// first label that is no word for an operation.
  bool see_label(std::string_view column, std::string_view label, std::string_view remedy, Position position);
  /// Reports that a value in a column says a removal. It counts unless clear() follows.
  void suspect(std::string_view column, std::string_view what, std::string_view remedy, Position position);
  /// Counts another such value. Returns whether the column has been reported.
  bool again(std::string_view column);
  /// The column has other values too.
  void clear(std::string_view column);

  /// The first doubt, in the order of the input.
  [[nodiscard]] std::optional<Doubts::Doubt> doubt() const;

 private:
  [[nodiscard]] std::optional<Doubts::Doubt> about_labels() const;

  std::vector<std::string> words_;  // all labels so far that are words for operations
  std::uint64_t labels_ = 0;
  bool all_words_ = true;
  bool is_type_ = false;  // the column is called `type`
  bool http_ = false;     // a label is a verb of HTTP
  std::string column_;
  std::string last_;               // the last label
  std::optional<bool> last_says_;  // what it says
  std::string removal_word_;
  std::optional<Doubts::Doubt> removal_;                         // the first label that says a removal, with a count of them
  std::optional<Doubts::Doubt> surely_;                          // the same, of words that are rarely anything else
  std::vector<std::pair<std::string, Doubts::Doubt>> suspects_;  // by column
};

}  // namespace deltamatch::ingest
