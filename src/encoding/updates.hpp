// The one encoding of an update. Binary records, the log and snapshots hold updates in it. docs/reference/formats.md,
// "Updates", defines every byte.
//
//   head     the kind of update, and which fields follow
//   fields   source, target, label, source label, target label, time: those that the head names, in this order
//
// It has two forms, which differ in how the head and each field are written:
// - plain: one update that stands alone, as a message or a record of a stream. Ids, labels and times are written in full.
// - packed: runs of updates with the same head, as the log and snapshots hold them. An integer id is the difference to the
//   integer id before at the same end, a time the difference to the time before. A label is a number that the container
//   explains.
//
// Both forms have room for more fields. Those that are planned have a number and a name here, so a reader that does not know
// them refuses them by name.
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
inline constexpr std::uint64_t key = 64;          ///< reserved: the key of an edge
inline constexpr std::uint64_t text_key = 128;    ///< reserved: that key is a text
inline constexpr std::uint64_t attributes = 256;  ///< reserved: values of attributes
inline constexpr std::uint64_t implied = 512;     ///< of a vertex in a snapshot: no record declared it; its edges keep it

inline constexpr std::uint64_t of_edge = text_source | text_target | label | source_label | target_label | time;
inline constexpr std::uint64_t of_vertex = text_source | source_label | time;
}  // namespace field

/// Which kind of update, and which fields it has.
struct Head {
  UpdateKind kind = UpdateKind::insert_edge;
  std::uint64_t fields = 0;

  [[nodiscard]] constexpr bool has(std::uint64_t bit) const noexcept { return (fields & bit) != 0; }
  [[nodiscard]] constexpr bool edge() const noexcept {
    return kind == UpdateKind::insert_edge || kind == UpdateKind::delete_edge;
  }
  friend bool operator==(const Head&, const Head&) = default;
};

[[nodiscard]] inline Head head_of(const Update& update) noexcept {
  Head head{update.kind, 0};
  if (update.source.is_text()) head.fields |= field::text_source;
  if (update.source_label) head.fields |= field::source_label;
  if (update.time) head.fields |= field::time;
  if (!head.edge()) return head;
  if (update.target.is_text()) head.fields |= field::text_target;
  if (!update.label.empty()) head.fields |= field::label;
  if (update.target_label) head.fields |= field::target_label;
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
};

/// The packed form. `Labels` puts and takes a label as the container explains its numbers.
template <class Labels>
class PackedForm {
 public:
  explicit PackedForm(Labels labels = {}) : labels_(std::move(labels)) {}

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

 private:
  Labels labels_;
  std::array<std::int64_t, 2> last_{};
  Timestamp last_time_ = 0;
};

/// Labels whose numbers are their order of first use. At its first use, the text follows the number. Texts are views.
class LabelsByFirstUse {
 public:
  template <class Out>
  void put(Out& out, std::string_view label) {
    const auto [number, fresh] = number_of(label);
    out.number(number);
    if (fresh) out.text(label);
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
  /// The number of a label, and whether this is its first use.
  std::pair<std::uint64_t, bool> number_of(std::string_view label) {
    std::uint32_t& latest = latest_[place_of(label)];
    if (latest < texts_.size() && texts_[latest] == label) return {latest, false};
    const auto [entry, fresh] = numbers_.try_emplace(label, texts_.size());
    if (fresh) texts_.push_back(label);
    latest = static_cast<std::uint32_t>(entry->second);  // a larger number only costs a look-up
    return {entry->second, fresh};
  }

  static std::size_t place_of(std::string_view label) noexcept {
    if (label.empty()) return 0;
    const auto first = static_cast<unsigned char>(label.front());
    const auto last = static_cast<unsigned char>(label.back());
    return (label.size() * 5 + first * 3U + last) % places;
  }

  // A stream has few labels. One comparison with the label met last at the same place is quicker than a hash of the text.
  static constexpr std::size_t places = 64;
  std::array<std::uint32_t, places> latest_{};
  boost::unordered_flat_map<std::string_view, std::uint64_t> numbers_;
  std::vector<std::string_view> texts_;
};

/// Writes the fields that the head names. `Record` is Update, or has members like it with labels as the form takes them.
template <class Form, class Out, class Record>
void put_fields(Out& out, Form& form, const Head& head, const Record& record) {
  form.put_id(out, End::source, record.source);
  if (head.edge()) form.put_id(out, End::target, record.target);
  if (head.has(field::label)) form.put_label(out, record.label);
  if (head.has(field::source_label)) form.put_label(out, *record.source_label);
  if (head.has(field::target_label)) form.put_label(out, *record.target_label);
  if (head.has(field::time)) form.put_time(out, *record.time);
}

/// Reads the fields that the head names into a record that has no others. Views point into what is read from.
template <class Form, class In, class Record>
void take_fields(In& in, Form& form, const Head& head, Record& record) {
  record.source = form.take_id(in, End::source, head.has(field::text_source));
  if (head.edge()) record.target = form.take_id(in, End::target, head.has(field::text_target));
  if (head.has(field::label)) record.label = form.take_label(in);
  if (head.has(field::source_label)) record.source_label = form.take_label(in);
  if (head.has(field::target_label)) record.target_label = form.take_label(in);
  if (head.has(field::time)) record.time = form.take_time(in);
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

/// Reads `count` updates in the packed form and passes each to take(update). Views point into what is read from. Two runs with
/// the same head do not follow each other, so equal updates have equal bytes.
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
