#include "mining.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "deltamatch/mine.hpp"
#include "ingest/table/array_builder.hpp"
#include "interruptible.hpp"
#include "session.hpp"
#include "settings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace deltamatch::python {
namespace {

using ingest::ArrayBuilder;
using ingest::ArrowField;
using ingest::ArrowTable;

/// A table, and whether it is all of the answer.
using Mined = std::pair<ArrowTable, bool>;

MineOptions mine_options(unsigned threads, std::optional<std::int64_t> timeout, const Stop& stop) {
  MineOptions options;
  options.threads = threads;
  options.timeout = timeout_of(timeout);
  options.stop = [&stop] { return stop.load(); };
  return options;
}

/// The field of counts: int64 if all of them fit, else a decimal without a fraction.
ArrowField count_field(const std::vector<Count>& counts) {
  constexpr int digits = 38;
  Count largest = 1;
  for (int i = 0; i < digits; ++i) largest *= 10;
  Count most = 0;
  for (const Count count : counts) most = std::max(most, count);
  if (most >= largest) throw Error("count", "a count has more than 38 digits", "count in the program, which writes all digits");
  const bool small = most <= static_cast<Count>(std::numeric_limits<std::int64_t>::max());
  return {
      .format = small ? ingest::arrow_type::int64 : ingest::arrow_type::decimal(digits, 0), .name = "count", .nullable = false};
}

void put_count(ArrayBuilder& column, Count count) {
  if (column.field().format == ingest::arrow_type::int64)
    column.integer(static_cast<std::int64_t>(count));
  else
    column.decimal(static_cast<ingest::Int128>(count));
}

ArrowTable finish(ArrayBuilder& rows) {
  std::vector<ArrowField> columns = rows.field().children;
  std::vector<ingest::ArrowColumn> chunks;
  if (rows.length() > 0) chunks.push_back(rows.take());
  return {std::move(columns), std::move(chunks)};
}

ArrayBuilder rows_of(std::vector<ArrowField> columns) {
  return ArrayBuilder({.format = ingest::arrow_type::structure, .name = "", .children = std::move(columns)});
}

Mined motifs(Session& session, unsigned k, const std::optional<std::string>& where, unsigned threads,
             std::optional<std::int64_t> timeout) {
  MotifOptions options;
  if (where) options.where = Condition::parse(*where, "where");
  MotifResult result;
  run_interruptible([&](const Stop& stop) {
    options.run = mine_options(threads, timeout, stop);
    result = count_motifs(SimpleGraph::of(session.engine()), k, options);
  });
  std::vector<Count> counts;
  for (const Motif& motif : result.motifs) counts.push_back(motif.count);
  ArrayBuilder rows = rows_of({{.format = ingest::arrow_type::text, .name = "motif", .nullable = false},
                               {.format = ingest::arrow_type::text, .name = "name"},
                               {.format = ingest::arrow_type::int32, .name = "vertices", .nullable = false},
                               {.format = ingest::arrow_type::int32, .name = "edges", .nullable = false},
                               count_field(counts)});
  for (const Motif& motif : result.motifs) {
    std::size_t column = 0;
    rows.child(column++).text(motif.pattern.graph6());
    const std::string_view name = motif.pattern.common_name();
    name.empty() ? rows.child(column++).null() : rows.child(column++).text(name);
    rows.child(column++).integer(motif.pattern.vertices);
    rows.child(column++).integer(static_cast<std::int64_t>(motif.pattern.edges().size()));
    put_count(rows.child(column), motif.count);
    rows.end_struct();
  }
  return {finish(rows), result.complete};
}

Mined cliques(Session& session, std::optional<unsigned> k, unsigned threads, std::optional<std::int64_t> timeout) {
  CliqueResult result;
  run_interruptible([&](const Stop& stop) {
    result = count_cliques(SimpleGraph::of(session.engine()), k, mine_options(threads, timeout, stop));
  });
  if (k && result.counts.size() <= *k) result.counts.resize(*k + 1);
  ArrayBuilder rows =
      rows_of({{.format = ingest::arrow_type::int32, .name = "vertices", .nullable = false}, count_field(result.counts)});
  for (std::size_t size = k.value_or(1); size < result.counts.size(); ++size) {
    rows.child(0).integer(static_cast<std::int64_t>(size));
    put_count(rows.child(1), result.counts[size]);
    rows.end_struct();
  }
  return {finish(rows), result.complete};
}

/// Each clique is a list of ids, which ascend.
Mined listed_cliques(Session& session, unsigned k, std::optional<std::uint64_t> limit, unsigned threads,
                     std::optional<std::int64_t> timeout) {
  std::optional<Mined> mined;
  run_interruptible([&](const Stop& stop) {
    const SimpleGraph graph = SimpleGraph::of(session.engine());
    bool texts = false;  // ids are in order: texts come last
    if (graph.vertices() > 0) texts = graph.id(graph.vertices() - 1).is_text();
    const char* const format = texts ? ingest::arrow_type::text : ingest::arrow_type::int64;
    ArrayBuilder rows =
        rows_of({{.format = ingest::arrow_type::list, .name = "vertices", .children = {{.format = format, .name = "item"}}}});
    std::vector<ingest::ArrowColumn> chunks;
    std::vector<SimpleGraph::Vertex> clique;
    const ListResult result =
        list_cliques(graph, k, limit, mine_options(threads, timeout, stop), [&](std::span<const SimpleGraph::Vertex> vertices) {
          clique.assign(vertices.begin(), vertices.end());
          std::ranges::sort(clique);
          ArrayBuilder& list = rows.child();
          for (const SimpleGraph::Vertex vertex : clique) {
            const Id id = graph.id(vertex);
            if (!texts)
              list.child().integer(id.number());
            else
              list.child().text(id.is_text() ? std::string(id.text()) : std::to_string(id.number()));
          }
          list.end_list();
          rows.end_struct();
          constexpr std::int64_t rows_of_chunk = std::int64_t{1} << 16;
          if (rows.length() >= rows_of_chunk) chunks.push_back(rows.take());
        });
    std::vector<ArrowField> columns = rows.field().children;
    if (rows.length() > 0) chunks.push_back(rows.take());
    const bool complete = result.complete || (limit && result.listed >= *limit);
    mined.emplace(ArrowTable(std::move(columns), std::move(chunks)), complete);
  });
  return std::move(*mined);
}

}  // namespace

void bind_mining(nb::module_& module) {
  module.def("motifs", &motifs, "engine"_a, "k"_a, "where"_a.none(), "threads"_a, "timeout"_a.none());
  module.def("cliques", &cliques, "engine"_a, "k"_a.none(), "threads"_a, "timeout"_a.none());
  module.def("listed_cliques", &listed_cliques, "engine"_a, "k"_a, "limit"_a.none(), "threads"_a, "timeout"_a.none());
}

}  // namespace deltamatch::python
