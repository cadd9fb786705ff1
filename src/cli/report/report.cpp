#include "cli/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "cli/report/filter_report.hpp"
#include "cli/terminal/counted.hpp"
#include "cli/terminal/json_writer.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/values.hpp"
#include "ingest/text/csv_text.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::cli {
namespace {

using Counter = std::pair<std::string_view, std::uint64_t>;

std::vector<Counter> counters(const Ignored& ignored) {
  return {{"duplicate_insert", ignored.duplicate_insert},
          {"absent_delete", ignored.absent_delete},
          {"superseded", ignored.superseded},
          {"late", ignored.late},
          {"self_loop", ignored.self_loop}};
}

std::string to_text(const MatchDigest& digest) { return to_string(MatchId{digest.high, digest.low}); }

void write_steps(JsonWriter& json, const StepSeconds& steps) {
  json.key("apply").seconds(steps.apply).key("estimate").seconds(steps.estimate).key("cache").seconds(steps.cache);
  json.key("match").seconds(steps.match).key("settle").seconds(steps.settle);
  json.key("anticipate").seconds(steps.anticipate);
}

void write_backend(JsonWriter& json, const BackendStatistics& backend) {
  json.key("backend").string(backend.backend).key("cache").begin_object();
  for (const BackendMetric& metric : backend.metrics) {
    json.key(metric.name);
    if (const auto* const whole = std::get_if<std::uint64_t>(&metric.value)) {
      json.number(*whole);
    } else {
      json.seconds(backend.real(metric.name));
    }
  }
  if (!backend.notice.empty()) json.key("notice").string(backend.notice);
  json.end_object();
}

/// How well the memory of a backend was used, for a person.
void append_backend(std::string& text, const BackendStatistics& backend) {
  auto out = std::back_inserter(text);
  const double misses = backend.real(backend_metrics::misses);
  const double looked_up = backend.real(backend_metrics::hits) + misses;
  fmt::format_to(out, "{:<8} {} lists in {} of device memory, {:.2f} % of look-ups missed, {} copied\n", backend.backend,
                 grouped(backend.count(backend_metrics::cached_lists)),
                 human_bytes(backend.count(backend_metrics::cached_bytes)), looked_up > 0 ? 100 * misses / looked_up : 0,
                 human_bytes(backend.count(backend_metrics::copied_bytes)));
  if (backend.find(backend_metrics::coverage) != nullptr) {
    fmt::format_to(out, "         {:.1f} % of the 5 % most looked-up lists lay there\n",
                   100 * backend.real(backend_metrics::coverage));
  }
}

double sum(const StepSeconds& steps) { return steps.apply + steps.estimate + steps.cache + steps.match + steps.settle; }

// Without a walk that found a match, nothing is known. With few walks, the spread of the replicates says little: replicates of
// one walk each often agree by chance.
constexpr std::uint64_t least_walks = 10 * std::uint64_t{SampleResult::replicates};
bool has_interval(const SampleResult& sample) { return sample.hits > 0 && sample.walks >= least_walks; }
/// Whether no walk was needed, because there can be no match.
bool is_exact(const SampleResult& sample) { return sample.walks == 0 && sample.shortfall == Shortfall::none; }

void write_sample(JsonWriter& json, const SampleResult& sample) {
  json.key("estimate").real(sample.matches);
  if (has_interval(sample) || is_exact(sample)) {
    json.key("low").real(sample.low).key("high").real(sample.high);
  } else {
    json.key("low").null().key("high").null();
  }
  json.key("confidence").real(SampleResult::confidence).key("replicates").number(SampleResult::replicates);
  json.key("walks").number(sample.walks).key("hits").number(sample.hits);
}

/// An estimate, rounded to the digits that are known.
std::string rounded(double number) {
  return number < 1e15 ? grouped(static_cast<Count>(std::llround(number))) : fmt::format("{:.4g}", number);
}

std::string matches_text(const QueryMatches& query) {
  if (!query.error.empty()) return "unknown: " + query.error;
  if (!query.sample) {
    return fmt::format("{}{}", query.result.complete() ? "" : "at least ", grouped(query.result.matches));
  }
  const SampleResult& sample = *query.sample;
  if (is_exact(sample)) return "0 (exactly: nothing in the graph can match)";
  if (sample.hits == 0) return fmt::format("unknown: none of {} walks found one", grouped(sample.walks));
  if (!has_interval(sample)) {
    return fmt::format("about {} (too few walks for an interval: {})", rounded(sample.matches), grouped(sample.walks));
  }
  return fmt::format("about {} ({} to {})", rounded(sample.matches), rounded(sample.low), rounded(sample.high));
}

void write_edge_labels(JsonWriter& json, const std::vector<EdgeLabelStatistics>& labels) {
  if (labels.empty()) return;
  json.key("edge_labels").begin_array();
  for (const EdgeLabelStatistics& label : labels) {
    json.begin_object().key("label").string(label.label).key("edges").number(label.edges);
    json.key("bytes").number(label.bytes).end_object();
  }
  json.end_array();
}

/// A line about the edge labels that a query reads and their memory. It names the largest.
std::string edge_labels_text(std::string_view query, const std::vector<EdgeLabelStatistics>& labels) {
  if (labels.empty()) return {};
  EdgeLabelStatistics all;
  for (const EdgeLabelStatistics& label : labels) {
    all.edges += label.edges;
    all.bytes += label.bytes;
  }
  std::string text =
      fmt::format("labels   {}: {} edge {}, {} {} in {}", query, labels.size(), labels.size() == 1 ? "label" : "labels",
                  grouped(all.edges), all.edges == 1 ? "edge" : "edges", human_bytes(all.bytes));
  if (labels.size() > 1) {
    const EdgeLabelStatistics& largest = *std::ranges::max_element(labels, {}, &EdgeLabelStatistics::bytes);
    text += fmt::format("; most take those of `{}`, {}", largest.label, human_bytes(largest.bytes));
  }
  return text + '\n';
}

void write_top(JsonWriter& json, const TopOfQuery& top) {
  json.key("top").begin_array();
  for (const TopVertex& vertex : top.vertices) {
    std::string id;
    if (vertex.is_text) ingest::append_json_string(id, vertex.id);
    json.begin_object().key("name").string(vertex.name).key("vertex").json(vertex.is_text ? id : vertex.id);
    json.key("matches").number(vertex.matches);
    if (top.missing > 0) json.key("at_most").number(vertex.matches + top.missing);
    json.end_object();
  }
  json.end_array();
}

/// A line for each of the vertices in most matches.
std::string top_text(const QueryTotals& query) {
  std::string text =
      fmt::format("vertices in most new matches of {}{}\n", query.name, query.top->vertices.empty() ? ": none" : "");
  for (const TopVertex& vertex : query.top->vertices) {
    const std::string most = query.top->missing > 0 ? " to " + grouped(vertex.matches + query.top->missing) : "";
    text += fmt::format("  {} {}: {}{} {}\n", vertex.name, vertex.id, grouped(vertex.matches), most,
                        vertex.matches == 1 && most.empty() ? "match" : "matches");
  }
  if (query.top->missing > 0) {
    text += fmt::format("  more vertices occur than are counted, so another one may be in up to {} matches\n",
                        grouped(query.top->missing + (query.top->vertices.empty() ? 0 : query.top->vertices.back().matches)));
  }
  return text;
}

void write_queries(JsonWriter& json, const Report& report) {
  json.key("queries").begin_array();
  for (const QueryTotals& query : report.deltas) {
    json.begin_object().key("name").string(query.name).key("new").number(query.added).key("removed").number(query.removed);
    if (query.once) json.key("suppressed").number(query.suppressed);
    if (query.waiting) json.key("waiting").number(*query.waiting);
    if (report.digests) {
      json.key("new_digest").string(to_text(query.added_digest));
      json.key("removed_digest").string(to_text(query.removed_digest));
    }
    if (const Shortfall shortfall = report.shortfall(query); shortfall != Shortfall::none)
      json.key("complete").boolean(false).key("partial").string(shortfall_name(shortfall));
    if (query.partial_batches > 0) json.key("partial_batches").number(query.partial_batches);
    json.key("seconds").seconds(query.seconds);
    if (query.top) write_top(json, *query.top);
    json.end_object();
  }
  for (const QueryMatches& query : report.matches) {
    json.begin_object().key("name").string(query.name);
    if (!query.error.empty()) {
      json.key("complete").boolean(false).key("error").string(query.error);
    } else if (query.sample) {
      write_sample(json, *query.sample);
    } else {
      json.key("matches").number(query.result.matches);
      if (report.digests) json.key("digest").string(to_text(query.result.digest));
    }
    if (query.shortfall() != Shortfall::none) {
      json.key("complete").boolean(false).key("partial").string(shortfall_name(query.shortfall()));
    }
    json.key("seconds").seconds(query.seconds());
    write_filter(json, query.result.filter);
    write_edge_labels(json, query.result.edge_labels);
    json.end_object();
  }
  json.end_array();
}

/// Rows of text, aligned: the first column to the left, all others to the right. The first row is the heading.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) widths[column] = std::max(widths[column], row[column].size());
  }
  std::string text;
  auto out = std::back_inserter(text);
  for (const auto& row : rows) {
    fmt::format_to(out, "{:<{}}", row.front(), widths.front());
    for (std::size_t column = 1; column < row.size(); ++column) fmt::format_to(out, "  {:>{}}", row[column], widths[column]);
    text += '\n';
  }
  return text;
}

std::string query_table(const Report& report) {
  std::vector<std::vector<std::string>> rows;
  const bool once = std::ranges::any_of(report.deltas, &QueryTotals::once);
  const bool waits = std::ranges::any_of(report.deltas, [](const QueryTotals& query) { return query.waiting.has_value(); });
  if (!report.deltas.empty()) {
    rows.push_back({"query", "new", "removed"});
    if (once) rows.back().emplace_back("suppressed");
    if (waits) rows.back().emplace_back("waiting");
    rows.back().emplace_back("time");
    if (report.digests) rows.back().insert(rows.back().end(), {"digest of new", "digest of removed"});
  } else {
    rows.push_back({"query", "matches", "time"});
    if (report.digests) rows.back().emplace_back("digest");
  }
  for (const QueryTotals& query : report.deltas) {
    const std::string at_least = report.shortfall(query) != Shortfall::none ? "at least " : "";
    rows.push_back({query.name, at_least + grouped(query.added), at_least + grouped(query.removed)});
    if (once) rows.back().push_back(query.once ? at_least + grouped(query.suppressed) : "-");
    if (waits) rows.back().push_back(query.waiting ? grouped(*query.waiting) : "-");
    rows.back().push_back(human_seconds(query.seconds));
    if (report.digests) rows.back().insert(rows.back().end(), {to_text(query.added_digest), to_text(query.removed_digest)});
  }
  for (const QueryMatches& query : report.matches) {
    rows.push_back({query.name, matches_text(query), human_seconds(query.seconds())});
    if (report.digests) rows.back().push_back(to_text(query.result.digest));
  }
  return table(rows);
}

/// Writes how much of a graph file was loaded, and how much there is.
void write_loaded(JsonWriter& json, const engine::LoadedShare& loaded) {
  const auto pair = [&](std::string_view name, std::uint64_t some, std::uint64_t all) {
    json.key(name).begin_object().key("loaded").number(some).key("all").number(all).end_object();
  };
  json.key("graph_file").begin_object();
  pair("vertices", loaded.vertices, loaded.all_vertices);
  pair("edges", loaded.edges, loaded.all_edges);
  pair("bytes", loaded.bytes, loaded.all_bytes);
  json.end_object();
}

std::string loaded_text(const engine::LoadedShare& loaded) {
  const auto share = [](std::uint64_t some, std::uint64_t all) {
    return all == 0 ? 100.0 : 100.0 * static_cast<double>(some) / static_cast<double>(all);
  };
  return fmt::format("loaded   {:.3g} % of {} vertices, {:.3g} % of {} edges, {:.3g} % of {}\n",
                     share(loaded.vertices, loaded.all_vertices), grouped(loaded.all_vertices),
                     share(loaded.edges, loaded.all_edges), grouped(loaded.all_edges), share(loaded.bytes, loaded.all_bytes),
                     human_bytes(loaded.all_bytes));
}

/// A row of CSV (RFC 4180), up to its carriage return. The caller adds the line feed.
std::string csv_row(const std::vector<std::string>& cells) {
  std::string text;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) text += ',';
    if (!cells[c].empty()) ingest::append_csv_text(text, cells[c]);
  }
  return text + '\r';
}

/// The records of a batch, refused ones included.
std::uint64_t updates_of(const BatchResult& result, const ingest::PositionedBatch& batch) {
  return result.consumed + ingest::RefusalCounters{batch.refused()}.total();
}

std::string seconds_cell(double value) { return fmt::format("{:.6f}", value); }

}  // namespace

void Unused::add(const ingest::RefusalCounters& counters) noexcept {
  for (std::size_t reason = 0; reason < reject_reason_count; ++reason) refused.by_reason[reason] += counters.by_reason[reason];
}

void write_unused(JsonWriter& json, const Unused& unused) {
  json.key("ignored").begin_object();
  for (const auto& [name, count] : counters(unused.ignored)) json.key(name).number(count);
  for (std::size_t reason = 0; reason < reject_reason_count; ++reason) {
    json.key(reject_name(static_cast<RejectReason>(reason))).number(unused.refused.by_reason[reason]);
  }
  json.end_object();
}

std::string ignored_text(const Ignored& ignored) {
  std::string text;
  for (const auto& [name, count] : counters(ignored)) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "ignored  " : ", ", name, grouped(count));
  }
  return text.empty() ? text : text + '\n';
}

void write_settings(JsonWriter& json, const RunSettings& settings) {
  const std::string_view mode = settings.mode == MatchMode::isomorphism     ? "isomorphism"
                                : settings.mode == MatchMode::edge_distinct ? "edge-distinct"
                                                                            : "homomorphism";
  json.key("version").string(DELTAMATCH_VERSION).key("mode").string(mode);
  json.key("counting").string(settings.counting == CountMode::subgraphs ? "subgraphs" : "embeddings");
  json.key("threads").number(settings.threads);
}

void Report::describe(const QuerySelection& queries, unsigned threads) {
  settings = {queries.mode, queries.options(false).count, threads};
}

void Report::add(const BatchResult& result) {
  ++batches;
  cut_batches += result.cut ? 1 : 0;
  updates += result.consumed;
  unused.ignored += result.ignored;
  steps += result.seconds;
  for (std::size_t query = 0; query < deltas.size(); ++query) {
    const QueryDelta& delta = result.queries[query];
    QueryTotals& totals = deltas[query];
    totals.added += delta.added;
    totals.removed += delta.removed;
    totals.suppressed += delta.suppressed;
    totals.seconds += delta.seconds;
    if (!delta.complete()) {
      ++totals.partial_batches;
      if (!totals.first_partial) totals.first_partial = result.batch;
    }
    totals.added_digest.add({delta.added_digest.high, delta.added_digest.low});
    totals.removed_digest.add({delta.removed_digest.high, delta.removed_digest.low});
  }
}

Shortfall Report::shortfall(const QueryTotals& query) const noexcept {
  if (query.partial_batches > 0) return Shortfall::limit;
  if (timed_out) return Shortfall::timeout;
  return interrupted || failed ? Shortfall::stopped : Shortfall::none;
}

double Report::other() const noexcept { return std::max(0.0, total - load - sum(steps)); }

bool Report::complete() const noexcept {
  return !failed && !interrupted && !timed_out && !notes.too_many_refused() &&
         std::ranges::none_of(deltas, [](const QueryTotals& query) { return query.partial_batches > 0; });
}

std::string to_json(const Report& report) {
  JsonWriter json;
  json.begin_object().key("v").number(1);
  write_settings(json, report.settings);
  json.key("graph").begin_object();
  json.key("vertices").number(report.graph.vertices).key("edges").number(report.graph.edges);
  json.key("bytes").number(report.graph.bytes).end_object();
  if (report.digest) json.key("digest").string(to_string(*report.digest));
  if (report.share) json.key("share").string(fmt::format("{}/{}", report.share->number, report.share->of));
  if (report.loaded) write_loaded(json, *report.loaded);
  json.key("batches").number(report.batches);
  if (report.batch_span > 0) json.key("batch_span").number(static_cast<Count>(report.batch_span));
  if (report.cut_batches > 0) json.key("cut_batches").number(report.cut_batches);
  json.key("updates").number(report.updates);
  write_unused(json, report.unused);
  report.notes.write(json);
  write_queries(json, report);
  json.key("seconds").begin_object().key("load").seconds(report.load);
  write_steps(json, report.steps);
  json.key("other").seconds(report.other()).key("total").seconds(report.total);
  json.key("cpu").seconds(report.cpu).end_object();
  if (report.backend) write_backend(json, *report.backend);
  if (!report.complete()) json.key("complete").boolean(false);
  if (report.timed_out) json.key("partial").string(shortfall_name(Shortfall::timeout));
  if (report.abandoned) json.key("abandoned_batch").number(*report.abandoned);
  json.end_object();
  return json.text();
}

std::string to_json(const BatchResult& result, const ingest::PositionedBatch& batch, const std::vector<QueryTotals>& names) {
  Unused unused{result.ignored, {batch.refused()}};
  const std::uint64_t updates = updates_of(result, batch);
  for (const Reject& reject : result.rejects) ++unused.refused.by_reason[static_cast<std::size_t>(reject.reason)];
  JsonWriter json;
  json.begin_object().key("v").number(1).key("batch").number(result.batch).key("updates").number(updates);
  json.key("inserted").number(result.inserted).key("deleted").number(result.deleted).key("expired").number(result.expired);
  write_unused(json, unused);
  json.key("queries").begin_array();
  for (std::size_t query = 0; query < names.size(); ++query) {
    json.begin_object().key("name").string(names[query].name);
    const QueryDelta& delta = result.queries[query];
    json.key("new").number(delta.added).key("removed").number(delta.removed);
    if (names[query].once) json.key("suppressed").number(delta.suppressed);
    if (!delta.complete()) json.key("complete").boolean(false).key("partial").string(shortfall_name(delta.shortfall));
    json.key("seconds").seconds(delta.seconds);
    json.end_object();
  }
  json.end_array().key("seconds").begin_object();
  write_steps(json, result.seconds);
  json.key("total").seconds(sum(result.seconds)).end_object().end_object();
  return json.text();
}

std::string batches_csv_header() {
  return csv_row({"batch", "updates", "inserted", "deleted", "expired", "batch_seconds", "query", "new", "removed",
                  "suppressed", "seconds", "partial"});
}

std::vector<std::string> to_csv(const BatchResult& result, const ingest::PositionedBatch& batch,
                                const std::vector<QueryTotals>& names) {
  std::vector<std::string> rows;
  rows.reserve(names.size());
  for (std::size_t query = 0; query < names.size(); ++query) {
    const QueryDelta& delta = result.queries[query];
    rows.push_back(csv_row({std::to_string(result.batch), std::to_string(updates_of(result, batch)),
                            std::to_string(result.inserted), std::to_string(result.deleted), std::to_string(result.expired),
                            seconds_cell(sum(result.seconds)), names[query].name, to_string(delta.added),
                            to_string(delta.removed), names[query].once ? to_string(delta.suppressed) : "",
                            seconds_cell(delta.seconds), std::string(shortfall_name(delta.shortfall))}));
  }
  return rows;
}

std::string to_table(const Report& report) {
  std::string text;
  auto out = std::back_inserter(text);
  if (report.interrupted) {
    text += report.batches > 0 ? "INTERRUPTED: the figures cover the stream up to the last finished batch\n"
                               : "INTERRUPTED: the figures cover what was found until then\n";
  }
  if (report.timed_out) {
    text += "INCOMPLETE: the figures cover the stream up to the last batch that was finished before --timeout\n";
  }
  if (report.abandoned) {
    fmt::format_to(out, "abandoned batch {} while it was matched: nothing of it is counted, listed or in the graph\n",
                   *report.abandoned);
  }
  if (report.failed) text += "INCOMPLETE: the figures cover the stream up to the error\n";
  text += report.notes.first_line();
  if (report.batches > 0) {
    const double busy = sum(report.steps);
    fmt::format_to(out, "stream   {} updates in {} {}, {} updates/s\n", grouped(report.updates), grouped(report.batches),
                   report.batches == 1 ? "batch" : "batches",
                   grouped(busy > 0 ? static_cast<Count>(static_cast<double>(report.updates) / busy) : 0));
    if (report.batch_span > 0 || report.cut_batches > 0) {
      fmt::format_to(out, "         {}{} ended early because an edge in it expired\n",
                     report.batch_span > 0
                         ? fmt::format("a batch spans at most {} of event time; ", duration_text(report.batch_span))
                         : "",
                     grouped(report.cut_batches));
    }
  }
  fmt::format_to(out, "graph    {}, {}\n", graph_size(report.graph.vertices, report.graph.edges),
                 human_bytes(report.graph.bytes));
  if (report.loaded) text += loaded_text(*report.loaded);
  if (report.share) {
    fmt::format_to(out, "share    {} of {}: the matches are those of this share only\n", report.share->number,
                   report.share->of);
  }
  fmt::format_to(out, "time     {} (load {}", human_seconds(report.total), human_seconds(report.load));
  if (report.batches > 0) {
    fmt::format_to(out, ", apply {}, estimate {}, cache {}, match {}, settle {}", human_seconds(report.steps.apply),
                   human_seconds(report.steps.estimate), human_seconds(report.steps.cache), human_seconds(report.steps.match),
                   human_seconds(report.steps.settle));
    fmt::format_to(out, ", other {}", human_seconds(report.other()));
  }
  text += ")\n";
  if (report.backend) {
    append_backend(text, *report.backend);
    if (report.steps.anticipate > 0) {
      fmt::format_to(out, "         ids of next batches looked up meanwhile, in {}\n", human_seconds(report.steps.anticipate));
    }
    if (!report.backend->notice.empty()) fmt::format_to(out, "         {}\n", report.backend->notice);
  }
  text += ignored_text(report.unused.ignored);
  if (!report.deltas.empty() || !report.matches.empty()) fmt::format_to(out, "\n{}", query_table(report));
  for (const QueryTotals& query : report.deltas) {
    if (query.top) text += '\n' + top_text(query);
  }
  std::string details;
  for (const QueryMatches& query : report.matches) {
    details += filter_text(query.name, query.result.filter) + edge_labels_text(query.name, query.result.edge_labels);
  }
  if (!details.empty()) fmt::format_to(out, "\n{}", details);
  return text;
}

std::string to_csv(const Report& report) {
  std::string text;
  const auto row = [&](const std::vector<std::string>& cells) { text += csv_row(cells) + '\n'; };
  const std::string threads = std::to_string(report.settings.threads);
  const bool sampled = std::ranges::any_of(report.matches, [](const QueryMatches& query) { return query.sample.has_value(); });
  std::vector<std::string> header =
      !report.deltas.empty()
          ? std::vector<std::string>{"query", "new", "removed", "suppressed", "waiting", "seconds", "threads", "partial"}
      : sampled ? std::vector<std::string>{"query", "estimate", "low", "high", "walks", "hits", "seconds", "threads", "partial"}
                : std::vector<std::string>{"query", "matches", "seconds", "threads", "partial", "error"};
  if (report.digests)
    header.insert(header.end(), report.deltas.empty() ? std::initializer_list<std::string>{"digest"}
                                                      : std::initializer_list<std::string>{"new_digest", "removed_digest"});
  row(header);
  for (const QueryTotals& query : report.deltas) {
    std::vector<std::string> cells{query.name,
                                   to_string(query.added),
                                   to_string(query.removed),
                                   query.once ? to_string(query.suppressed) : "",
                                   query.waiting ? to_string(*query.waiting) : "",
                                   seconds_cell(query.seconds),
                                   threads,
                                   std::string(shortfall_name(report.shortfall(query)))};
    if (report.digests) cells.insert(cells.end(), {to_text(query.added_digest), to_text(query.removed_digest)});
    row(cells);
  }
  for (const QueryMatches& query : report.matches) {
    if (query.sample) {
      const SampleResult& sample = *query.sample;
      const bool known = has_interval(sample) || is_exact(sample);
      row({query.name, fmt::format("{}", sample.matches), known ? fmt::format("{}", sample.low) : "",
           known ? fmt::format("{}", sample.high) : "", std::to_string(sample.walks), std::to_string(sample.hits),
           seconds_cell(query.seconds()), threads, std::string(shortfall_name(query.shortfall()))});
      continue;
    }
    std::vector<std::string> cells{query.name,
                                   query.error.empty() ? to_string(query.result.matches) : "",
                                   seconds_cell(query.seconds()),
                                   threads,
                                   std::string(shortfall_name(query.shortfall())),
                                   query.error};
    if (report.digests) cells.push_back(to_text(query.result.digest));
    row(cells);
  }
  return text;
}

void print(const Report& report, const EmitOptions& options) {
  const auto found = [](const QueryTotals& query) { return query.added > 0 || query.removed > 0; };
  if (report.failed && !options.json && !options.csv && std::ranges::none_of(report.deltas, found))
    return;  // the error says all
  if (options.json) {
    print_out(to_json(report) + '\n');
  } else if (options.csv) {
    print_out(to_csv(report));
  } else if (options.lines_to_stdout()) {
    print_err(to_table(report));
  } else {
    print_out(to_table(report));
  }
}

}  // namespace deltamatch::cli
