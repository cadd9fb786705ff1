// Sinks that write matches to files or standard output.
#pragma once

#include <memory>
#include <string>

#include "deltamatch/match.hpp"

namespace deltamatch::ingest {

/// One JSON object per match and line, keys in this order:
///   {"v":1,"id":"…","query":"ring","sign":"+","batch":17,"time":1700000000000000,"bindings":{"a":"acct-1","b":9},
///    "edges":[["acct-1","TRANSFER",9]],"cause":[0]}
/// `time` is null where the stream bears no times. Integer ids are JSON numbers, string ids JSON strings; bytes that are not
/// UTF-8 are written as \udc80 to \udcff (Python's surrogateescape), so that distinct ids stay distinct and no byte is lost.
///
/// A static match that is cut short ends with {"v":1,"query":"ring","partial":"limit","matches":2}, where "partial" is limit,
/// timeout or stopped.
///
/// `path` is created or emptied; "-" is standard output. The lines of a batch are in the file when commit() returns and are
/// gone from it after abort(). Throws Error naming the file where it cannot be made or written.
[[nodiscard]] std::unique_ptr<MatchSink> make_jsonl_sink(const std::string& path);

/// RFC 4180 with a header: v,id,query,sign,batch,time,bindings,edges,cause. The last three are JSON text as in the JSONL form;
/// `time` is empty where there is none. The row that ends a static match which is cut short has no id, and `sign` is
/// partial:limit, partial:timeout or partial:stopped. Otherwise as make_jsonl_sink.
[[nodiscard]] std::unique_ptr<MatchSink> make_csv_sink(const std::string& path);

/// The binary form that docs/reference/formats.md describes. Otherwise as make_jsonl_sink.
[[nodiscard]] std::unique_ptr<MatchSink> make_binary_sink(const std::string& path);

}  // namespace deltamatch::ingest
