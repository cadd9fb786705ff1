// A sink that writes matches in a compact binary form, which docs/reference/formats.md describes. Query names and edge labels
// repeat, so each is written once and then named by its number. Numbers follow the order of first use.
#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "encoding/numbers.hpp"
#include "ingest/sink/file_sink.hpp"
#include "ingest/sink/match_text.hpp"
#include "ingest/sink/sinks.hpp"

namespace deltamatch::ingest {
namespace {

using encoding::put_number;
using encoding::put_signed;
using encoding::put_text;

constexpr std::string_view magic =
    "\x8f"
    "DMMTC\r\n";
// The first byte of each record.
constexpr char query_record = 1;
constexpr char label_record = 2;
constexpr char match_record = 3;
constexpr char end_record = 4;
constexpr char batch_end_record = 5;
constexpr char paths_record = 6;
enum Flag : unsigned char { vanished = 1, timed = 2 };

void append_id(std::string& out, const Id& id) {
  out += id.is_text() ? '\1' : '\0';
  if (id.is_text()) {
    put_text(out, id.text());
  } else {
    put_signed(out, id.number());
  }
}

void append_high_first(std::string& out, std::uint64_t bits) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(bits >> shift & 0xff);
}

void append_schema(std::string& out, const Schema& schema) {
  out += static_cast<char>(schema.model);
  put_number(out, schema.edges.size());
  for (const Attribute& attribute : schema.edges) {
    put_text(out, attribute.name);
    out += static_cast<char>(attribute.type.kind);
    out += static_cast<char>(attribute.type.scale);
  }
}

void append_time(std::string& out, const std::optional<Timestamp>& time) {
  out += time ? '\1' : '\0';
  if (time) put_signed(out, *time);
}

void append_value(std::string& out, const AttributeValue& value) {
  struct Writer {
    std::string& out;
    void operator()(std::monostate /*null*/) const {}
    void operator()(bool is_true) const { out += is_true ? '\1' : '\0'; }
    void operator()(std::int64_t number) const { put_signed(out, number); }
    void operator()(double number) const { append_high_first(out, std::bit_cast<std::uint64_t>(number)); }
    void operator()(std::string_view text) const { put_text(out, text); }
  };
  out += std::holds_alternative<std::monostate>(value) ? '\0' : '\1';
  std::visit(Writer{out}, value);
}

class BinarySink final : public FileSink {
 public:
  BinarySink(const std::string& path, MatchForm form) : FileSink(path), form_(std::move(form)) {
    text() += magic;
    text() += static_cast<char>(form_.version());
    if (form_.version() != 1) append_schema(text(), form_.schema);
    file_.commit();
  }

  void write(const Match& match) override {
    const std::uint64_t query = number_of(match);
    labels_of_match_.clear();
    for (const MatchedEdge& edge : match.edges) labels_of_match_.push_back(label_number(edge.label));
    const std::optional<Timestamp> time = written_time(match, form_);
    std::string& out = text();
    out += match_record;
    out += static_cast<char>((match.added ? 0 : vanished) | (time ? timed : 0));
    put_number(out, query);
    append_high_first(out, match.id.high);
    append_high_first(out, match.id.low);
    put_number(out, match.batch);
    if (time) put_signed(out, *time);
    for (const Id& id : match.vertices) append_id(out, id);
    for (std::size_t e = 0; e < match.edges.size(); ++e) {
      append_end(match, match.edges[e].source);
      put_number(out, labels_of_match_[e]);
      append_end(match, match.edges[e].target);
      if (form_.version() != 1) append_properties(match.edges[e]);
    }
    put_number(out, match.cause.size());
    for (const std::uint32_t edge : match.cause) put_number(out, edge);
    file_.spill_if_large();
  }

  void end(const ListingEnd& end) override {
    // A query that has not reported a match yet may report one in a later batch. That match needs the names of its vertices, so
    // the query then gets another number.
    const auto known = queries_.find(end.query);
    const std::uint64_t query =
        known != queries_.end() ? known->second : query_number(end.query, {}, 0, unnamed + std::string(end.query));
    std::string& out = text();
    out += end.batch == 0 ? end_record : batch_end_record;
    put_number(out, query);
    if (end.batch != 0) put_number(out, end.batch);
    put_number(out, end.matches);
    out += static_cast<char>(end.shortfall);
  }

  void commit() override {
    FileSink::commit();
    new_queries_.clear();
    new_labels_.clear();
  }
  void flush() override { commit(); }
  /// Removes what was written since the last commit, and forgets the names that only this part of the file defined.
  void abort() noexcept override {
    FileSink::abort();
    for (const auto& known : new_queries_) queries_.erase(known);
    for (const auto& known : new_labels_) labels_.erase(known);
    new_queries_.clear();
    new_labels_.clear();
  }

 private:
  using Numbers = std::map<std::string, std::uint64_t, std::less<>>;
  // The first bytes of keys that are no names of queries.
  static constexpr char unnamed = '\0';  // of queries written without vertex names
  static constexpr char several = '\1';  // of queries with paths; their lengths follow

  // Writes the position of an edge's end among the vertices of the match.
  void append_end(const Match& match, const Id& end) {
    put_number(text(), static_cast<std::uint64_t>(std::find(match.vertices.begin(), match.vertices.end(), end) -
                                                  match.vertices.begin()));
  }

  // In version 2.
  void append_properties(const MatchedEdge& edge) {
    std::string& out = text();
    if (form_.schema.model == EdgeModel::events) {
      put_number(out, edge.ordinal);
    } else {
      append_id(out, edge.key.value());
    }
    append_time(out, edge.time);
    for (std::size_t a = 0; a < form_.schema.edges.size(); ++a)
      append_value(out, a < edge.attributes.size() ? edge.attributes[a] : AttributeValue());
  }

  /// Each choice of lengths of a query's paths has a number of its own. The vertices between steps have no names.
  std::uint64_t number_of(const Match& match) {
    if (match.paths.empty()) return query_number(match.query, match.names, match.edges.size(), match.query);
    std::string key{several};
    for (const MatchedPath& path : match.paths) key += static_cast<char>(path.steps);
    key += match.query;
    if (const auto known = queries_.find(key); known != queries_.end()) return known->second;
    std::vector<std::string> names(match.names.begin(), match.names.end());
    names.resize(match.vertices.size());
    const std::uint64_t number = query_number(match.query, names, match.edges.size(), key);
    std::string& out = text();
    out += paths_record;
    put_number(out, number);
    put_number(out, match.paths.size());
    for (const MatchedPath& path : match.paths) {
      put_text(out, path.name);
      for (const std::uint32_t part : {path.first_edge, path.steps, path.first_vertex}) put_number(out, part);
    }
    return number;
  }

  std::uint64_t query_number(std::string_view name, std::span<const std::string> vertices, std::size_t edges,
                             std::string_view key) {
    if (const auto known = queries_.find(key); known != queries_.end()) return known->second;
    new_queries_.push_back(queries_.emplace(key, queries_.size()).first);
    std::string& out = text();
    out += query_record;
    put_text(out, name);
    put_number(out, vertices.size());
    for (const std::string& vertex : vertices) put_text(out, vertex);
    put_number(out, edges);
    return new_queries_.back()->second;
  }

  std::uint64_t label_number(std::string_view label) {
    if (const auto known = labels_.find(label); known != labels_.end()) return known->second;
    new_labels_.push_back(labels_.emplace(label, labels_.size()).first);
    text() += label_record;
    put_text(text(), label);
    return new_labels_.back()->second;
  }

  MatchForm form_;
  Numbers queries_;
  Numbers labels_;
  std::vector<Numbers::iterator> new_queries_;
  std::vector<Numbers::iterator> new_labels_;
  std::vector<std::uint64_t> labels_of_match_;
};

}  // namespace

std::unique_ptr<MatchSink> make_binary_sink(const std::string& path, const MatchForm& form) {
  return std::make_unique<BinarySink>(path, form);
}

}  // namespace deltamatch::ingest
