// The answer of GET /status for a working service (docs/reference/metrics.md).
#pragma once

#include <nlohmann/json.hpp>

#include "ingest/service/loop/pipeline.hpp"

namespace deltamatch::ingest {

/// If not the CPU matches, the metrics of the backend are an object under its name, with its `notice` if there is one.
[[nodiscard]] nlohmann::json to_json(const Pipeline::Status& status);

}  // namespace deltamatch::ingest
