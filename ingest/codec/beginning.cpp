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
#include "ingest/codec/head_lines.hpp"
#include "ingest/codec/header_words.hpp"
#include "ingest/codec/label_numbers.hpp"
#include "ingest/codec/size_line.hpp"
#include "ingest/source/bytes.hpp"

namespace deltamatch::ingest {
namespace {

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
  std::vector<std::string> words;  // of the first record, if it looks like a header
  std::size_t numbers = 0;
  std::size_t others = 0;
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
      words = {to_string(update.source), to_string(edge ? update.target : update.source)};
      if (!edge || !std::ranges::all_of(words, [](const std::string& word) { return is_header_word(word); })) words.clear();
    } else if (!source || !target) {
      if (words.empty() ||
          std::ranges::count(words, to_string(update.source)) + std::ranges::count(words, to_string(update.target)) != 0)
        return;
      ++others;
    } else {
      ++numbers;
    }
  }
  if (!first || (numbers < 2 && (words.empty() || others < 2)) || (others != 0 && words.empty())) return;
  doubts.report_at({first->number, 0}, "header_as_record",
                   fmt::format("the words of {} are read as ids, but {}: it may be a header", in_ticks(first->text),
                               others == 0 ? "numbers follow" : "are names of columns"),
                   format == Format::csv ? fmt::format("{} passes over it, {} says that it is a record",
                                                       options.vertices ? doubts.spelling()("columns", "vertex=NAME,label=NAME")
                                                                        : doubts.spelling()("header", "yes"),
                                                       doubts.spelling()("header", "no"))
                                         : "leave the line out if it is one");
}

}  // namespace deltamatch::ingest
