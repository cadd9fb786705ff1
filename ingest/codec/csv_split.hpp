// Splits CSV records into fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deltamatch::ingest {

/// Splits a CSV record. Blanks around fields are left out. Quoted fields with doubled quotes are copied to `scratch`. If there
/// is a `quoted`, it gets an entry for each field: 1 if it is quoted. Returns false if a quote or a line end is misplaced, or
/// the last quote is missing.
bool split_csv(std::string_view record, char separator, std::vector<std::string_view>& fields, std::string& scratch,
               std::vector<char>* quoted = nullptr);

}  // namespace deltamatch::ingest
