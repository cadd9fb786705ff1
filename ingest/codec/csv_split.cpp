#include "ingest/codec/csv_split.hpp"

#include <algorithm>
#include <cstring>

#include "ingest/codec/delimited.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {
namespace {

/// The position of the first byte behind blanks. A tab that separates fields is no blank.
std::size_t behind_blanks(std::string_view record, std::size_t at, char separator) noexcept {
  while (at < record.size() && (record[at] == ' ' || record[at] == '\t') && record[at] != separator) ++at;
  return at;
}

/// Splits a record that has no quotes. Most have none.
bool split_plain(std::string_view record, char separator, std::vector<std::string_view>& fields) {
  if (record.find('\n') != std::string_view::npos) return false;
  const char* at = record.data();
  const char* const end = at + record.size();
  for (;;) {
    const auto* const found = static_cast<const char*>(std::memchr(at, separator, static_cast<std::size_t>(end - at)));
    const char* const stop = found == nullptr ? end : found;
    fields.push_back(without_blanks({at, static_cast<std::size_t>(stop - at)}));
    if (found == nullptr) return true;
    at = stop + 1;
  }
}

}  // namespace

bool split_csv(std::string_view record, char separator, std::vector<std::string_view>& fields, std::string& scratch,
               std::vector<char>* quoted) {
  fields.clear();
  if (record.find('"') == std::string_view::npos) {
    const bool whole = split_plain(record, separator, fields);
    if (quoted != nullptr) quoted->assign(fields.size(), 0);
    return whole;
  }
  if (quoted != nullptr) quoted->clear();
  scratch.clear();
  scratch.reserve(record.size());  // views into it must stay valid
  const bool lines = record.find('\n') != std::string_view::npos;
  std::size_t at = 0;
  for (;;) {
    at = behind_blanks(record, at, separator);
    const bool is_quoted = at < record.size() && record[at] == '"';
    if (quoted != nullptr) quoted->push_back(is_quoted ? 1 : 0);
    if (is_quoted) {
      const std::size_t start = ++at;
      const std::size_t copied = scratch.size();
      bool doubled = false;
      std::size_t from = start;
      for (;;) {
        at = record.find('"', at);
        if (at == std::string_view::npos) return false;
        if (at + 1 == record.size() || record[at + 1] != '"') break;
        scratch.append(record, from, at + 1 - from);
        doubled = true;
        from = at += 2;
      }
      if (doubled) scratch.append(record, from, at - from);
      fields.push_back(doubled ? std::string_view(scratch).substr(copied) : record.substr(start, at - start));
      at = behind_blanks(record, at + 1, separator);
      if (at < record.size() && record[at] != separator) return false;
    } else {
      const std::size_t end = std::min(record.find(separator, at), record.size());
      const std::string_view field = record.substr(at, end - at);
      if (field.find('"') != std::string_view::npos || (lines && field.find('\n') != std::string_view::npos)) return false;
      fields.push_back(without_blanks(field));
      at = end;
    }
    if (at >= record.size()) return true;
    ++at;
  }
}

char csv_separator(std::string_view record) noexcept {
  char best = ',';
  for (const char c : {';', '\t'}) {
    if (std::count(record.begin(), record.end(), c) > std::count(record.begin(), record.end(), best)) best = c;
  }
  return best;
}

std::string_view csv_cell(std::string_view text) noexcept {
  text = without_blanks(text);
  if (text.size() > 1 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return text;
}

}  // namespace deltamatch::ingest
