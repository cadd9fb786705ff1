// The answer of GET /status of the service (docs/reference/metrics.md).
#pragma once

#include <nlohmann/json.hpp>

#include "ingest/service/loop/pipeline.hpp"
#include "ingest/service/loop/standby.hpp"
#include "ingest/service/loop/worker.hpp"
#include "ingest/service/state/share_publisher.hpp"

namespace deltamatch::ingest {

/// If not the CPU matches, the metrics of the backend are an object under its name, with its `notice` if there is one.
[[nodiscard]] nlohmann::json to_json(const Pipeline::Status& status);
[[nodiscard]] nlohmann::json to_json(const StandbyStatus& status);
[[nodiscard]] nlohmann::json to_json(const ShareStatistics& share);
/// The whole status of a worker. What only workers have is under "worker".
[[nodiscard]] nlohmann::json to_json(const WorkerStatus& worker);

}  // namespace deltamatch::ingest
