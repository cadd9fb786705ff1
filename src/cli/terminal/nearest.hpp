// What a user may have meant by a word that is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deltamatch::cli {

/// The known word that may have been meant; empty where none is near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace deltamatch::cli
