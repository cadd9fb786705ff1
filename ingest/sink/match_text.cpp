#include "ingest/sink/match_text.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ingest/sink/value_text.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

void append_hex(std::string& out, std::uint64_t bits) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) out += digits[(bits >> shift) & 15];
}

void append_time_or_null(std::string& out, const std::optional<Timestamp>& time, TimeForm times) {
  if (time) {
    append_time_json(out, *time, times);
  } else {
    out += "null";
  }
}

void append_edge_array(std::string& out, const MatchedEdge& edge) {
  out += '[';
  append_json_id(out, edge.source);
  out += ',';
  append_json_string(out, edge.label);
  out += ',';
  append_json_id(out, edge.target);
  out += ']';
}

void append_attributes(std::string& out, const MatchedEdge& edge, const MatchForm& form) {
  const std::vector<Attribute>& declared = form.schema.edges;
  out += '{';
  bool first = true;
  for (std::size_t a = 0; a < std::min(edge.attributes.size(), declared.size()); ++a) {
    if (std::holds_alternative<std::monostate>(edge.attributes[a])) continue;
    if (!first) out += ',';
    first = false;
    append_json_string(out, declared[a].name);
    out += ':';
    append_value_json(out, declared[a].type, edge.attributes[a], form.times);
  }
  out += '}';
}

void append_edge_object(std::string& out, const MatchedEdge& edge, const MatchForm& form) {
  out += R"({"source":)";
  append_json_id(out, edge.source);
  out += R"(,"label":)";
  append_json_string(out, edge.label);
  out += R"(,"target":)";
  append_json_id(out, edge.target);
  if (form.schema.model == EdgeModel::events) {
    out += R"(,"ordinal":)";
    append_number(out, edge.ordinal);
  } else if (edge.key) {
    out += R"(,"key":)";
    append_json_id(out, *edge.key);
  }
  out += R"(,"time":)";
  append_time_or_null(out, edge.time, form.times);
  out += R"(,"attributes":)";
  append_attributes(out, edge, form);
  out += '}';
}

}  // namespace

void append_match_id(std::string& out, const MatchId& id) {
  append_hex(out, id.high);
  append_hex(out, id.low);
}

void append_version(std::string& out, int version) { out += version == 1 ? R"({"v":1,)" : R"({"v":2,)"; }

void append_bindings(std::string& out, const Match& match) {
  out += '{';
  for (std::size_t i = 0; i < match.names.size(); ++i) {
    if (i != 0) out += ',';
    append_json_string(out, match.names[i]);
    out += ':';
    append_json_id(out, match.vertices[i]);
  }
  for (const MatchedPath& path : match.paths) {
    out += ',';
    append_json_string(out, path.name);
    out += ":[";
    for (std::uint32_t v = 0; v + 1 < path.steps; ++v) {
      if (v != 0) out += ',';
      append_json_id(out, match.vertices[path.first_vertex + v]);
    }
    out += ']';
  }
  out += '}';
}

void append_edges(std::string& out, const Match& match, const MatchForm& form) {
  const auto append = [&](std::uint32_t edge) {
    if (form.version() == 1) {
      append_edge_array(out, match.edges[edge]);
    } else {
      append_edge_object(out, match.edges[edge], form);
    }
  };
  out += '[';
  for_each_query_edge(
      match,
      [&](std::uint32_t query_edge, std::uint32_t edge) {
        if (query_edge != 0) out += ',';
        append(edge);
      },
      [&](std::uint32_t query_edge, const MatchedPath& path) {
        out += query_edge != 0 ? ",[" : "[";
        for (std::uint32_t step = 0; step < path.steps; ++step) {
          if (step != 0) out += ',';
          append(path.first_edge + step);
        }
        out += ']';
      });
  out += ']';
}

void append_cause(std::string& out, const Match& match) {
  const auto changed = [&](std::uint32_t edge) { return std::ranges::binary_search(match.cause, edge); };
  bool first = true;
  const auto separate = [&] {
    if (!std::exchange(first, false)) out += ',';
  };
  out += '[';
  for_each_query_edge(
      match,
      [&](std::uint32_t query_edge, std::uint32_t edge) {
        if (!changed(edge)) return;
        separate();
        append_number(out, std::uint64_t{query_edge});
      },
      [&](std::uint32_t query_edge, const MatchedPath& path) {
        for (std::uint32_t step = 0; step < path.steps; ++step) {
          if (!changed(path.first_edge + step)) continue;
          separate();
          out += '[';
          append_number(out, std::uint64_t{query_edge});
          out += ',';
          append_number(out, std::uint64_t{step});
          out += ']';
        }
      });
  out += ']';
}

std::optional<Timestamp> written_time(const Match& match, const MatchForm& form) {
  if (form.version() == 1 || match.edges.empty()) return match.time;
  std::optional<Timestamp> newest;
  for (const MatchedEdge& edge : match.edges) newest = std::max(newest, edge.time);  // nullopt is the least
  return newest;
}

void append_match_json(std::string& out, const Match& match, const MatchForm& form) {
  append_version(out, form.version());
  out += R"("id":")";
  append_match_id(out, match.id);
  out += R"(","query":)";
  append_json_string(out, match.query);
  out += match.added ? R"(,"sign":"+","batch":)" : R"(,"sign":"-","batch":)";
  append_number(out, match.batch);
  out += R"(,"time":)";
  append_time_or_null(out, written_time(match, form), form.times);
  out += R"(,"bindings":)";
  append_bindings(out, match);
  out += R"(,"edges":)";
  append_edges(out, match, form);
  out += R"(,"cause":)";
  append_cause(out, match);
  out += '}';
}

}  // namespace deltamatch::ingest
