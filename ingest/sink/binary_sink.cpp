// A sink that writes matches in a compact binary form, which docs/reference/formats.md describes. Query names and edge labels
// repeat, so each is written once and then named by its number. Numbers follow the order of first use.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "encoding/numbers.hpp"
#include "ingest/sink/file_sink.hpp"
#include "ingest/sink/sinks.hpp"

namespace deltamatch::ingest {
namespace {

using encoding::put_number;
using encoding::put_signed;
using encoding::put_text;

constexpr std::string_view magic =
    "\x8f"
    "DMMTC\r\n";
constexpr char version = 1;
// The first byte of each record.
constexpr char query_record = 1;
constexpr char label_record = 2;
constexpr char match_record = 3;
constexpr char end_record = 4;
constexpr char batch_end_record = 5;
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

class BinarySink final : public FileSink {
 public:
  explicit BinarySink(const std::string& path) : FileSink(path) {
    text() += magic;
    text() += version;
    file_.commit();
  }

  void write(const Match& match) override {
    const std::uint64_t query = query_number(match.query, match.names, match.edges.size());
    labels_of_match_.clear();
    for (const MatchedEdge& edge : match.edges) labels_of_match_.push_back(label_number(edge.label));
    std::string& out = text();
    out += match_record;
    out += static_cast<char>((match.added ? 0 : vanished) | (match.time ? timed : 0));
    put_number(out, query);
    append_high_first(out, match.id.high);
    append_high_first(out, match.id.low);
    put_number(out, match.batch);
    if (match.time) put_signed(out, *match.time);
    for (const Id& id : match.vertices) append_id(out, id);
    for (std::size_t e = 0; e < match.edges.size(); ++e) {
      append_end(match, match.edges[e].source);
      put_number(out, labels_of_match_[e]);
      append_end(match, match.edges[e].target);
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
  static constexpr char unnamed = '\0';  // key prefix of queries written without vertex names

  // Writes the position of an edge's end among the vertices of the match.
  void append_end(const Match& match, const Id& end) {
    put_number(text(), static_cast<std::uint64_t>(std::find(match.vertices.begin(), match.vertices.end(), end) -
                                                  match.vertices.begin()));
  }

  std::uint64_t query_number(std::string_view name, std::span<const std::string> vertices, std::size_t edges) {
    return query_number(name, vertices, edges, name);
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

  Numbers queries_;
  Numbers labels_;
  std::vector<Numbers::iterator> new_queries_;
  std::vector<Numbers::iterator> new_labels_;
  std::vector<std::uint64_t> labels_of_match_;
};

}  // namespace

std::unique_ptr<MatchSink> make_binary_sink(const std::string& path) { return std::make_unique<BinarySink>(path); }

}  // namespace deltamatch::ingest
