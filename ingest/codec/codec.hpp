// The interface that turns bytes into updates, for files, standard input and message queues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/attribute.hpp"
#include "deltamatch/update.hpp"

namespace deltamatch::ingest {

class Doubts;
class SchemaSource;

/// formats.hpp has the table of what each is like.
enum class Format : std::uint8_t {
  snap,     ///< fields separated by blanks: `u v`, `u v time`, `u v label time`; comments # and %
  csv,      ///< RFC 4180, with a header unless `columns` gives positions; separator , ; or tab
  tsv,      ///< fields separated by one tab each: `[+|-] source target label time`
  tve,      ///< `t N M`, `v id label`, `e u v [label]`; -e and -v delete
  jlg,      ///< a header `V,E,u|d,name`, then `u,v`
  mtx,      ///< Matrix Market: a banner, `rows columns entries`, then `row column [value]`
  jsonl,    ///< one JSON object per line, or arrays of them; files may also be one array, or objects over many lines
  binary,   ///< records of ingest/codec/binary.hpp, which state their fields; times are microseconds
  avro,     ///< Avro: a container file, or messages whose schema a registry or an option has
  protobuf  ///< messages of Protobuf, whose schema a registry or an option has
};

/// "snap", "csv", ...
[[nodiscard]] std::string_view format_name(Format format) noexcept;
/// Returns nothing if the name is unknown. "json" is jsonl, "matrix-market" is mtx.
[[nodiscard]] std::optional<Format> format_by_name(std::string_view name) noexcept;

/// What ids are.
/// - automatic: the canonical spelling of a 64-bit integer ("7", "-3") is an integer. Digits beyond 64 bits are refused. All
///   else ("acct-1", "007") is a string. JSON numbers are integers and JSON strings are strings.
/// - integer: anything but a 64-bit integer is refused ("007" is 7).
/// - string: "7" stays a string.
enum class IdKind : std::uint8_t { automatic, integer, string };

enum class TimeUnit : std::uint8_t { seconds, milliseconds, microseconds };

/// How numbers are written in texts, such as the fields of CSV.
/// - strict: with a point, and nothing between thousands. What could mean two things is refused.
/// - point: 1,234.56. comma: 1.234,56. Between thousands there may also be blanks or apostrophes.
enum class Decimal : std::uint8_t { strict, point, comma };

/// Where the schema of messages of avro or protobuf is. One of the two is needed.
struct SchemaOptions {
  bool framed = false;  ///< a message begins with the id that a registry gave its schema
  std::string text{};   ///< the schema of messages that begin without an id: JSON of Avro, or a .proto file
  /// protobuf: the files that the schema imports, by the names that it gives them. Each comes after those that it imports.
  std::vector<std::pair<std::string, std::string>> imports{};
  std::string message{};  ///< protobuf: the name of the message; empty: the only one in the file
  friend bool operator==(const SchemaOptions&, const SchemaOptions&) = default;
};

/// What surrounds the row in a JSON record, or in one of Avro or Protobuf. debezium: a change event (`op` with `before` and
/// `after`), bare or in a `payload` beside its schema. c and r insert the row `after`; d deletes the row `before`. u deletes
/// the one and inserts the other if they state different edges. If either row cannot be read, the record is refused.
enum class Envelope : std::uint8_t { none, debezium };

/// A declared attribute, and where records state it.
struct AttributeColumn {
  Attribute attribute{};
  std::string column{};  ///< the name of its column, or the path of its field; empty: the attribute's name
  bool base64 = false;   ///< of a decimal: a text is the base64 of its digits, as bytes with the high one first
  friend bool operator==(const AttributeColumn&, const AttributeColumn&) = default;
};

/// How records are read. The format decides what is left empty.
struct CodecOptions {
  /// The roles of the columns: "source,target,label,time" by position, or "source=payer,target=payee" by the names of a CSV
  /// header or of JSON fields. Roles: source, target, label, source_label, target_label, time, op, vertex, deleted, edge (the
  /// key of an edge), and the names of attributes. `-` skips a column. With `vertex` (and `label`) records state vertices.
  /// Default: by the format and the number of fields.
  ///
  /// In a message, a role may also be what surrounds the value, also beside positions. "edge=kafka:key.id" is a field of a key
  /// that is a JSON object. "edge=kafka:key", "time=kafka:timestamp" and "label=kafka:header.NAME" are the others.
  ///
  /// In JSON a name is a path. "source=payer.id" is the field id of the object in the field payer. "source=parties.0.id" is the
  /// field id of the first element of the array parties. `\.` is a dot within a name, `\\` a backslash. Under an envelope,
  /// paths start at the row. A path that begins with a dot starts at the envelope: "label=.source.table,time=.ts_ms".
  std::string columns{};
  Envelope envelope = Envelope::none;   ///< JSON, Avro and Protobuf only
  char separator = 0;                   ///< CSV only; 0: , ; or tab, whichever the first line has
  std::optional<bool> header{};         ///< CSV only; default: there is one unless `columns` gives positions
  std::optional<IdKind> ids{};          ///< default: integer for snap, tve, jlg and mtx, else automatic
  std::optional<TimeUnit> time_unit{};  ///< of times that are numbers; default: microseconds for jsonl, else seconds
  Decimal decimal = Decimal::strict;    ///< of attributes that are numbers in texts
  std::string time_format{};            ///< e.g. "%m/%d/%Y-%H:%M" (%Y %m %d %H %M %S); default: a number or ISO-8601
  bool negative_ids = false;            ///< t/v/e only: `e -(u+1) -(v+1)` deletes the edge u v
  std::string edge_label{};             ///< label of edges whose records have none
  /// The meaning of values of op and deleted, beside the usual ones: "c,r,u=+;d=-".
  std::string op_values{};
  /// How all edges are meant, whatever the records say. (A CSV column Type says Directed or Undirected, as Gephi writes it.)
  /// Nothing: as the records say.
  std::optional<bool> directed{};
  /// Records state vertices and their labels, unless `columns` says otherwise. These are the first two columns, the columns of
  /// a CSV header or JSON fields with the usual names, or the `v` lines of t/v/e.
  bool vertices = false;
  /// The records are a whole graph. The sizes in a header (t/v/e, jlg) must be true, and ids must lie within them. Those of a
  /// Matrix Market file are always checked.
  bool whole = false;
  EdgeModel edges = EdgeModel::simple;               ///< of the graph. With `keyed`, the record of an edge has the edge's key
  std::vector<AttributeColumn> attributes{};         ///< of edges, in the order of Schema::edges
  std::vector<AttributeColumn> vertex_attributes{};  ///< in the order of Schema::vertices
  SchemaOptions schema{};                            ///< of messages; avro and protobuf only
  std::optional<Format> key_format{};                ///< of a message's key with a registry's id: avro or protobuf
  SchemaSource* schemas = nullptr;                   ///< where ids are found, outlives the codec; null: none is
  bool message = false;                              ///< the records are messages of a queue; make_message_codec sets it
  Doubts* doubts = nullptr;  ///< gets doubtful readings (doubts.hpp), outlives the codec; null: nobody does
  friend bool operator==(const CodecOptions&, const CodecOptions&) = default;
};

/// What a record says: its updates (none for a comment, a blank line or a header), or why it is refused. All views are valid
/// until the next decode, and as long as the record is.
struct Decoded {
  std::span<const Update> updates{};
  std::optional<RejectReason> refused{};
  std::string_view message{};  ///< what is wrong, e.g. "source `x` is not an integer"
  std::string_view remedy{};   ///< what to do, if no later record can be read either (a header that lacks a column); else empty
};

/// The most bytes of an id or label. What repeats them, above all an alert, stays small enough to be sent.
inline constexpr std::size_t max_name = 1024;

/// Returns `decoded`, or a refusal if an id or a key (bad_id), or a label or a symbol (too_long) in it is longer than max_name.
[[nodiscard]] Decoded within_max_name(const Decoded& decoded) noexcept;

struct MessageHeader {
  std::string_view name{};
  std::optional<std::string_view> value{};
};

/// What surrounds the value of a message.
struct MessageFrame {
  std::optional<std::string_view> key{};
  std::span<const MessageHeader> headers{};
  std::optional<Timestamp> time{};  ///< that the queue has for it, in microseconds
};

/// Reads records of one format, one after the other. It may keep state from earlier records, such as a header.
class Codec {
 public:
  virtual ~Codec() = default;
  /// Never throws because of a record's contents. A refused record has no effect on later ones. Throws SchemaUnavailable if a
  /// schema cannot be had now; the record can then be given again.
  virtual Decoded decode(std::string_view record) = 0;
  /// The same, if Record::padding bytes behind the record are readable.
  virtual Decoded decode_padded(std::string_view record) { return decode(record); }
  /// Reads a message with what surrounds it. Without a value it is a tombstone. Only for codecs of messages.
  virtual Decoded decode_message(std::optional<std::string_view> value, const MessageFrame& /*frame*/) {
    return value ? decode(*value) : Decoded{};
  }
  /// States what surrounds the next record. It must stay valid until that has been decoded.
  virtual void surround(const MessageFrame* /*frame*/) {}
  /// Call it after the last record. Says how a whole graph contradicts its header. Empty if it does not.
  [[nodiscard]] virtual std::string flaw() const { return {}; }
  /// Whether edges are directed, if the records decoded so far say so.
  [[nodiscard]] virtual std::optional<bool> directed() const noexcept { return std::nullopt; }
  /// Fixes how edges are meant from here on. A record that contradicts it cannot be read, nor can any later one.
  virtual void hold_to_direction(bool /*directed*/) {}
  /// Advice about a record that the codec, or a later step, refused for this reason. Empty if there is none. Any thread may
  /// call it, once a record has been read.
  [[nodiscard]] virtual std::string advice(RejectReason /*reason*/, std::string_view /*record*/) const { return {}; }
  /// The field separator if quoted fields may span lines, else 0.
  [[nodiscard]] virtual char quoted_separator() const noexcept { return 0; }
};

/// Throws Error(usage) if options contradict each other or the format.
[[nodiscard]] std::unique_ptr<Codec> make_codec(Format format, const CodecOptions& options);

/// Makes a codec of messages. Each message holds one record, which may end like a line. An empty or blank message is malformed.
/// An array of JSON objects is one record.
///
/// A message's meaning depends on nothing before it, so there is no header. snap, tsv and csv need `columns` by position. csv
/// separates by commas unless options say otherwise. jlg and mtx are not formats of messages. Throws Error(usage) as make_codec
/// does.
[[nodiscard]] std::unique_ptr<Codec> make_message_codec(Format format, const CodecOptions& options);

/// Recognises the format by the first bytes of a text. `head` holds whole lines, unless there is only one. `columns` is the
/// known number of columns (0: unknown); a file with that many fields between single tabs is tsv. `texts`: ids of an edge list
/// may be texts. Returns nothing if no format fits, or if the file may be tsv or an edge list with different meanings.
[[nodiscard]] std::optional<Format> detect_format(std::string_view head, std::size_t columns = 0, bool texts = false);

/// If all lines may be both tsv and an edge list, returns the first line whose two meanings differ. Else empty.
[[nodiscard]] std::string_view tsv_or_snap(std::string_view head, std::size_t columns = 0, bool texts = false);

}  // namespace deltamatch::ingest
