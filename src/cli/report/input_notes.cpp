#include "cli/report/input_notes.hpp"

#include <fmt/format.h>

#include <iterator>

#include "cli/terminal/output.hpp"
#include "cli/terminal/values.hpp"

namespace deltamatch::cli {
namespace {

std::string share_text(const ingest::RefusalCounters& refused, std::uint64_t records) {
  return fmt::format("{} of {} {}", grouped(refused.total()), grouped(records), records == 1 ? "record" : "records");
}

}  // namespace

std::string reasons_text(const ingest::RefusalCounters& refused) {
  std::string text;
  for (std::size_t reason = 0; reason < reject_reason_count; ++reason) {
    const std::uint64_t count = refused.by_reason[reason];
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", reject_name(static_cast<RejectReason>(reason)), grouped(count));
  }
  return text;
}

void InputNotes::warn(ingest::Warning warning) {
  print_err(fmt::format("deltamatch: warning: {}\n", to_string(warning)));
  warnings_.push_back(std::move(warning));
}

void InputNotes::take(ingest::UpdateStream& source, double max_refused) {
  for (ingest::Warning& warning : source.warnings()) warn(std::move(warning));
  const ingest::RefusalCounters& refused = source.refused();
  records_ += source.records();
  for (std::size_t reason = 0; reason < reject_reason_count; ++reason) refused_.by_reason[reason] += refused.by_reason[reason];
  if (static_cast<double>(refused.total()) <= max_refused * static_cast<double>(source.records())) return;
  auto out = std::back_inserter(verdict_);
  fmt::format_to(out,
                 "deltamatch: {}: {} refused, more than the share of {} that --max-refused allows; correct how they are read, "
                 "or raise --max-refused\n",
                 source.name(), share_text(refused, source.records()) + (refused.total() == 1 ? " is" : " are"), max_refused);
  for (const ingest::FirstRefusal& first : source.first_refusals()) {
    const std::uint64_t count = refused.of(first.reason);
    fmt::format_to(out, "deltamatch: {}: {}: {}{}; {}\n", first.where, reject_name(first.reason), first.message,
                   count == 1 ? std::string() : fmt::format(" (the first of {})", grouped(count)),
                   ingest::refusal_remedy(first.reason));
  }
  const ingest::FirstRefusal& first = source.first_refusals().front();
  warnings_.push_back({"refused", first.where,
                       fmt::format("{} refused: {}; the first: {}", share_text(refused, source.records()),
                                   reasons_text(refused), first.message),
                       std::string(ingest::refusal_remedy(first.reason)), refused.total()});
}

void InputNotes::tell_empty(const ingest::UpdateStream& source) {
  if (source.records() > 0 || source.name() == "/dev/null") return;  // the latter is meant
  warn({"no_records", source.name(), "there are no records, so nothing is read from it",
        "check that it is the right file, and that it is written whole"});
}

std::string InputNotes::first_line() const {
  if (refused_.total() == 0) return {};
  return fmt::format("refused  {}: {}\n", share_text(refused_, records_), reasons_text(refused_));
}

void InputNotes::write(JsonWriter& json) const {
  json.key("warnings").begin_array();
  for (const ingest::Warning& warning : warnings_) {
    json.begin_object().key("code").string(warning.code).key("where").string(warning.where).key("what").string(warning.what);
    json.key("remedy").string(warning.remedy).key("count").number(warning.count).end_object();
  }
  json.end_array();
}

}  // namespace deltamatch::cli
