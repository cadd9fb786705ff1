// Splits a record of CSV into its fields.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {

/// The position of the first byte behind blanks. A tab that separates fields is no blank.
inline std::size_t behind_blanks(std::string_view record, std::size_t at, char separator) noexcept {
  while (at < record.size() && (record[at] == ' ' || record[at] == '\t') && record[at] != separator) ++at;
  return at;
}

/// Splits a CSV record. Quoted fields with doubled quotes are copied to `scratch`. If `notes_quotes`, `quoted` gets a 1 for
/// each quoted field. Returns false if a quote or a line end is misplaced, or the last quote is missing.
template <bool notes_quotes>
bool split_csv(std::string_view record, char separator, std::vector<std::string_view>& fields, std::string& scratch,
               std::vector<char>& quoted) {
  fields.clear();
  if constexpr (notes_quotes) quoted.clear();
  scratch.clear();
  scratch.reserve(record.size());  // views into it must stay valid
  const bool lines = record.find('\n') != std::string_view::npos;
  std::size_t at = 0;
  for (;;) {
    at = behind_blanks(record, at, separator);
    const bool is_quoted = at < record.size() && record[at] == '"';
    if constexpr (notes_quotes) quoted.push_back(is_quoted ? 1 : 0);
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

}  // namespace deltamatch::ingest
