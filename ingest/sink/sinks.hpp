// Sinks that write matches to files or standard output.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deltamatch/match.hpp"
#include "deltamatch/query.hpp"
#include "ingest/sink/match_form.hpp"

namespace deltamatch::ingest {

/// Writes one JSON object per match, each on its own line. The keys have this order.
///   {"v":1,"id":"…","query":"ring","sign":"+","batch":17,"time":1700000000000000,"bindings":{"a":"acct-1","b":9},
///    "edges":[["acct-1","TRANSFER",9]],"cause":[0]}
/// `time` is null if the stream has no times. Integer ids are JSON numbers, and string ids are JSON strings. Bytes that are not
/// UTF-8 are written as \udc80 to \udcff (Python's surrogateescape). Distinct ids therefore stay distinct, and no byte is lost.
///
/// Graphs of the models `keyed` and `events` have version 2. `time` is then that of the match's newest edge, and edges are
/// objects. In `events`, "ordinal":N stands in place of the key. Attributes that are NULL are left out.
///   {"source":"acct-1","label":"TRANSFER","target":"acct-9","key":"tx-77","time":1700000000000000,
///    "attributes":{"amount":"1200.00"}}
///
/// A path, which is a query edge with a quantifier, is called by its name. Its binding is the list of the vertices between its
/// steps. In place of an edge it has the list of its steps. In `cause`, [1,0] is the first step of edge 1.
///   "bindings":{"a":"acct-1","t":["acct-2","acct-3"]},"edges":[[{…},{…},{…}]],"cause":[[0,2]]
///
/// The list of a static match that ends early closes with {"v":1,"query":"ring","partial":"limit","matches":2}. "partial" is
/// limit, timeout or stopped.
///
/// `path` is created or emptied; "-" is standard output. When commit() returns, the lines of the batch are in the file. After
/// abort() they are gone from it. Throws an Error that names the file if it cannot be created or written.
[[nodiscard]] std::unique_ptr<MatchSink> make_jsonl_sink(const std::string& path, const MatchForm& form = {});

/// Writes CSV (RFC 4180) with the header v,id,query,sign,batch,time,bindings,edges,cause. The last three are JSON text as in
/// the JSONL form. `time` is empty if there is none. If a static match ends early, the last row has no id, and its `sign` is
/// partial:limit, partial:timeout or partial:stopped. Otherwise as make_jsonl_sink.
[[nodiscard]] std::unique_ptr<MatchSink> make_csv_sink(const std::string& path, const MatchForm& form = {});

/// Writes CSV (RFC 4180) for spreadsheets: one flat row per match. Each value has a column of its own.
///   query,sign,id,batch,time,a,b,t1.key,t1.time,t1.amount
/// - The first five are as in make_csv_sink.
/// - Each vertex has a column with its name.
/// - Each edge has columns with its name and a point before: `key` (or `ordinal`), `time` and its attributes. A graph of the
///   model `simple` has none of them. `label` is there if the pattern does not name one label, and `source` if it leaves the
///   direction open. Edges without a name are called e1, e2 … by their place in the pattern.
/// - A path t has the column t.count, which is its length. Its steps have columns as edges have, under t[1], t[2] … up to its
///   greatest length; so have the vertices that they lead to: t[1].target. Those beyond its length are empty.
/// - The header is the union of the columns of all `queries`. Cells that a query does not have are empty.
/// - A column whose name is taken by another of the same query gets _2, _3 … behind it.
///
/// A cell with NULL is empty, and a cell with the empty text is "". No text becomes a formula (append_csv_text). Ends of lists
/// are as in make_csv_sink. A match of another query is an Error.
///
/// If `sheet` is given, a double click opens the file: it is the decimal sign, the point or the comma. With the comma, cells
/// are separated by semicolons. Times in UTC are written as 2026-01-31 10:00:00. A byte order mark says that the texts are
/// UTF-8. What is no fact of the payments stands behind all else: id, batch, ordinals and labels.
[[nodiscard]] std::unique_ptr<MatchSink> make_flat_csv_sink(const std::string& path, const MatchForm& form,
                                                            std::span<const Query> queries, std::optional<char> sheet = {});

/// Writes the binary form that docs/reference/formats.md describes. Times are always in microseconds. Otherwise as
/// make_jsonl_sink.
[[nodiscard]] std::unique_ptr<MatchSink> make_binary_sink(const std::string& path, const MatchForm& form = {});

/// Hands only the matches with these signs to `sink`. The report on a query that exceeded its budget in a batch counts those.
[[nodiscard]] std::unique_ptr<MatchSink> make_sign_filter(std::unique_ptr<MatchSink> sink, Signs signs);

/// Hands each match on to all of `sinks`, of which there is at least one.
[[nodiscard]] std::unique_ptr<MatchSink> make_tee(std::vector<std::unique_ptr<MatchSink>> sinks);

}  // namespace deltamatch::ingest
