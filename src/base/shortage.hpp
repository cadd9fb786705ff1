// Error messages for missing system resources, with the limits. "Resource temporarily unavailable" names neither.
#pragma once

#include <system_error>

#include "deltamatch/error.hpp"

namespace deltamatch {

/// Whether a thread could not be started because of a limit of the user, the control group or the process.
[[nodiscard]] bool is_thread_shortage(const std::system_error& error) noexcept;

/// Makes an Error that names the limits of this process and a remedy. Reads the limits from the system.
[[nodiscard]] Error thread_shortage(const std::system_error& error);

}  // namespace deltamatch
