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
  refused_.note(batch, result);
}

}  // namespace deltamatch::ingest
