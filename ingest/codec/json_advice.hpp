// What to do about a JSON record of which no edge can be read: which option reads it, or which command converts it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/codec/doubts.hpp"
#include "ingest/codec/json_tree.hpp"

namespace deltamatch::ingest {

/// How the record was read, and which field it lacks.
struct JsonReading {
  const JsonTree& tree;
  std::string_view columns;  ///< the option as given
  const OptionSpelling& spelling;
  std::optional<Role> lacking;         ///< its field is not there
  std::optional<std::size_t> element;  ///< the record is an array; its element of this number, from 0, cannot be read
};

/// Continues the fault in a message: names the fields that are there, and adds the remedy behind a semicolon. Empty if there is
/// nothing to say. It reads the whole record again, so call it only for records that are told.
[[nodiscard]] std::string json_advice(std::string_view record, const JsonReading& reading);

}  // namespace deltamatch::ingest
