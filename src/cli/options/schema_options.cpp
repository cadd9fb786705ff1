#include "cli/options/schema_options.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "cli/options/option_kinds.hpp"
#include "deltamatch/error.hpp"
#include "ingest/codec/schema_text.hpp"

namespace deltamatch::cli {

void SchemaOptions::apply(ingest::CodecOptions& codec) const {
  codec.edges = edges.value_or(EdgeModel::simple);
  codec.attributes = attributes;
  codec.vertex_attributes = vertex_attributes;
}

Schema SchemaOptions::schema() const {
  if (edges.value_or(EdgeModel::simple) == EdgeModel::simple && !attributes.empty()) {
    throw Error(ErrorKind::usage, "--attributes", "edges of the model simple have no attributes",
                "add --edges keyed if each edge has a key, or --edges events if each record is an edge of its own");
  }
  ingest::CodecOptions codec;
  apply(codec);
  return ingest::schema_of(codec);
}

void add_schema_options(const Command& command, SchemaOptions& options) {
  const std::string group = "Data graph";
  add_choice(command, "--edges", options.edges,
             "What an edge is: its ends and label, its key, or each record (default: simple)",
             std::vector<std::pair<std::string, EdgeModel>>{
                 {"simple", EdgeModel::simple}, {"keyed", EdgeModel::keyed}, {"events", EdgeModel::events}})
      .group(group);
  const auto add = [&](const std::string& name, std::vector<ingest::AttributeColumn>& attributes, ingest::AttributesOf of,
                       const std::string& help) {
    command
        .add_value(
            name, [&attributes, of, name](const std::string& text) { attributes = ingest::parse_attributes(text, of, name); },
            help, "LIST")
        .group(group);
  };
  add("--attributes", options.attributes, ingest::AttributesOf::edges,
      "Attributes of edges, NAME:TYPE or NAME:TYPE=COLUMN, e.g. 'amount:decimal(2)=amt,channel:symbol'");
  add("--vertex-attributes", options.vertex_attributes, ingest::AttributesOf::vertices,
      "Attributes of vertices, in the same form");
}

void add_self_loops_option(const Command& command, std::optional<SelfLoops>& self_loops) {
  add_choice(command, "--self-loops", self_loops, "What becomes of edges from a vertex to itself (default: leave-out)",
             std::vector<std::pair<std::string, SelfLoops>>{{"leave-out", SelfLoops::leave_out}, {"keep", SelfLoops::keep}})
      .group("Data graph");
}

void SchemaOptions::take_from(std::string_view input, const Schema& saved) {
  const auto refuse = [&](std::string_view option, const std::string& has) {
    throw Error(ErrorKind::usage, option, fmt::format("{} was made with {}", input, has),
                "leave the option out, or give the same: the input says which edges and attributes it has");
  };
  const auto take = [&](std::string_view option, std::vector<ingest::AttributeColumn>& columns,
                        const std::vector<Attribute>& has) {
    std::vector<Attribute> stated;
    for (const ingest::AttributeColumn& column : columns) stated.push_back(column.attribute);
    if (!stated.empty() && stated != has)
      refuse(option, has.empty() ? "no attributes" : "the attributes " + ingest::attributes_text(has));
    if (!stated.empty()) return;
    for (const Attribute& attribute : has) columns.push_back({attribute});
  };
  if (edges && *edges != saved.model) refuse("--edges", fmt::format("--edges {}", ingest::model_name(saved.model)));
  take("--attributes", attributes, saved.edges);
  take("--vertex-attributes", vertex_attributes, saved.vertices);
  edges = saved.model;
}

}  // namespace deltamatch::cli
