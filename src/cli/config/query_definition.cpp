#include "cli/config/query_definition.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "cli/config/service_sections.hpp"
#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "ingest/service/alert/alert_messages.hpp"
#include "ingest/service/http/query_routes.hpp"

namespace deltamatch::cli {
namespace {

using ingest::QueryProblem;
using ingest::QueryRefusal;

/// Takes a number and a colon from the beginning of the text; 0 if they are not there.
std::size_t take_number(std::string_view& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != ':') return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

/// Takes a message of the library apart: "pattern:1:12: what; remedy", and below it the line with a mark at the column.
QueryProblem apart(std::string_view text) {
  constexpr std::string_view begin = "pattern:";
  QueryProblem problem;
  if (text.starts_with(begin)) {
    std::string_view rest = text.substr(begin.size());
    problem.line = take_number(rest);
    problem.column = problem.line == 0 ? 0 : take_number(rest);
    if (problem.column == 0) problem.line = 0;
    if (problem.column != 0 || problem.line == 0) text = rest;
    problem.key = "pattern";
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  text = text.substr(0, text.find('\n'));
  const std::size_t remedy = text.find("; ");
  problem.what = text.substr(0, remedy);
  if (remedy != std::string_view::npos) problem.remedy = text.substr(remedy + 2);
  return problem;
}

[[noreturn]] void refuse(unsigned status, const Problems& problems) {
  std::string text;
  std::vector<QueryProblem> found;
  for (const Problems::Problem& problem : problems.found()) {
    text += (text.empty() ? "" : "\n") + problem.text;
    if (problem.what.empty()) {
      found.push_back(apart(problem.text));
    } else if (problem.remedy.empty()) {
      found.push_back(apart(problem.what));
      found.back().key = problem.key;
    } else {
      found.push_back({problem.key, problem.what, problem.remedy, 0, 0});
    }
  }
  throw QueryRefusal(status, text, "", std::move(found));
}

/// Tries the templates of the query's sinks with its alerts. Those of the configuration's queries were tried before; they show
/// which names other queries have.
void try_templates(ConfigContext& context, const ServiceConfig& config, const ingest::ServiceQuery& query) {
  const ingest::ServiceOptions& service = config.service;
  const auto goes_to = [](const ingest::ServiceQuery& from, const ingest::SinkOptions& sink) {
    return std::ranges::find(from.sinks, sink.name) != from.sinks.end();
  };
  for (const ingest::SinkOptions& sink : service.sinks) {
    if (!goes_to(query, sink) || (sink.body.empty() && sink.link.empty())) continue;
    std::vector<ingest::QuerySamples> samples{ingest::sample_alerts(query.query, service.engine.schema, sink.times)};
    for (const ingest::ServiceQuery& other : service.queries) {
      if (goes_to(other, sink) && other.query.name != query.query.name)
        samples.push_back(ingest::sample_alerts(other.query, service.engine.schema, sink.times));
    }
    try {
      if (!sink.body.empty()) ingest::try_body(service.application, sink, samples);
      if (!sink.link.empty()) ingest::try_link(service.application, sink, samples);
    } catch (const Error& error) {
      context.problems.add(1, "sinks", "the template of sink '" + sink.name + "' cannot show its alerts: " + error.what(),
                           "name other sinks, or change the template");
    }
  }
}

}  // namespace

ingest::ServiceQuery read_definition(std::string_view json, const std::optional<std::string>& name,
                                     const ServiceConfig& config) {
  constexpr const char* example = R"j(send e.g. {"name": "ring", "pattern": "(a)-->(b)-->(a)"})j";
  ConfigContext context{Problems(""), {}, {}, {}, {}, {}, {}};
  Node root;
  try {
    root = parse_json(json, context.problems);
  } catch (const Error& error) {
    throw QueryRefusal(400, error.what(), example, {{"", error.what(), example, 0, 0}});
  }
  if (root.kind != Node::Kind::map)
    throw QueryRefusal(400, "this is no JSON object", example, {{"", "this is no JSON object", example, 0, 0}});
  if (context.problems.count() != 0) refuse(400, context.problems);
  ingest::ServiceQuery query = read_definition(Section(context, &root, 1, "", ""), config, name);
  if (context.problems.count() == 0) try_templates(context, config, query);
  if (context.problems.count() != 0) refuse(422, context.problems);
  query.where = "the query '" + query.query.name + "', made over HTTP";
  query.over_http = true;
  return query;
}

std::string plan_of(const ingest::ServiceQuery& query, const ServiceConfig& config) {
  EngineOptions options;
  options.directed = config.service.engine.directed;
  options.threads = 1;
  options.window = config.service.engine.window;
  options.allowed_lateness = config.service.engine.allowed_lateness;
  options.schema = config.service.engine.schema;
  options.self_loops = config.service.engine.self_loops;
  return Engine(options).explain(query.query, query.options);
}

}  // namespace deltamatch::cli
