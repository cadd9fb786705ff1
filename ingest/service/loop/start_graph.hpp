// The graph that a service begins with.
#pragma once

#include <string>

#include "deltamatch/engine.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/mark.hpp"

namespace deltamatch::ingest {

/// An engine before the first batch, made anew: it holds options.start_graph, if any. `engine`: of that graph, and how it runs.
/// `known`: what batch 0 was committed with, where that is told. Throws Error at the first record that cannot be taken, and
/// Error(configuration) where it is not the known graph.
[[nodiscard]] Engine begin_engine(const ServiceOptions& options, const EngineOptions& engine,
                                  const std::optional<GraphIdentity>& known, Journal& journal);

/// 32 hexadecimal digits that name what an engine holds and its watermark.
[[nodiscard]] std::string start_fingerprint(const Engine& engine);

/// Throws Error(configuration) that names the key where the application's batches were made on a graph of another direction or
/// window.
void must_be_same_kind(const EngineOptions& engine, const std::optional<GraphIdentity>& known);

}  // namespace deltamatch::ingest
