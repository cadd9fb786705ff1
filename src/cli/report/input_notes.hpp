// What inputs leave to be said beside their updates: doubtful readings, and too many refused records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/terminal/json_writer.hpp"
#include "ingest/stream.hpp"

namespace deltamatch::cli {

class InputNotes {
 public:
  /// Ends the reading of an input, once it is done with: takes its warnings, which go to standard error at once, and what it
  /// refused. `max_refused`: the share of its records that may be refused.
  void take(ingest::BatchSource& source, double max_refused);

  /// A warning about several inputs, likewise.
  void warn(ingest::Warning warning);

  [[nodiscard]] const std::vector<ingest::Warning>& warnings() const noexcept { return warnings_; }
  /// Of all inputs: records that said something, those that were refused among them.
  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  [[nodiscard]] const ingest::RefusalCounters& refused() const noexcept { return refused_; }
  /// "refused  2 of 3 records: bad_id 1, wrong_arity 1", with its line end; empty if none was.
  [[nodiscard]] std::string first_line() const;
  /// Whether an input had more records refused than may be.
  [[nodiscard]] bool too_many_refused() const noexcept { return !verdict_.empty(); }
  /// Which, and the first record of each reason; lines for standard error.
  [[nodiscard]] const std::string& verdict() const noexcept { return verdict_; }

  /// The key "warnings" and its array.
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
