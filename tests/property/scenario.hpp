// A scenario: a start graph, standing queries, and a stream cut into batches. The property tests draw, run and print scenarios.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "support/oracle.hpp"

namespace deltamatch::property {

/// The most embeddings that the oracle enumerates. A case with more costs more than it can show, so it ends.
inline constexpr std::size_t enumerable = 1500;

/// An update that owns its text.
struct Record {
  UpdateKind kind = UpdateKind::insert_edge;
  bool continues = false;
  bool ahead = false;
  oracle::ExternalId source;
  oracle::ExternalId target;
  std::string label;
  std::optional<std::string> source_label;
  std::optional<std::string> target_label;
  std::optional<Timestamp> time;
  std::optional<oracle::ExternalId> key;
  std::vector<oracle::Stored> values;  ///< of attributes

  /// Valid as long as the record, until the next call.
  [[nodiscard]] Update view() const;

 private:
  mutable std::vector<AttributeValue> shown_;
  mutable Properties properties_;
};

struct Standing {
  Query query;
  QueryOptions options;
};

struct Scenario {
  bool directed = true;
  Timestamp window = 0;
  Timestamp lateness = 0;
  Schema schema{};
  SelfLoops self_loops = SelfLoops::leave_out;
  OnReject on_reject = OnReject::skip;
  std::vector<Standing> queries;
  std::vector<Record> start;   ///< loaded in one call
  std::vector<Record> stream;  ///< processed in batches
  std::size_t batch_size = 1;

  /// How long edges are kept: the longest WITHIN plus the lateness; 0: for ever, as not all queries have WITHIN.
  [[nodiscard]] Timestamp retained() const;
  /// Whether a query reads attributes of vertices.
  [[nodiscard]] bool reads_vertices() const;
  /// Whether a query lists. An engine takes a sink only then.
  [[nodiscard]] bool lists() const;
  /// The stream in batches of `size`. An empty stream gives one empty batch.
  [[nodiscard]] std::vector<std::span<const Record>> batches(std::size_t size) const;
  [[nodiscard]] std::vector<std::span<const Record>> batches() const { return batches(batch_size); }
};

[[nodiscard]] std::vector<Update> views(std::span<const Record> records);
[[nodiscard]] UpdateBatch batch_of(std::span<const Record> records);

/// A query that needs no names: vertex i is called "v<i>" and has labels[i].
[[nodiscard]] Query make_query(const std::vector<LabelSet>& labels, const std::vector<QueryEdge>& edges);

/// What a reader needs to replay a failure by hand. rapidcheck and GoogleTest find these functions.
void showValue(const Scenario& scenario, std::ostream& out);
void show(const Query& query, std::ostream& out);
void show(std::span<const Record> batch, std::ostream& out);

}  // namespace deltamatch::property
