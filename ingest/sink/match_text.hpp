// The text of a match: what a line of a file of matches, an alert and a cell of a CSV file hold.
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

/// The whole match as one JSON object, as make_jsonl_sink describes it, without a line end.
void append_match_json(std::string& out, const Match& match);

}  // namespace deltamatch::ingest
