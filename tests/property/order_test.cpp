// Order by time: the rules as a plain program over records, against the engine, for every cut into batches and after restarts.
// A stream whose records come late leads to the graph of the same stream in order of time.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/query.hpp"
#include "property/draw.hpp"

namespace deltamatch::property {
namespace {

/// What streams have. `ordered` events lead to one graph however late they come. There is at most one deletion for each pair of
/// ends, and one event that is not newer.
enum class Kinds { all, ordered };

struct Edge {
  std::string source;
  std::string target;
  std::string label;
  friend auto operator<=>(const Edge&, const Edge&) = default;
};
struct Record {
  UpdateKind kind = UpdateKind::insert_edge;
  Edge edge;
  std::string key;
  std::optional<Timestamp> time;
};
struct Live {
  Edge edge;
  std::string key;
  Timestamp time = 0;
  friend auto operator<=>(const Live&, const Live&) = default;
};

struct Case {
  EdgeModel model = EdgeModel::simple;
  bool directed = true;
  bool window = true;  // else the query has WITHIN
  Timestamp span = 40;
  std::vector<Record> records;
};

/// What lives at the end, by the rules. It forgets nothing.
class Plain {
 public:
  explicit Plain(const Case& of) : case_(&of) {}

  void take(const Record& record) {
    const std::optional<Timestamp> time = record.time;
    std::erase_if(live_, [&](const Live& live) { return dead(live.time); });
    const Edge edge = named(record.edge);
    if (record.kind == UpdateKind::delete_vertex) {
      const std::string& gone = record.edge.source;
      std::erase_if(live_, [&](const Live& live) { return live.edge.source == gone || live.edge.target == gone; });
    } else if (edge.source == edge.target) {
      throw std::logic_error("no self-loops are drawn");
    } else if (case_->model == EdgeModel::events) {
      record.kind == UpdateKind::insert_edge ? insert_event(edge, *time) : delete_event(edge, time);
    } else {
      const std::string name =
          case_->model == EdgeModel::keyed ? record.key : edge.source + '|' + edge.target + '|' + edge.label;
      take_named(record, edge, name);
    }
    if (time && (!watermark_ || *time > *watermark_)) watermark_ = time;
  }
  [[nodiscard]] std::multiset<Live> live() const {
    std::multiset<Live> living;
    for (const Live& live : live_) {
      if (!dead(live.time)) living.insert(live);
    }
    return living;
  }
  [[nodiscard]] bool dead(Timestamp time) const { return watermark_ && time + case_->span <= *watermark_; }
  [[nodiscard]] Edge named(Edge edge) const {
    if (!case_->directed && edge.target < edge.source) std::swap(edge.source, edge.target);
    return edge;
  }

 private:
  void take_named(const Record& record, const Edge& edge, const std::string& name) {
    const bool keyed = case_->model == EdgeModel::keyed;
    const auto same = [&](const Live& live) { return keyed ? live.key == record.key : live.edge == edge; };
    const auto at = std::ranges::find_if(live_, same);
    if (record.kind == UpdateKind::delete_edge) {
      if (record.time) deleted_[name] = deleted_.contains(name) ? std::max(deleted_[name], *record.time) : *record.time;
      if (at != live_.end() && (!record.time || at->time <= *record.time)) live_.erase(at);
      return;
    }
    if (deleted_.contains(name) && deleted_[name] > *record.time) return;
    if (at != live_.end() && at->time > *record.time) return;
    if (at != live_.end()) live_.erase(at);
    if (!dead(*record.time)) live_.push_back({edge, record.key, *record.time});
  }
  void insert_event(const Edge& edge, Timestamp time) {
    if (dead(time)) return;
    std::multiset<Timestamp>& waiting = waiting_[edge];
    if (const auto met = waiting.lower_bound(time); met != waiting.end()) {
      waiting.erase(met);
    } else {
      live_.push_back({edge, "", time});
    }
  }
  void delete_event(const Edge& edge, std::optional<Timestamp> time) {
    auto newest = live_.end();
    for (auto at = live_.begin(); at != live_.end(); ++at) {
      if (at->edge != edge || (time && at->time > *time)) continue;
      if (newest == live_.end() || at->time >= newest->time) newest = at;
    }
    if (newest != live_.end()) {
      live_.erase(newest);
    } else if (time) {
      waiting_[edge].insert(*time);
    }
  }

  const Case* case_;
  std::vector<Live> live_;  // in order of arrival
  std::map<std::string, Timestamp> deleted_;
  std::map<Edge, std::multiset<Timestamp>> waiting_;
  std::optional<Timestamp> watermark_;
};

/// Draws records in order of time, as they would come without delay.
Case draw_case(std::mt19937_64& random, EdgeModel model, Kinds kinds) {
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  Case drawn;
  drawn.model = model;
  drawn.directed = below(3) != 0;
  drawn.window = model == EdgeModel::simple || below(2) == 0;
  drawn.span = 10 + static_cast<Timestamp>(below(60));
  const std::uint64_t vertices = 2 + below(5);
  Timestamp now = 1000;
  std::map<std::string, Edge> ends;
  std::map<Edge, int> events;
  for (std::size_t i = 0, count = below(120); i < count; ++i) {
    now += static_cast<Timestamp>(below(kinds == Kinds::all ? 4 : 3));
    Record record;
    record.time = now;
    const std::uint64_t source = below(vertices);
    record.edge = {"v" + std::to_string(source), "v" + std::to_string((source + 1 + below(vertices - 1)) % vertices),
                   below(3) == 0 ? "L" : ""};
    if (kinds == Kinds::ordered && model == EdgeModel::events) record.edge.label = "E" + std::to_string(below(40));
    if (model == EdgeModel::keyed) record.key = "k" + std::to_string(below(8));
    if (below(3) == 0) record.kind = UpdateKind::delete_edge;
    if (kinds == Kinds::all && below(30) == 0) record.kind = UpdateKind::delete_vertex;
    if (kinds == Kinds::all && record.kind != UpdateKind::insert_edge && below(6) == 0) record.time.reset();
    if (kinds == Kinds::ordered && model == EdgeModel::events) {
      int& seen = events[Plain(drawn).named(record.edge)];  // 1: an event, 2: and its deletion
      record.kind = seen == 1 ? UpdateKind::delete_edge : UpdateKind::insert_edge;
      ++seen;
      if (seen == 2) {
        record.time = ++now;
        ++now;  // a later event of the deletion's time would be another that it could take
      }
    }
    drawn.records.push_back(record);
  }
  return drawn;
}

/// Lets records come late, but not later than the window.
void delay(std::mt19937_64& random, Case& of) {
  std::vector<std::pair<Timestamp, Record>> arrivals;
  Timestamp last = 0;
  for (const Record& record : of.records) {
    last = record.time.value_or(last);
    arrivals.emplace_back(last + static_cast<Timestamp>(random() % static_cast<std::uint64_t>(of.span)), record);
  }
  std::ranges::stable_sort(arrivals, {}, &std::pair<Timestamp, Record>::first);
  for (std::size_t i = 0; i < arrivals.size(); ++i) of.records[i] = arrivals[i].second;
}

class Runner {
 public:
  explicit Runner(const Case& of)
      : case_(&of),
        engine_({.directed = of.directed,
                 .threads = 1,
                 .window = of.window ? of.span : 0,
                 .order = EventOrder::time,
                 .schema = {of.model, {}, {}}}) {
    add_query();
  }

  void process(std::span<const Record> records, bool by_record) {
    UpdateBatch batch;
    for (const Record& record : records) {
      Update update;
      update.kind = record.kind;
      update.source = record.edge.source;
      const Properties properties{record.key.empty() ? std::nullopt : std::optional(Id(record.key)), {}};
      if (record.kind != UpdateKind::delete_vertex) {
        update.target = record.edge.target;
        update.label = record.edge.label;
        update.properties = &properties;
      }
      update.time = record.time;
      batch.add(update);
    }
    BatchOptions options;
    options.record_by_record = by_record;
    for (bool more = true; more;) {
      const BatchResult result = engine_.process(batch, options).value();
      RC_ASSERT(result.rejects.empty());
      more = result.cut;
      if (more) batch.drop_first(result.consumed);
    }
  }
  void restart() {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("deltamatch-order-" + std::to_string(::getpid()) + ".dms");
    engine_.save(path);
    engine_ = Engine::restore(path, 1);
    std::filesystem::remove(path);
    RC_ASSERT(engine_.options().order == EventOrder::time);
    add_query();
  }
  [[nodiscard]] std::multiset<Live> live(const Plain& plain) const {
    std::multiset<Live> living;
    engine_.for_each([&](const Update& update) {
      if (update.kind != UpdateKind::insert_edge || plain.dead(*update.time)) return;
      const Edge edge{std::string(update.source.text()), std::string(update.target.text()), std::string(update.label)};
      living.insert({plain.named(edge), update.key() ? std::string(update.key()->text()) : "", *update.time});
    });
    return living;
  }

 private:
  void add_query() {
    const std::string pattern = case_->directed ? "(a)-->(b)-->(c)" : "(a)--(b)--(c)";
    engine_.add_query(parse_pattern(case_->window ? pattern : pattern + " WITHIN " + std::to_string(case_->span) + "us", "q"));
  }
  const Case* case_;
  Engine engine_;
};

void agree(const Case& of, const std::multiset<Live>& expected, const Plain& plain) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, of.records.size() + 1}) {
    for (const bool by_record : {false, true}) {
      for (const std::size_t stop : {of.records.size() + 1, of.records.size() / 2}) {
        Runner runner(of);
        for (std::size_t at = 0; at < of.records.size();) {
          std::size_t end = std::min(at + size, of.records.size());
          if (at < stop) end = std::min(end, stop);
          runner.process(std::span(of.records).subspan(at, end - at), by_record);
          at = end;
          if (at == stop) runner.restart();
        }
        RC_ASSERT(runner.live(plain) == expected);
      }
    }
  }
}

void hold_rules(EdgeModel model) {
  hold(60, [=] {
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
    Case drawn = draw_case(random, model, Kinds::all);
    if (random() % 2 == 0) drawn.span /= 2;
    delay(random, drawn);
    if (random() % 2 == 0) drawn.span = std::max<Timestamp>(1, drawn.span / 2);  // so some records come too late
    Plain plain(drawn);
    for (const Record& record : drawn.records) plain.take(record);
    agree(drawn, plain.live(), plain);
  });
}

void hold_order(EdgeModel model) {
  hold(60, [=] {
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
    Case drawn = draw_case(random, model, Kinds::ordered);
    delay(random, drawn);
    Case sorted = drawn;
    std::ranges::stable_sort(sorted.records, {}, &Record::time);
    Plain plain(sorted);
    for (const Record& record : sorted.records) plain.take(record);
    agree(sorted, plain.live(), plain);
    agree(drawn, plain.live(), plain);
  });
}

TEST(OrderByTime, SimpleEdgesFollowTheRules) { hold_rules(EdgeModel::simple); }
TEST(OrderByTime, KeyedEdgesFollowTheRules) { hold_rules(EdgeModel::keyed); }
TEST(OrderByTime, EventsFollowTheRules) { hold_rules(EdgeModel::events); }
TEST(OrderByTime, LateRecordsOfSimpleEdgesLeadToTheGraphInOrder) { hold_order(EdgeModel::simple); }
TEST(OrderByTime, LateRecordsOfKeyedEdgesLeadToTheGraphInOrder) { hold_order(EdgeModel::keyed); }
TEST(OrderByTime, LateRecordsOfEventsLeadToTheGraphInOrder) { hold_order(EdgeModel::events); }

}  // namespace
}  // namespace deltamatch::property
