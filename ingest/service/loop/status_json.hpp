// What GET /status tells of a service that works (docs/reference/metrics.md).
#pragma once

#include <nlohmann/json.hpp>

#include "ingest/service/loop/pipeline.hpp"

namespace deltamatch::ingest {

/// `gpu` is there where one matches, its `notice` where there is one.
[[nodiscard]] nlohmann::json to_json(const Pipeline::Status& status);

}  // namespace deltamatch::ingest
