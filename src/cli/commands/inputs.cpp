#include "cli/commands/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace deltamatch::cli {

Inputs::Inputs(const GraphOptions& graph, const ReplayOptions& stream) {
  for (const std::string& path : graph.labels) labels.push_back(ingest::open_input(path));
  for (const std::string& path : graph.graphs) {
    if (engine::GraphFile::recognises(path))
      graph_files.push_back(std::make_unique<engine::GraphFile>(path));
    else
      graphs.push_back(ingest::open_input(path));
  }
  for (const std::string& path : stream.updates) updates.push_back(ingest::open_input(path));
}

void Inputs::settle_schema(SchemaOptions& options) const {
  for (const auto* inputs : {&labels, &graphs, &updates}) {
    const auto stated = std::ranges::find_if(*inputs, [](const ingest::Input& input) { return input.schema.has_value(); });
    if (stated == inputs->end()) continue;
    take_schema(options, *stated);
    break;
  }
  static_cast<void>(options.schema());
}

void take_schema(SchemaOptions& options, const ingest::Input& input) {
  if (input.schema) options.take_from(fmt::format("the stream {}", input.bytes.name()), *input.schema);
}

}  // namespace deltamatch::cli
