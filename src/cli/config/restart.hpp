// What a service that runs does not take from a configuration that has changed.
#pragma once

#include <string>
#include <vector>

#include "cli/config/service_config.hpp"

namespace deltamatch::cli {

/// The top-level keys that differ and are read only at the start, in the order of config/service.yaml. Queries, and the budget
/// that is a part of them, can change while the service runs.
[[nodiscard]] std::vector<std::string> keys_that_need_restart(const ServiceConfig& before, const ServiceConfig& now);

}  // namespace deltamatch::cli
