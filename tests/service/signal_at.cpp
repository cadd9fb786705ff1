// Preloaded into the service (LD_PRELOAD). Sends the process a signal at a chosen point, so tests need no lucky timing.
// DELTAMATCH_SIGNAL_AT is POINT:COUNT:SIGNAL. For example, transaction:2:9 kills the process when it reaches the point for the
// second time. With POINT:COUNT:hang, the thread that reaches the point stops there for ever. With DELTAMATCH_SLOW_RECORD=N,
// record N of each transaction takes 1.2 seconds. So a large batch needs several transactions, however fast the machine is.
#include <dlfcn.h>
#include <librdkafka/rdkafka.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

namespace {

std::atomic<int> records{0};  // of this transaction

/// Returns true if the process has reached the point for the count-th time, and the wanted signal is `fatal`.
bool reach(std::string_view point) {
  static const char* const wanted = std::getenv("DELTAMATCH_SIGNAL_AT");
  static std::atomic<int> reached{0};
  if (wanted == nullptr || !std::string_view(wanted).starts_with(std::string(point) + ':')) return false;
  int count = 0;
  std::array<char, 8> what{};
  if (std::sscanf(wanted + point.size(), ":%d:%7s", &count, what.data()) != 2 || ++reached != count) return false;
  const std::string_view signal = what.data();
  while (signal == "hang") ::pause();
  if (signal == "fatal") return true;
  static_cast<void>(std::raise(std::atoi(what.data())));
  return false;
}

/// Whether the client is a member of the group of owners.
bool is_owner(rd_kafka_t* client) {
  std::array<char, 300> group{};
  std::size_t size = group.size();
  return rd_kafka_conf_get(rd_kafka_conf(client), "group.id", group.data(), &size) == RD_KAFKA_CONF_OK &&
         std::string_view(group.data()).ends_with(".owner");
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

/// recovering: the instance owns the application, but has not begun to work.
rd_kafka_error_t* rd_kafka_init_transactions(rd_kafka_t* client, int timeout_ms) {
  static_cast<void>(reach("recovering"));
  return next<decltype(rd_kafka_init_transactions)>("rd_kafka_init_transactions")(client, timeout_ms);
}

rd_kafka_error_t* rd_kafka_begin_transaction(rd_kafka_t* client) {
  records = 0;
  return next<decltype(rd_kafka_begin_transaction)>("rd_kafka_begin_transaction")(client);
}

rd_kafka_error_t* rd_kafka_produceva(rd_kafka_t* client, const rd_kafka_vu_t* fields, size_t count) {
  static const char* const slow = std::getenv("DELTAMATCH_SLOW_RECORD");
  if (slow != nullptr && ++records == std::atoi(slow)) std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  return next<decltype(rd_kafka_produceva)>("rd_kafka_produceva")(client, fields, count);
}

/// transaction: disk and brokers have all of the transaction, and it is open. committed: it is committed, and nobody else knows
/// yet.
rd_kafka_error_t* rd_kafka_commit_transaction(rd_kafka_t* client, int timeout_ms) {
  static_cast<void>(reach("transaction"));
  rd_kafka_error_t* const error =
      next<decltype(rd_kafka_commit_transaction)>("rd_kafka_commit_transaction")(client, timeout_ms);
  if (error == nullptr) static_cast<void>(reach("committed"));
  return error;
}

/// ownership: the client that is a member of the group of owners is polled. With `fatal`, it fails for good then.
rd_kafka_message_t* rd_kafka_consumer_poll(rd_kafka_t* client, int timeout_ms) {
  if (is_owner(client) && reach("ownership"))
    rd_kafka_test_fatal_error(client, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, "the test lets it fail");
  return next<decltype(rd_kafka_consumer_poll)>("rd_kafka_consumer_poll")(client, timeout_ms);
}

/// logged: an entry of the log is written.
ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  const ssize_t done = next<ssize_t(int, const void*, size_t, off_t)>("pwrite")(file, bytes, size, at);
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  if (length > 0 && std::string_view(path.data(), static_cast<size_t>(length)).find("/log-") != std::string_view::npos)
    static_cast<void>(reach("logged"));
  return done;
}

/// snapshot: the snapshot is written, but not yet in its place.
int rename(const char* from, const char* to) noexcept {
  if (std::string_view(to).find("/snapshot-") != std::string_view::npos) static_cast<void>(reach("snapshot"));
  return next<int(const char*, const char*)>("rename")(from, to);
}
}
