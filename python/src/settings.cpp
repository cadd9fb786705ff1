#include "settings.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/schema_text.hpp"

namespace nb = nanobind;

namespace deltamatch::python {
namespace {

/// The value of a key, or `otherwise` if it is not there or None.
template <class T>
T get(const nb::dict& settings, const char* key, T otherwise = {}) {
  if (!settings.contains(key)) return otherwise;
  const nb::object value = settings[key];
  return value.is_none() ? otherwise : nb::cast<T>(value);
}

/// One of a few words.
template <class T>
std::optional<T> choice(const nb::dict& settings, const char* key, const std::vector<std::pair<std::string_view, T>>& choices) {
  const auto text = get<std::string>(settings, key);
  if (text.empty()) return std::nullopt;
  std::string words;
  for (const auto& [word, value] : choices) {
    if (word == text) return value;
    words += (words.empty() ? "'" : ", '") + std::string(word) + "'";
  }
  throw Error(ErrorKind::usage, key, fmt::format("'{}' is not a choice", text), "choose one of " + words);
}

using Declaration = std::tuple<std::string, std::string, std::string>;  // name, type, column

std::vector<ingest::AttributeColumn> attributes(const nb::dict& settings, const char* key, ingest::AttributesOf of) {
  std::vector<ingest::AttributeColumn> columns;
  for (const auto& [name, type, column] : get<std::vector<Declaration>>(settings, key)) {
    columns.push_back(ingest::parse_attribute(name, type, of, key));
    columns.back().column = column;
  }
  return columns;
}

EdgeModel model_of(const nb::dict& settings) {
  return choice<EdgeModel>(settings, "edges",
                           {{"simple", EdgeModel::simple}, {"keyed", EdgeModel::keyed}, {"events", EdgeModel::events}})
      .value_or(EdgeModel::simple);
}

}  // namespace

EngineOptions engine_options(const nb::dict& settings) {
  EngineOptions options;
  options.directed = get<bool>(settings, "directed", true);
  options.threads = get<unsigned>(settings, "threads");
  options.window = get<Timestamp>(settings, "window");
  options.allowed_lateness = get<Timestamp>(settings, "allowed_lateness");
  options.order = choice<EventOrder>(settings, "order", {{"arrival", EventOrder::arrival}, {"time", EventOrder::time}})
                      .value_or(EventOrder::arrival);
  options.self_loops =
      choice<SelfLoops>(settings, "self_loops", {{"leave-out", SelfLoops::leave_out}, {"keep", SelfLoops::keep}})
          .value_or(SelfLoops::leave_out);
  options.schema.model = model_of(settings);
  for (const auto& column : attributes(settings, "attributes", ingest::AttributesOf::edges))
    options.schema.edges.push_back(column.attribute);
  for (const auto& column : attributes(settings, "vertex_attributes", ingest::AttributesOf::vertices))
    options.schema.vertices.push_back(column.attribute);
  if (options.schema.model == EdgeModel::simple && !options.schema.edges.empty()) {
    throw Error(ErrorKind::usage, "attributes", "edges of the model simple have no attributes",
                "give edges='keyed' if each edge has a key, or edges='events' if each row is an edge of its own");
  }
  return options;
}

QueryOptions query_options(const nb::dict& settings, bool list) {
  QueryOptions options;
  options.list = list;
  options.mode = choice<MatchMode>(settings, "mode",
                                   {{"isomorphism", MatchMode::isomorphism},
                                    {"edge-distinct", MatchMode::edge_distinct},
                                    {"homomorphism", MatchMode::homomorphism}})
                     .value_or(MatchMode::isomorphism);
  const CountMode usual = options.mode == MatchMode::isomorphism ? CountMode::subgraphs : CountMode::embeddings;
  options.count =
      choice<CountMode>(settings, "count", {{"subgraphs", CountMode::subgraphs}, {"embeddings", CountMode::embeddings}})
          .value_or(usual);
  options.induced = get<bool>(settings, "induced");
  return options;
}

std::optional<std::chrono::nanoseconds> timeout_of(std::optional<std::int64_t> microseconds) {
  if (!microseconds) return std::nullopt;
  constexpr std::int64_t longest = std::int64_t{36'500} * 86'400 * 1'000'000;
  return std::chrono::microseconds(std::min(*microseconds, longest));
}

ReadSettings read_settings(const nb::dict& settings, const EngineOptions& engine) {
  ReadSettings read;
  const nb::dict roles = nb::cast<nb::dict>(settings["roles"]);
  for (const ingest::Role role : ingest::all_roles()) {
    const std::string name(ingest::role_name(role));
    if (roles.contains(name.c_str())) read.roles[static_cast<std::size_t>(role)] = nb::cast<std::string>(roles[name.c_str()]);
  }
  ingest::ReadOptions& options = read.options;
  options.spelling.as_keywords = true;
  options.codec.vertices = get<bool>(settings, "vertices");
  options.codec.ids = choice<ingest::IdKind>(
      settings, "ids",
      {{"automatic", ingest::IdKind::automatic}, {"integer", ingest::IdKind::integer}, {"string", ingest::IdKind::string}});
  options.codec.time_unit = choice<ingest::TimeUnit>(
      settings, "time_unit",
      {{"s", ingest::TimeUnit::seconds}, {"ms", ingest::TimeUnit::milliseconds}, {"us", ingest::TimeUnit::microseconds}});
  options.codec.time_format = get<std::string>(settings, "time_format");
  options.codec.op_values = get<std::string>(settings, "op_values");
  options.codec.edge_label = get<std::string>(settings, "edge_label");
  options.codec.edges = engine.schema.model;
  options.codec.attributes = attributes(settings, "attributes", ingest::AttributesOf::edges);
  options.codec.vertex_attributes = attributes(settings, "vertex_attributes", ingest::AttributesOf::vertices);
  options.limits.max_updates = get<std::size_t>(settings, "batch");
  options.limits.max_span = get<Timestamp>(settings, "batch_span");
  if (get<bool>(settings, "within_window")) options.limits = options.limits.within_window(engine.window);
  options.on_error =
      choice<ingest::OnError>(settings, "on_error", {{"fail", ingest::OnError::fail}, {"skip", ingest::OnError::skip}})
          .value_or(ingest::OnError::fail);
  if (const auto ahead = get<Timestamp>(settings, "max_ahead"); ahead != 0) options.max_ahead = ahead;
  options.window = engine.window;
  options.watch_ids = get<bool>(settings, "watch_ids");
  options.read_ahead = get<unsigned>(settings, "read_ahead");
  return read;
}

}  // namespace deltamatch::python
