// The one interface through which bytes become updates, for files, standard input and message queues alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "deltamatch/update.hpp"

namespace deltamatch::ingest {

class Doubts;

enum class Format : std::uint8_t {
  snap,    ///< fields separated by blanks: `u v`, `u v time`, `u v label time`; comments # and %
  csv,     ///< RFC 4180, with a header unless `columns` gives positions; separator , ; or tab
  tsv,     ///< fields separated by one tab each: `[+|-] source target label time`
  tve,     ///< `t N M`, `v id label`, `e u v [label]`, and -e, -v for deletions
  jlg,     ///< a header `V,E,u|d,name`, then `u,v`
  jsonl,   ///< one JSON object per line, or arrays of them; files may also be one array, or objects over many lines
  binary,  ///< records of ingest/codec/binary.hpp, which know their fields; times are microseconds
  mtx      ///< Matrix Market: a banner, `rows columns entries`, then `row column [value]`
};

/// "snap", "csv", ...
[[nodiscard]] std::string_view format_name(Format format) noexcept;
/// Nothing where the name is unknown. "json" is jsonl, "matrix-market" is mtx.
[[nodiscard]] std::optional<Format> format_by_name(std::string_view name) noexcept;

/// What ids are. automatic: the canonical spelling of a 64-bit integer ("7", "-3") is an integer, digits beyond 64 bits are
/// refused, all else ("acct-1", "007") is a string; JSON numbers are integers and JSON strings are strings. integer: anything
/// but a 64-bit integer is refused ("007" is 7). string: "7" stays a string.
enum class IdKind : std::uint8_t { automatic, integer, string };

enum class TimeUnit : std::uint8_t { seconds, milliseconds, microseconds };

/// What surrounds the row in a JSON record. debezium: a change event (`op` with `before` and `after`), bare or in a `payload`
/// beside its schema. c and r insert the row `after`, d deletes the row `before`, u deletes the one and inserts the other where
/// they state different edges; either both can be read or the record is refused.
enum class Envelope : std::uint8_t { none, debezium };

/// How records are read. What is left empty goes by the format.
struct CodecOptions {
  /// What the columns are: "source,target,label,time" by position, or "source=payer,target=payee" by names of a CSV header or
  /// fields of JSON objects. Roles: source, target, label, source_label, target_label, time, op, vertex, deleted; `-` skips a
  /// column. With `vertex` (and `label`) records state vertices. Default: by the format and the number of fields.
  ///
  /// In JSON a name is a path: "source=payer.id" is the field id of the object in the field payer, "source=parties.0.id" that
  /// of the first element of the array parties; `\.` is a dot within a name and `\\` a backslash. Under an envelope paths start
  /// at the row; one that begins with a dot starts at the envelope: "label=.source.table,time=.ts_ms".
  std::string columns;
  Envelope envelope = Envelope::none;  ///< JSON only
  char separator = 0;                  ///< CSV only; 0: , ; or tab, whichever the first line has
  std::optional<bool> header;          ///< CSV only; default: there is one unless `columns` gives positions
  std::optional<IdKind> ids;           ///< default: integer for snap, tve, jlg and mtx, else automatic
  std::optional<TimeUnit> time_unit;   ///< of times that are numbers; default: microseconds for jsonl, else seconds
  std::string time_format;             ///< e.g. "%m/%d/%Y-%H:%M" (%Y %m %d %H %M %S); default: a number or ISO-8601
  bool negative_ids = false;           ///< t/v/e only: `e -(u+1) -(v+1)` deletes the edge u v
  std::string edge_label;              ///< label of edges whose records carry none
  /// What values of the roles op and deleted mean, beside the usual ones: "c,r,u=+;d=-".
  std::string op_values;
  /// How all edges are meant, whatever the records say (CSV with a column Type that says Directed or Undirected, as Gephi
  /// writes it); nothing: as they say.
  std::optional<bool> directed;
  /// Records state vertices and their labels where `columns` does not say otherwise: the first two columns, the columns of a
  /// CSV header or the fields of JSON objects that are called so, the `v` lines of t/v/e.
  bool vertices = false;
  /// The records are a whole graph: the sizes that a header tells (t/v/e, jlg) must be true, and ids within them. Those of a
  /// Matrix Market file are always held to be true.
  bool whole = false;
  Doubts* doubts = nullptr;  ///< told of doubtful readings (ingest/codec/doubts.hpp); outlives the codec; null: nobody is
  friend bool operator==(const CodecOptions&, const CodecOptions&) = default;
};

/// What a record says: its updates (none: a comment, a blank line, a header), or why it is refused. All views hold until the
/// next decode and while the record does.
struct Decoded {
  std::span<const Update> updates;
  std::optional<RejectReason> refused;
  std::string_view message;  ///< what is wrong, e.g. "source `x` is not an integer"
  std::string_view
      remedy;  ///< not empty: no later record can be read either (a header that lacks a column); what to do about it
};

/// Ids and labels are of so many bytes at most: what repeats them, an alert above all, stays small enough to be sent.
inline constexpr std::size_t max_name = 1024;

/// The same, or its refusal where an id (bad_id) or a label (too_long) in it is longer than max_name.
[[nodiscard]] Decoded within_max_name(const Decoded& decoded) noexcept;

/// Reads records of one format, one after the other. It may hold state from earlier records (a header).
class Codec {
 public:
  virtual ~Codec() = default;
  /// Never throws because of what the record holds. A refused record has no effect on later ones.
  virtual Decoded decode(std::string_view record) = 0;
  /// The same where Record::padding bytes behind the record are readable.
  virtual Decoded decode_padded(std::string_view record) { return decode(record); }
  /// Once all records were decoded: what a whole graph lacks or has too much by its header; empty where nothing is wrong.
  [[nodiscard]] virtual std::string flaw() const { return {}; }
  /// How the records mean their edges, if those decoded so far say so.
  [[nodiscard]] virtual std::optional<bool> directed() const noexcept { return std::nullopt; }
  /// Tells what the edges are taken for from here on: a record that says otherwise can not be read, nor any behind it.
  virtual void hold_to_direction(bool /*directed*/) {}
  /// What may help about a record that is refused for this reason, by the codec or later; empty: nothing. In the thread of its
  /// choice, once a record was read.
  [[nodiscard]] virtual std::string advice(RejectReason /*reason*/, std::string_view /*record*/) const { return {}; }
  /// The field separator where quoted fields may span lines, else 0.
  [[nodiscard]] virtual char quoted_separator() const noexcept { return 0; }
};

/// Throws Error(usage) where options contradict each other or the format.
[[nodiscard]] std::unique_ptr<Codec> make_codec(Format format, const CodecOptions& options);

/// A codec of messages: each holds one record, which may end like a line; an empty or blank one is malformed. What a message
/// says depends on nothing before it, so there is no header: snap, tsv and csv need `columns` by position, csv is separated by
/// commas unless told, and jlg and mtx are no formats of messages. An array of JSON objects is one record. Throws Error(usage)
/// as make_codec does.
[[nodiscard]] std::unique_ptr<Codec> make_message_codec(Format format, const CodecOptions& options);

/// Recognises the format by the first bytes of a text (whole lines, unless there is but one). `columns`: how many columns are
/// known to be there (0: not known); files of as many fields between single tabs are tsv. `texts`: ids of an edge list may be
/// texts. Nothing where no format fits, and where tabs and blanks may both separate and the two readings differ.
[[nodiscard]] std::optional<Format> detect_format(std::string_view head, std::size_t columns = 0, bool texts = false);

/// The first line that says one thing as tsv and another as an edge list, where all lines may be both; else an empty text.
[[nodiscard]] std::string_view tsv_or_snap(std::string_view head, std::size_t columns = 0, bool texts = false);

}  // namespace deltamatch::ingest
