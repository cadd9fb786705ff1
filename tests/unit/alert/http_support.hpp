// A web server for tests.
#pragma once

#include <httplib.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace deltamatch::ingest::testing {

/// Takes POSTs on a port of its own. Answers as instructed, otherwise with 200.
class WebServer {
 public:
  struct Answer {
    int status = 200;
    httplib::Headers headers = {};
    std::function<void()> before = [] {};
    std::string body = "thanks";
  };

  WebServer() : WebServer(std::make_unique<httplib::Server>()) {}
  explicit WebServer(std::unique_ptr<httplib::Server> server) : server_(std::move(server)) {
    server_->Post(".*", [this](const httplib::Request& request, httplib::Response& response) { take(request, response); });
    server_->set_tcp_nodelay(true);
    port_ = server_->bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_->listen_after_bind(); });
    while (!server_->is_running()) std::this_thread::yield();
  }
  ~WebServer() {
    server_->stop();
    thread_.join();
  }
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  void answer(Answer answer) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answer));
  }
  [[nodiscard]] std::vector<httplib::Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  [[nodiscard]] std::string url(const std::string& path = "/hook", const std::string& scheme = "http") const {
    return scheme + "://127.0.0.1:" + std::to_string(port_) + path;
  }

 private:
  void take(const httplib::Request& request, httplib::Response& response) {
    Answer answer;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      if (!answers_.empty()) {
        answer = std::move(answers_.front());
        answers_.pop_front();
      }
    }
    answer.before();
    response.status = answer.status;
    for (const auto& [name, value] : answer.headers) response.set_header(name, value);
    response.set_content(answer.body, "text/plain");
  }

  std::unique_ptr<httplib::Server> server_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::deque<Answer> answers_;
  std::vector<httplib::Request> requests_;
  std::thread thread_;
};

}  // namespace deltamatch::ingest::testing
