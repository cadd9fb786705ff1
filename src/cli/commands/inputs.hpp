// The inputs of a command, open before any is read, since each of them may state the schema that all are read with.
#pragma once

#include <memory>
#include <vector>

#include "cli/options/common_options.hpp"
#include "cli/options/schema_options.hpp"
#include "engine/storage/graph_file.hpp"
#include "ingest/stream.hpp"

namespace deltamatch::cli {

struct Inputs {
  std::vector<ingest::Input> labels;
  std::vector<ingest::Input> graphs;
  std::vector<std::unique_ptr<engine::GraphFile>> graph_files;  ///< those of --graph that hold no records
  std::vector<ingest::Input> updates;

  /// Throws Error if a file cannot be opened.
  Inputs(const GraphOptions& graph, const ReplayOptions& stream);
  /// Takes over the schema of the first input that states one. Others are compared when they are read. Throws Error(usage) if
  /// options say something else, or contradict each other.
  void settle_schema(SchemaOptions& options) const;
};

/// Takes over the schema of an input that states one.
void take_schema(SchemaOptions& options, const ingest::Input& input);

}  // namespace deltamatch::cli
