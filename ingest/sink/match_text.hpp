// The text of a match, as used in match files, alerts and CSV cells.
#pragma once

#include <string>

#include "deltamatch/match.hpp"

namespace deltamatch::ingest {

/// 32 lower-case hexadecimal digits.
void append_match_id(std::string& out, const MatchId& id);

/// {"a":"acct-1","b":9}
void append_bindings(std::string& out, const Match& match);

/// [["acct-1","TRANSFER",9]]
void append_edges(std::string& out, const Match& match);

/// [0,2]
void append_cause(std::string& out, const Match& match);

/// The whole match as one JSON object without a line end. make_jsonl_sink describes the object.
void append_match_json(std::string& out, const Match& match);

}  // namespace deltamatch::ingest
