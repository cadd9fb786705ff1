// The engine under test, and the judge that checks it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "property/scenario.hpp"

namespace deltamatch::property {

/// A match as a sink received it.
struct Listed {
  std::string query;
  bool added = true;
  MatchId id;
  std::optional<Timestamp> time;
  oracle::Embedding embedding;
  std::vector<std::uint32_t> cause;
  std::uint32_t slot = 0;
  friend bool operator==(const Listed&, const Listed&) = default;
};

/// All results of a batch.
struct Output {
  BatchResult result;
  std::vector<Listed> matches;  ///< in order of arrival
};

/// The engine with the scenario's standing queries.
class Subject {
 public:
  Subject(const Scenario& scenario, unsigned threads, EventOrder order = EventOrder::arrival);
  /// Continues with an engine that has no queries yet.
  Subject(const Scenario& scenario, Engine engine);

  BatchResult load(std::span<const Record> records);
  Output process(std::span<const Record> records);
  /// The same with BatchOptions::record_by_record. The batch may end early.
  Output process(const UpdateBatch& batch, bool record_by_record);
  [[nodiscard]] Engine& engine() noexcept { return engine_; }
  /// Those of the standing queries.
  [[nodiscard]] const std::vector<QueryId>& ids() const noexcept { return ids_; }

 private:
  const Scenario* scenario_;
  Engine engine_;
  std::vector<QueryId> ids_;
};

/// The same, unless a query's condition contradicts itself, so that no match can satisfy it.
[[nodiscard]] std::optional<Subject> consistent_subject(const Scenario& scenario, unsigned threads);

/// The oracle's side: the expected result of each batch. If the engine's answer differs, it fails the running property with an
/// exception that says why.
class Judge {
 public:
  explicit Judge(const Scenario& scenario);

  /// Returns false if an answer is too large to enumerate; the case then ends.
  [[nodiscard]] bool take(std::span<const Record> records);

  /// Checks what every call that applies updates returns, with or without matching.
  void check_result(const BatchResult& result) const;
  void check_batch(const Output& output);
  /// Checks the graph itself: every vertex with its label, every edge with its time, each in order of ids.
  void check_graph(const Engine& engine) const;
  /// Checks static matching of every query on the current graph, counted and listed.
  void check_static(Engine& engine);

  [[nodiscard]] const oracle::Outcome& outcome() const noexcept { return outcome_; }
  [[nodiscard]] const oracle::Model& model() const noexcept { return model_; }
  [[nodiscard]] const std::vector<oracle::Answer>& answers() const noexcept { return after_; }

 private:
  [[nodiscard]] std::vector<std::string> tell() const;
  void check_query(std::size_t query, const Output& output, std::span<const Listed> listed);
  [[nodiscard]] bool has_aged(std::size_t query, const oracle::Embedding& match, bool appears) const;
  void check_cause(const Listed& match) const;
  void check_id(std::size_t query, const Listed& match);

  const Scenario& scenario_;
  oracle::Model model_;
  std::vector<oracle::Matcher> matchers_;
  std::vector<oracle::Answer> before_;
  std::vector<oracle::Answer> after_;
  oracle::Outcome outcome_;
  std::uint64_t processed_ = 0;
  std::vector<std::map<oracle::Embedding, MatchId>> ids_;      ///< of all matches ever seen, by query
  std::vector<std::map<MatchId, oracle::Embedding>> matches_;  ///< the inverse of ids_
};

/// The graph in an engine, one line for each vertex and edge.
[[nodiscard]] std::vector<std::string> tell(const Engine& engine);

/// Loads the start and processes `batches`; the judge checks each call. Returns nothing if an answer is too large to enumerate.
[[nodiscard]] std::optional<std::vector<Output>> judged_run(const Scenario& scenario, Subject& subject,
                                                            const std::vector<std::span<const Record>>& batches);

/// Collects what one engine call writes, and checks the sink's protocol.
class Recorder : public MatchSink {
 public:
  void begin(std::uint64_t batch) override;
  void write(const Match& match) override;
  void commit() override;
  void abort() noexcept override;

  /// Fails the running property unless the call kept the protocol: no calls at all, or begin, write*, commit.
  [[nodiscard]] std::vector<Listed> finish(std::uint64_t batch) const;

 private:
  enum class State { idle, open, committed, aborted };
  State state_ = State::idle;
  std::uint64_t batch_ = 0;
  std::vector<Listed> listed_;
  std::string broken_;  ///< the first violation of the protocol
};

/// Fails the running property.
[[noreturn]] void fail(const std::string& why);

/// The sum of ids modulo 2^128, as the words of a MatchDigest.
[[nodiscard]] MatchDigest plus(const MatchDigest& a, const MatchDigest& b);
[[nodiscard]] MatchDigest minus(const MatchDigest& a, const MatchDigest& b);

}  // namespace deltamatch::property
