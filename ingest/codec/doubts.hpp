// Doubtful readings of one input: what was read one way and may have been meant another way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// A doubtful reading, reported once for each code and input.
struct Warning {
  std::string code;   ///< stable: docs/reference/formats.md lists the codes
  std::string where;  ///< the first place, "a.csv:3"
  std::string what;
  std::string remedy;
  std::uint64_t count = 1;  ///< of records, ids or times
};

/// "a.csv:3: what; remedy", with the count if it is more than one.
[[nodiscard]] std::string to_string(const Warning& warning);

/// How a remedy spells an option: `--graph-time-unit ms`, or `time_unit: ms` in a configuration.
struct OptionSpelling {
  std::string prefix;  ///< of options about one kind of input on a command line: "", "graph-" or "labels-"
  bool in_configuration = false;
  [[nodiscard]] std::string operator()(std::string_view option, std::string_view value) const;
  /// Spells an option that is about all inputs.
  [[nodiscard]] std::string common(std::string_view option, std::string_view value) const {
    return OptionSpelling{{}, in_configuration}(option, value);
  }
};

/// Collects the doubts about one input while its records are read in order. Its reader says which record is being read. Codecs
/// and readers report what they find. Times and ids are sampled in bounded memory. Not thread-safe.
class Doubts {
 public:
  struct Doubt {
    std::string code;
    Position at;
    std::string what;
    std::string remedy;
    std::uint64_t count = 1;
  };

  explicit Doubts(OptionSpelling spelling = {});
  ~Doubts();
  Doubts(Doubts&&) noexcept;
  Doubts& operator=(Doubts&&) noexcept;

  [[nodiscard]] const OptionSpelling& spelling() const noexcept { return spelling_; }

  /// What is reported from here on is about the record at `position`.
  void at(Position position) noexcept { now_ = position; }
  /// Reports a doubt. The first one of each code is kept with its place; later ones add to its count.
  void tell(std::string_view code, std::string_view what, std::string_view remedy) { report_at(now_, code, what, remedy); }
  void report_at(Position position, std::string_view code, std::string_view what, std::string_view remedy);

  /// Notes that a number was read as a time. `fraction`: it had one. Only for inputs whose unit nobody has stated. O(1),
  /// amortised.
  void number_as_time(Timestamp time, bool fraction) {
    ++times_.count;
    if (--until_sample_ == 0) sample(time, fraction);
  }
  /// Notes for each insertion of an edge whether it has a time.
  void edge_with_time(bool timed) {
    if (timed) {
      ++edges_.timed;
    } else if (++edges_.untimed == 1) {
      edges_.first_untimed = now_;
    }
  }
  /// Notes the label of a record whose label column nobody has named. If all labels are words for operations and one says a
  /// removal, the column may say the operation. `remedy` is what to do then. O(1), and nothing after the first other label.
  void guessed_label(std::string_view column, std::string_view label, std::string_view remedy) {
    if (watches_labels_) see_label(column, label, remedy);
  }
  /// Whether labels of guessed_label() still matter.
  [[nodiscard]] bool watches_labels() const noexcept { return watches_labels_; }
  /// Notes that times are read from a column that nobody has named, with this number from 1.
  void guessed_time_column(std::size_t column) noexcept { guessed_column_ = column; }
  /// States how numbers are read as times. Without it, nothing is reported about them.
  void reads_times_as(TimeUnit unit) noexcept { unit_ = unit; }

  /// From here on, looks at the ids of updates. The same digits as a number and as a text are two vertices.
  void watch_ids();
  [[nodiscard]] bool watches_ids() const noexcept { return ids_ != nullptr; }
  /// Looks at the ids of one update. The first 2^17 ids of each kind are remembered. After that, an input with one kind costs
  /// next to nothing.
  void see_ids(const Update& update) {
    if (numbers_are_known_ && !update.source.is_text() && !update.target.is_text()) return;
    see(update);
  }

  /// Returns an id that is remembered as a text in one input and as a number in another. Nothing if there is none. O(ids).
  [[nodiscard]] static std::optional<std::int64_t> text_and_number(const Doubts& texts, const Doubts& numbers);
  /// What to do about it.
  [[nodiscard]] std::string remedy_of_ids() const;

  /// Returns all doubts so far, in the order of the input. `window` is in microseconds, 0 for none. Times that are counted from
  /// another zero than 1970 matter only with a window.
  [[nodiscard]] std::vector<Doubt> all(Timestamp window) const;
  /// For an input without an end: returns the doubts that no earlier call returned. Times are judged once there are three, and
  /// again whenever there are twice as many.
  [[nodiscard]] std::vector<Doubt> fresh(Timestamp window);

 private:
  struct Ids;
  struct Times {
    struct Sample {
      Timestamp time;
      bool fraction;
      Position at;
    };
    std::uint64_t count = 0;
    std::vector<Sample> samples;  // every stride-th one, in the order of the input
    std::uint64_t stride = 1;
  };

  struct Edges {
    std::uint64_t timed = 0;
    std::uint64_t untimed = 0;
    Position first_untimed;
  };

  void sample(Timestamp time, bool fraction);
  void see(const Update& update);
  void see_id(const Id& id);
  [[nodiscard]] std::optional<Doubt> about_times(Timestamp window) const;
  [[nodiscard]] std::optional<Doubt> about_mixed_times(Timestamp median) const;
  [[nodiscard]] std::optional<Doubt> about_empty_times(Timestamp window) const;
  void see_label(std::string_view column, std::string_view label, std::string_view remedy);
  [[nodiscard]] std::optional<Doubt> about_labels() const;

  OptionSpelling spelling_;
  Position now_;
  std::vector<Doubt> told_;
  Times times_;
  Edges edges_;
  std::vector<std::string> label_words_;  // all labels so far, while they are words for operations
  std::optional<Doubt> removal_label_;    // the first one that says a removal, with a count of them
  bool watches_labels_ = true;
  bool labels_given_ = false;  // fresh() has returned the doubt about them
  std::uint64_t until_sample_ = 1;
  std::size_t guessed_column_ = 0;  // 0: none
  std::optional<TimeUnit> unit_;
  std::unique_ptr<Ids> ids_;
  bool numbers_are_known_ = false;  // no more numbers are remembered, and there is no text to compare
  std::size_t given_ = 0;           // how many of told_ fresh() has returned
  std::uint64_t judged_at_ = 3;     // number of times needed for the next judgement
  bool times_given_ = false;
};

/// The spelling of the Doubts that the options name. Without Doubts, the spelling for a stream.
[[nodiscard]] OptionSpelling spelling_of(const CodecOptions& options);

}  // namespace deltamatch::ingest
