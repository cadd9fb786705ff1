// Options about which edges there are, and about attributes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/command.hpp"
#include "deltamatch/attribute.hpp"
#include "deltamatch/engine.hpp"
#include "ingest/codec/codec.hpp"

namespace deltamatch::cli {

/// Which edges there are, and which attributes edges and vertices have.
struct SchemaOptions {
  std::optional<EdgeModel> edges;  ///< nothing: simple, or as the input says
  std::vector<ingest::AttributeColumn> attributes;
  std::vector<ingest::AttributeColumn> vertex_attributes;

  [[nodiscard]] bool given() const noexcept { return edges || !attributes.empty() || !vertex_attributes.empty(); }
  /// Sets them as options of a codec.
  void apply(ingest::CodecOptions& codec) const;
  /// Throws Error(usage) if they contradict each other.
  [[nodiscard]] Schema schema() const;
  /// Takes over what an input was made with. Options may repeat it, to name columns. Throws Error(usage) if they say something
  /// else. `input` is as in "the snapshot FILE".
  void take_from(std::string_view input, const Schema& saved);
};

/// `--edges`, `--attributes`, `--vertex-attributes`.
void add_schema_options(const Command& command, SchemaOptions& options);
/// `--self-loops`. Without it: they are left out, or as a snapshot says.
void add_self_loops_option(const Command& command, std::optional<SelfLoops>& self_loops);

}  // namespace deltamatch::cli
