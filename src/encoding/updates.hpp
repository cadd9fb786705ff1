// The one encoding of an update. Binary records, the log and snapshots hold updates in it. docs/reference/formats.md,
// "Updates", defines every byte.
//
//   head     the kind of update, and which fields follow
//   fields   source, target, label, source label, target label, time, key, attributes: those that the head names, in this
//            order. encoding/attributes.hpp has the form of attributes
//
// It has two forms, which differ in how the head and each field are written:
// - plain: one update that stands alone, as a message or a record of a stream. Ids, labels and times are written in full.
// - packed: runs of updates with the same head, as the log and snapshots hold them. An integer id is the difference to the
//   integer id before at the same end. Times, keys that are integers, and integers of one attribute are differences, too. A
//   label is a number that the container explains.
//
// Both forms have room for more fields. A reader refuses those that it does not know by their numbers.
//
// Key and attributes are read into memory of the form. They are valid until it reads the next update, and move with it.
//
// The functions are templates over what is written to or read from: encoding::ByteWriter and encoding::ByteReader, or a section
// of a file. A reader either fails permanently or throws.
#pragma once

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/update.hpp"
#include "encoding/attributes.hpp"
#include "encoding/numbers.hpp"

namespace deltamatch::encoding {

/// Bits of Head::fields.
namespace field {
inline constexpr std::uint64_t text_source = 1;  ///< the source is a text; otherwise it is an integer
inline constexpr std::uint64_t text_target = 2;
inline constexpr std::uint64_t label = 4;
inline constexpr std::uint64_t source_label = 8;
inline constexpr std::uint64_t target_label = 16;
inline constexpr std::uint64_t time = 32;
inline constexpr std::uint64_t key = 64;          ///< the key of an edge
inline constexpr std::uint64_t text_key = 128;    ///< that key is a text; otherwise it is an integer
inline constexpr std::uint64_t attributes = 256;  ///< of an insertion: a value for each attribute
inline constexpr std::uint64_t implied = 512;     ///< of a vertex in a snapshot: no record declared it; its edges keep it
inline constexpr std::uint64_t by_key = 1024;     ///< of a deletion: the key alone names the edge; there are no ends and labels

inline constexpr std::uint64_t of_edge =
    text_source | text_target | label | source_label | target_label | time | key | text_key;
inline constexpr std::uint64_t of_vertex = text_source | source_label | time;
inline constexpr std::uint64_t label_changes = label | target_label;  ///< of an inserted vertex: labels to add, to remove
inline constexpr std::uint64_t not_by_key = text_source | text_target | label | source_label | target_label;
inline constexpr std::uint64_t known = of_edge | attributes | implied | by_key;
}  // namespace field

/// Which kind of update, and which fields it has.
struct Head {
  UpdateKind kind = UpdateKind::insert_edge;
  std::uint64_t fields = 0;

  [[nodiscard]] constexpr bool has(std::uint64_t bit) const noexcept { return (fields & bit) != 0; }
  [[nodiscard]] constexpr bool edge() const noexcept {
    return kind == UpdateKind::insert_edge || kind == UpdateKind::delete_edge;
  }
  [[nodiscard]] constexpr bool insertion() const noexcept {
    return kind == UpdateKind::insert_edge || kind == UpdateKind::insert_vertex;
  }
  friend bool operator==(const Head&, const Head&) = default;
};

/// Attributes of a deletion mean nothing, so they are not written.
[[nodiscard]] inline Head head_of(const Update& update) noexcept {
  Head head{update.kind, 0};
  if (update.source.is_text()) head.fields |= field::text_source;
  if (update.source_label) head.fields |= field::source_label;
  if (update.time) head.fields |= field::time;
  const Properties* properties = update.properties;
  if (properties != nullptr && head.insertion() && !properties->attributes.empty()) head.fields |= field::attributes;
  if (head.kind == UpdateKind::delete_vertex) return head;
  if (!update.label.empty()) head.fields |= field::label;
  if (update.target_label) head.fields |= field::target_label;
  if (!head.edge()) return head;
  if (update.target.is_text()) head.fields |= field::text_target;
  if (properties == nullptr || !properties->key) return head;
  head.fields |= field::key | (properties->key->is_text() ? field::text_key : 0);
  if (update.by_key && !head.insertion()) head.fields = (head.fields | field::by_key) & ~field::not_by_key;
  return head;
}

/// Why this version does not read an update with this head, or nothing if it does. `allowed` are fields beside the usual ones.
[[nodiscard]] std::optional<std::string> unreadable(const Head& head, std::uint64_t allowed = 0);

enum class End : std::uint8_t { source, target };

/// The plain form of ids, labels and times.
class PlainForm {
 public:
  template <class Out>
  void put_id(Out& out, End, const Id& id) {
    if (id.is_text())
      out.text(id.text());
    else
      out.signed_number(id.number());
  }
  template <class In>
  Id take_id(In& in, End, bool is_text) {
    return is_text ? Id(in.text()) : Id(in.signed_number());
  }
  template <class Out>
  void put_label(Out& out, std::string_view label) {
    out.text(label);
  }
  template <class In>
  std::string_view take_label(In& in) {
    return in.text();
  }
  template <class Out>
  void put_time(Out& out, Timestamp time) {
    out.signed_number(time);
  }
  template <class In>
  Timestamp take_time(In& in) {
    return in.signed_number();
  }
  template <class Out>
  void put_key(Out& out, const Id& key) {
    put_id(out, {}, key);
  }
  template <class In>
  Id take_key(In& in, bool is_text) {
    return take_id(in, {}, is_text);
  }
  template <class Out>
  void put_row(Out& out, bool /*of_edge*/, std::span<const AttributeValue> row) {
    rows_.put(out, row);
  }
  template <class In>
  void take_row(In& in, bool /*of_edge*/, std::vector<AttributeValue>& row) {
    rows_.take(in, row);
  }
  PropertiesRead& properties_read() noexcept { return read_; }

 private:
  PlainRows rows_;
  PropertiesRead read_;
};

/// Texts whose numbers are their order of first use. At its first use, the text follows the number. Texts are views.
class TextsByFirstUse {
 public:
  template <class Out>
  void put(Out& out, std::string_view text) {
    const auto [number, fresh] = number_of(text);
    out.number(number);
    if (fresh) out.text(text);
  }
  template <class In>
  std::string_view take(In& in) {
    const std::uint64_t number = in.number();
    if (number < texts_.size()) return texts_[number];
    if (number > texts_.size()) in.fail();
    const std::string_view text = in.text();
    if (in.sound() && !number_of(text).second) in.fail();  // each text has one number
    return text;
  }

 private:
  /// The number of a text, and whether this is its first use.
  std::pair<std::uint64_t, bool> number_of(std::string_view text) {
    std::uint32_t& latest = latest_[place_of(text)];
    if (latest < texts_.size() && texts_[latest] == text) return {latest, false};
    const auto [entry, fresh] = numbers_.try_emplace(text, texts_.size());
    if (fresh) texts_.push_back(text);
    latest = static_cast<std::uint32_t>(entry->second);  // a larger number only costs a look-up
    return {entry->second, fresh};
  }

  static std::size_t place_of(std::string_view text) noexcept {
    if (text.empty()) return 0;
    const auto first = static_cast<unsigned char>(text.front());
    const auto last = static_cast<unsigned char>(text.back());
    return (text.size() * 5 + first * 3U + last) % places;
  }

  // A stream has few labels. One comparison with the text met last at the same place is quicker than a hash.
  static constexpr std::size_t places = 64;
  std::array<std::uint32_t, places> latest_{};
  boost::unordered_flat_map<std::string_view, std::uint64_t> numbers_;
  std::vector<std::string_view> texts_;
};

/// The packed form. `Labels` puts and takes a label as the container explains its numbers, and `Symbols` a symbol.
template <class Labels, class Symbols = TextsByFirstUse>
class PackedForm {
 public:
  explicit PackedForm(Labels labels = {}, Symbols symbols = {}) : labels_(std::move(labels)), symbols_(std::move(symbols)) {}

  template <class Out>
  void put_id(Out& out, End end, const Id& id) {
    if (id.is_text()) {
      out.text(id.text());
      return;
    }
    std::int64_t& last = last_[static_cast<std::size_t>(end)];
    out.signed_number(difference(last, id.number()));
    last = id.number();
  }
  template <class In>
  Id take_id(In& in, End end, bool is_text) {
    if (is_text) return Id(in.text());
    std::int64_t& last = last_[static_cast<std::size_t>(end)];
    return Id(last = advance(last, in.signed_number()));
  }
  template <class Out, class Label>
  void put_label(Out& out, const Label& label) {
    labels_.put(out, label);
  }
  template <class In>
  auto take_label(In& in) {
    return labels_.take(in);
  }
  template <class Out>
  void put_time(Out& out, Timestamp time) {
    out.signed_number(difference(last_time_, time));
    last_time_ = time;
  }
  template <class In>
  Timestamp take_time(In& in) {
    return last_time_ = advance(last_time_, in.signed_number());
  }
  template <class Out>
  void put_key(Out& out, const Id& key) {
    if (key.is_text()) {
      out.text(key.text());
      return;
    }
    out.signed_number(difference(std::exchange(last_key_, key.number()), key.number()));
  }
  template <class In>
  Id take_key(In& in, bool is_text) {
    if (is_text) return Id(in.text());
    return Id(last_key_ = advance(last_key_, in.signed_number()));
  }
  template <class Out>
  void put_row(Out& out, bool of_edge, std::span<const AttributeValue> row) {
    (of_edge ? edges_ : vertices_).put(out, symbols_, row);
  }
  template <class In>
  void take_row(In& in, bool of_edge, std::vector<AttributeValue>& row) {
    (of_edge ? edges_ : vertices_).take(in, symbols_, row);
  }
  PropertiesRead& properties_read() noexcept { return read_; }

 private:
  Labels labels_;
  std::array<std::int64_t, 2> last_{};
  Timestamp last_time_ = 0;
  std::int64_t last_key_ = 0;
  Symbols symbols_;
  PackedRows<Symbols> edges_;
  PackedRows<Symbols> vertices_;
  PropertiesRead read_;
};

/// Writes the fields that the head names. `Record` is Update, or has members like it with labels as the form takes them.
template <class Form, class Out, class Record>
void put_fields(Out& out, Form& form, const Head& head, const Record& record) {
  if (!head.has(field::by_key)) form.put_id(out, End::source, record.source);
  if (head.edge() && !head.has(field::by_key)) form.put_id(out, End::target, record.target);
  if (head.has(field::label)) form.put_label(out, record.label);
  if (head.has(field::source_label)) form.put_label(out, *record.source_label);
  if (head.has(field::target_label)) form.put_label(out, *record.target_label);
  if (head.has(field::time)) form.put_time(out, *record.time);
  if constexpr (requires { record.properties; }) {
    if (head.has(field::key)) form.put_key(out, *record.properties->key);
    if (head.has(field::attributes)) form.put_row(out, head.edge(), record.properties->attributes);
  }
}

/// Reads key and attributes. The result is valid until the form reads the next ones.
template <class Form, class In>
const Properties* take_properties(In& in, Form& form, const Head& head) {
  PropertiesRead& read = form.properties_read();
  read.properties = {};
  if (head.has(field::key)) read.properties.key = form.take_key(in, head.has(field::text_key));
  if (head.has(field::attributes)) {
    form.take_row(in, head.edge(), read.row);
    read.properties.attributes = read.row;
  }
  return &read.properties;
}

/// Reads the fields that the head names into a record that has no others. Views point into what is read from.
template <class Form, class In, class Record>
void take_fields(In& in, Form& form, const Head& head, Record& record) {
  if (!head.has(field::by_key)) record.source = form.take_id(in, End::source, head.has(field::text_source));
  if (head.edge() && !head.has(field::by_key)) record.target = form.take_id(in, End::target, head.has(field::text_target));
  if (head.has(field::label)) record.label = form.take_label(in);
  if (head.has(field::source_label)) record.source_label = form.take_label(in);
  if (head.has(field::target_label)) record.target_label = form.take_label(in);
  if (head.has(field::time)) record.time = form.take_time(in);
  if constexpr (requires { record.by_key; }) record.by_key = head.has(field::by_key);
  if constexpr (requires { record.properties; }) {
    if (head.has(field::key | field::attributes)) record.properties = take_properties(in, form, head);
  }
}

/// The first byte of an update in the plain form is this, plus its kind. No text begins with such a byte.
inline constexpr std::uint8_t plain_version_bits = 0x10;

/// Appends an update in the plain form. Equal updates give equal bytes.
void put_plain(std::string& out, const Update& update);

/// A run of the packed form: so many updates have the same head, which is written once.
struct Run {
  Head head;
  std::uint64_t count = 0;
};

template <class Out>
void put_run(Out& out, const Run& run) {
  out.number(run.head.fields << 2 | static_cast<std::uint64_t>(run.head.kind));
  out.number(run.count);
}

/// Reads the beginning of a run. The caller checks the head (unreadable) and the count, which must not be 0.
template <class In>
Run take_run(In& in) {
  const std::uint64_t head = in.number();
  const std::uint64_t count = in.number();
  return {{static_cast<UpdateKind>(head & 3), head >> 2}, count};
}

/// Writes updates in the packed form.
template <class Form, class Out>
void put_packed(Out& out, Form& form, std::span<const Update> updates) {
  for (std::size_t begin = 0; begin < updates.size();) {
    const Head head = head_of(updates[begin]);
    std::size_t end = begin + 1;
    while (end < updates.size() && head_of(updates[end]) == head) ++end;
    put_run(out, Run{head, end - begin});
    for (; begin < end; ++begin) put_fields(out, form, head, updates[begin]);
  }
}

enum class PackedFault : std::uint8_t { none, malformed, unreadable };

/// What take_packed has found.
struct PackedOutcome {
  PackedFault fault = PackedFault::none;
  std::string reason{};  ///< if an update has fields that this version does not read
};

/// Reads `count` updates in the packed form and passes each to take(update). Views point into what is read from; key and
/// attributes are valid during the call. Two runs with the same head do not follow each other, so equal updates have equal
/// bytes.
template <class Form, class Take>
PackedOutcome take_packed(ByteReader& in, Form& form, std::uint64_t count, Take&& take) {
  std::optional<Head> last;
  while (count > 0) {
    const Run run = take_run(in);
    if (!in.sound()) return {PackedFault::malformed};
    if (auto reason = unreadable(run.head)) return {PackedFault::unreadable, std::move(*reason)};
    if (run.count == 0 || run.count > count || run.head == last) return {PackedFault::malformed};
    last = run.head;
    Update update;  // all updates of a run have the same fields, so each overwrites those of the one before
    update.kind = run.head.kind;
    for (std::uint64_t i = 0; i < run.count; ++i) {
      take_fields(in, form, run.head, update);
      if (!in.sound()) return {PackedFault::malformed};
      take(update);
    }
    count -= run.count;
  }
  return {};
}

}  // namespace deltamatch::encoding
