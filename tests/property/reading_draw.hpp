// Random pieces that the writers of forms use.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "property/draw.hpp"
#include "property/reading_forms.hpp"

namespace deltamatch::property {

inline bool coin(int of = 2) { return *below(of) == 0; }
inline std::string pick(std::initializer_list<std::string_view> of) {
  return std::string(of.begin()[*below(static_cast<int>(of.size()))]);
}

/// An update that owns its texts.
struct Fact {
  bool inserts = true;
  bool vertex = false;
  std::string source;  // digits unless it is a text
  std::string target;
  bool source_text = false;
  bool target_text = false;
  std::string label;  // of the edge, or of the vertex
  std::optional<std::string> source_label;
  std::optional<std::string> target_label;
  std::optional<Timestamp> time;

  [[nodiscard]] Update update() const;
  [[nodiscard]] std::string told() const { return property::told(update()); }
};

/// What a form can hold.
struct Range {
  std::string_view letters = "a";       // of texts
  std::string_view label_letters = {};  // of labels; those of texts if empty
  bool texts = true;                    // ids may be texts
  bool negative = true;                 // or negative integers
  bool vertices = false;                // records may state vertices
  bool deletes = true;
  bool labels = true;
  bool empty_labels = true;
  bool end_labels = false;  // labels of both ends
  bool times = true;
};

/// A word of up to six of the letters, and at least `least`. A letter may have two bytes.
inline std::string word(std::string_view letters, int least = 1) {
  const auto goes_on = [&](std::size_t at) {
    return at < letters.size() && (static_cast<unsigned char>(letters[at]) & 0xc0U) == 0x80U;
  };
  std::string text;
  for (int left = least + *below(7 - least); left > 0; --left) {
    auto at = static_cast<std::size_t>(*below(static_cast<int>(letters.size())));
    while (goes_on(at)) --at;
    do {
      text += letters[at++];
    } while (goes_on(at));
  }
  return text;
}

/// An id that is read as what it is. A text begins with a letter.
inline std::string draw_id(const Range& range, bool& text) {
  text = range.texts && coin();
  if (text) return pick({"a", "B", "x"}) + word(range.letters, 0) + pick({"", "z", "7"});
  if (coin(8))
    return pick(range.negative ? std::initializer_list<std::string_view>{"-9223372036854775808", "-1", "9223372036854775807"}
                               : std::initializer_list<std::string_view>{"9223372036854775807", "0"});
  return std::to_string(*below(9));
}

inline Fact draw_fact(const Range& range) {
  const std::string_view label_letters = range.label_letters.empty() ? range.letters : range.label_letters;
  Fact fact;
  fact.inserts = !range.deletes || !coin(4);
  fact.vertex = range.vertices && coin(4);
  fact.source = draw_id(range, fact.source_text);
  if (!fact.vertex) fact.target = draw_id(range, fact.target_text);
  const bool labelled = range.labels && !(range.empty_labels && coin(3));
  if (labelled) fact.label = "L" + word(label_letters, 0) + pick({"", "l"});
  if (range.end_labels && !fact.vertex && coin()) fact.source_label = "S" + word(label_letters, 0);
  if (range.end_labels && !fact.vertex && coin()) fact.target_label = "T" + word(label_letters, 0);
  if (range.times && !coin(4)) fact.time = (coin(8) ? -1 : 1) * Timestamp{*below(2'000'000'000)} * (coin() ? 1 : 1'000'000);
  return fact;
}

inline std::vector<Fact> draw_facts(const Range& range, int least = 0) {
  std::vector<Fact> facts;
  for (int left = least + *below(8); left > 0; --left) facts.push_back(draw_fact(range));
  return facts;
}

/// Microseconds as a number of seconds.
inline std::string seconds(Timestamp time) {
  const bool negative = time < 0;
  const Timestamp size = negative ? -time : time;
  std::string text = fmt::format("{}{}", negative ? "-" : "", size / 1'000'000);
  if (size % 1'000'000 != 0 || coin(4)) text += fmt::format(".{:06}", size % 1'000'000);
  return text;
}

/// Blanks of a line, at least `least`.
inline std::string blanks(int least, std::string_view of = " \t") {
  if (!coin(3)) return std::string(static_cast<std::size_t>(least), of[0]);
  std::string text;
  for (int left = least + *below(3); left > 0; --left)
    text += of[static_cast<std::size_t>(*below(static_cast<int>(of.size())))];
  return text;
}

inline std::string line_end() { return coin(4) ? "\r\n" : "\n"; }

/// Puts elements in another order.
template <class T>
void shuffle(std::vector<T>& all) {
  for (std::size_t left = all.size(); left > 1; --left)
    std::swap(all[left - 1], all[static_cast<std::size_t>(*below(static_cast<int>(left)))]);
}

/// A word for an operation that readers know without options.
inline std::string operation(bool inserts) {
  return inserts ? pick({"+", "insert", "c", "r", "u", "CREATE", "upsert", "I", "added"})
                 : pick({"-", "delete", "d", "REMOVE", "deleted"});
}
inline std::string flag(bool inserts) {
  return inserts ? pick({"false", "f", "0", "No", "FALSE"}) : pick({"true", "t", "1", "yes"});
}

// The writers, grouped by what the forms have in common.
Written draw_snap(bool messages);
Written draw_tsv(bool messages);
Written draw_csv(bool messages);
Written draw_gephi();
Written draw_tve(bool messages);
Written draw_gspan();
Written draw_jlg();
Written draw_mtx();
Written draw_binary(bool messages);
Written draw_json_rows(bool messages);
Written draw_json_array();
Written draw_json_objects();
Written draw_change_events(bool messages);

}  // namespace deltamatch::property
