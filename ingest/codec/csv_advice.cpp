#include "ingest/codec/csv_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/csv_split.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/codec/head_lines.hpp"
#include "ingest/codec/header_words.hpp"
#include "ingest/codec/time_guess.hpp"

namespace deltamatch::ingest {
namespace {

/// Which `decimal` reads a number. Strict if it has one anyway, or may be meant either way.
Decimal decimal_of(std::string_view number) noexcept {
  constexpr std::size_t group = 3;
  const std::size_t sign = number.find_last_of(".,");
  if (sign == std::string_view::npos) return Decimal::strict;
  const bool both = number.find(number[sign] == ',' ? '.' : ',') != std::string_view::npos;
  const bool grouped = !both && number.size() - sign - 1 == group;
  if (grouped) return Decimal::strict;
  if (number[sign] == ',') return Decimal::comma;
  return both ? Decimal::point : Decimal::strict;
}

bool is_amount(std::string_view text) noexcept {
  return text.find_first_of("0123456789") != std::string_view::npos &&
         text.find_first_not_of("0123456789+-., '") == std::string_view::npos;
}

/// A header, and the record behind it.
struct Sample {
  std::vector<std::string_view> header;
  std::vector<std::string_view> record;

  [[nodiscard]] std::string_view value(std::string_view name) const {
    const auto found = std::ranges::find(header, name);
    return found == header.end() ? std::string_view() : record[static_cast<std::size_t>(found - header.begin())];
  }
};

/// The value in the column that holds the time, or most likely does. Empty if there is none.
std::string_view time_in(const Sample& sample, const ColumnSpec& spec) {
  if (spec.name(Role::time)) return sample.value(*spec.name(Role::time));
  for (std::size_t column = 0; column < sample.header.size(); ++column) {
    if (role_by_usual_name(sample.header[column]) == Role::time) return sample.record[column];
  }
  return sample.value(likely_column("time", sample.header));
}

/// Options that read a file, beside `columns`. Each begins with a blank.
struct Advice {
  std::string times;
  std::string amounts;
  bool declares = false;  ///< `amounts` declares an attribute, which only patterns that ask for amounts need
};

Advice advice_on(const Sample& sample, const CodecOptions& options, const ColumnSpec& spec) {
  const OptionSpelling spelling = spelling_of(options);
  Advice advice;
  const std::string_view time = time_in(sample, spec);
  if (!time.empty() && options.time_format.empty() && !TimeReader(TimeUnit::seconds, "").read(time)) {
    if (const std::string format = clear_time_format(time); !format.empty())
      advice.times = " " + spell(spelling, "time-format", format);
  }
  const std::string column = likely_column("amount", sample.header);
  const std::string_view amount = sample.value(column);
  if (!is_amount(amount)) return advice;
  const Decimal decimal = options.decimal == Decimal::strict ? decimal_of(amount) : Decimal::strict;
  const std::string reads =
      decimal == Decimal::strict ? std::string() : " " + spelling("decimal", decimal == Decimal::comma ? "comma" : "point");
  if (!options.attributes.empty()) {
    advice.amounts = reads;
    return advice;
  }
  if (spelling.in_configuration || spelling.as_keywords) return advice;  // there the schema is said elsewhere
  const std::string_view model = std::ranges::any_of(sample.header, is_usual_key) ? "keyed" : "events";
  const std::string edges = options.edges == EdgeModel::simple ? fmt::format(" --edges {}", model) : std::string();
  advice.amounts = fmt::format("{} {}{}", edges, spell({}, "attributes", fmt::format("amount:decimal(2)={}", column)), reads);
  advice.declares = true;
  return advice;
}

/// The option that gives all edges a label, if no column has one. Begins with a blank.
std::string label_advice(const Sample& sample, const CodecOptions& options, std::string_view columns) {
  const bool labelled =
      std::ranges::any_of(sample.header, [](std::string_view cell) { return role_by_usual_name(cell) == Role::label; });
  const bool said = labelled || !options.edge_label.empty() || columns.find("label=") != std::string_view::npos;
  return said ? std::string() : " --edge-label TRANSFER";
}

}  // namespace

void refuse_header_of_words(std::string_view head, const std::string& name, const CodecOptions& options,
                            std::string_view conversion) {
  const std::vector<Line> lines = lines_of(head, 2);
  if (lines.size() < 2 || !is_utf8(lines[0].text)) return;
  Sample sample;
  std::string header_text;
  std::string record_text;
  if (!split_csv(lines[0].text, options.separator, sample.header, header_text)) return;
  if (!split_csv(lines[1].text, options.separator, sample.record, record_text)) return;
  const ColumnSpec spec = parse_columns(options);
  const auto is_end = [](std::string_view cell) {
    const auto role = role_by_usual_name(cell);
    return role == Role::source || role == Role::target;
  };
  if (sample.header.size() != sample.record.size() || spec.name(Role::source) || spec.name(Role::target)) return;
  if (std::ranges::any_of(sample.header, is_end) || !columns_of_ends(sample.header)) return;
  CodecOptions alone = options;
  alone.doubts = nullptr;
  const std::unique_ptr<Codec> probe = make_csv_codec(alone);
  const Decoded decoded = probe->decode(lines[0].text);
  if (decoded.remedy.empty()) return;
  const Advice advice = advice_on(sample, options, spec);
  constexpr std::string_view give = "give ";
  const bool one_way = decoded.remedy.starts_with(give) && decoded.remedy.find(" or --") == std::string_view::npos;
  const std::string remedy = one_way && !conversion.empty()
                                 ? fmt::format("write {} {}{}{}{}", conversion, decoded.remedy.substr(give.size()),
                                               advice.times, advice.amounts, label_advice(sample, options, decoded.remedy))
                                 : fmt::format("{}{}{}{}", decoded.remedy, advice.times,
                                               advice.declares ? "; if patterns ask for amounts, add" : "", advice.amounts);
  throw Error(fmt::format("{}:{}", name, lines[0].number), decoded.message, remedy);
}

}  // namespace deltamatch::ingest
