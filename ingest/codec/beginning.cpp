#include "ingest/codec/beginning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/codec/label_numbers.hpp"
#include "ingest/codec/size_line.hpp"
#include "ingest/source/bytes.hpp"

namespace deltamatch::ingest {
namespace {

struct Line {
  std::string_view text;
  std::uint64_t number;
};

/// The first lines that are not blank.
std::vector<Line> lines_of(std::string_view head, std::size_t most) {
  std::vector<Line> lines;
  std::uint64_t number = 0;
  while (!head.empty() && lines.size() < most) {
    std::string_view line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(line.size() + 1, head.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    if (!without_blanks(line).empty()) lines.push_back({line, number});
  }
  return lines;
}

bool is_comment(std::string_view line) noexcept {
  line = without_blanks(line);
  return line.starts_with('#') || line.starts_with('%');
}

/// The words of a comment, in small letters.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool within = false;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = std::isalpha(byte) != 0 || byte >= 0x80;
    if (letter && !within) words.emplace_back();
    if (letter) words.back() += static_cast<char>(std::tolower(byte));
    within = letter;
  }
  return words;
}

std::size_t count_fields(std::string_view line) noexcept {
  std::size_t fields = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    if (!blank(line[at]) && (at == 0 || blank(line[at - 1]))) ++fields;
  }
  return fields;
}

/// Whether a line can be the header of a CSV file with these options.
bool is_header(std::string_view line, CodecOptions options) {
  options.doubts = nullptr;
  if (options.separator == 0) options.separator = csv_separator(line);
  const std::unique_ptr<Codec> codec = make_codec(Format::csv, options);
  const Decoded decoded = codec->decode(line);
  return !decoded.refused && decoded.remedy.empty();
}

/// Whether a line is Excel's `sep=;`.
bool is_separator_line(std::string_view line) noexcept {
  line = csv_cell(line);
  return line.size() == 5 && same_letters(line.substr(0, 4), "sep=");
}

/// The words between blanks.
std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos; at = line.find_first_not_of(" \t", at)) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

/// The arrow between two ends: `1 -> 2`, with anything behind it, or `1->2` alone. Empty if there is none.
std::string_view arrow_in(std::string_view line) {
  constexpr auto arrows = std::to_array<std::string_view>({"-->", "->", "=>", "\u2192", "<--", "<-", "--"});
  const std::vector<std::string_view> words = split(line);
  for (const std::string_view arrow : arrows) {
    if (words.size() >= 3 && words[1] == arrow) return arrow;
    const std::size_t at = words.size() == 1 && arrow != "--" ? words[0].find(arrow) : std::string_view::npos;
    if (at != std::string_view::npos && at != 0 && at + arrow.size() < words[0].size()) return arrow;
  }
  return {};
}

/// Whether a line is a tuple, or a list of tuples: `(1, 2)`, `('a', 'b'),`, `[(1, 2), (2, 3)]`.
bool is_tuple(std::string_view line) noexcept {
  line = without_blanks(line);
  if (line.starts_with('[')) line = without_blanks(line.substr(1));
  return line.starts_with('(') && line.find(',') < line.find(')') && line.find(')') != std::string_view::npos;
}

/// Whether a line is the problem line of DIMACS: `p edge 5 4`.
bool is_dimacs_problem(std::string_view line) {
  const std::vector<std::string_view> words = split(line);
  const auto is_count = [](std::string_view word) { return word.find_first_not_of("0123456789") == std::string_view::npos; };
  return words.size() == 4 && words[0] == "p" && !is_count(words[1]) && is_count(words[2]) && is_count(words[3]);
}

}  // namespace

void refuse_wide_text(std::string_view head, const std::string& name) {
  const bool mark = head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff");
  const std::string_view sample = head.substr(0, 64);
  const auto zeros = static_cast<std::size_t>(std::ranges::count(sample, '\0'));
  const bool wide = sample.size() >= 4 && zeros * 5 >= sample.size() * 2 && (sample[0] == '\0') != (sample[1] == '\0');
  if (!mark && !wide) return;
  throw Error(name + ":1", "the text is UTF-16, but must be UTF-8",
              mark ? "convert it: iconv -f UTF-16 -t UTF-8 FILE"
                   : fmt::format("convert it: iconv -f UTF-16{} -t UTF-8 FILE", sample[0] == '\0' ? "BE" : "LE"));
}

void refuse_lone_returns(std::string_view head, const std::string& name) {
  head = head.substr(0, head.find_last_not_of("\r\n") + 1);
  if (head.find('\n') != std::string_view::npos) return;
  const std::size_t first = head.find_first_not_of(" \t\r");
  const bool json = first != std::string_view::npos && (head[first] == '{' || head[first] == '[');
  bool quoted = false;
  for (std::size_t at = 0; at < head.size(); ++at) {
    if (head[at] == '"') quoted = !quoted;
    if (head[at] != '\r' || quoted) continue;
    // Between the tokens of JSON a CR is a blank. Only lines of objects need line ends.
    if (json && !(head[first] == '{' && at != 0 && head[at - 1] == '}' && head[head.find_first_not_of('\r', at)] == '{'))
      continue;
    throw Error(name + ":1", "the lines end in CR alone, but must end in LF or CR LF", "convert it: tr '\\r' '\\n' <FILE");
  }
}

void refuse_archive(std::string_view head, const std::string& name) {
  const std::string_view archive = archive_in(head);
  if (archive == "tar") {
    throw Error(name, "is a tar archive, which is not read here",
                "unpack it first and give it as -, e.g. with tar -xOf " + (name == "stdin" ? "FILE" : name));
  }
  if (!archive.empty()) {
    throw Error(name, fmt::format("is packed twice: what it unpacks to is a {} archive", archive),
                "unpack it once, with gzip -d, xz -d or zstd -d, and give the result");
  }
}

void refuse_notation(std::string_view head, const std::string& name, std::optional<Format> format) {
  if (format && *format != Format::snap && *format != Format::tve) return;
  constexpr std::size_t enough = 32;
  std::vector<Line> lines = lines_of(head, enough);
  std::erase_if(lines, [](const Line& line) { return is_comment(line.text); });
  const auto refuse = [&](const Line& line, std::string_view what, const std::string& command) {
    throw Error(fmt::format("{}:{}", name, line.number), fmt::format("{} {}", in_ticks(line.text), what),
                "convert the file: " + command);
  };
  const auto problem = std::ranges::find_if(lines, [](const Line& line) { return !split(line.text)[0].starts_with('c'); });
  if (problem != lines.end() && is_dimacs_problem(problem->text)) {
    refuse(*problem, "begins a graph of DIMACS, which is not read here",
           R"(awk '$1 == "e" || $1 == "a" {print $2, $3}' FILE (edges `e` have no direction))");
  }
  if (lines.empty() || format == Format::tve) return;
  const std::string_view arrow = arrow_in(lines[0].text);
  if (!arrow.empty() && std::ranges::all_of(lines, [&](const Line& line) { return arrow_in(line.text) == arrow; })) {
    refuse(lines[0], "is an edge with an arrow, which is not read",
           arrow.starts_with('<') ? fmt::format(R"(sed -E 's/^(.*[^ ]) *{} *([^ ]+)/\2\t\1/' FILE)", arrow)
                                  : fmt::format(R"(sed 's/[[:blank:]]*{}[[:blank:]]*/\t/' FILE)", arrow));
  }
  if (std::ranges::all_of(lines, [](const Line& line) { return is_tuple(line.text); }))
    refuse(lines[0], "is an edge in parentheses, which are not read", R"(grep -o '([^()]*)' FILE | tr -d "()'")");
}

std::string advice_on_names(std::string_view head, const OptionSpelling& spelling) {
  constexpr std::size_t enough = 16;
  constexpr std::size_t most_words = 5;
  const std::vector<Line> lines = lines_of(head, enough);
  const auto all = [&](auto holds) { return !lines.empty() && std::ranges::all_of(lines, holds); };
  const auto tabs = [&](std::size_t least) {
    return all([&](const Line& line) { return std::ranges::count(line.text, '\t') == static_cast<std::ptrdiff_t>(least); });
  };
  const auto is_plain = [](std::string_view word) { return word.find_first_of("()[]{}<>,;\"'") == std::string_view::npos; };
  const bool blanks = all([&](const Line& line) {
    const std::vector<std::string_view> words = split(line.text);
    return words.size() >= 2 && words.size() <= most_words && std::ranges::all_of(words, is_plain);
  });
  const std::string tsv = spelling("format", "tsv");
  if (tabs(1)) return fmt::format("; if the lines are edges between names, give {}", tsv);
  if (tabs(2))
    return fmt::format("; if the lines are edges between names, give {} {}", tsv, spelling("columns", "source,target,label"));
  if (!blanks) return {};
  return fmt::format("; if the lines are edges between names, give {} {}", spelling("format", "snap"),
                     spelling.common("ids", "string"));
}

void refuse_lines_above_header(std::string_view head, const std::string& name, const CodecOptions& options) {
  constexpr std::size_t enough = 32;
  const std::vector<Line> lines = lines_of(head, enough);
  if (lines.empty()) return;
  const auto where = [&](const Line& line) { return fmt::format("{}:{}", name, line.number); };
  if (is_separator_line(lines[0].text)) {
    throw Error(where(lines[0]),
                fmt::format("{} is a line about the separator for Excel, not a header", in_ticks(lines[0].text)),
                fmt::format("leave the line out: tail -n +{} FILE", lines[0].number + 1));
  }
  if (!options.header.value_or(true) || is_header(lines[0].text, options)) return;
  for (const Line& line : lines) {
    if (!is_header(line.text, options)) continue;
    throw Error(where(lines[0]), fmt::format("{} is above the header, which is line {}", in_ticks(lines[0].text), line.number),
                fmt::format("leave out the lines above it: tail -n +{} FILE", line.number));
  }
}

void doubt_comments(std::string_view head, bool stated, Doubts& doubts) {
  constexpr std::size_t enough = 64;
  for (const Line& line : lines_of(head, enough)) {
    if (!is_comment(line.text)) return;
    const std::vector<std::string> words = words_of(line.text);
    const auto says = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
    const bool konect = without_blanks(line.text).starts_with('%') && !words.empty();
    if (!stated && ((says("undirected") && !says("directed")) || (konect && words[0] == "sym"))) {
      const bool configured = doubts.spelling().in_configuration;
      doubts.report_at(
          {line.number, 0}, "undirected_comment",
          fmt::format("{} says that edges have no direction, but they are read as directed", in_ticks(line.text)),
          configured ? "directed: false reads them so" : "--undirected reads them so; --directed says that they are directed");
    }
    if (konect && words[0] == "bip") {
      doubts.report_at({line.number, 0}, "bipartite_comment",
                       fmt::format("{} says that sources and targets are two sets, but equal numbers are read as one vertex",
                                   in_ticks(line.text)),
                       "give the targets ids of their own, such as negative ones");
    }
  }
}

void doubt_weights(std::string_view head, const CodecOptions& options, Doubts& doubts) {
  constexpr std::size_t enough = 64;
  if (!options.columns.empty()) return;
  bool konect = false;
  for (const Line& line : lines_of(head, enough)) {
    if (is_comment(line.text)) {
      const std::vector<std::string> words = words_of(line.text);
      const bool direction = !words.empty() && (words[0] == "sym" || words[0] == "asym" || words[0] == "bip");
      konect = konect || (direction && without_blanks(line.text).starts_with('%'));
      continue;
    }
    const std::size_t fields = count_fields(line.text);
    if (!konect || (fields != 4 && (fields != 3 || options.time_unit))) return;
    constexpr std::string_view as = "the comment at the beginning is KONECT's, whose third column is a weight";
    const Doubts::Doubt doubt = fields == 3 ? weight_as_time(doubts.spelling(), {line.number, 0}, 3, as)
                                            : number_as_label(doubts.spelling(), {line.number, 0}, as, false);
    doubts.report_at(doubt.at, doubt.code, doubt.what, doubt.remedy);
    return;
  }
}

void doubt_sizes(std::string_view head, bool comments, Doubts& doubts) {
  constexpr std::size_t enough = 64;
  for (const Line& line : lines_of(head, enough)) {
    if (comments && is_comment(line.text)) continue;
    if (std::optional<SizeLine> sizes = SizeLine::of(line.text, line.number)) doubts.watch_sizes(std::move(*sizes));
    return;
  }
}

void doubt_first_record(std::string_view head, Format format, const CodecOptions& options, Doubts& doubts) {
  constexpr std::size_t enough = 16;
  CodecOptions alone = options;
  alone.doubts = nullptr;
  const std::unique_ptr<Codec> codec = make_codec(format, alone);
  std::optional<Line> first;
  std::size_t numbers = 0;
  for (const Line& line : lines_of(head, enough)) {
    const Decoded decoded = codec->decode(line.text);
    if (!decoded.remedy.empty()) return;
    if (decoded.updates.size() != 1) continue;
    const Update& update = decoded.updates[0];
    const bool edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
    const bool source = is_numeric(update.source);
    const bool target = edge ? is_numeric(update.target) : source;
    if (!first) {
      if (source || target) return;
      first = line;
    } else if (!source || !target) {
      return;
    } else {
      ++numbers;
    }
  }
  if (!first || numbers < 2) return;
  doubts.report_at(
      {first->number, 0}, "header_as_record",
      fmt::format("the words of {} are read as ids, but numbers follow: it may be a header", in_ticks(first->text)),
      format == Format::csv ? fmt::format("{} passes over it, {} says that it is a record",
                                          options.vertices ? doubts.spelling()("columns", "vertex=NAME,label=NAME")
                                                           : doubts.spelling()("header", "yes"),
                                          doubts.spelling()("header", "no"))
                            : "leave the line out if it is one");
}

}  // namespace deltamatch::ingest
