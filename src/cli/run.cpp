// deltamatch run: the service.
#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <thread>

#include "cli/backend.hpp"
#include "cli/commands.hpp"
#include "cli/config/service_config.hpp"
#include "cli/exit_codes.hpp"
#include "deltamatch/error.hpp"
#include "ingest/service/service.hpp"
#include "ingest/service/spdlog_journal.hpp"

namespace deltamatch::cli {
namespace {

constexpr const char* examples = R"(Examples:
  deltamatch run --config config/service.yaml
  deltamatch validate --config config/service.yaml    says what would run, and what is wrong, without starting

SIGTERM or SIGINT: commit what is read, make a snapshot, exit with 0; the second one ends the process at once.
SIGHUP: take the queries from the configuration anew.
Exit codes: 0 stopped, 1 it could not go on (start it again: it goes on from what is committed), 2 usage, 78 configuration.)";

constexpr int ended_by_signal = 128;

sigset_t heeded_signals() noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

/// Takes signals in a thread of its own, so that heeding one may take time. They are blocked everywhere else.
class Signals {
 public:
  Signals(ingest::Service& service, ingest::Journal& journal)
      : thread_([&service, &journal](const std::stop_token& stop) {
          const sigset_t set = heeded_signals();
          const timespec wait{0, 100'000'000};
          bool stopping = false;
          while (!stop.stop_requested()) {
            const int signal = sigtimedwait(&set, nullptr, &wait);
            if (signal == SIGHUP) {
              reload(service, journal);
            } else if (signal > 0) {
              if (stopping) std::_Exit(ended_by_signal + signal);
              stopping = true;
              service.stop();
            }
          }
        }) {}

 private:
  static void reload(ingest::Service& service, ingest::Journal& journal) {
    try {
      service.reload();
    } catch (const std::exception& error) {
      journal.tell(ingest::Level::error, "the queries stay as they are", {{"why", error.what()}});
    }
  }

  std::jthread thread_;
};

int run_service(const std::string& file) {
  ServiceConfig config = read_service_config(file);
  const std::unique_ptr<ingest::Journal> journal = ingest::make_journal(config.service.logging);
  for (const std::string& warning : config.warnings) journal->tell(ingest::Level::warn, warning);
  // Before any thread is made: they inherit what is blocked.
  const sigset_t set = heeded_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  config.service.engine.backend = make_backend(config.backend, {"engine.backend: ", "engine.gpu.devices"});
  ingest::Service service(config.service, DELTAMATCH_VERSION, *journal,
                          [file] { return read_service_config(file).service.queries; });
  const Signals signals(service, *journal);
  try {
    service.run();
  } catch (const std::exception& error) {
    journal->tell(ingest::Level::error, "the service ends", {{"why", error.what()}});
    throw;
  }
  return exit_ok;
}

}  // namespace

void add_run(const Command& program, Run& run) {
  const Command command =
      program.add_command("run", "Run the service: Kafka in, alerts out, nothing lost and nothing twice", examples);
  const auto file = std::make_shared<std::string>();
  command.add_text("--config", *file, "The configuration (YAML); config/service.yaml documents every key", "FILE").required();
  command.runs(run, [file] { return run_service(*file); });
}

}  // namespace deltamatch::cli
