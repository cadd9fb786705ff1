#include "ingest/codec/operation_doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ingest/codec/fields.hpp"
#include "ingest/codec/operation_words.hpp"

namespace deltamatch::ingest {
namespace {

/// The last word of a label: `BY` of `CREATED_BY`.
std::string_view last_word(std::string_view label) noexcept {
  const std::size_t end = label.find_last_of("_-. ");
  return end == std::string_view::npos ? std::string_view() : label.substr(end + 1);
}

/// Reads a label as an operation. Labels such as `CREATED_BY` and `CLOSE_TO` name relations.
std::optional<bool> read_label(std::string_view label) noexcept {
  constexpr auto prepositions = std::to_array<std::string_view>({"by", "at", "of", "in", "on", "to", "with", "from", "for"});
  const std::string_view last = last_word(label);
  const bool relation = std::ranges::any_of(prepositions, [&](std::string_view word) { return same_letters(word, last); });
  return relation ? std::nullopt : read_words(label);
}

/// Whether a word for a removal may well be a label like others.
bool may_be_label(std::string_view word) noexcept {
  constexpr auto words =
      std::to_array<std::string_view>({"close", "closed", "cancel", "cancelled", "canceled", "detach", "detached", "disable",
                                       "disabled", "unlink", "unlinked", "disconnect", "disconnected", "voided", "withdrawn"});
  return std::ranges::any_of(words, [&](std::string_view known) { return same_letters(known, word); });
}

}  // namespace

bool OperationDoubts::see_label(std::string_view column, std::string_view label, std::string_view remedy, Position position) {
  constexpr std::size_t most_words = 8;
  constexpr std::uint64_t most_labels = 4096;
  if (labels_++ == 0) {
    is_type_ = same_letters(column.substr(column.rfind('.') + 1), "type");  // npos + 1 = 0
    column_ = column;
  } else if (label == last_) {
    if (last_says_ == false) ++removal_->count;
    return all_words_ || labels_ < most_labels;
  }
  last_ = label;
  last_says_ = read_label(label);
  http_ = http_ || is_http_verb(label);
  if (last_says_) {
    const bool known = std::ranges::find(words_, label) != words_.end();
    if (!known && words_.size() < most_words) words_.emplace_back(label);
    all_words_ = all_words_ && (known || words_.back() == label);
  } else {
    all_words_ = false;
  }
  if (last_says_ == false) {
    if (removal_) {
      ++removal_->count;
    } else {
      removal_word_ = label;
      removal_ = {"operation_unread", position, {}, std::string(remedy)};
    }
    if (!surely_ && !may_be_label(label)) surely_ = removal_;
  }
  return all_words_ || (is_type_ && labels_ < most_labels);
}

/// One word alone may be a label like others, and so may words among other labels. In a column called `type` they are doubtful.
std::optional<Doubts::Doubt> OperationDoubts::about_labels() const {
  if (!removal_) return std::nullopt;
  const bool several = all_words_ && words_.size() > 1;
  if (!several && (!is_type_ || !surely_ || http_)) return std::nullopt;
  Doubts::Doubt doubt = *removal_;
  doubt.what = fmt::format("{} is read as the label{}, {} {} looks like a deletion; the record inserts", in_ticks(column_),
                           several ? ", but all its values are words for operations" : "", several ? "and" : "but",
                           in_ticks(removal_word_));
  return doubt;
}

void OperationDoubts::suspect(std::string_view column, std::string_view what, std::string_view remedy, Position position) {
  if (!again(column))
    suspects_.emplace_back(column, Doubts::Doubt{"operation_unread", position, std::string(what), std::string(remedy)});
}

bool OperationDoubts::again(std::string_view column) {
  const auto known = std::ranges::find(suspects_, column, &std::pair<std::string, Doubts::Doubt>::first);
  if (known == suspects_.end()) return false;
  ++known->second.count;
  return true;
}

void OperationDoubts::clear(std::string_view column) {
  std::erase_if(suspects_, [&](const auto& suspect) { return suspect.first == column; });
}

std::optional<Doubts::Doubt> OperationDoubts::doubt() const {
  std::optional<Doubts::Doubt> first = about_labels();
  for (const auto& [column, doubt] : suspects_) {
    if (!first || doubt.at.number < first->at.number) first = doubt;
  }
  return first;
}

}  // namespace deltamatch::ingest
