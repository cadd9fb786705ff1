// What is reported about inputs beside their updates: doubtful readings, and too many refused records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/terminal/json_writer.hpp"
#include "ingest/stream.hpp"

namespace deltamatch::cli {

class InputNotes {
 public:
  /// Ends an input after its last batch. Takes its warnings, which go to standard error at once, and its counts of refused
  /// records. `max_refused` is the share of its records that may be refused.
  void take(ingest::UpdateStream& source, double max_refused);

  /// Warns if an input that has been read to its end holds no records.
  void tell_empty(const ingest::UpdateStream& source);

  /// Takes a warning about several inputs. It goes to standard error at once too.
  void warn(ingest::Warning warning);

  [[nodiscard]] const std::vector<ingest::Warning>& warnings() const noexcept { return warnings_; }
  /// Over all inputs: records that mean something, refused ones included.
  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  [[nodiscard]] const ingest::RefusalCounters& refused() const noexcept { return refused_; }
  /// "refused  2 of 3 records: bad_id 1, wrong_arity 1", with its line end; empty if none was.
  [[nodiscard]] std::string first_line() const;
  /// Whether an input had more records refused than allowed.
  [[nodiscard]] bool too_many_refused() const noexcept { return !verdict_.empty(); }
  /// Says which inputs, and the first record of each reason. Lines for standard error.
  [[nodiscard]] const std::string& verdict() const noexcept { return verdict_; }

  /// Writes the key "warnings" and its array.
  void write(JsonWriter& json) const;

 private:
  std::vector<ingest::Warning> warnings_;
  std::uint64_t records_ = 0;
  ingest::RefusalCounters refused_;
  std::string verdict_;
};

/// "bad_id 1, wrong_arity 1"
[[nodiscard]] std::string reasons_text(const ingest::RefusalCounters& refused);

}  // namespace deltamatch::cli
