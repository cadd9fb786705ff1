#include "ingest/service/http/query_routes.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "ingest/service/state/query_definition.hpp"
#include "ingest/text/exact_json.hpp"

namespace deltamatch::ingest {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* collection = "/v1/queries";
constexpr const char* member = "/v1/queries/{name}";

HttpReply json_reply(unsigned status, const Json& body) {
  return {status, dump_exact(body) + "\n", "application/json", {}, {}};
}

HttpReply refused(const QueryRefusal& refusal) {
  Json body{{"v", 1}, {"error", refusal.what()}};
  for (const QueryProblem& problem : refusal.problems) {
    Json entry = Json::object();
    if (!problem.key.empty()) entry["key"] = problem.key;
    entry["what"] = problem.what;
    if (!problem.remedy.empty()) entry["remedy"] = problem.remedy;
    if (problem.line != 0) {
      entry["line"] = problem.line;
      entry["column"] = problem.column;
    }
    body["problems"].push_back(std::move(entry));
  }
  return json_reply(refusal.status, body);
}

/// A handler whose refusals become answers.
template <class Handler>
std::function<HttpReply(const HttpRequest&)> answering(Handler handler) {
  return [handler = std::move(handler)](const HttpRequest& request) {
    try {
      return handler(request);
    } catch (const QueryRefusal& refusal) {
      return refused(refusal);
    }
  };
}

/// %XX for each byte that may not stand in a path's segment.
std::string encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view plain = "-._~";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || plain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

Json shown(const ListedQuery& listed) {
  Json out = Json::parse(definition_of(listed.query));
  out["fingerprint"] = listed.fingerprint;
  out["etag"] = listed.tag;
  out["source"] = listed.query.over_http ? "api" : "file";
  if (!listed.query.over_http) out["where"] = listed.query.where;
  if (listed.batch) out["batch"] = *listed.batch;
  out["state"] = listed.suspended ? "suspended" : "standing";
  if (listed.suspended) out["suspended"] = {{"batch", listed.suspended_in}, {"over", std::string(listed.over)}};
  if (listed.added && listed.removed)
    out["matches"] = {{"new", exact<Json>(*listed.added)}, {"removed", exact<Json>(*listed.removed)}};
  return out;
}

bool flag(const HttpRequest& request, std::string_view name) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return false;
  if (found->second.empty() || found->second == "true" || found->second == "1") return true;
  if (found->second == "false" || found->second == "0") return false;
  throw QueryRefusal(400, "the parameter " + std::string(name) + " is neither true nor false",
                     "write ?" + std::string(name) + "=true");
}

/// Refuses parameters that the path does not know: a mistyped ?validate=true would change something.
void only_knows(const HttpRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.query) {
    if (key == name) continue;
    throw QueryRefusal(400, "this path does not know the parameter '" + key + "'",
                       name.empty() ? "leave it out" : "use ?" + std::string(name) + "=true, or leave it out");
  }
}

HttpReply listed(const QueryHandlers& handlers, const HttpRequest& request) {
  only_knows(request, "");
  const QueryListing listing = handlers.list();
  Json body{{"v", 1}, {"batch", listing.batch}, {"queries", Json::array()}};
  for (const ListedQuery& query : listing.queries) body["queries"].push_back(shown(query));
  return json_reply(200, body);
}

/// Plans by entity tag: many pages may show the same query, and a plan can take a while.
class Plans {
 public:
  std::string of(const QueryHandlers& handlers, const ListedQuery& query) {
    {
      const std::scoped_lock lock(mutex_);
      if (const auto found = plans_.find(query.tag); found != plans_.end()) return found->second;
    }
    std::string plan = handlers.plan(query.query);
    const std::scoped_lock lock(mutex_);
    if (plans_.size() >= most) plans_.clear();
    return plans_[query.tag] = std::move(plan);
  }

 private:
  static constexpr std::size_t most = 1000;
  std::mutex mutex_;
  std::map<std::string, std::string> plans_;
};

HttpReply one(const QueryHandlers& handlers, Plans& plans, const HttpRequest& request) {
  only_knows(request, "");
  const QueryListing listing = handlers.list();
  const std::string& name = request.path.at("name");
  const auto named = [&](const ListedQuery& query) { return query.query.query.name == name; };
  const auto found = std::ranges::find_if(listing.queries, named);
  if (found == listing.queries.end())
    throw QueryRefusal(404, "there is no query '" + name + "'", "GET /v1/queries lists those that there are");
  HttpReply reply{304, {}, {}, {{"ETag", found->tag}}, {}};
  if (!request.header("if-none-match").empty() && names_tag(request.header("if-none-match"), found->tag)) return reply;
  Json body = shown(*found);
  body["v"] = 1;
  body["plan"] = plans.of(handlers, *found);
  reply = json_reply(200, body);
  reply.headers.emplace_back("ETag", found->tag);
  return reply;
}

HttpReply changed(const QueryHandlers& handlers, const HttpRequest& request, QueryRequest::Kind kind) {
  only_knows(request, "validate");
  QueryRequest wanted;
  wanted.kind = kind;
  wanted.only_check = flag(request, "validate");
  wanted.if_match = request.header("if-match");
  wanted.if_none_match = request.header("if-none-match");
  const auto in_path = request.path.find("name");
  const std::optional<std::string> name = in_path == request.path.end() ? std::nullopt : std::optional(in_path->second);
  if (kind != QueryRequest::Kind::remove) wanted.query = handlers.define(request.body, name);
  wanted.name = name ? *name : wanted.query->query.name;
  const QueryOutcome outcome = handlers.change(wanted);
  Json body{{"v", 1}, {"name", wanted.name}};
  if (wanted.only_check) {
    body["valid"] = true;
    body["changed"] = false;
  } else {
    body["changed"] = outcome.changed;
    body["batch"] = outcome.batch;
  }
  if (!outcome.tag.empty()) body["etag"] = outcome.tag;
  HttpReply reply = json_reply(outcome.created && !wanted.only_check ? 201 : 200, body);
  if (wanted.only_check) return reply;
  if (!outcome.tag.empty()) reply.headers.emplace_back("ETag", outcome.tag);
  if (outcome.created) reply.headers.emplace_back("Location", std::string(collection) + '/' + encoded(wanted.name));
  return reply;
}

}  // namespace

bool names_tag(std::string_view header, std::string_view tag) {
  while (!header.empty()) {
    std::string_view item = header.substr(0, header.find(','));
    header.remove_prefix(std::min(item.size() + 1, header.size()));
    while (item.starts_with(' ') || item.starts_with('\t')) item.remove_prefix(1);
    while (item.ends_with(' ') || item.ends_with('\t')) item.remove_suffix(1);
    if (item == "*" || item == tag) return true;
    // People copy the tag without its quotes.
    if (tag.size() > 2 && item == tag.substr(1, tag.size() - 2)) return true;
  }
  return false;
}

std::vector<HttpRoute> query_routes(const QueryHandlers& handlers) {
  const auto shared = std::make_shared<const QueryHandlers>(handlers);
  const auto change = [&](std::string method, const char* path, QueryRequest::Kind kind, std::size_t body) {
    return HttpRoute{std::move(method),
                     path,
                     HttpThreads::changes,
                     HttpAccess::admin,
                     body,
                     answering([shared, kind](const HttpRequest& request) { return changed(*shared, request, kind); }),
                     false};
  };
  std::vector<HttpRoute> routes;
  routes.push_back({"GET", collection, HttpThreads::pages, HttpAccess::everyone, 0,
                    answering([shared](const HttpRequest& request) { return listed(*shared, request); }), false});
  routes.push_back({"GET", member, HttpThreads::pages, HttpAccess::everyone, 0,
                    answering([shared, plans = std::make_shared<Plans>()](const HttpRequest& request) {
                      return one(*shared, *plans, request);
                    }),
                    false});
  routes.push_back(change("POST", collection, QueryRequest::Kind::create, most_definition));
  routes.push_back(change("PUT", member, QueryRequest::Kind::put, most_definition));
  routes.push_back(change("DELETE", member, QueryRequest::Kind::remove, 0));
  return routes;
}

}  // namespace deltamatch::ingest
