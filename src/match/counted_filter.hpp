// Keeps the recorded matches of a query for which its counting conditions hold.
#pragma once

#include "match/counted_changes.hpp"
#include "match/matcher.hpp"

namespace deltamatch::match {

/// The records of a pass that remain. Matches that only pass by within a batch are none: the states before and after it decide.
/// Without a batch, `batch` tells its relations and what has aged before it.
[[nodiscard]] Records keep_counted(const plan::BoundQuery& query, const Records& records, Pass pass, const CountedBatch& batch);

}  // namespace deltamatch::match
