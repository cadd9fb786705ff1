// Reads where updates come from and how their records are read.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "cli/config/service_sections.hpp"
#include "deltamatch/error.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/codec/formats.hpp"
#include "ingest/service/kafka/topic_expression.hpp"

namespace deltamatch::cli {
namespace {

using namespace std::chrono_literals;
using ingest::Format;
using std::chrono::milliseconds;

/// Refuses keys that do not fit the format and would be ignored.
void check_format(const Section& section, Format format) {
  const ingest::FormatTraits& traits = ingest::traits_of(format);
  if (section.has("separator") && !traits.has_separator) {
    section.refuse("separator", "only the format csv has a separator", "leave it out, or write format: csv");
  }
  if (section.has("envelope") && !traits.has_envelope) {
    section.refuse("envelope", "only the format json has an envelope", "leave it out, or write format: json");
  }
  if (section.is_map("columns") && !traits.has_names()) {
    section.refuse("columns", "only the formats json and csv have named columns", "write them by position: [source, target]");
  }
}

/// Turns {source: payer, …} or [source, target, -, time] into the text that codecs take.
void read_columns(Section& section, ingest::CodecOptions& codec) {
  const Node* const node = section.find("columns");
  if (node == nullptr) return;
  std::vector<std::string> parts;
  if (node->kind == Node::Kind::list) {
    for (const Node& item : node->items) parts.push_back(item.text);
  } else {
    Section names = section.section("columns");
    std::vector<std::string> roles;
    for (const ingest::Role role : ingest::all_roles()) roles.emplace_back(ingest::role_name(role));
    for (const auto* attributes : {&codec.attributes, &codec.vertex_attributes}) {
      for (const ingest::AttributeColumn& column : *attributes) {
        if (std::ranges::find(roles, column.attribute.name) == roles.end()) roles.push_back(column.attribute.name);
      }
    }
    for (const std::string& role : roles) {
      std::string name;
      if (names.text(role, name)) parts.push_back(fmt::format("{}={}", role, name));
      if (name.find(',') != std::string::npos)
        names.refuse(role, "the name of a column must not have a comma", "rename the column");
    }
    names.finish();
  }
  codec.columns = fmt::format("{}", fmt::join(parts, ","));
}

std::optional<Format> read_format(Section& section, bool files) {
  const Node* const text = section.find_text("format");
  if (text == nullptr) return std::nullopt;
  const auto is_offered = [files](const ingest::FormatTraits& traits) {
    return files || traits.message != ingest::MessageForm::none;
  };
  const auto format = ingest::format_by_name(text->text);
  if (format && is_offered(ingest::traits_of(*format))) return format;
  std::vector<std::string_view> names;
  for (const ingest::FormatTraits& traits : ingest::formats()) {
    if (is_offered(traits)) names.push_back(traits.configured_name());
  }
  section.refuse("format", fmt::format("{} is not a choice", Section::shown(*text)),
                 fmt::format("choose one of {}", fmt::join(names, "|")));
  return std::nullopt;
}

void read_codec(Section& section, ingest::CodecOptions& codec, bool files) {
  using ingest::IdKind;
  using ingest::TimeUnit;
  read_columns(section, codec);
  section.text("op_values", codec.op_values);
  constexpr std::array<std::pair<std::string_view, ingest::Envelope>, 2> envelopes{
      {{"none", ingest::Envelope::none}, {"debezium", ingest::Envelope::debezium}}};
  section.choice("envelope", codec.envelope, envelopes);
  constexpr std::array<std::pair<std::string_view, char>, 4> separators{
      {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"bar", '|'}}};
  section.choice("separator", codec.separator, separators);
  if (files) {
    bool header = false;
    if (section.flag("header", header)) codec.header = header;
  }
  constexpr std::array<std::pair<std::string_view, IdKind>, 3> kinds{
      {{"automatic", IdKind::automatic}, {"integer", IdKind::integer}, {"string", IdKind::string}}};
  IdKind ids{};
  if (section.choice("ids", ids, kinds)) codec.ids = ids;
  constexpr std::array<std::pair<std::string_view, TimeUnit>, 3> units{
      {{"s", TimeUnit::seconds}, {"ms", TimeUnit::milliseconds}, {"us", TimeUnit::microseconds}}};
  TimeUnit unit{};
  if (section.choice("time_unit", unit, units)) codec.time_unit = unit;
  section.text("time_format", codec.time_format);
  section.text("edge_label", codec.edge_label);
  section.flag("vertices", codec.vertices);
}

void read_topic_name(Section& section, std::string& name) {
  if (!section.require("name", "name: payments, or name: '^payments-.*' for all topics that match it")) return;
  if (!section.name("name", name)) return;
  if (!ingest::kafka::TopicExpression::is_one(name)) {
    if (topic_name(section, "name", name)) section.note(&ConfigContext::topics_read, "name", name);
    return;
  }
  if (const auto fault = ingest::kafka::TopicExpression::fault_of(name)) section.refuse("name", fault->what, fault->remedy);
}

void read_topic(Section section, ingest::InputTopics& topics) {
  read_topic_name(section, topics.name);
  std::optional<Format> format;
  read_records(section, format, topics.codec, false);
  topics.format = format.value_or(topics.format);
}

void read_topics(Section& section, std::vector<ingest::InputTopics>& topics, const ingest::CodecOptions& graph) {
  constexpr std::string_view example = "topics: [{name: payments, format: json}]";
  if (!section.require("topics", example)) return;
  const Node* const list = section.find_list("topics");
  if (list == nullptr) return;
  if (list->items.empty()) section.refuse("topics", "the list is empty", fmt::format("write e.g. {}", example));
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    Section item = section.item("topics", *list, i);
    ingest::InputTopics read;
    read.codec = graph;
    read_topic(item, read);
    const auto same = [&](const ingest::InputTopics& other) { return !read.name.empty() && other.name == read.name; };
    if (std::any_of(topics.begin(), topics.end(), same)) {
      item.refuse("name", fmt::format("the topic {} is listed twice", read.name), "leave one of them out");
    }
    topics.push_back(std::move(read));
  }
}

void read_start_at(Section& section, ingest::StartAt& start) {
  const Node* const node = section.find_text("start");
  if (node == nullptr) return;
  using Kind = ingest::StartAt::Kind;
  if (node->text == "earliest" || node->text == "latest") {
    start.kind = node->text == "latest" ? Kind::latest : Kind::earliest;
    return;
  }
  const ingest::TimeReader reader(ingest::TimeUnit::milliseconds, "");
  const bool is_date = node->text.size() > 4 && node->text[4] == '-';  // the reader also takes numbers
  const auto time = is_date ? reader.read(node->text) : std::nullopt;
  if (time && *time >= 0) {
    start = {Kind::timestamp, std::chrono::duration_cast<milliseconds>(std::chrono::microseconds(*time))};
  } else {
    section.refuse("start", fmt::format("{} is neither earliest nor latest nor a time", Section::shown(*node)),
                   "write a time as 2026-01-31T08:00:00Z");
  }
}

void read_refusals(Section& section, ingest::InputOptions& input) {
  using ingest::OnError;
  constexpr std::array<std::pair<std::string_view, OnError>, 3> policies{
      {{"fail", OnError::fail}, {"skip", OnError::skip}, {"dead-letter", OnError::dead_letter}}};
  section.choice("on_error", input.on_error, policies);
  section.fraction("max_refused", input.max_refused, 0, 1);
  const bool given = section.has("dead_letters");
  if (given != (input.on_error == OnError::dead_letter)) {
    section.refuse(given ? "dead_letters" : "on_error", "dead letters need both on_error: dead-letter and dead_letters",
                   "add the other, e.g. dead_letters: {topic: payments.dead-letters}, or leave this out");
  }
  Section letters = section.section("dead_letters");
  if (topic_name(letters, "topic", input.dead_letter_topic)) {
    letters.note(&ConfigContext::topics_written, "topic", input.dead_letter_topic);
  }
  std::filesystem::path file;
  if (letters.path("file", file)) {
    input.dead_letter_file = file.string();
    letters.note(&ConfigContext::files_written, "file", input.dead_letter_file);
  }
  letters.finish();
  if (given && letters.has("topic") == letters.has("file")) {
    letters.refuse("dead letters go to a topic or to a file", "write {topic: NAME} or {file: PATH}");
  }
}

}  // namespace

void read_records(Section& section, std::optional<Format>& format, ingest::CodecOptions& codec, bool files) {
  const std::size_t problems = section.context().problems.count();
  format = read_format(section, files);
  read_codec(section, codec, files);
  section.finish();
  if (!format && section.has("format")) return;
  if (!format && !files) format = Format::jsonl;
  if (format) check_format(section, *format);
  if (!format || section.context().problems.count() > problems) return;
  try {
    static_cast<void>(files ? ingest::make_codec(*format, codec) : ingest::make_message_codec(*format, codec));
  } catch (const Error& error) {
    section.refuse(error.what(), "");
  }
}

void read_input(Section section, ingest::InputOptions& input, const ingest::CodecOptions& graph) {
  read_topics(section, input.topics, graph);
  read_start_at(section, input.start);
  Section queue = section.section("queue");
  queue.size("bytes", input.queue_bytes, 1 << 16, std::uint64_t{1} << 40);
  queue.number("records", input.queue_records, 1, 1'000'000'000);
  queue.finish();
  section.size("max_record", input.max_record, 1, std::uint64_t{1} << 30);
  section.number("max_labels", input.max_labels, 1, std::uint64_t{1} << 31);
  section.duration("max_ahead", input.max_ahead, milliseconds(1), milliseconds(36500 * 24h), "none");
  section.duration("idle_after", input.idle_after, milliseconds(1), milliseconds(365 * 24h));
  section.duration("refresh_every", input.refresh_every, milliseconds(100), milliseconds(24h));
  read_refusals(section, input);
  section.finish();
  if (input.queue_bytes < input.max_record) {
    section.refuse(
        section.has("queue") ? "queue" : "max_record",
        fmt::format("a queue of {} cannot hold a record of {}", size_text(input.queue_bytes), size_text(input.max_record)),
        "raise queue.bytes, or lower max_record");
  }
}

bool is_topic_name(std::string_view text) noexcept {
  constexpr std::size_t longest = 249;
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !text.empty() && text.size() <= longest && text != "." && text != ".." &&
         text.find_first_not_of(letters) == std::string_view::npos;
}

bool topic_name(Section& section, std::string_view key, std::string& target) {
  if (!section.name(key, target)) return false;
  if (is_topic_name(target)) return true;
  section.refuse(key, "this is not a valid name of a topic", "write up to 249 letters, digits, '.', '_' and '-'");
  return false;
}

}  // namespace deltamatch::cli
