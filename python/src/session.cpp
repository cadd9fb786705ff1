#include "session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include "ingest/batch/absent_times.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/table/table_roles.hpp"

namespace deltamatch::python {

namespace {

/// Says what to do about labels that no edge, or no vertex, has.
std::vector<std::string> told(const std::vector<engine::AbsentLabel>& labels) {
  std::vector<std::string> texts;
  for (const engine::AbsentLabel& label : labels) {
    std::string remedy = "check how the data spell it";
    if (label.none) {
      remedy = fmt::format("leave `:{}` out of the pattern, or name the column that holds labels: {}", label.text,
                           label.of_vertex ? "source_label='NAME', target_label='NAME'" : "label='NAME'");
    } else if (!label.meant.empty()) {
      remedy = fmt::format("did you mean '{}'?", label.meant);
    }
    texts.push_back(to_string(ingest::Warning{"label_absent", "pattern " + label.query, label.what(), std::move(remedy)}));
  }
  return texts;
}

}  // namespace

void Reading::see(const UpdateBatch& batch, const BatchResult& result) {
  const auto taken = batch.updates().first(result.consumed);
  absent_.add(taken, result.ignored);
  times_.add(taken);
  if (totals_.missing.empty()) return;
  for (const Update& update : taken) {
    if (update.kind != UpdateKind::insert_edge || update.properties == nullptr) continue;
    const std::span<const AttributeValue> values = update.properties->attributes;
    for (std::size_t i = 0; i < totals_.missing.size(); ++i) {
      if (i >= values.size() || std::holds_alternative<std::monostate>(values[i])) ++totals_.missing[i];
    }
  }
}

std::vector<ingest::Warning> Reading::warnings() {
  constexpr std::uint64_t many = 10;  // more than one in this many
  std::vector<ingest::Warning> warnings = stream_->warnings();
  if (auto absent = absent_.warning(stream_->name())) warnings.push_back(std::move(*absent));
  if (demand_.times) {
    if (auto absent = times_.warning(stream_->name(), stream_->advice_on_times())) warnings.push_back(std::move(*absent));
  }
  if (!demand_.ordered.empty() && order_.count() > 0) {
    std::string remedy =
        fmt::format("sort the rows by time first: frame.sort_values('{0}') in pandas, frame.sort('{0}') in polars", time_);
    if (demand_.allows_lateness)
      remedy += fmt::format("; if no pattern counts, allowed_lateness='{}' is enough", order_.longest_text());
    warnings.push_back(order_.warning(stream_->where(order_.first()), demand_.ordered, std::move(remedy)));
  }
  if (windowed_ && totals_.ignored.late > stream_->records() / many) {
    warnings.push_back(
        {"late", stream_->name(), "more than a tenth of the records arrive older than the window and are skipped",
         "sort the rows by time first, check times and their unit, or use a longer window", totals_.ignored.late});
  }
  return warnings;
}

QueryId Session::add(const Query& query, const QueryOptions& options, std::optional<std::uint64_t> max_matches) {
  const QueryId id = engine_.add_query(query, options);
  if (max_matches) engine_.budget(id, {.time = {}, .matches = max_matches});
  standing_.push_back({id, query, options.list});
  named_labels_.add(query);
  sink_.reset();
  return id;
}

void Session::remove(QueryId id) {
  engine_.remove_query(id);
  std::erase_if(standing_, [&](const Standing& standing) { return standing.id == id; });
  named_labels_ = {};
  for (const Standing& standing : standing_) named_labels_.add(standing.query);
  sink_.reset();
}

std::vector<std::string> Session::names() const {
  std::vector<std::string> names;
  for (const Standing& standing : standing_) names.push_back(standing.query.name);
  return names;
}

std::vector<std::string> Session::absent_labels(bool unlabelled) const {
  std::vector<engine::AbsentLabel> absent = named_labels_.absent(engine_);
  if (unlabelled) std::erase_if(absent, [](const engine::AbsentLabel& label) { return !label.none; });
  return told(absent);
}

std::vector<std::string> Session::absent_labels(const std::vector<Query>& queries) const {
  engine::NamedLabels named;
  for (const Query& query : queries) named.add(query);
  named.look(engine_);
  return told(named.absent(engine_));
}

Demand Session::demand() const {
  Demand demand;
  for (const auto& [id, query, list] : standing_) {
    const bool allows = ingest::allows_lateness(query);
    demand.times = demand.times || ingest::reads_times(query);
    demand.allows_lateness = demand.allows_lateness || allows;
    if (demand.ordered.empty() && (allows || engine_.options().window > 0)) demand.ordered = query.name;
  }
  return demand;
}

std::unique_ptr<Reading> Session::open(std::unique_ptr<ingest::TableReader> table, const ReadSettings& settings) {
  using ingest::Role;
  ingest::Doubts doubts(settings.options.spelling);
  ingest::CodecOptions codec = settings.options.codec;
  codec.doubts = &doubts;
  const ingest::TableLayout layout = ingest::lay_out(*table, settings.roles, codec);
  const auto is = [&](Role role, ingest::Cell::Kind kind) {
    const int column = layout.columns.column(role);
    return column >= 0 && table->columns()[static_cast<std::size_t>(column)].kind() == kind;
  };
  const bool texts = settings.options.codec.ids == ingest::IdKind::string;
  timestamps_ = timestamps_ || is(Role::time, ingest::Cell::Kind::time);
  for (const Role role : {Role::source, Role::target, Role::vertex})
    text_ids_ = text_ids_ || texts || is(role, ingest::Cell::Kind::text);
  text_keys_ = text_keys_ || texts || is(Role::edge, ingest::Cell::Kind::text);
  const int times = layout.columns.column(Role::time);
  std::string time = times < 0 ? "" : table->columns()[static_cast<std::size_t>(times)].name();
  sink_.reset();
  return std::make_unique<Reading>(ingest::open_table(std::move(table), settings.roles, settings.options), engine_.options(),
                                   demand(), std::move(time));
}

ingest::MatchTable::Form Session::form() const {
  return {.schema = engine_.options().schema, .timestamps = timestamps_, .text_ids = text_ids_, .text_keys = text_keys_};
}

ingest::MatchTable* Session::sink() {
  if (!sink_) {
    std::vector<Query> queries;
    for (const Standing& standing : standing_) {
      if (standing.list) queries.push_back(standing.query);
    }
    sink_ = std::make_unique<ingest::MatchTable>(queries, form());
  }
  return std::ranges::any_of(standing_, &Standing::list) ? sink_.get() : nullptr;
}

ingest::ArrowTable Session::take() {
  static_cast<void>(sink());
  return sink_->take();
}

void Session::load(Reading& reading, const Stop& stop) {
  ingest::UpdateStream& stream = reading.stream();
  ingest::PositionedBatch batch;
  while (!stop.load() && stream.next(batch, [&] { return stop.load(); })) {
    const BatchResult result = engine_.load(batch.updates, stream.on_reject());
    named_labels_.look(engine_);
    reading.see(batch.updates, result);
    reading.totals().updates += result.consumed;
    reading.totals().ignored += result.ignored;
    stream.settle(batch, result.rejects);
  }
}

Session::Sums Session::drain(Reading& reading, const Stop& stop) {
  Sums sums;
  const auto add = [&](const Id& id) { sums.ids += id.is_text() ? id.text().size() : static_cast<std::uint64_t>(id.number()); };
  ingest::PositionedBatch batch;
  while (!stop.load() && reading.stream().next(batch, [&] { return stop.load(); })) {
    sums.updates += batch.updates.size();
    for (const Update& update : batch.updates.updates()) {
      add(update.source);
      add(update.target);
      sums.labels += update.label.size();
      if (update.time) sums.times += static_cast<std::uint64_t>(*update.time);
    }
    reading.stream().settle(batch, {});
  }
  return sums;
}

void Session::add_up(Totals& totals, const BatchResult& result) const {
  ++totals.batches;
  totals.updates += result.consumed;
  totals.inserted += result.inserted;
  totals.deleted += result.deleted;
  totals.expired += result.expired;
  totals.out_of_order += result.out_of_order;
  totals.ignored += result.ignored;
  totals.seconds += result.seconds;
  for (const QueryDelta& delta : result.queries) {
    auto found = std::ranges::find(totals.queries, delta.query, &Totals::OfQuery::id);
    if (found == totals.queries.end()) {
      const auto standing = std::ranges::find(standing_, delta.query, &Standing::id);
      totals.queries.push_back({.id = delta.query, .name = standing == standing_.end() ? "" : standing->query.name});
      found = totals.queries.end() - 1;
    }
    found->added += delta.added;
    found->removed += delta.removed;
    found->suppressed += delta.suppressed;
    found->partial += delta.complete() ? 0 : 1;
  }
}

/// Processes a batch of the table, which the engine may cut. Returns false if stopped.
bool Session::process(Reading& reading, ingest::PositionedBatch& batch, const Stop& stop) {
  ingest::UpdateStream& stream = reading.stream();
  BatchOptions options;
  options.on_reject = stream.on_reject();
  options.sink = sink();
  options.record_by_record = true;
  options.upcoming = [&](const std::stop_token& token) { return stream.upcoming(token); };
  options.stop = [&stop] { return stop.load(); };
  reading.see_order(batch, engine_.watermark());
  for (bool more = true; more;) {
    const std::optional<BatchResult> result = engine_.process(batch.updates, options);
    if (!result) return false;
    if (result->cut) batch.hold_back(result->consumed);
    add_up(reading.totals(), *result);
    named_labels_.look(engine_);
    reading.see(batch.updates, *result);
    stream.settle(batch, result->rejects);
    more = result->cut;
    if (more) batch.drop_first(result->consumed);
  }
  return true;
}

bool Session::advance(Reading& reading, std::uint64_t matches, bool whole, const Stop& stop) {
  ingest::UpdateStream& stream = reading.stream();
  ingest::PositionedBatch batch;
  while (!stop.load()) {
    if (!stream.next(batch, [&] { return stop.load(); })) return false;
    if (whole && stream.on_reject() == OnReject::stop && !batch.refusals().empty()) {
      batch.updates.clear();
      stream.settle(batch, {});  // throws
    }
    if (!process(reading, batch, stop)) return false;
    if (sink_ && sink_->size() >= matches) return true;
  }
  return false;
}

Session::Found Session::match(const std::vector<Query>& queries, StaticOptions options, const Stop& stop) {
  options.stop = [&stop] { return stop.load(); };
  ingest::MatchTable table(queries, form());
  Found found;
  for (const Query& query : queries)
    found.results.push_back(engine_.match(query, options, options.query.list ? &table : nullptr));
  if (options.query.list) found.matches = table.take();
  return found;
}

}  // namespace deltamatch::python
