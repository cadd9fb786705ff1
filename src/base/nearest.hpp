// Guesses which known word a user meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deltamatch {

/// The known word that may have been meant, whatever the case of letters. Empty if none is near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace deltamatch
