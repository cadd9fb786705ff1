#include "ingest/service/http_server.hpp"

#include <httplib.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/service/metrics.hpp"
#include "ingest/signals_blocked.hpp"
#include "ingest/sink/json_text.hpp"

namespace deltamatch::ingest {
namespace {

using Clock = std::chrono::steady_clock;

/// A connection whose request has to come, and whose answer has to be taken, within a time, and ends when the server stops.
class LimitedStream final : public httplib::Stream {
 public:
  LimitedStream(socket_t socket, int stop, const HttpLimits& limits)
      : socket_(socket), stop_(stop), limits_(limits), deadline_(Clock::now() + limits.time) {}

  [[nodiscard]] bool is_readable() const override { return begin_ < end_ || wait(POLLIN); }
  [[nodiscard]] bool is_writable() const override { return wait(POLLOUT); }
  ssize_t read(char* out, std::size_t size) override;
  ssize_t write(const char* bytes, std::size_t size) override;
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  [[nodiscard]] socket_t socket() const override { return socket_; }

 private:
  [[nodiscard]] bool wait(short what) const;

  socket_t socket_;
  int stop_;
  const HttpLimits& limits_;
  Clock::time_point deadline_;
  bool answers_ = false;
  std::size_t received_ = 0;
  std::array<char, 4096> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

bool LimitedStream::wait(short what) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> polled{{{socket_, what, 0}, {stop_, POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), static_cast<int>(left)) < 0 && errno != EINTR) return false;
    if (polled[1].revents != 0) return false;
    if (polled[0].revents != 0) return true;
  }
}

ssize_t LimitedStream::read(char* out, std::size_t size) {
  if (begin_ == end_) {
    if (received_ >= limits_.request_bytes || !wait(POLLIN)) return -1;
    const ssize_t got = ::recv(socket_, buffer_.data(), std::min(buffer_.size(), limits_.request_bytes - received_), 0);
    if (got <= 0) return got;
    begin_ = 0;
    end_ = static_cast<std::size_t>(got);
    received_ += end_;
  }
  const std::size_t taken = std::min(size, end_ - begin_);
  std::copy_n(buffer_.data() + begin_, taken, out);
  begin_ += taken;
  return static_cast<ssize_t>(taken);
}

ssize_t LimitedStream::write(const char* bytes, std::size_t size) {
  if (!std::exchange(answers_, true)) deadline_ = Clock::now() + limits_.time;
  if (!wait(POLLOUT)) return -1;
  return ::send(socket_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Threads, and a queue that makes the thread wait that accepts connections once it is full.
class Workers {
 public:
  Workers(const HttpLimits& limits, const std::atomic<bool>& stopped) : limits_(limits), stopped_(stopped) {
    for (std::size_t i = 0; i < limits.threads; ++i) threads_.emplace_back([this] { run(); });
  }

  ~Workers() { shutdown(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void enqueue(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return tasks_.size() < limits_.waiting || stopped_; });
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }
  void wake() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  /// Does what is queued and ends.
  void shutdown() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !tasks_.empty() || ended_; });
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      changed_.notify_all();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  const HttpLimits& limits_;
  const std::atomic<bool>& stopped_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

/// The library wants to own its queue.
class WorkersHandle final : public httplib::TaskQueue {
 public:
  explicit WorkersHandle(Workers& workers) : workers_(workers) {}
  void enqueue(std::function<void()> task) override { workers_.enqueue(std::move(task)); }
  void shutdown() override { workers_.shutdown(); }

 private:
  Workers& workers_;
};

std::string error_json(std::string_view message) {
  std::string json = R"({"v":1,"error":)";
  append_json_string(json, message);
  return json + "}\n";
}

constexpr const char* json_type = "application/json";
constexpr const char* text_type = "text/plain; charset=utf-8";

}  // namespace

class HttpServer::Server final : public httplib::Server {
 public:
  Server(const HttpOptions& options, HttpHandlers handlers, const HttpLimits& limits);
  ~Server() override;
  void stop_serving();
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  bool process_and_close_socket(socket_t socket) override;
  void add_routes();
  void reload(const httplib::Request& request, httplib::Response& response);
  void bind(const HttpOptions& options);
  void serve();

  HttpHandlers handlers_;
  HttpLimits limits_;
  std::uint16_t port_ = 0;
  int stop_event_;
  std::atomic<bool> stopped_{false};
  std::optional<Workers> workers_;
  std::mutex reloading_;
  std::mutex stopping_;
  std::thread thread_;
};

HttpServer::Server::Server(const HttpOptions& options, HttpHandlers handlers, const HttpLimits& limits)
    : handlers_(std::move(handlers)), limits_(limits), stop_event_(::eventfd(0, EFD_CLOEXEC)) {
  if (stop_event_ < 0) throw Error("http", "no event: " + std::generic_category().message(errno));
  try {
    add_routes();
    bind(options);
    serve();
  } catch (...) {
    ::close(stop_event_);
    throw;
  }
}

HttpServer::Server::~Server() {
  stop_serving();
  ::close(stop_event_);
}

void HttpServer::Server::bind(const HttpOptions& options) {
  // The library's own options let two processes share a port, each with a part of the requests.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  set_payload_max_length(limits_.request_bytes);
  errno = 0;
  const int bound = options.port == 0                               ? bind_to_any_port(options.host)
                    : bind_to_port(options.host, int{options.port}) ? int{options.port}
                                                                    : -1;
  if (bound < 0)
    throw Error("http",
                "cannot listen on " + options.host + ':' + std::to_string(options.port) +
                    (errno == 0 ? std::string() : ": " + std::generic_category().message(errno)),
                "choose another host or port; port 0 takes any that is free");
  port_ = static_cast<std::uint16_t>(bound);
}

void HttpServer::Server::serve() {
  new_task_queue = [this] { return new WorkersHandle(*workers_); };
  {
    const SignalsBlocked signals_are_for_other_threads;
    workers_.emplace(limits_, stopped_);
    thread_ = std::thread([this] { listen_after_bind(); });
  }
  while (!is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // stop() does nothing before
}

void HttpServer::Server::stop_serving() {
  const std::lock_guard lock(stopping_);
  if (stopped_.exchange(true)) return;
  const std::uint64_t one = 1;
  static_cast<void>(::write(stop_event_, &one, sizeof(one)) == 0);
  workers_->wake();
  stop();
  thread_.join();
}

/// In place of the library's own, which lets a client take its time for every byte.
bool HttpServer::Server::process_and_close_socket(socket_t socket) {
  LimitedStream stream(socket, stop_event_, limits_);
  bool closed = false;
  const bool served = process_request(stream, true, closed, nullptr);
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return served;
}

void HttpServer::Server::add_routes() {
  using httplib::Request;
  using httplib::Response;
  Get("/metrics", [this](const Request&, Response& response) {
    response.set_content(handlers_.metrics(), std::string(Metrics::content_type));
  });
  Get("/livez", [](const Request&, Response& response) { response.set_content("ok\n", text_type); });
  Get("/readyz", [this](const Request&, Response& response) {
    const std::string reason = handlers_.not_ready();
    if (!reason.empty()) response.status = 503;
    response.set_content(reason.empty() ? "ok\n" : "not ready: " + reason + "\n", text_type);
  });
  Get("/status", [this](const Request&, Response& response) { response.set_content(handlers_.status() + "\n", json_type); });
  Post("/reload", [this](const Request& request, Response& response) { reload(request, response); });
  set_exception_handler([](const Request&, Response& response, const std::exception_ptr& failure) {
    response.status = 500;
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      response.set_content(error_json(error.what()), json_type);
    } catch (...) {
      response.set_content(error_json("unknown failure"), json_type);
    }
  });
}

void HttpServer::Server::reload(const httplib::Request& request, httplib::Response& response) {
  const auto refuse = [&](int status, std::string_view why) {
    response.status = status;
    response.set_content(error_json(why), json_type);
  };
  if (request.has_header("Origin")) return refuse(403, "web pages may not reload the service");
  const std::unique_lock lock(reloading_, std::try_to_lock);
  if (!lock) return refuse(409, "another reload is under way");
  try {
    response.set_content(handlers_.reload() + "\n", json_type);
  } catch (const Error& error) {
    refuse(error.kind() == ErrorKind::configuration ? 409 : 500, error.what());
  }
}

HttpServer::HttpServer(const HttpOptions& options, HttpHandlers handlers, const HttpLimits& limits)
    : server_(std::make_unique<Server>(options, std::move(handlers), limits)) {}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const noexcept { return server_->port(); }

void HttpServer::stop() { server_->stop_serving(); }

}  // namespace deltamatch::ingest
