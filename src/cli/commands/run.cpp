// deltamatch run: the service.
#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/shortage.hpp"
#include "cli/commands/commands.hpp"
#include "cli/config/query_definition.hpp"
#include "cli/config/restart.hpp"
#include "cli/config/service_config.hpp"
#include "cli/options/make_backend.hpp"
#include "cli/options/option_kinds.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "deltamatch/error.hpp"
#include "ingest/service/loop/service.hpp"
#include "ingest/service/loop/spdlog_journal.hpp"

namespace deltamatch::cli {
namespace {

constexpr const char* examples = R"(Examples:
  deltamatch run --config config/service.yaml
  deltamatch run --config config/service.yaml --shard 1    # if the configuration has shards
  deltamatch validate --config config/service.yaml    # checks it without starting anything

Signals:
  SIGTERM, SIGINT  commit what is read, make a snapshot and exit with 0. A batch that is still
                   matched after half of shutdown_timeout is abandoned; the next start matches it.
                   A second signal ends the process at once.
  SIGHUP           read the queries of the configuration again. Suspended queries start anew.

Exit codes:
  0   stopped by a signal
  1   could not go on; start it again, and it goes on after the last commit
  2   wrong usage
  65  stopped by a bad record (on_error: fail) or by a query over its budget (then: stop);
      starting it again helps only after a change
  78  wrong configuration)";

constexpr int ended_by_signal = 128;
constexpr mode_t not_for_others = 027;    // files are 0640, folders 0750
constexpr std::chrono::seconds grace(2);  // for threads that stop, beyond shutdown_timeout

sigset_t heeded_signals() noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

/// Reads the queries again on request, in a thread of its own. That may take as long as the brokers need.
class Reloader {
 public:
  Reloader(ingest::Service& service, ingest::Journal& journal)
      : thread_([this, &service, &journal](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          while (asked_.wait(lock, stop, [this] { return wanted_; })) {
            wanted_ = false;
            lock.unlock();
            reload(service, journal);
            lock.lock();
          }
        }) {}

  void ask() {
    {
      const std::scoped_lock lock(mutex_);
      wanted_ = true;
    }
    asked_.notify_one();
  }

 private:
  static void reload(ingest::Service& service, ingest::Journal& journal) {
    try {
      service.reload();
    } catch (const std::exception& error) {
      journal.tell(ingest::Level::error, "the queries cannot be changed, so they stay as they are", {{"why", error.what()}});
    }
  }

  std::mutex mutex_;
  std::condition_variable_any asked_;
  bool wanted_ = false;
  std::jthread thread_;
};

/// Handles signals in a thread of its own; all other threads block them. A service may be waiting for brokers or a disk. It
/// still ends within the time that it has for stopping. What is not done by then is left as after a crash.
class Signals {
 public:
  Signals(ingest::Service& service, ingest::Journal& journal, std::chrono::milliseconds shutdown_timeout)
      : reloader_(service, journal), thread_([this, &service, &journal, shutdown_timeout](const std::stop_token& stop) {
          const sigset_t set = heeded_signals();
          const timespec wait{0, 100'000'000};
          std::optional<std::chrono::steady_clock::time_point> deadline;
          while (!stop.stop_requested()) {
            const int signal = sigtimedwait(&set, nullptr, &wait);
            if (signal == SIGHUP) {
              reloader_.ask();
            } else if (signal > 0) {
              if (deadline) std::_Exit(ended_by_signal + signal);
              deadline = std::chrono::steady_clock::now() + shutdown_timeout + grace;
              service.stop();
            }
            if (deadline && std::chrono::steady_clock::now() >= *deadline) {
              journal.tell(ingest::Level::error, "stopping took longer than shutdown_timeout",
                           {{"remedy", "start the service again; it goes on after the last commit"}});
              std::_Exit(exit_runtime);
            }
          }
        }) {}

 private:
  Reloader reloader_;
  std::jthread thread_;
};

std::string reason(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "out of memory; use a machine with more memory";
  const auto* const refused = dynamic_cast<const std::system_error*>(&error);
  return refused != nullptr && is_thread_shortage(*refused) ? thread_shortage(*refused).what() : error.what();
}

/// Once there is a log, it says why the service ends, and nothing else does.
int run_service(const std::string& file, const std::optional<std::uint32_t>& shard) {
  // Do this before any file is made. The umask of the caller must neither let others read alerts nor keep the group out.
  ::umask(not_for_others);
  ServiceConfig config = read_service_config(file, process_environment(), shard);
  if (const ingest::ShardOptions& shards = config.service.input.shard; shards.divided() && !shard) {
    throw Error(ErrorKind::configuration, file,
                "shards: the configuration is for several shards, and which one runs here is not said",
                fmt::format("add --shard N, with N from 0 to {}", shards.count - 1));
  }
  const std::unique_ptr<ingest::Journal> journal = ingest::make_journal(config.service.logging);
  for (const std::string& warning : config.warnings) journal->tell(ingest::Level::warn, warning);
  // Do this before any thread is made: threads inherit the blocked signals.
  const sigset_t set = heeded_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  const ServiceConfig started = config;
  config.service.engine.backend = make_backend(
      config.backend, configuration_words([&](const std::string& text) { journal->tell(ingest::Level::warn, text); }));
  ingest::ServiceReaders readers;
  readers.reread = [file, shard, started] {
    ServiceConfig now = read_service_config(file, process_environment(), shard);
    std::vector<std::string> needs_restart = keys_that_need_restart(started, now);
    return ingest::ReadAgain{std::move(now.service.queries), std::move(needs_restart)};
  };
  readers.define = [started](std::string_view json, const std::optional<std::string>& name) {
    return read_definition(json, name, started);
  };
  readers.plan = [started](const ingest::ServiceQuery& query) { return plan_of(query, started); };
  ingest::Service service(config.service, DELTAMATCH_VERSION, *journal, std::move(readers));
  const Signals signals(service, *journal, config.service.shutdown_timeout);
  try {
    service.run();
  } catch (const std::exception& error) {
    journal->tell(ingest::Level::error, "the service ends", {{"why", reason(error)}});
    const auto* const told = dynamic_cast<const Error*>(&error);
    return told != nullptr ? exit_code(told->kind()) : exit_runtime;
  }
  return exit_ok;
}

}  // namespace

void add_run(const Command& program, Run& run) {
  const Command command = program.add_command(
      "run", "Run the service. Kafka and files get each alert exactly once, other sinks at least once", examples);
  const auto file = std::make_shared<std::string>();
  command.add_text("--config", *file, "Configuration (YAML); config/service.yaml has every key", "FILE").required();
  const auto shard = std::make_shared<std::optional<std::uint32_t>>();
  add_number(command, "--shard", *shard, "Which of the shards of the configuration runs here, from 0", 0,
             std::numeric_limits<std::uint32_t>::max());
  command.runs(run, [file, shard] { return run_service(*file, *shard); });
}

}  // namespace deltamatch::cli
