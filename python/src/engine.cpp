#include "engine.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "deltamatch/misfit.hpp"
#include "interruptible.hpp"
#include "query.hpp"
#include "session.hpp"
#include "settings.hpp"
#include "source.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace deltamatch::python {
namespace {

/// Counts have 128 bits.
nb::object to_int(Count count) { return nb::steal(PyLong_FromString(to_string(count).c_str(), nullptr, 10)); }

nb::dict to_dict(const Ignored& ignored) {
  nb::dict dict;
  dict["duplicate_insert"] = ignored.duplicate_insert;
  dict["absent_delete"] = ignored.absent_delete;
  dict["superseded"] = ignored.superseded;
  dict["late"] = ignored.late;
  dict["self_loop"] = ignored.self_loop;
  return dict;
}

nb::dict to_dict(const Totals& totals, const Schema& schema) {
  nb::dict dict;
  nb::dict missing;
  for (std::size_t i = 0; i < totals.missing.size(); ++i) {
    if (totals.missing[i] != 0) missing[schema.edges[i].name.c_str()] = totals.missing[i];
  }
  dict["missing"] = missing;
  dict["batches"] = totals.batches;
  dict["updates"] = totals.updates;
  dict["inserted"] = totals.inserted;
  dict["deleted"] = totals.deleted;
  dict["expired"] = totals.expired;
  dict["out_of_order"] = totals.out_of_order;
  dict["ignored"] = to_dict(totals.ignored);
  nb::dict seconds;
  seconds["apply"] = totals.seconds.apply;
  seconds["estimate"] = totals.seconds.estimate;
  seconds["cache"] = totals.seconds.cache;
  seconds["match"] = totals.seconds.match;
  seconds["settle"] = totals.seconds.settle;
  dict["seconds"] = seconds;
  nb::dict queries;
  for (const Totals::OfQuery& query : totals.queries) {
    nb::dict row;
    row["new"] = to_int(query.added);
    row["removed"] = to_int(query.removed);
    row["suppressed"] = to_int(query.suppressed);
    row["partial_batches"] = query.partial;
    queries[query.name.c_str()] = row;
  }
  dict["queries"] = queries;
  return dict;
}

/// A table that an engine reads. Its end waits for the thread that reads ahead, which may have to run Python first.
class OpenTable {
 public:
  OpenTable(std::unique_ptr<Reading> reading, Schema schema) : reading_(std::move(reading)), schema_(std::move(schema)) {}
  ~OpenTable() {
    const nb::gil_scoped_release unlocked;
    reading_.reset();
  }
  OpenTable(const OpenTable&) = delete;
  OpenTable& operator=(const OpenTable&) = delete;

  [[nodiscard]] Reading& reading() const noexcept { return *reading_; }
  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }

 private:
  std::unique_ptr<Reading> reading_;
  Schema schema_;  // of its engine
};

/// What a table's rows became. Ends reading.
Dict report(OpenTable& table) {
  Reading& reading = table.reading();
  std::vector<ingest::Warning> warnings;
  {
    const nb::gil_scoped_release unlocked;
    warnings = reading.warnings();
  }
  nb::dict dict = to_dict(reading.totals(), table.schema());
  dict["records"] = reading.stream().records();
  nb::dict refused;
  const auto& counts = reading.stream().refused().by_reason;
  for (std::size_t reason = 0; reason < counts.size(); ++reason) {
    if (counts[reason] != 0)
      refused[nb::str(std::string(reject_name(static_cast<RejectReason>(reason))).c_str())] = counts[reason];
  }
  dict["refused"] = refused;
  nb::list first;
  for (const ingest::FirstRefusal& refusal : reading.stream().first_refusals())
    first.append(nb::make_tuple(std::string(reject_name(refusal.reason)), refusal.where, refusal.message));
  dict["first_refusals"] = first;
  nb::list doubts;
  for (const ingest::Warning& warning : warnings) doubts.append(nb::make_tuple(warning.code, to_string(warning)));
  dict["warnings"] = doubts;
  return dict;
}

Dict options_of(Session& session) {
  const EngineOptions& options = session.engine().options();
  const auto attributes = [](const std::vector<Attribute>& declared) {
    nb::list list;
    for (const Attribute& attribute : declared) list.append(nb::make_tuple(attribute.name, to_text(attribute.type)));
    return list;
  };
  nb::dict dict;
  dict["directed"] = options.directed;
  dict["threads"] = options.threads;
  dict["window"] = options.window;
  dict["allowed_lateness"] = options.allowed_lateness;
  dict["order"] = options.order == EventOrder::time ? "time" : "arrival";
  dict["self_loops"] = options.self_loops == SelfLoops::keep ? "keep" : "leave-out";
  dict["edges"] = to_text(options.schema.model);
  dict["attributes"] = attributes(options.schema.edges);
  dict["vertex_attributes"] = attributes(options.schema.vertices);
  return dict;
}

}  // namespace

void bind_engine(nb::module_& module) {
  nb::class_<OpenTable>(module, "Reading", "A table that an engine reads.")
      .def_prop_ro("totals", [](const OpenTable& table) -> Dict { return to_dict(table.reading().totals(), table.schema()); })
      .def(
          "drain",
          [](OpenTable& table) {
            Session::Sums sums;
            run_interruptible([&](const Stop& stop) { sums = Session::drain(table.reading(), stop); });
            return std::tuple(sums.updates, sums.ids, sums.labels, sums.times);
          },
          "Reads all batches and forgets them: the updates, and sums of their ids, labels and times. For measurements.")
      .def("report", &report, "What its rows became. Ends reading.");

  nb::class_<Session>(module, "Engine", "A data graph with standing queries. The class deltamatch.Engine wraps it.")
      .def(
          "__init__", [](Session* place, const Dict& settings) { new (place) Session(engine_options(settings)); }, "settings"_a)
      .def_static(
          "restore",
          [](const std::string& path, unsigned threads) {
            const nb::gil_scoped_release unlocked;
            return std::make_unique<Session>(Engine::restore(path, threads));
          },
          "path"_a, "threads"_a)
      .def(
          "save",
          [](Session& session, const std::string& path) {
            const nb::gil_scoped_release unlocked;
            session.engine().save(path);
          },
          "path"_a)
      .def_prop_ro("options", &options_of)
      .def(
          "add",
          [](Session& session, const Pattern& pattern, const Dict& settings, bool list,
             std::optional<std::uint64_t> max_matches) {
            return static_cast<std::uint32_t>(session.add(pattern.query, query_options(settings, list), max_matches));
          },
          "pattern"_a, "settings"_a, "list"_a, "max_matches"_a.none())
      .def(
          "remove", [](Session& session, std::uint32_t id) { session.remove(QueryId{id}); }, "id"_a)
      .def_prop_ro("names", &Session::names)
      .def("absent_labels", nb::overload_cast<bool>(&Session::absent_labels, nb::const_), "unlabelled"_a,
           "What is doubtful about labels of standing queries. `unlabelled`: says only if no edge, or no vertex, had any.")
      .def(
          "absent_labels_of",
          [](const Session& session, const std::vector<Pattern>& patterns) {
            std::vector<Query> queries;
            for (const Pattern& pattern : patterns) queries.push_back(pattern.query);
            return session.absent_labels(queries);
          },
          "patterns"_a, "The same for queries that are asked of the graph as it stands.")
      .def(
          "open",
          [](Session& session, Source& source, const Dict& settings) {
            const EngineOptions& options = session.engine().options();
            return std::make_unique<OpenTable>(session.open(source.take(), read_settings(settings, options)), options.schema);
          },
          "source"_a, "settings"_a)
      .def(
          "load",
          [](Session& session, OpenTable& table) {
            run_interruptible([&](const Stop& stop) { session.load(table.reading(), stop); });
          },
          "reading"_a)
      .def(
          "advance",
          [](Session& session, OpenTable& table, std::uint64_t matches, bool whole) {
            bool more = false;
            run_interruptible([&](const Stop& stop) { more = session.advance(table.reading(), matches, whole, stop); });
            return more;
          },
          "reading"_a, "matches"_a, "whole"_a,
          "Processes batches until there are so many matches. False at the end of the table.")
      .def("take", &Session::take, "The matches of what was processed, which are then forgotten.")
      .def(
          "match",
          [](Session& session, const std::vector<Pattern>& patterns, const Dict& settings, bool list,
             std::optional<std::uint64_t> limit, std::optional<std::int64_t> timeout) {
            StaticOptions options;
            options.query = query_options(settings, list);
            options.induced = std::exchange(options.query.induced, false);
            options.limit = limit;
            options.timeout = timeout_of(timeout);
            std::vector<Query> queries;
            for (const Pattern& pattern : patterns) queries.push_back(pattern.query);
            Session::Found found;
            run_interruptible([&](const Stop& stop) { found = session.match(queries, options, stop); });
            nb::typed<nb::list, nb::typed<nb::tuple, nb::int_, nb::str>> results;
            for (const StaticResult& result : found.results)
              results.append(nb::make_tuple(to_int(result.matches), std::string(shortfall_name(result.shortfall))));
            return std::pair(results, std::move(found.matches));
          },
          "patterns"_a, "settings"_a, "list"_a, "limit"_a.none(), "timeout"_a.none(),
          "A count and what cut it short for each pattern, and the table of matches.")
      .def(
          "explain",
          [](Session& session, const Pattern& pattern, const Dict& settings) {
            return session.engine().explain(pattern.query, query_options(settings, false));
          },
          "pattern"_a, "settings"_a)
      .def_prop_ro("batch", [](Session& session) { return session.engine().batch(); })
      .def_prop_ro("watermark", [](Session& session) { return session.engine().watermark(); })
      .def_prop_ro("digest", [](Session& session) { return to_string(session.engine().digest().now); })
      .def_prop_ro("graph", [](Session& session) -> Dict {
        const GraphStatistics graph = session.engine().graph();
        nb::dict dict;
        dict["vertices"] = graph.vertices;
        dict["edges"] = graph.edges;
        dict["bytes"] = graph.bytes;
        return dict;
      });
}

}  // namespace deltamatch::python
