// The graph with which a service begins.
#pragma once

#include <string>

#include "deltamatch/engine.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest {

/// A new engine before the first batch, with options.start_graph if there is one. `engine` gives the kind of graph and how the
/// engine runs. `known` identifies the graph of batch 0, if it is known. Throws Error at the first record that cannot be used,
/// and Error(configuration) if the graph is not the known one.
[[nodiscard]] Engine begin_engine(const ServiceOptions& options, const EngineOptions& engine,
                                  const std::optional<GraphIdentity>& known, Journal& journal);

/// 32 hexadecimal digits that identify the engine's graph and watermark.
[[nodiscard]] std::string start_fingerprint(const Engine& engine);

/// The model of edges and their attributes, "keyed; amount decimal(2)". Empty for simple edges.
[[nodiscard]] std::string edges_text(const EngineOptions& engine);
/// What a state directory must agree in (StateIdentity::schema).
[[nodiscard]] std::string identity_text(const EngineOptions& engine);

/// Throws Error(configuration) if the application's batches were made on a graph of another direction, window, model of edges
/// or attributes. The message names the key.
void must_be_same_kind(const EngineOptions& engine, const std::optional<GraphIdentity>& known);

/// "0 of 4" (GraphIdentity::shard). Empty if the application is not divided.
[[nodiscard]] std::string shard_text(const ShardOptions& shard);
/// Throws Error(configuration) if the application's batches were made of another part of the input.
void must_be_same_shard(const ShardOptions& shard, const std::optional<GraphIdentity>& known);

}  // namespace deltamatch::ingest
