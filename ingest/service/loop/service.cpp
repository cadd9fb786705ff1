#include "ingest/service/loop/service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>

#include "deltamatch/error.hpp"
#include "deltamatch/misfit.hpp"
#include "deltamatch/value_text.hpp"
#include "ingest/service/http/alert_stream.hpp"
#include "ingest/service/http/http_server.hpp"
#include "ingest/service/http/metrics.hpp"
#include "ingest/service/http/page_files.hpp"
#include "ingest/service/http/query_routes.hpp"
#include "ingest/service/http/service_routes.hpp"
#include "ingest/service/kafka/ownership.hpp"
#include "ingest/service/kafka/query_log.hpp"
#include "ingest/service/kafka/topics.hpp"
#include "ingest/service/loop/counted_journal.hpp"
#include "ingest/service/loop/pipeline.hpp"
#include "ingest/service/loop/query_book.hpp"
#include "ingest/service/loop/standby.hpp"
#include "ingest/service/loop/start_graph.hpp"
#include "ingest/service/loop/start_up.hpp"
#include "ingest/service/loop/status_json.hpp"
#include "ingest/service/loop/systemd.hpp"
#include "ingest/service/loop/worker.hpp"
#include "ingest/service/state/files.hpp"
#include "ingest/service/state/share_publisher.hpp"
#include "ingest/service/web/schema_registry.hpp"
#include "ingest/text/exact_json.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto first_patience = 1s;  // for brokers that do not answer, before it checks for a stop
constexpr auto longest_patience = 4s;
constexpr auto told_after = 5s;  // brokers take a moment to make a topic
constexpr auto told_again_after = 30s;
constexpr auto topic_patience = 5s;  // for the topics that are written to
constexpr auto join_patience = 5s;   // for the group of owners, which answers within 3 s unless a session has to end first

StateIdentity identity(const ServiceOptions& options) {
  StateIdentity identity{options.application,           options.engine.directed,        options.engine.window, {},
                         identity_text(options.engine), options.engine.allowed_lateness};
  for (const InputTopics& topics : options.input.topics) identity.topics.push_back(topics.name);
  return identity;
}

}  // namespace

std::vector<std::string> output_topics(const ServiceOptions& options) {
  std::vector<std::string> topics;
  for (const SinkOptions& sink : options.sinks) {
    if (sink.kind == SinkOptions::Kind::kafka) topics.push_back(sink.topic);
  }
  if (!options.input.dead_letter_topic.empty()) topics.push_back(options.input.dead_letter_topic);
  return topics;
}

struct Service::Impl {
  Impl(ServiceOptions wanted, std::string_view program, Journal& told, ServiceReaders how)
      : options(std::move(wanted)),
        readers(std::move(how)),
        version(program),
        metrics(program),
        journal(told, metrics),
        systemd(Systemd::from_environment()),
        book(options.queries, kafka::query_topic(options.application)),
        listed(std::make_shared<const std::vector<ListedQuery>>()) {}

  void run();
  void serve_http();
  template <class Attempt>
  void until_answered(Attempt attempt);
  bool stand_by(const StartupContext& context, kafka::Ownership& ownership, std::optional<Warm>& warm);
  void own(const StartupContext& context, const kafka::Ownership& ownership, std::optional<Warm> warm);
  void work(const StartupContext& context, const kafka::Ownership& ownership);
  void open_share(const StateDirectory& directory);
  void close_share();
  void withdraw();
  void enter(ServiceState next);
  void progress(const std::string& word);
  void keep_alive(const std::stop_token& stop) const;
  ReadAgain read_again();
  void read_file_queries();
  void queries_must_fit(const kafka::Cluster& cluster, const CommitPoint& last);
  void add_known_queries(std::span<const QueryRecord> records);
  std::vector<MadeQuery> made_by(std::span<const QueryRecord> records);
  std::vector<QueryRecord> read_query_topic(const kafka::Cluster& cluster, kafka::Transactions& transactions);
  void note_queries();
  std::shared_ptr<Pipeline> worker();
  QueryListing list_queries();
  std::unique_lock<std::timed_mutex> turn();
  QueryOutcome change_query(const QueryRequest& request);
  std::string reload(const std::unique_lock<std::timed_mutex>& one_at_a_time);
  std::string status();
  std::string metrics_text();
  void lag_of_all(const std::vector<kafka::Progress>& input, const Offsets& committed);
  std::string not_ready();
  std::string not_ready_to_take_over();
  std::optional<StandbyStatus> standby_status();
  std::optional<WorkerStatus> worker_status();
  [[nodiscard]] nlohmann::json alerts_json() const;

  const ServiceOptions options;
  ServiceReaders readers;
  const std::string version;
  const std::int64_t started =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  Metrics metrics;
  CountedJournal journal;
  Systemd systemd;
  std::stop_source stop;
  std::atomic<ServiceState> state{ServiceState::starting};
  std::timed_mutex reload_mutex;
  QueryBook book;      // guarded by reload_mutex
  std::string unread;  // why the topic of queries could not be read; only the thread of run() uses it
  const std::shared_ptr<KnownQueries> known = std::make_shared<KnownQueries>();
  std::optional<SnapshotShare> share;
  std::atomic<std::uint64_t> looks_that_failed = 0;  // of the standby, at the share
  std::mutex mutex;
  std::string word;                    // guarded by mutex: what the service does or waits for
  std::shared_ptr<Pipeline> pipeline;  // guarded by mutex, like all below up to the feed
  std::shared_ptr<Standby> standby;
  std::shared_ptr<Worker> divided;
  std::shared_ptr<SharePublisher> publisher;
  std::shared_ptr<const std::vector<ListedQuery>> listed;  // those of the book
  std::uint64_t snapshot_failures = 0;                     // already counted in the metrics
  AlertFeed feed;
  std::optional<HttpServer> http;
};

void Service::Impl::enter(ServiceState next) {
  state = next;
  metrics.state(next);
  systemd.status(state_name(next));
  journal.tell(Level::info, state_name(next));
}

void Service::Impl::progress(const std::string& now) {
  {
    const std::scoped_lock lock(mutex);
    word = now;
  }
  systemd.status(now);
  journal.tell(Level::info, now);
}

/// Reports that the process is alive. Recovery and a single batch may take long, so progress is not required.
void Service::Impl::keep_alive(const std::stop_token& done) const {
  const auto every = systemd.alive_every();
  if (!every) return;
  std::mutex sleep;
  std::condition_variable_any wake;
  std::unique_lock lock(sleep);
  while (!done.stop_requested()) {
    systemd.alive();
    wake.wait_for(lock, done, *every, [] { return false; });
  }
}

void Service::Impl::serve_http() {
  if (!options.http.enabled) return;
  std::vector<HttpRoute> routes =
      service_routes({[this] { return metrics_text(); }, [this] { return not_ready(); }, [this] { return status(); },
                      [this] { return reload(turn()); }, [this] { return not_ready_to_take_over(); }});
  std::ranges::move(query_routes({[this] { return list_queries(); }, readers.plan, readers.define,
                                  [this](const QueryRequest& request) { return change_query(request); }}),
                    std::back_inserter(routes));
  for (HttpRoute& route : page_routes()) routes.push_back(std::move(route));
  routes.push_back(alert_route(feed));
  HttpLimits limits;
  limits.stream_pause = alert_stream_pause;
  http.emplace(options.http, std::move(routes), journal, limits);
  journal.tell(Level::info, "listening", {{"address", fmt::format("{}:{}", options.http.host, http->port())}});
}

/// Calls `attempt` with a deadline until the brokers answer. Throws StartupCancelled.
template <class Attempt>
void Service::Impl::until_answered(Attempt attempt) {
  auto next_word = Clock::now() + told_after;
  for (auto patience = std::chrono::duration_cast<Clock::duration>(first_patience);;
       patience = std::min<Clock::duration>(2 * patience, longest_patience)) {
    try {
      attempt(Clock::now() + patience);
      const std::scoped_lock lock(mutex);
      word.clear();
      return;
    } catch (const kafka::Unreachable& error) {
      if (stop.stop_requested()) throw StartupCancelled();
      {
        const std::scoped_lock lock(mutex);
        word = error.what();
      }
      if (Clock::now() < next_word) continue;
      next_word = Clock::now() + told_again_after;
      journal.tell(Level::warn, "waiting for the brokers", {{"why", error.what()}});
    }
  }
}

void Service::Impl::run() {
  metrics.state(state);
  if (const ShardOptions& shard = options.input.shard; shard.divided()) {
    metrics.shard(shard.number, shard.count);
    journal.tell(Level::info, "shard",
                 {{"number", std::to_string(shard.number)},
                  {"count", std::to_string(shard.count)},
                  {"application", options.application}});
    make_folder_of_shards(folder_of(options.state.directory));
  } else {
    must_not_be_folder_of_shards(options.state.directory);
  }
  const StateDirectory directory(options.state.directory, identity(options), journal);
  serve_http();
  const kafka::Cluster cluster{options.application, options.kafka, &journal, options.workers.slots > 0};
  const std::jthread alive([this](const std::stop_token& done) { keep_alive(done); });
  systemd.ready();
  enter(ServiceState::starting);
  const std::stop_callback stopping(stop.get_token(), [this] {
    systemd.stopping();
    enter(ServiceState::stopping);
  });
  SchemaRegistry registry(options.input.registry);
  const std::stop_callback no_more_schemas(stop.get_token(), [&registry] { registry.cancel(); });
  SchemaWaits schemas(options.input.registry.urls.empty() ? nullptr : &registry, journal);
  open_share(directory);
  std::optional<kafka::Ownership> ownership;
  try {
    until_answered([&](kafka::Deadline deadline) {
      ownership.emplace(cluster, deadline, [this, &cluster] {
        journal.tell(Level::warn,
                     cluster.shared
                         ? "the group of owners withdrew the lead; this worker follows until it gets the lead again"
                         : "the group of owners withdrew the application; this instance goes on unless another one takes over");
      });
    });
    const StartupContext context{options,
                                 cluster,
                                 directory,
                                 journal,
                                 [this](const std::string& now) { progress(now); },
                                 stop.get_token(),
                                 known.get(),
                                 schemas,
                                 share ? &*share : nullptr};
    std::optional<Warm> warm;
    if (options.workers.slots > 0) {
      work(context, *ownership);
    } else {
      until_answered([&](kafka::Deadline deadline) {
        kafka::CommitLog commits(cluster);
        static_cast<void>(commits.last(deadline));
        must_work_alone(commits);
      });
      if (stand_by(context, *ownership, warm)) own(context, *ownership, std::move(warm));
    }
  } catch (const StartupCancelled&) {
    journal.tell(Level::info, "the service stopped before it began to work");
  } catch (...) {
    if (http) http->stop();
    throw;
  }
  if (http) http->stop();
  if (ownership) ownership->release(Clock::now() + 5s);
  close_share();
  journal.tell(Level::info, "stopped");
}

void Service::Impl::open_share(const StateDirectory& directory) {
  if (!options.state.share.shares()) return;
  share.emplace(make_store(options.state.share), directory, options.application, options.state.share.keep, journal);
  const std::scoped_lock lock(mutex);
  publisher = std::make_shared<SharePublisher>(*share, directory, journal);
}

/// The last snapshot is shared even after the ownership is given up, because snapshots of committed batches are always true.
void Service::Impl::close_share() {
  if (publisher && !publisher->finish(Clock::now() + options.shutdown_timeout / 2)) {
    journal.tell(Level::warn, "the last snapshot is not shared yet; the next start shares it", {});
  }
}

/// Waits until this instance owns the application. Returns false if a stop was requested first.
bool Service::Impl::stand_by(const StartupContext& context, kafka::Ownership& ownership, std::optional<Warm>& warm) {
  {
    const auto read_queries = [this, &cluster = context.cluster] {
      add_known_queries(kafka::read_query_log(cluster, Clock::now() + topic_patience));
    };
    const auto must_fit = [this, &cluster = context.cluster](const CommitPoint& last) { queries_must_fit(cluster, last); };
    auto follower = std::make_shared<Standby>(context, read_queries, must_fit);
    const std::scoped_lock lock(mutex);
    standby = std::move(follower);
  }
  struct Withdrawal {
    Impl& impl;
    ~Withdrawal() {
      std::shared_ptr<Standby> gone;
      const std::scoped_lock lock(impl.mutex);
      gone.swap(impl.standby);
    }
  };
  const Withdrawal at_the_end{*this};
  if (!ownership.wait_until_joined(stop.get_token(), Clock::now() + join_patience) && !stop.stop_requested()) {
    progress(
        fmt::format("waiting for the session of the previous instance to end, because it did not leave the group {}; that "
                    "takes up to session.timeout.ms, by default 10 s",
                    kafka::owner_group(options.application)));
    static_cast<void>(ownership.wait_until_joined(stop.get_token(), kafka::Deadline::max()));
  }
  const bool waits = !ownership.owned() && !stop.stop_requested();
  if (waits) enter(ServiceState::standby);
  {
    const std::scoped_lock lock(mutex);
    word.clear();
  }
  const bool owned = ownership.wait_until_owned(stop.get_token());
  if (owned && !stop.stop_requested()) enter(ServiceState::recovering);
  // At a first start it waits for the commit topic, and nobody has worked before.
  if (const auto committed = standby->status().committed; owned && waits && committed) {
    journal.tell(Level::info, "took_over",
                 {{"after_batch", std::to_string(*committed)},
                  {"why", "the instance that worked has left the group, or its session has ended"}});
  }
  warm = standby->take();
  return owned;
}

/// Does the work of an owner until it is stopped.
void Service::Impl::own(const StartupContext& context, const kafka::Ownership& ownership, std::optional<Warm> warm) {
  const kafka::Cluster& cluster = context.cluster;
  std::optional<kafka::Transactions> transactions;
  until_answered([&](kafka::Deadline deadline) { transactions.emplace(cluster, options.transaction_timeout, deadline); });
  const std::vector<std::string> written = output_topics(options);
  transactions->must_be_there(written, Clock::now() + topic_patience);
  kafka::Input input(cluster, options.input, written);
  const std::vector<QueryRecord> records = read_query_topic(cluster, *transactions);
  struct Withdrawal {
    Impl& impl;
    ~Withdrawal() { impl.withdraw(); }
  };
  const Withdrawal before_what_the_pipeline_refers_to{*this};
  ServiceOptions with_all_queries = options;
  {
    const std::scoped_lock reloads(reload_mutex);
    book.load(records, readers.define);
    for (ServiceQuery& made : book.made()) {
      std::erase_if(with_all_queries.queries, [&](const ServiceQuery& query) { return query.query.name == made.query.name; });
      with_all_queries.queries.push_back(std::move(made));
    }
  }
  add_known_queries(records);
  const std::vector<MadeQuery> made = made_by(records);
  const StartupContext starting{with_all_queries, cluster,       context.directory, context.journal, context.progress,
                                context.stop,     context.known, context.schemas,   context.share,   made};
  const Pipeline::Context around{options,
                                 context.directory,
                                 input,
                                 *transactions,
                                 metrics,
                                 journal,
                                 [&ownership] { return ownership.owned(); },
                                 known,
                                 context.schemas,
                                 options.http.enabled ? &feed : nullptr,
                                 publisher ? std::function([this](std::uint64_t from) { publisher->publish(from); }) : nullptr};
  Recovered recovered = start_up(starting, input, *transactions, std::move(warm));
  if (publisher) publisher->publish(recovered.log->undelivered_from());
  QueryWish first;
  std::shared_ptr<Pipeline> working;
  {
    // A reload at this time is either part of what is read here, or it waits for the pipeline.
    const std::scoped_lock reloads(reload_mutex);
    read_file_queries();
    book.must_belong_to(recovered.reached, unread);
    first.queries = book.all();
    working = std::make_shared<Pipeline>(around, std::move(recovered));
    note_queries();
    const std::scoped_lock lock(mutex);
    pipeline = working;
  }
  working->run(std::move(first), stop.get_token(), [this] {
    if (!stop.stop_requested()) enter(ServiceState::running);
  });
}

/// Does the work of one of several workers until it is stopped.
void Service::Impl::work(const StartupContext& context, const kafka::Ownership& ownership) {
  enter(ServiceState::recovering);
  {
    const std::scoped_lock reloads(reload_mutex);
    note_queries();
  }
  const auto leads = [&ownership] {
    ownership.check();
    return ownership.owned();
  };
  auto one = std::make_shared<Worker>(Worker::Context{context, metrics, leads, publisher.get()});
  {
    const std::scoped_lock lock(mutex);
    divided = one;
  }
  struct Withdrawal {
    Impl& impl;
    ~Withdrawal() {
      if (impl.http) impl.http->stop();
      const std::scoped_lock lock(impl.mutex);
      impl.divided.reset();
    }
  };
  const Withdrawal at_the_end{*this};
  one->run(stop.get_token(), [this] {
    if (!stop.stop_requested()) enter(ServiceState::running);
  });
}

/// From here on, nobody calls the pipeline. A reload in progress keeps it alive, and already has its answer.
void Service::Impl::withdraw() {
  if (http) http->stop();
  const std::scoped_lock reloads(reload_mutex);
  const std::scoped_lock lock(mutex);
  pipeline.reset();
}

/// The current configuration. Throws Error(configuration) if it is refused, or if its queries need a restart.
ReadAgain Service::Impl::read_again() {
  ReadAgain again = readers.reread();
  for (const ServiceQuery& query : again.queries) {
    for (const std::string& sink : query.sinks) {
      if (std::ranges::find(options.sinks, sink, &SinkOptions::name) != options.sinks.end()) continue;
      throw Error(ErrorKind::configuration, query.where,
                  fmt::format("the sink '{}' is new, and only queries can change while the service runs", sink),
                  "start the service again");
    }
  }
  if (!again.needs_restart.empty()) {
    journal.tell(Level::warn, "the configuration has changed in more than its queries",
                 {{"keys", fmt::format("{}", fmt::join(again.needs_restart, ", "))},
                  {"remedy", "start the service again to use these keys"}});
  }
  return again;
}

/// Adds the queries that may have stood in earlier batches. If the configuration cannot be read, read_file_queries tells so.
void Service::Impl::add_known_queries(std::span<const QueryRecord> records) {
  known->add(options.queries);
  const auto add = [&](const auto& read) {
    try {
      known->add(read());
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): told elsewhere, or no longer of use
    }
  };
  const std::scoped_lock reloads(reload_mutex);
  known->add(book.all());
  add([&] { return readers.reread().queries; });
  for (const QueryRecord& record : records) {
    if (record.definition) add([&] { return std::vector{readers.define(*record.definition, record.name)}; });
  }
}

/// What these changes made. A definition that no longer fits is left out.
std::vector<MadeQuery> Service::Impl::made_by(std::span<const QueryRecord> records) {
  std::vector<MadeQuery> made;
  for (const QueryRecord& record : records) {
    MadeQuery& query = made.emplace_back(MadeQuery{record.name, record.batch, std::nullopt});
    if (!record.definition) continue;
    try {
      query.query = readers.define(*record.definition, record.name);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): what it leads to is told where the query is needed
    }
  }
  return made;
}

/// The changes of queries that were made over HTTP. Where such changes are possible, the topic must be there for more of them.
std::vector<QueryRecord> Service::Impl::read_query_topic(const kafka::Cluster& cluster, kafka::Transactions& transactions) {
  unread.clear();
  std::vector<QueryRecord> records;
  const bool changes = !options.http.admin_token.empty();
  try {
    until_answered([&](kafka::Deadline deadline) {
      if (changes) kafka::ensure_query_topic(cluster, deadline);
      records = kafka::read_query_log(cluster, deadline);
    });
    if (changes)
      transactions.must_be_there(std::vector{kafka::query_topic(options.application)}, Clock::now() + topic_patience);
  } catch (const StartupCancelled&) {
    throw;
  } catch (const Error& error) {
    if (changes) throw;
    unread = error.what();  // must_belong_to tells if that matters
  }
  return records;
}

/// An owner begins with the current configuration, as a new process would, because another instance may have worked with it.
/// The caller holds reload_mutex. Throws Error(configuration) for a query whose name one made over HTTP has.
void Service::Impl::read_file_queries() {
  std::vector<ServiceQuery> now = book.from_file();
  try {
    now = read_again().queries;
  } catch (const Error& error) {
    journal.tell(Level::error, "the configuration cannot be read again, so the previous queries stay", {{"why", error.what()}});
  }
  book.set_file(std::move(now));
}

/// Throws Error if this instance could not begin to work with the queries of the application now.
void Service::Impl::queries_must_fit(const kafka::Cluster& cluster, const CommitPoint& last) {
  if (last.over_http.empty()) return;
  std::vector<QueryRecord> records;
  std::string why_unread;
  try {
    records = kafka::read_query_log(cluster, Clock::now() + topic_patience);
  } catch (const kafka::Unreachable&) {
    throw;
  } catch (const Error& error) {
    if (!options.http.admin_token.empty()) throw;
    why_unread = error.what();
  }
  std::erase_if(records, [&](const QueryRecord& record) { return record.batch > last.batch; });  // newer than what is looked at
  const std::scoped_lock reloads(reload_mutex);
  QueryBook trial = book;
  trial.load(records, readers.define);
  std::vector<ServiceQuery> from_file = book.from_file();
  try {
    from_file = readers.reread().queries;
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the previous queries stay, and read_file_queries tells it
  }
  trial.set_file(std::move(from_file));
  trial.must_belong_to(last, why_unread);
}

/// Makes the queries of the book those that are shown. The caller holds reload_mutex.
void Service::Impl::note_queries() {
  auto now = std::make_shared<const std::vector<ListedQuery>>(book.listed());
  const std::scoped_lock lock(mutex);
  listed = std::move(now);
}

/// The pipeline. Throws QueryRefusal if this instance does not work.
std::shared_ptr<Pipeline> Service::Impl::worker() {
  const std::scoped_lock lock(mutex);
  if (pipeline) return pipeline;
  if (divided) {
    throw QueryRefusal(501, "workers share this application, and do not change their queries while they run",
                       "stop all workers, change the configuration of each, and start them");
  }
  const std::string doing = word.empty() ? "" : ": " + word;
  if (state == ServiceState::standby) {
    throw QueryRefusal(
        503, "this instance stands by" + doing,
        fmt::format("ask the instance that works: the group {} has its address, and its deltamatch_state is running",
                    kafka::owner_group(options.application)));
  }
  throw QueryRefusal(503, fmt::format("this instance does not work now, it is {}{}", state_name(state), doing),
                     "try again soon");
}

QueryListing Service::Impl::list_queries() {
  if (const std::optional<WorkerStatus> one = worker_status()) {
    const std::scoped_lock lock(mutex);
    return {*listed, one->published};
  }
  const std::shared_ptr<Pipeline> working = worker();
  std::shared_ptr<const std::vector<ListedQuery>> shown;
  {
    const std::scoped_lock lock(mutex);
    shown = listed;
  }
  const Pipeline::Queries now = working->queries();
  QueryListing listing{*shown, now.batch};
  for (ListedQuery& query : listing.queries) {
    const std::string& name = query.query.query.name;
    const auto suspended = std::ranges::find(now.suspended, name, &SuspendedQuery::name);
    query.suspended = suspended != now.suspended.end();
    if (query.suspended) {
      query.suspended_in = suspended->batch;
      query.over = shortfall_name(suspended->shortfall);
    }
    if (const auto matches = now.matches.find(name); matches != now.matches.end()) {
      query.added = matches->second.added;
      query.removed = matches->second.removed;
    }
  }
  return listing;
}

/// Waits for the change of another client. Throws QueryRefusal if that lists existing matches, which may take long.
std::unique_lock<std::timed_mutex> Service::Impl::turn() {
  std::unique_lock one_at_a_time(reload_mutex, std::defer_lock);
  for (;;) {
    std::string listing;
    {
      const std::scoped_lock lock(mutex);
      if (pipeline) listing = pipeline->listing();
    }
    if (!listing.empty())
      throw QueryRefusal(503, fmt::format("another change is under way, and nothing of this one is done: {}", listing),
                         "try again once /status shows nothing under_way");
    if (one_at_a_time.try_lock_for(50ms)) return one_at_a_time;
  }
}

QueryOutcome Service::Impl::change_query(const QueryRequest& request) {
  const std::unique_lock one_at_a_time = turn();
  const std::shared_ptr<Pipeline> working = worker();
  const Pipeline::Queries now = working->queries();
  const bool suspended = std::ranges::find(now.suspended, request.name, &SuspendedQuery::name) != now.suspended.end();
  QueryBook::Prepared prepared = book.prepare(request, suspended);
  prepared.outcome.batch = now.batch;
  if (request.only_check || !prepared.wish) return prepared.outcome;
  const char* const unsure = "the change may be committed or not; GET /v1/queries from the instance that works next";
  try {
    prepared.outcome.batch = working->change_queries(std::move(*prepared.wish)).batch;
  } catch (const PipelineEnds&) {
    throw QueryRefusal(503, "the service is stopping, and nothing has changed", "try again once it works again");
  } catch (const kafka::Fenced& error) {
    throw QueryRefusal(503, fmt::format("another instance has taken over: {}", error.what()), unsure);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::configuration) throw QueryRefusal(422, error.what(), "");
    throw QueryRefusal(503, fmt::format("the service ends: {}", error.what()), unsure);
  }
  book.apply(request, prepared.outcome.batch);
  note_queries();
  journal.tell(Level::info, "a query was changed over HTTP",
               {{"query", request.name},
                {"change", request.query ? (prepared.outcome.created ? "created" : "replaced") : "deleted"},
                {"batch", std::to_string(prepared.outcome.batch)}});
  return prepared.outcome;
}

std::string Service::Impl::reload(const std::unique_lock<std::timed_mutex>& /*one_at_a_time*/) {
  if (options.workers.slots > 0) {
    throw Error(ErrorKind::configuration, "queries", "workers do not change their queries while they run",
                "stop all workers, change the file of each, and start them");
  }
  ReadAgain again = read_again();
  std::shared_ptr<Pipeline> working;
  {
    const std::scoped_lock lock(mutex);
    working = pipeline;
  }
  QueryChange change;
  QueryBook next = book;
  next.set_file(again.queries);
  if (working) {
    change = working->change_queries({next.all(), std::nullopt, std::nullopt});
  } else {
    journal.tell(Level::info, "this instance uses the new queries once it begins to work",
                 {{"queries", std::to_string(again.queries.size())}});
  }
  book = std::move(next);
  note_queries();
  nlohmann::json out{{"state", state_name(state)},
                     {"added", nlohmann::json::array()},
                     {"removed", change.removed},
                     {"needs_restart", again.needs_restart}};
  for (const ServiceQuery& query : change.added) out["added"].push_back(query.query.name);
  return out.dump();
}

/// Of the stream of alerts.
nlohmann::json Service::Impl::alerts_json() const {
  const AlertFeed::Statistics shown = feed.statistics();
  const AlertFeed::Watchers& watchers = feed.watchers();
  return {{"published", shown.alerts},
          {"left_out", shown.left_out},
          {"streams", watchers.open.load()},
          {"most_streams", AlertStreamLimits{}.streams},
          {"refused_streams", watchers.refused.load()},
          {"ended_streams", watchers.ended.load()},
          {"cut_off", watchers.cut_off.load()},
          {"missed", watchers.missed.load()}};
}

std::string Service::Impl::status() {
  nlohmann::json out{{"v", 1},
                     {"application", options.application},
                     {"state", state_name(state)},
                     {"version", version},
                     {"started", started},
                     {"started_at", time_text(started)},
                     {"not_ready", not_ready()},
                     {"alerts", alerts_json()}};
  if (const ShardOptions& shard = options.input.shard; shard.divided())
    out["shard"] = {{"number", shard.number}, {"count", shard.count}, {"of", shard.of}};
  std::shared_ptr<Pipeline> working;
  std::shared_ptr<SharePublisher> sharing;
  {
    const std::scoped_lock lock(mutex);
    working = pipeline;
    sharing = publisher;
    if (!working && !word.empty()) out["doing"] = word;
  }
  if (working) {
    out.update(to_json(working->status()));
    if (const std::string waits = working->stalled(); !waits.empty()) out["doing"] = waits;
  }
  if (working && sharing) out["share"] = to_json(sharing->statistics());
  if (const auto standing_by = standby_status()) out["standby"] = to_json(*standing_by);
  if (const auto worker_now = worker_status()) {
    out.update(to_json(*worker_now));
    if (worker_now->batch) out.erase("doing");  // of the restart before
    if (!worker_now->waits.empty()) out["doing"] = worker_now->waits;
    if (sharing) out["share"] = to_json(sharing->statistics());
  }
  return dump_exact(out);
}

void Service::Impl::lag_of_all(const std::vector<kafka::Progress>& input, const Offsets& committed) {
  for (const kafka::Progress& at : input) {
    if (const auto lag = lag_of(at, committed)) metrics.consumer_lag(at.id, *lag);
  }
}

std::string Service::Impl::metrics_text() {
  std::shared_ptr<Pipeline> working;
  std::shared_ptr<SharePublisher> sharing;
  {
    const std::scoped_lock lock(mutex);
    working = pipeline;
    sharing = publisher;
  }
  metrics.streams(feed.watchers().open, feed.watchers().cut_off);
  const std::optional<StandbyStatus> standing_by = standby_status();
  if (sharing) {
    const ShareStatistics now = sharing->statistics();
    // A standby only looks, and an owner only publishes. What the standby counted stays when it becomes the owner.
    if (standing_by) looks_that_failed = standing_by->share_failures;
    metrics.share(now.published, now.failures + looks_that_failed);
  }
  metrics.standby(standing_by && standing_by->could_take_over, standing_by ? standing_by->behind_batches : 0,
                  standing_by ? standing_by->behind_seconds : 0);
  if (const auto now = worker_status()) {
    metrics.graph(now->graph);
    metrics.worker(now->leads, now->gate_seconds, now->wrong_digests);
    metrics.no_consumer_lag();  // another worker may lead now
    if (now->mark) lag_of_all(now->input, now->mark->ends);
    for (const SlotStatus& slot : now->slots) {
      metrics.slot(slot.slot, slot.worker == now->name, slot.progress, now->cut > slot.progress ? now->cut - slot.progress : 0);
    }
  }
  if (working) {
    const Pipeline::Status now = working->status();
    metrics.graph(now.graph);
    if (now.backend) metrics.backend(*now.backend);
    for (const auto& [name, sink] : now.sinks) metrics.sink(name, sink);
    lag_of_all(now.input, now.committed.ends);
    if (now.snapshots.last_made) metrics.snapshot_written(*now.snapshots.last_made);
    const std::scoped_lock lock(mutex);
    for (; snapshot_failures < now.snapshots.failures; ++snapshot_failures) metrics.snapshot_failed();
  }
  return metrics.text();
}

std::string Service::Impl::not_ready() {
  if (state == ServiceState::running) {
    if (const auto now = worker_status()) return now->waits;
  }
  const std::scoped_lock lock(mutex);
  if (state == ServiceState::running) {
    if (!pipeline) return {};
    const std::string stalled = pipeline->stalled();
    return stalled.empty() ? pipeline->refuses() : stalled;
  }
  return pipeline || word.empty() ? std::string(state_name(state)) : word;
}

std::optional<StandbyStatus> Service::Impl::standby_status() {
  std::shared_ptr<Standby> standing_by;
  {
    const std::scoped_lock lock(mutex);
    standing_by = standby;
  }
  return standing_by ? std::optional(standing_by->status()) : std::nullopt;
}

std::optional<WorkerStatus> Service::Impl::worker_status() {
  std::shared_ptr<Worker> works;
  {
    const std::scoped_lock lock(mutex);
    works = divided;
  }
  return works ? std::optional(works->status()) : std::nullopt;
}

std::string Service::Impl::not_ready_to_take_over() {
  const std::optional<StandbyStatus> now = standby_status();
  return now ? now->could_take_over ? std::string() : now->why_not : not_ready();
}

Service::Service(ServiceOptions options, std::string_view version, Journal& journal, ServiceReaders readers)
    : impl_(std::make_unique<Impl>(std::move(options), version, journal, std::move(readers))) {}
Service::~Service() = default;

void Service::run() { impl_->run(); }
void Service::stop() { impl_->stop.request_stop(); }
std::string Service::reload() { return impl_->reload(std::unique_lock(impl_->reload_mutex)); }
std::string Service::status() const { return impl_->status(); }

}  // namespace deltamatch::ingest
