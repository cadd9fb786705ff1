#include "ingest/sink/match_text.hpp"

#include <cstdint>
#include <string_view>

#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

void append_hex(std::string& out, std::uint64_t bits) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) out += digits[(bits >> shift) & 15];
}

}  // namespace

void append_match_id(std::string& out, const MatchId& id) {
  append_hex(out, id.high);
  append_hex(out, id.low);
}

void append_bindings(std::string& out, const Match& match) {
  out += '{';
  for (std::size_t i = 0; i < match.vertices.size(); ++i) {
    if (i != 0) out += ',';
    append_json_string(out, match.names[i]);
    out += ':';
    append_json_id(out, match.vertices[i]);
  }
  out += '}';
}

void append_edges(std::string& out, const Match& match) {
  out += '[';
  for (std::size_t i = 0; i < match.edges.size(); ++i) {
    out += i == 0 ? "[" : ",[";
    append_json_id(out, match.edges[i].source);
    out += ',';
    append_json_string(out, match.edges[i].label);
    out += ',';
    append_json_id(out, match.edges[i].target);
    out += ']';
  }
  out += ']';
}

void append_cause(std::string& out, const Match& match) {
  out += '[';
  for (std::size_t i = 0; i < match.cause.size(); ++i) {
    if (i != 0) out += ',';
    append_number(out, std::uint64_t{match.cause[i]});
  }
  out += ']';
}

void append_match_json(std::string& out, const Match& match) {
  out += R"({"v":1,"id":")";
  append_match_id(out, match.id);
  out += R"(","query":)";
  append_json_string(out, match.query);
  out += match.added ? R"(,"sign":"+","batch":)" : R"(,"sign":"-","batch":)";
  append_number(out, match.batch);
  out += R"(,"time":)";
  if (match.time) {
    append_number(out, *match.time);
  } else {
    out += "null";
  }
  out += R"(,"bindings":)";
  append_bindings(out, match);
  out += R"(,"edges":)";
  append_edges(out, match);
  out += R"(,"cause":)";
  append_cause(out, match);
  out += '}';
}

}  // namespace deltamatch::ingest
