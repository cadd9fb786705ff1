// Handles refused and doubtful records of a batch.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ingest/service/loop/pipeline.hpp"

namespace deltamatch::ingest {

void Pipeline::note_doubt(const Warning& warning) {
  context_.metrics.doubtful_reading(warning.code);
  context_.journal.tell(Level::warn, "doubtful_reading",
                        {{"code", warning.code}, {"where", warning.where}, {"what", warning.what}, {"remedy", warning.remedy}});
  const std::scoped_lock lock(mutex_);
  status_.warnings.push_back(warning);
}

/// Reports what was doubtful in the batch, and how much of it was refused.
void Pipeline::note_reading(const InputBatch& batch, const BatchResult& result) {
  for (const Warning& warning : batch.warnings) note_doubt(warning);
  const auto taken = batch.updates.updates().first(result.consumed);
  absent_deletes_.add(taken, result.ignored);
  if (const auto absent = absent_deletes_.fresh("all topics")) note_doubt(*absent);
  absent_times_.add(taken);
  const auto reads_times = [](const StandingQueries::Named& named) { return ingest::reads_times(named.query->query); };
  if (absent_times_.due() && std::ranges::any_of(queries_.standing(), reads_times)) {
    const OptionSpelling spelling{.prefix = {}, .in_configuration = true};
    note_doubt(*absent_times_.give("all topics", spelling("columns", "time=NAME") + " says which column or field holds it"));
  }
  std::uint64_t records = 0;
  for (const Update& update : batch.updates.updates().first(result.consumed)) records += update.continues ? 0 : 1;
  std::uint64_t refused = result.rejects.size();
  for (const std::uint64_t unreadable : batch.refused) {
    records += unreadable;
    refused += unreadable;
  }
  std::string first;
  const auto tell = [&](const TopicPartition& at, std::int64_t offset, RejectReason reason, std::string_view message) {
    if (context_.options.input.on_error != OnError::fail) {
      context_.journal.tell(Level::warn, "records are refused",
                            {{"topic", at.topic},
                             {"reason", std::string(reject_name(reason))},
                             {"example", fmt::format("{} at offset {}: {}", to_string(at), offset, message)}});
    }
    return fmt::format("{} at offset {}: {}: {}", to_string(at), offset, reject_name(reason), message);
  };
  if (batch.first_refused) {
    first =
        tell(batch.first_refused->at, batch.first_refused->offset, batch.first_refused->reason, batch.first_refused->message);
  } else if (!result.rejects.empty()) {
    const Reject& reject = result.rejects.front();
    first = tell(batch.partition(reject.index), batch.offset(reject.index), reject.reason,
                 rejection_message(batch.updates.updates()[reject.index], reject.reason));
  }
  const double most = context_.options.input.max_refused;
  bool before = false;
  bool now = false;
  {
    const std::scoped_lock lock(mutex_);
    before = status_.refused.exceeds(most);
    status_.refused.add(records, refused);
    now = status_.refused.exceeds(most);
    if (!first.empty()) status_.last_refused = std::move(first);
    context_.metrics.refused_share(status_.refused.share());
  }
  if (now && !before) context_.journal.tell(Level::error, "too many records are refused", {{"why", refuses()}});
  if (before && !now) context_.journal.tell(Level::info, "the share of refused records is allowed again");
}

std::string Pipeline::refuses() const {
  const std::scoped_lock lock(mutex_);
  const double most = context_.options.input.max_refused;
  if (!status_.refused.exceeds(most)) return {};
  return fmt::format("{} of the last {} records were refused, more than input.max_refused ({}) allows; the last one: {}",
                     status_.refused.refused(), status_.refused.records(), most, status_.last_refused);
}

/// Collects and counts what codec and engine refused.
void Pipeline::collect_letters(const InputBatch& batch, const BatchResult& result, Commit& commit) {
  for (std::size_t r = 0; r < reject_reason_count; ++r) {
    if (batch.refused[r] != 0) context_.metrics.bad_records(static_cast<RejectReason>(r), batch.refused[r]);
  }
  for (const Reject& reject : result.rejects) context_.metrics.bad_records(reject.reason);
  commit.letters = letters_of(batch, result, context_.options.input.on_error);
}

}  // namespace deltamatch::ingest
