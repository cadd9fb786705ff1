// Options about which edges there are, and about attributes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/command.hpp"
#include "deltamatch/attribute.hpp"
#include "ingest/codec/codec.hpp"

namespace deltamatch::cli {

/// Which edges there are, and which attributes edges and vertices have.
struct SchemaOptions {
  std::optional<EdgeModel> edges;  ///< nothing: simple, or as the snapshot says
  std::vector<ingest::AttributeColumn> attributes;
  std::vector<ingest::AttributeColumn> vertex_attributes;

  [[nodiscard]] bool given() const noexcept { return edges || !attributes.empty() || !vertex_attributes.empty(); }
  /// Sets them as options of a codec.
  void apply(ingest::CodecOptions& codec) const;
  /// Throws Error(usage) if they contradict each other.
  [[nodiscard]] Schema schema() const;
  /// Throws Error(usage) if a snapshot was made with others. It keeps its own, and options repeat them to name columns.
  void must_be_that_of(const std::string& snapshot, const Schema& saved) const;
};

/// `--edges`, `--attributes`, `--vertex-attributes`.
void add_schema_options(const Command& command, SchemaOptions& options);

}  // namespace deltamatch::cli
