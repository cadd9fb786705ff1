#include "ingest/service/loop/query_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/state/query_definition.hpp"

namespace deltamatch::ingest {
namespace {

QueryRefusal has_changed(const std::string& name, const std::string& tag) {
  return {412,
          tag.empty() ? fmt::format("there is no query '{}', so it has not the ETag that the request names", name)
                      : fmt::format("the query '{}' has the ETag {}, which the request does not allow", name, tag),
          "GET it, look at what has changed, and send the request with the ETag from there"};
}

/// Checks the headers If-Match and If-None-Match. `tag` is empty if there is no such query.
void check_conditions(const QueryRequest& request, const std::string& tag) {
  if (!request.if_match.empty() && (tag.empty() || !names_tag(request.if_match, tag))) throw has_changed(request.name, tag);
  if (!request.if_none_match.empty() && !tag.empty() && names_tag(request.if_none_match, tag))
    throw has_changed(request.name, tag);
}

}  // namespace

QueryBook::QueryBook(std::vector<ServiceQuery> from_file, std::string topic)
    : from_file_(std::move(from_file)), topic_(std::move(topic)) {}

void QueryBook::must_differ(std::span<const ServiceQuery> from_file) const {
  for (const ServiceQuery& query : from_file) {
    const auto made = made_.find(query.query.name);
    if (made == made_.end()) continue;
    throw Error(ErrorKind::configuration, query.where,
                fmt::format("the name '{}' belongs to a query that was made over HTTP, in batch {}", query.query.name,
                            made->second.batch),
                "rename the query here, or leave it out, DELETE the other one from the running service, and add it then");
  }
}

void QueryBook::set_file(std::vector<ServiceQuery> from_file) {
  must_differ(from_file);
  from_file_ = std::move(from_file);
}

void QueryBook::load(std::span<const QueryRecord> records, const Define& define) {
  made_.clear();
  newest_ = 0;
  for (const QueryRecord& record : records) newest_ = std::max(newest_, record.batch);
  for (const auto& [name, record] : left_after(records)) {
    try {
      ServiceQuery query = define(*record.definition, name);
      query.over_http = true;
      made_.insert_or_assign(name, Made{std::move(query), record.batch});
    } catch (const Error& error) {
      throw Error(ErrorKind::configuration, topic_,
                  fmt::format("the query '{}', made over HTTP in batch {}, does not fit this configuration: {}", name,
                              record.batch, error.what()),
                  "restore for this start what it needs (a sink may be of any type), then change or DELETE it");
    }
  }
}

void QueryBook::must_belong_to(const CommitPoint& last, std::string_view unread) const {
  if (newest_ > last.batch) {
    throw Error(topic_,
                fmt::format("it has a change of batch {}, but the last commit record is of batch {}", newest_, last.batch),
                "restore the topic of commit records, or delete this topic too if the application begins anew");
  }
  for (const std::string& name : last.over_http) {
    if (made_.contains(name) || in_file(name) != nullptr) continue;
    throw Error(ErrorKind::configuration, topic_,
                fmt::format("the query '{}' was made over HTTP, but its definition is not there{}{}", name,
                            unread.empty() ? "" : ": ", unread),
                "restore the topic, or write a query of this name under queries in the configuration");
  }
}

const ServiceQuery* QueryBook::in_file(std::string_view name) const {
  const auto found = std::ranges::find_if(from_file_, [&](const ServiceQuery& query) { return query.query.name == name; });
  return found == from_file_.end() ? nullptr : &*found;
}

std::vector<ServiceQuery> QueryBook::made() const {
  std::vector<ServiceQuery> queries;
  for (const auto& [name, made] : made_) queries.push_back(made.query);
  return queries;
}

std::vector<ServiceQuery> QueryBook::all() const {
  std::vector<ServiceQuery> all = from_file_;
  std::ranges::move(made(), std::back_inserter(all));
  return all;
}

std::vector<ListedQuery> QueryBook::listed() const {
  std::vector<ListedQuery> listed;
  for (ServiceQuery& query : all()) {
    ListedQuery& entry = listed.emplace_back();
    entry.fingerprint = fingerprint_of(query);
    entry.tag = entity_tag(query);
    if (const auto made = made_.find(query.query.name); made != made_.end()) entry.batch = made->second.batch;
    entry.query = std::move(query);
  }
  std::ranges::sort(listed, {}, [](const ListedQuery& entry) -> const std::string& { return entry.query.query.name; });
  return listed;
}

QueryBook::Prepared QueryBook::prepare(const QueryRequest& request, bool suspended) const {
  using Kind = QueryRequest::Kind;
  if (const ServiceQuery* const file = in_file(request.name)) {
    throw QueryRefusal(409, fmt::format("the query '{}' comes from the configuration, at {}", request.name, file->where),
                       "change it there, then reload; or choose another name");
  }
  const auto made = made_.find(request.name);
  const bool exists = made != made_.end();
  const std::string tag = exists ? entity_tag(made->second.query) : std::string();
  check_conditions(request, tag);
  if (request.kind == Kind::create && exists)
    throw QueryRefusal(409, fmt::format("there is a query '{}' already", request.name),
                       "PUT replaces it; or choose another name");
  if (request.kind == Kind::remove && !exists)
    throw QueryRefusal(404, fmt::format("there is no query '{}'", request.name), "GET /v1/queries lists those that there are");
  Prepared prepared;
  QueryWish wish{all(), QueryRecord{request.name, 0, std::nullopt}, request.name};
  if (exists) std::erase_if(wish.queries, [&](const ServiceQuery& query) { return query.query.name == request.name; });
  if (request.query) {
    ServiceQuery query = *request.query;
    query.over_http = true;
    prepared.outcome.tag = entity_tag(query);
    prepared.outcome.created = !exists;
    if (prepared.outcome.tag == tag && !suspended) return prepared;
    wish.change->definition = definition_of(query);
    wish.queries.push_back(std::move(query));
  }
  prepared.outcome.changed = true;
  prepared.wish = std::move(wish);
  return prepared;
}

void QueryBook::apply(const QueryRequest& request, std::uint64_t batch) {
  newest_ = batch;
  if (!request.query) {
    made_.erase(request.name);
    return;
  }
  ServiceQuery query = *request.query;
  query.over_http = true;
  made_.insert_or_assign(request.name, Made{std::move(query), batch});
}

}  // namespace deltamatch::ingest
