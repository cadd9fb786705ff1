// Sinks that write matches to files or standard output.
#pragma once

#include <memory>
#include <string>

#include "deltamatch/match.hpp"

namespace deltamatch::ingest {

/// Writes one JSON object per match, each on its own line. The keys have this order.
///   {"v":1,"id":"…","query":"ring","sign":"+","batch":17,"time":1700000000000000,"bindings":{"a":"acct-1","b":9},
///    "edges":[["acct-1","TRANSFER",9]],"cause":[0]}
/// `time` is null if the stream has no times. Integer ids are JSON numbers, and string ids are JSON strings. Bytes that are not
/// UTF-8 are written as \udc80 to \udcff (Python's surrogateescape). Distinct ids therefore stay distinct, and no byte is lost.
///
/// The list of a static match that ends early closes with {"v":1,"query":"ring","partial":"limit","matches":2}. "partial" is
/// limit, timeout or stopped.
///
/// `path` is created or emptied; "-" is standard output. When commit() returns, the lines of the batch are in the file. After
/// abort() they are gone from it. Throws an Error that names the file if it cannot be created or written.
[[nodiscard]] std::unique_ptr<MatchSink> make_jsonl_sink(const std::string& path);

/// Writes CSV (RFC 4180) with the header v,id,query,sign,batch,time,bindings,edges,cause. The last three are JSON text as in
/// the JSONL form. `time` is empty if there is none. If a static match ends early, the last row has no id, and its `sign` is
/// partial:limit, partial:timeout or partial:stopped. Otherwise as make_jsonl_sink.
[[nodiscard]] std::unique_ptr<MatchSink> make_csv_sink(const std::string& path);

/// Writes the binary form that docs/reference/formats.md describes. Otherwise as make_jsonl_sink.
[[nodiscard]] std::unique_ptr<MatchSink> make_binary_sink(const std::string& path);

}  // namespace deltamatch::ingest
