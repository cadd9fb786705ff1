// Doubtful readings of one input: what was read one way and may have been meant another way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// A doubtful reading, reported once for each code and input.
struct Warning {
  std::string code{};   ///< stable: docs/reference/formats.md lists the codes
  std::string where{};  ///< the first place, "a.csv:3"
  std::string what{};
  std::string remedy{};
  std::uint64_t count = 1;  ///< of records, ids or times
};

/// "a.csv:3: what; remedy", with the count if it is more than one.
[[nodiscard]] std::string to_string(const Warning& warning);

/// How a remedy spells an option: `--graph-time-unit ms`, `time_unit: ms` in a configuration, or `time_unit='ms'`.
struct OptionSpelling {
  std::string prefix{};  ///< of options about one kind of input on a command line: "", "graph-" or "labels-"
  bool in_configuration = false;
  bool as_keywords = false;  ///< arguments of a function in Python
  [[nodiscard]] std::string operator()(std::string_view option, std::string_view value) const;
  /// Spells an option that is about all inputs.
  [[nodiscard]] std::string common(std::string_view option, std::string_view value) const {
    return OptionSpelling{{}, in_configuration, as_keywords}(option, value);
  }
};

class IdDoubts;
class LabelNumbers;
class OperationDoubts;
class SizeLine;

/// Collects the doubts about one input while its records are read in order. Its reader says which record is being read. Codecs
/// and readers report what they find. Times and ids are sampled in bounded memory. Not thread-safe.
class Doubts {
 public:
  struct Doubt {
    std::string code{};
    Position at{};
    std::string what{};
    std::string remedy{};
    std::uint64_t count = 1;
  };

  explicit Doubts(OptionSpelling spelling = {});
  ~Doubts();
  Doubts(Doubts&&) noexcept;
  Doubts& operator=(Doubts&&) noexcept;

  [[nodiscard]] const OptionSpelling& spelling() const noexcept { return spelling_; }

  /// What is reported from here on is about the record at `position`.
  void at(Position position) noexcept {
    now_ = position;
    ++records_;
  }
  [[nodiscard]] Position position() const noexcept { return now_; }
  /// Reports a doubt. The first one of each code is kept with its place; later ones add to its count.
  void tell(std::string_view code, std::string_view what, std::string_view remedy) { report_at(now_, code, what, remedy); }
  /// Adds to the count of a doubt if it has been reported. So its texts need not be made for each record. Returns whether it
  /// has.
  bool again(std::string_view code) noexcept;
  void report_at(Position position, std::string_view code, std::string_view what, std::string_view remedy);

  /// Notes that a number was read as a time. `fraction`: it had one. Only for inputs whose unit nobody has stated. O(1),
  /// amortised.
  void number_as_time(Timestamp time, bool fraction) {
    ++times_.count;
    if (time == 0 && zeros_.count++ == 0) zeros_.first = now_;
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
  /// Notes the label of a record whose label column nobody has named. It may say the operation. `remedy` is what to do then.
  /// O(1), and nothing once watches_labels() is false.
  void guessed_label(std::string_view column, std::string_view label, std::string_view remedy) {
    if (watches_labels_) see_label(column, label, remedy);
  }
  /// Whether labels of guessed_label() still matter.
  [[nodiscard]] bool watches_labels() const noexcept { return watches_labels_; }
  /// Notes that all values so far of a column which is not read are words for operations, and that the present one says a
  /// removal.
  void suspect_operation(std::string_view column, std::string_view what, std::string_view remedy);
  /// Adds to the count of what suspect_operation() noted about the column. Returns whether there is such a note.
  bool suspect_again(std::string_view column);
  /// Takes back what suspect_operation() noted about the column.
  void clear_operation(std::string_view column);
  /// Notes the label of a record whose third column nobody has named. Numbers there may be weights or times. Nothing more
  /// happens once watches_third_column() is false.
  void label_of_third_column(std::string_view label);
  [[nodiscard]] bool watches_third_column() const noexcept { return watches_third_column_; }
  /// Reports a doubt that later records may take back.
  void suspect_at(Position position, std::string_view code, std::string_view what, std::string_view remedy);
  /// Adds to the count of a doubt of suspect_at(). Returns whether it has been reported.
  bool suspected_again(std::string_view code) noexcept;
  /// Takes back what suspect_at() reported.
  void acquit(std::string_view code);
  /// Notes that the record looks like a sum below a table. That is doubtful if it is the last one.
  void may_be_total(std::string_view what, std::string_view remedy);
  /// Notes a source of an edge list that begins with + or -. Both together may say operations, if no target has a sign.
  void signed_source(std::string_view source, bool target_has_sign);
  /// Notes a record that begins with #, in a format without comments.
  void begins_with_hash(std::string_view record);
  /// From here on, asks whether the first record is a line of sizes.
  void watch_sizes(SizeLine line);
  /// Looks at an update for watch_sizes().
  void see_update(const Update& update) {
    if (sizes_) see_size(update);
  }
  /// Notes that times are read from a column that nobody has named, with this number from 1.
  void guessed_time_column(std::size_t column) noexcept { guessed_column_ = column; }
  /// Names the attributes of edges. From here on, asks whether any record has a value of each. The first call counts.
  void watch_attributes(const std::vector<AttributeColumn>& attributes);
  /// Notes the values of an edge that is inserted. O(1) once each attribute has had one.
  void see_attributes(std::span<const AttributeValue> values) {
    if (attributes_.unseen != 0) see_values(values);
  }
  /// States how numbers are read as times. Without it, nothing is reported about them.
  void reads_times_as(TimeUnit unit) noexcept { unit_ = unit; }

  /// From here on, looks at the ids of updates. The same digits as a number and as a text are two vertices. `spellings`: the
  /// ids come from text fields, so 007 and 7.0 may be meant as 7.
  void watch_ids(bool spellings = false);
  [[nodiscard]] bool watches_ids() const noexcept { return ids_ != nullptr; }
  /// Looks at the ids of one update. Once enough ids are remembered, an input with one kind costs next to nothing.
  void see_ids(const Update& update) {
    if (!update.by_key && (may_matter(update.source) || may_matter(update.target))) see(update, std::nullopt);
  }
  /// The same if inputs differ in `spellings`.
  void see_ids(const Update& update, bool spellings) {
    if (!update.by_key && (may_matter(update.source) || may_matter(update.target))) see(update, spellings);
  }

  /// The ids so far. Null if they are not watched.
  [[nodiscard]] const IdDoubts* ids() const noexcept { return ids_.get(); }
  void tell_ids_of_two_kinds(std::int64_t id);
  /// What to do about ids of two kinds.
  [[nodiscard]] std::string remedy_of_ids() const;

  /// Returns all doubts so far, in the order of the input. `window` is in microseconds, 0 for none. Times that are counted from
  /// another zero than 1970 matter only with a window.
  [[nodiscard]] std::vector<Doubt> all(Timestamp window) const;
  /// For an input without an end: returns the doubts that no earlier call returned. Times are judged once there are three, and
  /// again whenever there are twice as many.
  [[nodiscard]] std::vector<Doubt> fresh(Timestamp window);

 private:
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

  struct Part {
    std::uint64_t count = 0;
    Position first;
  };

  struct Attributes {
    std::vector<std::string> names;
    std::vector<char> seen;
    std::size_t unseen = 0;
    std::uint64_t records = 0;
    Position first;
    bool given = false;  // fresh() has returned the doubt about them
  };

  struct Edges {
    std::uint64_t timed = 0;
    std::uint64_t untimed = 0;
    Position first_untimed;
  };

  /// Whether an id is a number that is still to be remembered, or a text that may spell one.
  [[nodiscard]] bool may_matter(const Id& id) const noexcept {
    if (!id.is_text()) return !numbers_are_known_;
    const char first = id.text().empty() ? ' ' : id.text().front();
    return (first >= '0' && first <= '9') || first == '+' || first == '-';
  }
  void sample(Timestamp time, bool fraction);
  void see(const Update& update, std::optional<bool> spellings);
  void see_size(const Update& update);
  [[nodiscard]] std::optional<Doubt> about_times(Timestamp window) const;
  [[nodiscard]] std::optional<Doubt> about_mixed_times(Timestamp median) const;
  [[nodiscard]] std::optional<Doubt> about_empty_times(Timestamp window) const;
  void see_label(std::string_view column, std::string_view label, std::string_view remedy);
  void see_values(std::span<const AttributeValue> values);
  [[nodiscard]] std::optional<Doubt> about_attributes() const;
  [[nodiscard]] std::optional<Doubt> about_operations() const;
  [[nodiscard]] std::optional<Doubt> about_hashes() const;
  [[nodiscard]] std::optional<Doubt> about_signs() const;
  [[nodiscard]] std::optional<Doubt> about_total() const;
  [[nodiscard]] std::optional<Doubt> about_zeros(double median) const;
  [[nodiscard]] std::optional<Doubt> about_dates() const;
  [[nodiscard]] bool told(std::string_view code) const noexcept;

  OptionSpelling spelling_;
  Position now_;
  std::vector<Doubt> told_;
  std::uint64_t records_ = 0;
  Times times_;
  Part zeros_;  // times that are 0
  Edges edges_;
  Attributes attributes_;
  std::vector<Doubt> suspected_;  // of suspect_at()
  std::optional<Doubt> total_;    // the last record that looks like a sum, and its number
  std::uint64_t total_record_ = 0;
  std::optional<Doubt> hashes_;  // the first record with #, with a count of them
  std::optional<Doubt> plus_;    // the first source such as `+1`, with a count of them
  bool minus_ = false;           // a source begins with -
  bool signed_target_ = false;
  std::unique_ptr<OperationDoubts> operations_;
  bool watches_labels_ = true;
  bool watches_third_column_ = true;
  bool operations_given_ = false;  // fresh() has returned the doubt about them
  bool hashes_given_ = false;
  std::uint64_t until_sample_ = 1;
  std::size_t guessed_column_ = 0;  // 0: none
  std::optional<TimeUnit> unit_;
  std::unique_ptr<IdDoubts> ids_;
  std::unique_ptr<SizeLine> sizes_;
  std::unique_ptr<LabelNumbers> label_numbers_;
  bool numbers_are_known_ = false;  // no more numbers are remembered, and there is no text to compare
  std::size_t given_ = 0;           // how many of told_ fresh() has returned
  std::uint64_t judged_at_ = 3;     // number of times needed for the next judgement
  bool times_given_ = false;
};

/// Compares the ids of two inputs with these names. An id that is in both in two forms makes two vertices; the first input is
/// warned of it. O(ids).
[[nodiscard]] std::optional<Warning> compare_ids(const Doubts& doubts, const std::string& name, const Doubts& others,
                                                 const std::string& other_name);

/// The spelling of the Doubts that the options name. Without Doubts, the spelling for a stream.
[[nodiscard]] OptionSpelling spelling_of(const CodecOptions& options);

}  // namespace deltamatch::ingest
