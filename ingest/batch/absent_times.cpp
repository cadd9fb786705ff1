#include "ingest/batch/absent_times.hpp"

#include <algorithm>
#include <utility>

namespace deltamatch::ingest {
namespace {

bool reads_times(const Expression& expression) {
  if (expression.kind == Expression::Kind::attribute)
    return expression.element.kind == Element::Kind::edge && expression.name == "time";
  return std::ranges::any_of(expression.operands, [](const Expression& operand) { return reads_times(operand); });
}

}  // namespace

bool reads_times(const Query& query) {
  return (query.within && query.edges.size() > 1) || (query.where && reads_times(*query.where));
}

void AbsentTimes::add(std::span<const Update> updates) noexcept {
  for (const Update& update : updates) {
    if (timed_) return;
    if (update.kind != UpdateKind::insert_edge) continue;
    timed_ = update.time.has_value();
    ++untimed_;
  }
}

std::optional<Warning> AbsentTimes::warning(std::string where, std::string remedy) const {
  if (timed_ || untimed_ == 0 || remedy.empty()) return std::nullopt;
  return Warning{"time_absent", std::move(where), "no edge has a time, but a query reads times", std::move(remedy), untimed_};
}

std::optional<Warning> AbsentTimes::unread(std::string where, std::string remedy) const {
  std::optional<Warning> absent = warning(std::move(where), std::move(remedy));
  if (absent) absent->what = "no edge has a time, but the input may hold times";
  return absent;
}

std::optional<Warning> AbsentTimes::give(std::string where, std::string remedy) {
  given_ = true;
  return warning(std::move(where), std::move(remedy));
}

}  // namespace deltamatch::ingest
