// The graph that a service begins with.
#pragma once

#include "deltamatch/engine.hpp"
#include "ingest/journal.hpp"
#include "ingest/service/options.hpp"

namespace deltamatch::ingest {

[[nodiscard]] bool has_start_graph(const ServiceOptions& options) noexcept;

/// Loads the files of options.start into an empty engine; nothing where there are none. Throws Error at the first record that
/// cannot be taken.
void load_start_graph(Engine& engine, const ServiceOptions& options, Journal& journal);

}  // namespace deltamatch::ingest
