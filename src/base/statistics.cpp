#include "deltamatch/match.hpp"
#include "deltamatch/result.hpp"

namespace deltamatch {

Ignored& Ignored::operator+=(const Ignored& other) noexcept {
  duplicate_insert += other.duplicate_insert;
  absent_delete += other.absent_delete;
  superseded += other.superseded;
  late += other.late;
  self_loop += other.self_loop;
  return *this;
}

StepSeconds& StepSeconds::operator+=(const StepSeconds& other) noexcept {
  apply += other.apply;
  estimate += other.estimate;
  cache += other.cache;
  match += other.match;
  settle += other.settle;
  anticipate += other.anticipate;
  return *this;
}

void MatchDigest::add(const MatchId& id) noexcept {
  low += id.low;
  high += id.high + (low < id.low ? 1 : 0);
}

void MatchDigest::add_all(const MatchDigest& other) noexcept { add(MatchId{other.high, other.low}); }

}  // namespace deltamatch
