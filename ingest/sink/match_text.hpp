// The text of a match, as used in match files, alerts and CSV cells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "deltamatch/match.hpp"
#include "ingest/sink/match_form.hpp"

namespace deltamatch::ingest {

/// 32 lower-case hexadecimal digits.
void append_match_id(std::string& out, const MatchId& id);

/// The beginning of a JSON object: {"v":1,
void append_version(std::string& out, int version);

/// Calls one(query edge, edge) for each edge of a match that is in no path. Calls several(query edge, path) for each path. Both
/// in the query's order.
template <class One, class Several>
void for_each_query_edge(const Match& match, const One& one, const Several& several) {
  std::uint32_t edge = 0;
  auto path = match.paths.begin();
  for (std::uint32_t query_edge = 0; edge < match.edges.size(); ++query_edge) {
    if (path != match.paths.end() && path->first_edge == edge) {
      several(query_edge, *path);
      edge += path++->steps;
    } else {
      one(query_edge, edge++);
    }
  }
}

/// {"a":"acct-1","b":9}, and for a path the vertices between its steps: "t":["acct-2","acct-3"]
void append_bindings(std::string& out, const Match& match);

/// In version 1 [["acct-1","TRANSFER",9]]. In version 2 an array of objects, which make_jsonl_sink describes. The edges of a
/// path are an array in place of one edge.
void append_edges(std::string& out, const Match& match, const MatchForm& form);

/// [0,2], and for an edge of a path the number of its step: [0,[1,2]]
void append_cause(std::string& out, const Match& match);

/// The time of the match as it is written. In version 1 it is the batch's watermark, in version 2 the time of the newest edge.
/// A match without edges has the watermark.
[[nodiscard]] std::optional<Timestamp> written_time(const Match& match, const MatchForm& form);

/// The whole match as one JSON object without a line end. make_jsonl_sink describes the object.
void append_match_json(std::string& out, const Match& match, const MatchForm& form);

}  // namespace deltamatch::ingest
