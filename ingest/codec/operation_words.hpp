// Words that say an insertion or a removal.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {

struct OperationWord {
  std::string_view text;
  bool inserts;
};

/// No value of an operation column that is known without a mapping is longer.
inline constexpr std::size_t longest_usual_operation = 16;

/// Whether a known value of operation columns inserts, in any case. Nothing if it is unknown.
[[nodiscard]] std::optional<bool> usual_operation(std::string_view value) noexcept;
/// Whether a value of a deletion flag inserts: `false` does, `true` does not. Nothing if it is no value of a flag.
[[nodiscard]] std::optional<bool> usual_flag(std::string_view value) noexcept;

/// Whether a word says an insertion. Nothing if it says no operation. This includes words that are not read as operations.
/// Single letters and signs do not count, because they may mean anything.
[[nodiscard]] std::optional<bool> read_word(std::string_view value) noexcept;
/// The same for a word, or several that are joined: `EdgeRemoved`, `DELETE_EDGE`, `edge.delete`. One that says a removal
/// decides, unless `not` or `un` stands before it. `undo` and `no longer` say a removal.
[[nodiscard]] std::optional<bool> read_words(std::string_view value) noexcept;
/// The same for the value of a column about the state of an edge. Beside the words above it may be `down`, `leave`, `up`,
/// `join` and the like, alone or as the last word.
[[nodiscard]] std::optional<bool> read_state(std::string_view value) noexcept;
/// Whether a word is a verb of HTTP, which names a request: GET, POST, PUT, PATCH, HEAD, OPTIONS.
[[nodiscard]] bool is_http_verb(std::string_view value) noexcept;

}  // namespace deltamatch::ingest
