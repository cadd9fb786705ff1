// Reads where updates come from and how their records are read.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "cli/config/service_sections.hpp"
#include "deltamatch/error.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/codec/formats.hpp"
#include "ingest/service/kafka/topic_expression.hpp"
#include "ingest/service/web/schema_registry.hpp"

namespace deltamatch::cli {
namespace {

using namespace std::chrono_literals;
using ingest::Format;
using std::chrono::milliseconds;

using Import = std::pair<std::string, std::string>;

/// Reads a .proto file and those that it imports from the same folder. Those that nobody has are left to the reader of schemas.
class ProtoFiles {
 public:
  explicit ProtoFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Appends the imports of a text, each after those that it imports itself.
  void take(const std::string& text, std::vector<Import>& imports) {  // NOLINT(misc-no-recursion): each file once
    for (std::size_t at = 0; (at = text.find("import", at)) != std::string::npos;) {
      at += std::string_view("import").size();
      const std::size_t begin = text.find_first_not_of(" \t\r\nablwepukic", at);  // also over `public` and `weak`
      if (begin == std::string::npos || text[begin] != '"') continue;
      const std::string name = text.substr(begin + 1, text.find('"', begin + 1) - begin - 1);
      if (name.starts_with("google/protobuf/") || !seen_.insert(name).second) continue;
      std::string imported;
      if (!read_whole(folder_ / name, imported)) continue;
      take(imported, imports);
      imports.emplace_back(name, std::move(imported));
    }
  }

  static bool read_whole(const std::filesystem::path& path, std::string& text) {
    std::ifstream file(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
    return file.good() || file.eof();
  }

 private:
  std::filesystem::path folder_;
  std::set<std::string> seen_;
};

/// Reads {file: x.avsc} or {file: x.proto, message: Payment}.
void read_schema(Section& section, ingest::SchemaOptions& schema) {
  Section from = section.section("schema");
  std::filesystem::path file;
  if (section.has("schema") && from.require("file", "file: payment.avsc") && from.input_file("file", file)) {
    if (!ProtoFiles::read_whole(file, schema.text) || schema.text.empty())
      from.refuse("file", "it is empty, or cannot be read", "name the file of a schema");
    ProtoFiles(file.parent_path()).take(schema.text, schema.imports);
  }
  from.text("message", schema.message);
  from.finish();
}

/// Refuses keys that do not fit the format and would be ignored.
void check_format(const Section& section, Format format) {
  const ingest::FormatTraits& traits = ingest::traits_of(format);
  if (section.has("separator") && !traits.has_separator) {
    section.refuse("separator", "only the format csv has a separator", "leave it out, or write format: csv");
  }
  if (section.has("envelope") && !traits.has_envelope) {
    section.refuse("envelope", "only the formats json, avro and protobuf have an envelope",
                   "leave it out, or write format: json");
  }
  if (section.has("schema") && !traits.has_schema) {
    section.refuse("schema", "only the formats avro and protobuf have a schema", "leave it out, or write format: avro");
  }
  if (section.is_map("columns") && !traits.has_names()) {
    section.refuse("columns", "only the formats json, avro, protobuf and csv have named columns",
                   "write them by position: [source, target]");
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
    return files ? traits.has_files : traits.message != ingest::MessageForm::none;
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
  constexpr std::array<std::pair<std::string_view, ingest::Decimal>, 2> decimals{
      {{"point", ingest::Decimal::point}, {"comma", ingest::Decimal::comma}}};
  section.choice("decimal", codec.decimal, decimals);
  section.text("edge_label", codec.edge_label);
  section.flag("vertices", codec.vertices);
  if (files) return;
  read_schema(section, codec.schema);
  constexpr std::array<std::pair<std::string_view, std::optional<Format>>, 3> keys{
      {{"text", std::nullopt}, {"avro", Format::avro}, {"protobuf", Format::protobuf}}};
  section.choice("key_format", codec.key_format, keys);
}

/// Reads how the registry of schemas is reached.
void read_registry(Section section, ingest::RegistryOptions& registry) {
  const Node* const url = section.find("url");
  const Node* const urls = url == nullptr ? nullptr : url->kind == Node::Kind::list ? url : section.find_text("url");
  if (urls != nullptr) {
    for (const Node& one : urls->kind == Node::Kind::list ? urls->items : std::vector<Node>{*urls}) {
      registry.urls.push_back(one.text);
      try {
        ingest::RegistryOptions alone;
        alone.urls.push_back(one.text);
        const ingest::SchemaRegistry checked(alone);
      } catch (const Error& error) {
        section.refuse("url", error.what(), "");
      }
    }
  }
  section.text("user", registry.user);
  section.secret("password", registry.password);
  if (registry.user.empty() && section.has("password"))
    section.refuse("password", "there is a password and no user", "add user");
  section.input_file("ca", registry.ca);
  section.input_file("certificate", registry.certificate);
  section.input_file("key", registry.key);
  if (section.has("certificate") != section.has("key"))
    section.refuse("a certificate and its key go together", "name both files, or none");
  section.duration("timeout", registry.timeout, milliseconds(1), milliseconds(1h));
  section.finish();
}

/// Whether a topic needs a registry.
bool needs_registry(const ingest::InputTopics& topics) { return topics.codec.schema.framed || topics.codec.key_format; }

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
  codec.schema.framed = !files && format && ingest::traits_of(*format).has_schema && !section.has("schema");
  if (!format || section.context().problems.count() > problems) return;
  try {
    static_cast<void>(files ? ingest::make_codec(*format, codec) : ingest::make_message_codec(*format, codec));
  } catch (const Error& error) {
    section.refuse(error.what(), "");
  }
}

void read_input(Section section, ingest::InputOptions& input, const ingest::CodecOptions& graph) {
  read_topics(section, input.topics, graph);
  const bool needed = std::ranges::any_of(input.topics, needs_registry);
  if (needed && !section.has("registry")) {
    section.refuse("topics", "the schemas of a topic are in a registry, and none is named",
                   "add registry: {url: 'http://localhost:8081'}, or the topic's schema: {file: PATH}");
  }
  Section registry = section.section("registry");
  if (section.has("registry")) registry.require("url", "url: 'http://localhost:8081'");
  read_registry(registry, input.registry);
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
