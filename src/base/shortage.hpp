// What the system has no more of, with its limits: "Resource temporarily unavailable" says neither.
#pragma once

#include <system_error>

#include "deltamatch/error.hpp"

namespace deltamatch {

/// Whether a thread could not be started, by the limits of the user, the control group or the process.
[[nodiscard]] bool is_thread_shortage(const std::system_error& error) noexcept;

/// The same, with the limits that hold for this process and what to do. It reads them from the system.
[[nodiscard]] Error thread_shortage(const std::system_error& error);

}  // namespace deltamatch
