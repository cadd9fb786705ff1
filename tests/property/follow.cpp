#include "property/follow.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::property {
namespace {

using oracle::Answer;
using oracle::DataEdge;
using oracle::Embedding;

__extension__ using Wide = unsigned __int128;

std::string text(Count count) { return deltamatch::to_string(count); }
std::string text(std::uint64_t number) { return std::to_string(number); }
std::string text(const std::optional<Timestamp>& time) { return time ? std::to_string(*time) : "none"; }

template <typename T, typename U>
void same(const std::string& what, const T& expected, const U& got) {
  if (!(expected == got)) fail(what + ": expected " + text(expected) + ", got " + text(got));
}

Wide wide(const MatchDigest& digest) { return Wide{digest.high} << 64 | digest.low; }
MatchDigest narrow(Wide sum) { return {static_cast<std::uint64_t>(sum >> 64), static_cast<std::uint64_t>(sum)}; }

std::string list(const std::string& title, const Answer& answer) {
  std::string result = title + " (" + std::to_string(answer.size()) + ")\n";
  for (const Embedding& embedding : answer) result += "    " + oracle::to_string(embedding) + '\n';
  return result;
}

/// The matches of `a` whose identity no match of `b` has.
Answer without(const Answer& a, const Answer& b) {
  Answer identities;
  for (const Embedding& embedding : b) identities.insert(oracle::identity(embedding));
  Answer result;
  for (const Embedding& embedding : a) {
    if (!identities.contains(oracle::identity(embedding))) result.insert(embedding);
  }
  return result;
}

/// The listed matches of one sign as a set. None may occur twice.
Answer collect(std::span<const Listed> listed, bool added, const std::string& where) {
  Answer result;
  for (const Listed& match : listed) {
    if (match.added != added) continue;
    if (!result.insert(match.embedding).second) fail(where + ": listed twice: " + oracle::to_string(match.embedding));
  }
  return result;
}

void same_answer(const std::string& where, const Answer& expected, const Answer& got) {
  if (expected == got) return;
  fail(where + ":\n  " + list("missing", without(expected, got)) + "  " + list("too many", without(got, expected)) + "  " +
       list("expected", expected));
}

MatchDigest digest_of(std::span<const Listed> listed, bool added) {
  MatchDigest digest;
  for (const Listed& match : listed) {
    if (match.added == added) digest = plus(digest, {match.id.high, match.id.low});
  }
  return digest;
}

}  // namespace

void fail(const std::string& why) { RC_FAIL(why); }

MatchDigest plus(const MatchDigest& a, const MatchDigest& b) { return narrow(wide(a) + wide(b)); }
MatchDigest minus(const MatchDigest& a, const MatchDigest& b) { return narrow(wide(a) - wide(b)); }

void Recorder::begin(std::uint64_t batch) {
  if (state_ != State::idle) broken_ = "begin was called twice";
  state_ = State::open;
  batch_ = batch;
}

void Recorder::write(const Match& match) {
  if (state_ != State::open) broken_ = "write came before begin or after commit";
  if (match.batch != batch_) broken_ = "a match bears another batch number than begin gave";
  std::size_t named = match.vertices.size();
  for (const MatchedPath& path : match.paths) named -= path.steps - 1;
  if (match.names.size() != named) broken_ = "a match has not a name for each vertex";
  Listed& listed = listed_.emplace_back();
  listed.query = match.query;
  listed.added = match.added;
  listed.id = match.id;
  listed.time = match.time;
  for (const Id& vertex : match.vertices) listed.embedding.vertices.push_back(oracle::own(vertex));
  for (const MatchedEdge& edge : match.edges) {
    listed.embedding.edges.push_back({oracle::own(edge.source), std::string(edge.label), oracle::own(edge.target), edge.ordinal,
                                      edge.key ? std::optional(oracle::own(*edge.key)) : std::nullopt, edge.time,
                                      oracle::own(edge.attributes)});
  }
  for (const MatchedPath& path : match.paths) listed.embedding.lengths.push_back(path.steps);
  listed.cause.assign(match.cause.begin(), match.cause.end());
  listed.slot = match.slot;
}

void Recorder::commit() {
  if (state_ != State::open) broken_ = "commit without begin";
  state_ = State::committed;
}

void Recorder::abort() noexcept { state_ = State::aborted; }

std::vector<Listed> Recorder::finish(std::uint64_t batch) const {
  if (!broken_.empty()) fail("sink: " + broken_);
  if (state_ != State::idle && state_ != State::committed) fail("sink: a call that succeeded did not commit");
  if (state_ == State::committed) same("sink: number of the batch", batch, batch_);
  return listed_;
}

Subject::Subject(const Scenario& scenario, unsigned threads, EventOrder order)
    : Subject(scenario, Engine({.directed = scenario.directed,
                                .threads = threads,
                                .window = scenario.window,
                                .allowed_lateness = scenario.lateness,
                                .order = order,
                                .schema = scenario.schema,
                                .self_loops = scenario.self_loops})) {}

Subject::Subject(const Scenario& scenario, Engine engine) : scenario_(&scenario), engine_(std::move(engine)) {
  for (const Standing& standing : scenario.queries) ids_.push_back(engine_.add_query(standing.query, standing.options));
}

std::optional<Subject> consistent_subject(const Scenario& scenario, unsigned threads) {
  try {
    return std::optional<Subject>(std::in_place, scenario, threads);
  } catch (const Error& error) {
    const std::string_view what = error.what();
    const bool contradiction =
        what.find("no times satisfy") != std::string::npos || what.find("no length of the paths") != std::string::npos;
    if (!contradiction) throw;
    return std::nullopt;
  }
}

BatchResult Subject::load(std::span<const Record> records) { return engine_.load(batch_of(records), scenario_->on_reject); }

Output Subject::process(std::span<const Record> records) {
  Recorder recorder;
  Output output;
  output.result = engine_.process(batch_of(records), scenario_->on_reject, scenario_->lists() ? &recorder : nullptr);
  output.matches = recorder.finish(output.result.batch);
  return output;
}

Output Subject::process(const UpdateBatch& batch, bool record_by_record) {
  Recorder recorder;
  BatchOptions options;
  options.on_reject = scenario_->on_reject;
  options.record_by_record = record_by_record;
  if (scenario_->lists()) options.sink = &recorder;
  Output output;
  output.result = engine_.process(batch, options).value();
  output.matches = recorder.finish(output.result.batch);
  return output;
}

Judge::Judge(const Scenario& scenario)
    : scenario_(scenario),
      model_(scenario.directed, scenario.window, scenario.schema, scenario.reads_vertices(), scenario.retained(),
             scenario.self_loops == SelfLoops::keep) {
  for (const auto& [query, options] : scenario.queries)
    matchers_.emplace_back(query, options.mode, options.count, options.induced);
  after_.resize(matchers_.size());
  ids_.resize(matchers_.size());
  matches_.resize(matchers_.size());
}

bool Judge::take(std::span<const Record> records) {
  outcome_ = model_.apply(views(records), scenario_.on_reject);
  before_ = std::exchange(after_, {});
  try {
    for (const oracle::Matcher& matcher : matchers_) after_.push_back(matcher.match(model_.graph(), enumerable));
  } catch (const oracle::TooMany&) {
    return false;
  }
  return true;
}

void Judge::check_result(const BatchResult& result) const {
  same("consumed", outcome_.consumed, result.consumed);
  const auto rejects = [](const std::vector<Reject>& all) {
    std::string line;
    for (const Reject& reject : all) line += ' ' + std::to_string(reject.index) + ':' + std::string(reject_name(reject.reason));
    return line;
  };
  if (rejects(outcome_.rejects) != rejects(result.rejects)) {
    fail("rejects: expected" + rejects(outcome_.rejects) + ", got" + rejects(result.rejects));
  }
  same("inserted", outcome_.inserted.size(), result.inserted);
  same("deleted", outcome_.deleted.size(), result.deleted);
  same("expired", outcome_.expired, result.expired);
  same("duplicate_insert", outcome_.ignored.duplicate_insert, result.ignored.duplicate_insert);
  same("absent_delete", outcome_.ignored.absent_delete, result.ignored.absent_delete);
  same("superseded", outcome_.ignored.superseded, result.ignored.superseded);
  same("late", outcome_.ignored.late, result.ignored.late);
  same("self_loop", outcome_.ignored.self_loop, result.ignored.self_loop);
  same("watermark", outcome_.watermark, result.watermark);
}

std::vector<std::string> tell(const Engine& engine) {
  std::vector<std::string> told;
  engine.for_each([&](const Update& update) { told.push_back(oracle::to_string(update)); });
  return told;
}

std::vector<std::string> Judge::tell() const {
  std::vector<std::string> told;
  for (const auto& [id, label] : model_.graph().vertices) {
    Update update;
    update.kind = UpdateKind::insert_vertex;
    update.source = oracle::view(id);
    update.source_label = label;
    const auto values = model_.graph().values.find(id);
    told.push_back(oracle::to_string(update) +
                   (values == model_.graph().values.end() ? "" : oracle::to_string(values->second)));
  }
  std::vector<const DataEdge*> edges;
  for (const DataEdge& edge : model_.graph().edges) edges.push_back(&edge);
  std::sort(edges.begin(), edges.end(), [](const DataEdge* a, const DataEdge* b) {
    return std::tie(a->source, a->target, a->label, a->ordinal, a->key) <
           std::tie(b->source, b->target, b->label, b->ordinal, b->key);
  });
  for (const DataEdge* edge : edges) {
    Update update;
    update.source = oracle::view(edge->source);
    update.target = oracle::view(edge->target);
    update.label = edge->label;
    if (scenario_.schema.model != EdgeModel::simple) {
      update.time = edge->time;
    } else if (scenario_.window != 0) {
      update.time = model_.time(*edge);
    }
    told.push_back(oracle::to_string(update) + (edge->key ? " #" + oracle::to_string(*edge->key) : "") +
                   oracle::to_string(edge->attributes));
  }
  return told;
}

void Judge::check_graph(const Engine& engine) const {
  const GraphStatistics statistics = engine.graph();
  same("edges in the graph", model_.graph().edges.size(), statistics.edges);
  same("vertices in the dictionary", model_.graph().vertices.size(), statistics.vertices);
  std::set<std::string_view> vertex_labels;
  std::set<std::string_view> edge_labels;
  for (const auto& [id, label] : model_.graph().vertices) vertex_labels.insert(label);
  for (const DataEdge& edge : model_.graph().edges) edge_labels.insert(edge.label);
  same("labels of vertices", vertex_labels.size() - vertex_labels.count(""), statistics.vertex_labels);
  same("labels of edges", edge_labels.size() - edge_labels.count(""), statistics.edge_labels);
  const std::vector<std::string> expected = tell();
  const std::vector<std::string> told = property::tell(engine);
  const auto [wanted, got] = std::mismatch(expected.begin(), expected.end(), told.begin(), told.end());
  if (wanted == expected.end() && got == told.end()) return;
  const auto line = [](auto at, const auto& all) { return at == all.end() ? std::string("nothing more") : "'" + *at + "'"; };
  fail("the graph tells " + line(got, told) + " where there should be " + line(wanted, expected));
}

void Judge::check_batch(const Output& output) {
  check_result(output.result);
  same("number of the batch", ++processed_, output.result.batch);
  same("queries reported", matchers_.size(), output.result.queries.size());
  std::span<const Listed> rest = output.matches;
  for (std::size_t query = 0; query < matchers_.size(); ++query) {
    const std::string& name = matchers_[query].query().name;
    const auto end = std::find_if(rest.begin(), rest.end(), [&](const Listed& match) { return match.query != name; });
    const auto own = rest.first(static_cast<std::size_t>(end - rest.begin()));
    check_query(query, output, own);
    rest = rest.subspan(own.size());
  }
  if (!rest.empty()) fail("matches do not arrive in the order of the queries: " + rest.front().query);
}

void Judge::check_query(std::size_t query, const Output& output, std::span<const Listed> listed) {
  const std::string where = "batch " + text(processed_) + ", query " + text(query);
  Answer removed = before_[query];
  Answer added = after_[query];
  if (matchers_[query].query().within) {
    std::erase_if(removed, [&](const Embedding& match) { return has_aged(query, match, false); });
    std::erase_if(added, [&](const Embedding& match) { return has_aged(query, match, true); });
  }
  const Answer removed_only = without(removed, added);
  added = without(added, removed);
  removed = removed_only;
  const QueryDelta& delta = output.result.queries[query];
  const bool lists = scenario_.queries[query].options.list;
  if (lists) {
    same_answer(where + ", removed", removed, collect(listed, false, where));
    same_answer(where + ", new", added, collect(listed, true, where));
  } else if (!listed.empty()) {
    fail(where + ": a query that only counts lists matches");
  }
  const auto context = [&] { return '\n' + list("  removed", removed) + list("  new", added); };
  if (delta.removed != removed.size()) same(where + ", count of removed" + context(), Count{removed.size()}, delta.removed);
  if (delta.added != added.size()) same(where + ", count of new" + context(), Count{added.size()}, delta.added);
  if (delta.removed_digest != digest_of(listed, false)) fail(where + ": the digest of removed is not the sum of their ids");
  if (delta.added_digest != digest_of(listed, true)) fail(where + ": the digest of new is not the sum of their ids");

  const auto in_order = [](const Listed& a, const Listed& b) {
    return a.added != b.added ? !a.added : a.id < b.id;  // removed before new, then by id
  };
  if (!std::is_sorted(listed.begin(), listed.end(), in_order)) fail(where + ": matches arrive out of order");
  for (const Listed& match : listed) {
    same(where + ", time of a match", outcome_.watermark, match.time);
    check_cause(match);
    check_id(query, match);
  }
}

/// Whether a match of a pattern with WITHIN is not reported. It is too old at the last record that inserted one of its edges,
/// or at the first that deleted one. If no record did, it stays, or it ages.
bool Judge::has_aged(std::size_t query, const Embedding& match, bool appears) const {
  const auto& within = matchers_[query].query().within;
  if (!within) return false;
  std::optional<Timestamp> mark;
  std::optional<Timestamp> oldest;
  for (const DataEdge& edge : match.edges) {
    if (!oldest || edge.time < oldest) oldest = edge.time;
    const auto& changes = appears ? outcome_.inserted_at : outcome_.deleted_at;
    const auto at = changes.find(edge);
    if (at == changes.end() || !(appears ? outcome_.inserted : outcome_.deleted).contains(edge)) continue;
    if (!mark || (appears ? at->second > *mark : at->second < *mark)) mark = at->second;
  }
  return !mark || !oldest || *oldest + within->microseconds + scenario_.lateness <= *mark;
}

void Judge::check_cause(const Listed& match) const {
  const std::set<DataEdge>& changed = match.added ? outcome_.inserted : outcome_.deleted;
  std::vector<std::uint32_t> cause;
  for (std::size_t i = 0; i < match.embedding.edges.size(); ++i) {
    if (changed.contains(match.embedding.edges[i])) cause.push_back(static_cast<std::uint32_t>(i));
  }
  const auto print = [](const std::vector<std::uint32_t>& indices) {
    std::string line;
    for (const std::uint32_t index : indices) line += ' ' + std::to_string(index);
    return line;
  };
  if (cause != match.cause) {
    fail("cause of " + oracle::to_string(match.embedding) + ": expected" + print(cause) + ", got" + print(match.cause));
  }
}

/// A match keeps one id for ever, and no other match has it. Queries that differ only in the order of their edges share ids.
void Judge::check_id(std::size_t query, const Listed& match) {
  const oracle::Embedding embedding = oracle::identity(match.embedding);
  const auto [id, fresh] = ids_[query].emplace(embedding, match.id);
  if (!fresh && id->second != match.id) fail("the id of " + oracle::to_string(match.embedding) + " changed");
  const auto unordered = [](oracle::Embedding any) {
    std::sort(any.edges.begin(), any.edges.end());
    return any;
  };
  for (std::size_t other = 0; other < matches_.size(); ++other) {
    const auto owner = other == query ? matches_[other].emplace(match.id, embedding).first : matches_[other].find(match.id);
    if (owner == matches_[other].end() || owner->second == embedding) continue;
    if (other != query && unordered(owner->second) == unordered(embedding)) continue;
    fail("one id for " + oracle::to_string(match.embedding) + " and " + oracle::to_string(owner->second));
  }
}

void Judge::check_static(Engine& engine) {
  for (std::size_t query = 0; query < matchers_.size(); ++query) {
    const std::string where = "static match of query " + text(query);
    const auto& [pattern, options] = scenario_.queries[query];
    StaticOptions counted;
    counted.query = options;
    counted.query.list = false;
    const StaticResult count = engine.match(pattern, counted);
    same(where + ", count", Count{after_[query].size()}, count.matches);
    if (!count.complete()) fail(where + ": incomplete without limit or time-out");

    StaticOptions listing = counted;
    listing.query.list = true;
    Recorder recorder;
    const StaticResult result = engine.match(pattern, listing, &recorder);
    const std::vector<Listed> listed = recorder.finish(0);
    same_answer(where, after_[query], collect(listed, true, where));
    same(where + ", matches", Count{listed.size()}, result.matches);
    if (result.digest != digest_of(listed, true)) fail(where + ": the digest is not the sum of the ids");
    for (const Listed& match : listed) {
      if (!match.cause.empty()) fail(where + ": a static match has a cause");
      check_id(query, match);
    }
  }
}

std::optional<std::vector<Output>> judged_run(const Scenario& scenario, Subject& subject,
                                              const std::vector<std::span<const Record>>& batches) {
  Judge judge(scenario);
  if (!judge.take(scenario.start)) return std::nullopt;
  judge.check_result(subject.load(scenario.start));
  judge.check_graph(subject.engine());
  std::vector<Output> outputs;
  for (const auto batch : batches) {
    if (!judge.take(batch)) return std::nullopt;
    outputs.push_back(subject.process(batch));
    judge.check_batch(outputs.back());
    judge.check_graph(subject.engine());
  }
  return outputs;
}

}  // namespace deltamatch::property
