// Text of any bytes, made fit for files that people look at.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// The length of the valid UTF-8 sequence at `at`, or 0 if there is none. Overlong forms, surrogates and values beyond U+10FFFF
/// are invalid.
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at) noexcept;

/// Appends the text as valid UTF-8 of one line. A byte that is not part of valid UTF-8 becomes U+FFFD, and so does a control
/// character, U+FFFE or U+FFFF, which XML forbids. Different texts may thus look alike.
void append_clean(std::string& out, std::string_view text);

}  // namespace deltamatch::ingest
