#include "ingest/service/http_server.hpp"

#include <arpa/inet.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "deltamatch/error.hpp"
#include "unit/ingest/support.hpp"

namespace deltamatch::ingest {
namespace {

using std::chrono::milliseconds;
using testing::error_of;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// A client that does as it likes.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      throw Error("client", "cannot connect");
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  bool send(std::string_view bytes) const {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  /// Until the server closes.
  std::string read_all() const {
    std::string all;
    std::array<char, 4096> buffer;
    for (ssize_t got = 0; (got = ::recv(socket_, buffer.data(), buffer.size(), 0)) > 0;)
      all.append(buffer.data(), static_cast<std::size_t>(got));
    return all;
  }

 private:
  int socket_;
};

class HttpServerTest : public ::testing::Test {
 protected:
  HttpHandlers handlers() {
    HttpHandlers handlers;
    handlers.metrics = [] { return std::string("deltamatch_batches_total 17\n"); };
    handlers.not_ready = [this] { return not_ready_; };
    handlers.status = [this] {
      if (status_) return status_();
      return std::string(R"({"v":1})");
    };
    handlers.reload = [this] { return reload_(); };
    return handlers;
  }
  HttpServer& start(const HttpLimits& limits = {}) {
    HttpOptions options;
    options.port = 0;
    server_.emplace(options, handlers(), limits);
    return *server_;
  }
  httplib::Client client() { return httplib::Client("127.0.0.1", server_->port()); }

  std::string not_ready_;
  std::function<std::string()> status_;
  std::function<std::string()> reload_ = [] { return std::string(R"({"added":["ring"]})"); };
  std::optional<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersWhatItIsAsked) {
  start();
  auto http = client();
  const auto metrics = http.Get("/metrics");
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->status, 200);
  EXPECT_EQ(metrics->body, "deltamatch_batches_total 17\n");
  EXPECT_EQ(metrics->get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(http.Get("/livez")->status, 200);
  EXPECT_EQ(http.Get("/readyz")->status, 200);
  const auto status = http.Get("/status");
  EXPECT_EQ(status->get_header_value("Content-Type"), "application/json");
  EXPECT_EQ(nlohmann::json::parse(status->body).at("v"), 1);
  EXPECT_EQ(http.Get("/nothing")->status, 404);
  EXPECT_EQ(http.Get("/reload")->status, 404) << "only POST reloads";
  EXPECT_EQ(http.Post("/metrics")->status, 404);
}

TEST_F(HttpServerTest, SaysWhyItIsNotReadyAndIsAliveMeanwhile) {
  start();
  not_ready_ = "recovering: 12 of 30 batches";
  auto http = client();
  const auto ready = http.Get("/readyz");
  EXPECT_EQ(ready->status, 503);
  EXPECT_EQ(ready->body, "not ready: recovering: 12 of 30 batches\n");
  EXPECT_EQ(http.Get("/livez")->status, 200);
}

TEST_F(HttpServerTest, ReloadsAndSaysHowThatWent) {
  start();
  auto http = client();
  auto answer = http.Post("/reload");
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(nlohmann::json::parse(answer->body).at("added")[0], "ring");
  reload_ = []() -> std::string { throw Error(ErrorKind::configuration, "ring.pattern:1", "no \"arrow\"", "draw one"); };
  answer = http.Post("/reload");
  EXPECT_EQ(answer->status, 409);
  EXPECT_EQ(nlohmann::json::parse(answer->body).at("error"), "ring.pattern:1: no \"arrow\"; draw one");
  reload_ = []() -> std::string { throw Error("log", "is full"); };
  EXPECT_EQ(http.Post("/reload")->status, 500);
  reload_ = []() -> std::string { throw std::bad_alloc(); };
  answer = http.Post("/reload");
  EXPECT_EQ(answer->status, 500);
  EXPECT_EQ(nlohmann::json::parse(answer->body).at("error"), "std::bad_alloc");
  reload_ = []() -> std::string { throw 7; };  // NOLINT(misc-throw-by-value-catch-by-reference)
  EXPECT_EQ(http.Post("/reload")->status, 500);
}

TEST_F(HttpServerTest, WebPagesMayNotReload) {
  start();
  std::atomic<int> reloads{0};
  reload_ = [&] {
    ++reloads;
    return std::string("{}");
  };
  EXPECT_EQ(client().Post("/reload", {{"Origin", "http://evil.example"}}, "", "text/plain")->status, 403);
  EXPECT_EQ(reloads, 0);
}

TEST_F(HttpServerTest, OneReloadAtATimeAndOthersAreAnsweredMeanwhile) {
  start();
  std::atomic<bool> begun{false};
  std::atomic<bool> go_on{false};
  reload_ = [&] {
    begun = true;
    while (!go_on) std::this_thread::sleep_for(milliseconds(1));
    return std::string("{}");
  };
  std::thread first([&] { EXPECT_EQ(client().Post("/reload")->status, 200); });
  while (!begun) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(client().Post("/reload")->status, 409);
  EXPECT_EQ(client().Get("/livez")->status, 200);
  go_on = true;
  first.join();
}

TEST_F(HttpServerTest, AFailingHandlerIsAnAnswerNotAnEnd) {
  start();
  status_ = []() -> std::string { throw Error("status", "is unknown"); };
  EXPECT_EQ(client().Get("/status")->status, 500);
  EXPECT_EQ(client().Get("/livez")->status, 200);
}

TEST_F(HttpServerTest, ATakenPortIsAnError) {
  start();
  HttpOptions options;
  options.port = server_->port();
  const std::string error = error_of([&] { HttpServer second(options, handlers()); });
  EXPECT_THAT(error,
              HasSubstr("http: cannot listen on 127.0.0.1:" + std::to_string(options.port) + ": Address already in use"));
  EXPECT_THAT(error, HasSubstr("choose another"));
  options.host = "192.0.2.1";
  options.port = 0;
  EXPECT_THAT(error_of([&] { HttpServer second(options, handlers()); }), HasSubstr("cannot listen on 192.0.2.1"));
  options.host = "no-such-host.invalid";
  EXPECT_THAT(error_of([&] { HttpServer second(options, handlers()); }), HasSubstr("cannot listen on no-such-host.invalid"));
}

TEST_F(HttpServerTest, APortIsFreeAgainOnceTheServerStopped) {
  const std::uint16_t port = start().port();
  EXPECT_EQ(client().Get("/livez")->status, 200);
  server_.reset();
  HttpOptions options;
  options.port = port;
  server_.emplace(options, handlers());
  EXPECT_EQ(server_->port(), port);
  EXPECT_EQ(client().Get("/livez")->status, 200);
}

TEST_F(HttpServerTest, ListensOnlyWhereItWasTold) {
  start();
  EXPECT_EQ(client().Get("/livez")->status, 200);
  httplib::Client elsewhere("127.0.0.2", server_->port());
  EXPECT_FALSE(elsewhere.Get("/livez"));
}

TEST_F(HttpServerTest, SlowClientsAreCutOffAndDoNotHoldOthersForLong) {
  HttpLimits limits;
  limits.threads = 2;
  limits.time = milliseconds(300);
  start(limits);
  const auto begin = Clock::now();
  std::vector<std::thread> slow;
  for (int i = 0; i < 4; ++i)
    slow.emplace_back([&] {
      const RawClient raw(server_->port());
      raw.send("GET /metrics HTTP/1.1\r\n");
      while (raw.send("X: y\r\n")) std::this_thread::sleep_for(milliseconds(20));
    });
  std::this_thread::sleep_for(milliseconds(50));
  const auto answer = client().Get("/livez");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  for (std::thread& thread : slow) thread.join();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(4));
}

TEST_F(HttpServerTest, AClientThatDoesNotTakeItsAnswerIsCutOff) {
  HttpLimits limits;
  limits.threads = 1;
  limits.time = milliseconds(200);
  start(limits);
  status_ = [] { return std::string(std::size_t{64} << 20, 'x'); };
  const RawClient stuck(server_->port());
  stuck.send("GET /status HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto answer = client().Get("/livez");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
}

TEST_F(HttpServerTest, RequestsAreBounded) {
  HttpLimits limits;
  limits.request_bytes = 4096;
  start(limits);
  const RawClient raw(server_->port());
  raw.send("GET /metrics HTTP/1.1\r\n");
  std::size_t sent = 0;
  while (sent < (std::size_t{64} << 20) && raw.send("X: " + std::string(1000, 'y') + "\r\n")) sent += 1000;
  EXPECT_LT(sent, std::size_t{64} << 20);
  EXPECT_EQ(client().Get("/livez")->status, 200);
  const auto large = client().Post("/reload", std::string(100'000, 'x'), "text/plain");
  EXPECT_TRUE(!large || large->status == 413);
}

TEST_F(HttpServerTest, RubbishIsNoEnd) {
  start();
  for (const std::string& bytes :
       {std::string("\0\0\0\0\r\n\r\n", 8), std::string("GET\r\n\r\n"), std::string(9000, 'x') + "\r\n\r\n",
        std::string("POST /reload HTTP/1.1\r\nContent-Length: -1\r\n\r\n"), std::string()}) {
    const RawClient raw(server_->port());
    raw.send(bytes);
  }
  EXPECT_EQ(client().Get("/livez")->status, 200);
}

TEST_F(HttpServerTest, StopsPromptlyAlthoughClientsHang) {
  HttpLimits limits;
  limits.threads = 1;
  limits.waiting = 1;
  limits.time = std::chrono::seconds(60);
  start(limits);
  std::vector<std::unique_ptr<RawClient>> hanging;
  for (int i = 0; i < 5; ++i) {  // one served, one waiting, one at the queue, the others in the kernel
    hanging.push_back(std::make_unique<RawClient>(server_->port()));
    hanging.back()->send("GET /metr");
  }
  std::this_thread::sleep_for(milliseconds(50));
  const auto begin = Clock::now();
  server_->stop();
  server_->stop();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(2));
  EXPECT_EQ(hanging[0]->read_all().find("200 OK"), std::string::npos);
  EXPECT_THROW(RawClient{server_->port()}, Error);
}

TEST_F(HttpServerTest, ManyAtOnce) {
  start();
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j) {
        const auto answer = client().Get(j % 2 == 0 ? "/metrics" : "/status");
        if (answer && answer->status == 200) ++good;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 400);
}

}  // namespace
}  // namespace deltamatch::ingest
