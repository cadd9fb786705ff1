#include "ingest/service/http/http_server.hpp"

#include <arpa/inet.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "deltamatch/error.hpp"
#include "ingest/service/http/service_routes.hpp"
#include "unit/alert/support.hpp"
#include "unit/ingest/support.hpp"

namespace deltamatch::ingest {
namespace {

using std::chrono::milliseconds;
using testing::error_of;
using ::testing::HasSubstr;
using testing::Notes;
using ::testing::StartsWith;
using Clock = std::chrono::steady_clock;

/// A client that may break the rules.
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
  /// Acts like a client that has nothing more to send.
  void finish() const { ::shutdown(socket_, SHUT_WR); }
  void limit_reading(timeval limit) const { ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)); }
  /// Fills `bytes`.
  bool read(std::string& bytes) const {
    return ::recv(socket_, bytes.data(), bytes.size(), MSG_WAITALL) == static_cast<ssize_t>(bytes.size());
  }
  /// Reads until the server closes.
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

/// A stream of numbered lines, as many as were pushed.
class Lines final : public HttpStream {
 public:
  struct Source {
    std::mutex mutex;
    std::function<void()> wake;
    int pushed = 0;
    bool ended = false;
    std::atomic<int> asked{0};
    std::atomic<int> alive{0};
    void push(int lines, bool end = false) {
      const std::scoped_lock lock(mutex);
      pushed += lines;
      ended = end;
      if (wake) wake();
    }
  };
  explicit Lines(Source& source, std::size_t width = 0) : source_(source), width_(width) { ++source_.alive; }
  ~Lines() override {
    const std::scoped_lock lock(source_.mutex);
    source_.wake = nullptr;
    --source_.alive;
  }
  std::optional<std::string> next() override {
    const std::scoped_lock lock(source_.mutex);
    ++source_.asked;
    if (sent_ < source_.pushed) return std::to_string(sent_++) + std::string(width_, 'x') + "\n";
    if (source_.ended) return std::nullopt;
    return std::string();
  }
  void start(std::function<void()> wake) override {
    const std::scoped_lock lock(source_.mutex);
    source_.wake = std::move(wake);
  }

 private:
  Source& source_;
  std::size_t width_;
  int sent_ = 0;
};

class HttpServerTest : public ::testing::Test {
 protected:
  std::vector<HttpRoute> handlers() {
    HttpHandlers handlers;
    handlers.metrics = [this] { return metrics_; };
    handlers.not_ready = [this] { return not_ready_; };
    handlers.status = [this] {
      if (status_) return status_();
      return std::string(R"({"v":1})");
    };
    handlers.reload = [this] { return reload_(); };
    handlers.not_ready_to_take_over = [this] { return not_ready_to_take_over_; };
    std::vector<HttpRoute> routes = service_routes(std::move(handlers));
    routes.insert(routes.end(), more_.begin(), more_.end());
    return routes;
  }
  HttpServer& start(const HttpLimits& limits = {}) {
    HttpOptions options;
    options.port = 0;
    server_.emplace(options, handlers(), notes_, limits);
    return *server_;
  }
  /// The whole answer to these bytes.
  std::string ask(std::string_view bytes) {
    const RawClient raw(server_->port());
    raw.send(bytes);
    return raw.read_all();
  }
  /// The error text of an answer's body.
  static std::string error_in(std::string_view answer) {
    const std::string_view body = answer.substr(answer.find("\r\n\r\n") + 4);
    const auto json = nlohmann::json::parse(body, nullptr, false);
    return json.is_object() && json.value("v", 0) == 1 ? json.value("error", "") : "no JSON: " + std::string(body);
  }
  httplib::Client client() { return httplib::Client("127.0.0.1", server_->port()); }

  Notes notes_;
  std::string metrics_ = "deltamatch_batches_total 17\n";
  std::string not_ready_;
  std::string not_ready_to_take_over_;
  std::function<std::string()> status_;
  std::function<std::string()> reload_ = [] { return std::string(R"({"added":["ring"]})"); };
  /// Adds GET /lines, a stream of `source_`.
  void add_lines(std::size_t width = 0) {
    more_.push_back({"GET",
                     "/lines",
                     HttpThreads::pages,
                     {},
                     0,
                     [this, width](const HttpRequest&) {
                       return HttpReply{200, {}, "text/plain", {}, std::make_shared<Lines>(source_, width)};
                     },
                     false});
  }

  std::vector<HttpRoute> more_;  ///< routes besides those of the service
  Lines::Source source_;
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
  EXPECT_EQ(http.Get("/reload")->status, 405) << "only POST reloads";
  EXPECT_EQ(http.Post("/metrics")->status, 405);
}

TEST_F(HttpServerTest, APostNeedsNeitherBodyNorLength) {
  start();
  EXPECT_THAT(ask("POST /reload HTTP/1.1\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(ask("POST /reload HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.0 200 OK\r\n"));
  EXPECT_THAT(ask("POST /reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"),
              StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(ask("POST /reload HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServerTest, AClientThatAsksWhetherToGoOnIsTold) {
  start();
  const RawClient raw(server_->port());
  raw.send("POST /reload HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  std::string told(25, '\0');
  ASSERT_TRUE(raw.read(told));
  EXPECT_EQ(told, "HTTP/1.1 100 Continue\r\n\r\n");
  raw.send("{}");
  EXPECT_THAT(raw.read_all(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServerTest, HeadIsGetWithoutTheBody) {
  start();
  const std::string answer = ask("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 28\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
  not_ready_ = "recovering";
  EXPECT_THAT(ask("HEAD /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
}

TEST_F(HttpServerTest, SlashesAtTheEndAndQueryStringsMakeNoDifference) {
  start();
  for (const char* path : {"/livez/", "/livez?verbose", "/livez/?a=b#c", "/livez//"})
    EXPECT_EQ(client().Get(path)->status, 200) << path;
  EXPECT_THAT(ask("GET http://localhost:1/livez HTTP/1.1\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
  for (const char* path : {"/livezz", "/livez/x", "//livez", "/"}) EXPECT_EQ(client().Get(path)->status, 404) << path;
}

TEST_F(HttpServerTest, EveryErrorSaysInJsonWhatIsWrong) {
  start({.request_bytes = 4096, .time = milliseconds(300)});
  const std::string head = " HTTP/1.1\r\nHost: localhost\r\n";
  struct Case {
    std::string bytes;
    std::string status;
    std::string error;
  };
  for (const auto& [bytes, status, error] : std::initializer_list<Case>{
           {"GET /nothing" + head + "\r\n", "404 Not Found", "there is no such path; use GET /metrics"},
           {"GET /livez%zz" + head + "\r\n", "400 Bad Request", "no UTF-8 with each special byte as %XX"},
           {"GET /../livez" + head + "\r\n", "400 Bad Request", "the path has a . or .. in it"},
           {"DELETE /status" + head + "\r\n", "405 Method Not Allowed", "use GET, HEAD"},
           {"OPTIONS /reload" + head + "\r\n", "405 Method Not Allowed", "use POST"},
           {"GET\r\n\r\n", "400 Bad Request", "this is not a request of HTTP/1.1: "},
           {"GET /livez HTTP/9.9\r\n\r\n", "400 Bad Request", "bad version"},
           {"GET /livez" + head + "no colon\r\n\r\n", "400 Bad Request", "this is not a request"},
           {"POST /reload" + head + "Content-Length: -1\r\n\r\n", "400 Bad Request", "bad Content-Length"},
           {"POST /reload" + head + "Content-Length: 5000\r\n\r\n", "413 Payload Too Large", "longer than 4096 bytes"},
           {"POST /reload" + head + "Transfer-Encoding: chunked\r\n\r\n1400\r\n" + std::string(5120, 'x') + "\r\n0\r\n\r\n",
            "413 Payload Too Large", "longer than 4096 bytes"},
           {"GET /livez" + head + "X: " + std::string(5000, 'x') + "\r\n\r\n", "431 Request Header Fields Too Large",
            "longer than 4096 bytes; send fewer headers"},
           {"GET /" + std::string(60'000, 'x') + head + "\r\n", "431 Request Header Fields Too Large",
            "longer than 4096 bytes"},
           {"GET /livez HTTP/1.1\r\n\r\n", "400 Bad Request", "no Host header"},
           {"GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400 Bad Request", "more than one Host"},
           {"GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n", "400 Bad Request", "the Host header is not a host and port"},
           {"GET /livez", "408 Request Timeout", "did not come within 300 ms"},
           {"POST /reload" + head + "Content-Length: 5\r\n\r\n1", "408 Request Timeout", "did not come within 300 ms"}}) {
    const std::string answer = ask(bytes);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + status + "\r\n")) << bytes.substr(0, 100);
    EXPECT_THAT(answer, HasSubstr("\r\nContent-Type: application/json\r\n")) << bytes.substr(0, 100);
    EXPECT_THAT(error_in(answer), HasSubstr(error)) << bytes.substr(0, 100);
  }
  EXPECT_THAT(ask("PUT /metrics" + head + "\r\n"), HasSubstr("\r\nAllow: GET, HEAD\r\n"));
  EXPECT_THAT(ask("GET /reload" + head + "\r\n"), HasSubstr("\r\nAllow: POST\r\n"));
  const RawClient half(server_->port());
  half.send("POST /reload" + head + "Content-Length: 5\r\n\r\n1");
  half.finish();
  EXPECT_THAT(error_in(half.read_all()), HasSubstr("this is not a request of HTTP/1.1"));
}

/// A page may have sent a browser to a name of its own that leads here. The browser must not get an answer for that page.
TEST_F(HttpServerTest, OnlyItsOwnNamesAreAnswered) {
  HttpOptions options;
  options.port = 0;
  options.hosts = {"Deltamatch.example"};
  server_.emplace(options, handlers(), notes_);
  const auto status_for = [&](const std::string& host) {
    const std::string answer = ask("GET /status HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return answer.substr(9, 3);
  };
  for (const char* own : {"127.0.0.1", "127.0.0.1:9464", "10.1.2.3:9464", "[::1]", "[::1]:9464", "localhost", "LOCALHOST:80",
                          "localhost.", "x.localhost", "deltamatch.example", "deltamatch.example:443"})
    EXPECT_EQ(status_for(own), "200") << own;
  for (const char* other : {"evil.example", "evil.example:9464", "localhost.evil.example", "127.0.0.1.evil.example",
                            "evillocalhost", "deltamatch", "1.2.3"})
    EXPECT_EQ(status_for(other), "403") << other;
  for (const char* none : {"", ":80", "a b", "a:b", "[::1", "[evil.example]", "a:1:2", "a/b", "user@localhost"})
    EXPECT_EQ(status_for(none), "400") << none;
  EXPECT_THAT(ask("GET /livez HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.0 200")) << "HTTP/1.0 has no Host";
  EXPECT_THAT(ask("GET http://evil.example/status HTTP/1.1\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(
      error_in(ask("GET /status HTTP/1.1\r\nHost: evil.example\r\n\r\n")),
      HasSubstr(
          "does not answer to the name 'evil.example'; use an IP address or localhost, or list the name under http.hosts"));
}

TEST_F(HttpServerTest, BeyondThisMachineNamesWithoutADotAreItsOwnToo) {
  HttpOptions options;
  options.host = "0.0.0.0";
  options.port = 0;
  server_.emplace(options, handlers(), notes_);
  EXPECT_THAT(ask("GET /status HTTP/1.1\r\nHost: deltamatch:9464\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask("GET /status HTTP/1.1\r\nHost: evil.example\r\n\r\n"), StartsWith("HTTP/1.1 403"));
  options.any_host = true;
  server_.emplace(options, handlers(), notes_);
  EXPECT_THAT(ask("GET /status HTTP/1.1\r\nHost: evil.example\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, PagesOfOtherSitesGetNothing) {
  start();
  std::atomic<int> reloads{0};
  reload_ = [&] {
    ++reloads;
    return std::string("{}");
  };
  const auto status_for = [&](const std::string& request, const std::string& headers) {
    return ask(request + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n").substr(9, 3);
  };
  const std::string cross = "Sec-Fetch-Site: cross-site\r\n";
  for (const char* request : {"GET /status", "GET /metrics", "HEAD /readyz", "POST /reload"}) {
    EXPECT_EQ(status_for(request, cross), "403") << request;
    EXPECT_EQ(status_for(request, "Sec-Fetch-Site: same-site\r\n"), "403") << request << ": another port is another page";
    EXPECT_EQ(status_for(request, "Sec-Fetch-Site: none\r\n" + cross), "403") << request;
    EXPECT_EQ(status_for(request, cross + "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n"), "403") << request;
  }
  EXPECT_EQ(status_for("POST /reload", cross + "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"), "403");
  EXPECT_EQ(reloads, 0);
  EXPECT_EQ(status_for("GET /status", cross + "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"), "200") << "a link";
  for (const char* own : {"none", "same-origin"})
    EXPECT_EQ(status_for("GET /status", std::string("Sec-Fetch-Site: ") + own + "\r\n"), "200") << own;
  EXPECT_THAT(error_in(ask("GET /status HTTP/1.1\r\nHost: localhost\r\n" + cross + "\r\n")), HasSubstr("pages of other sites"));
}

TEST_F(HttpServerTest, SaysWhyItIsNotReadyAndIsAliveMeanwhile) {
  start();
  not_ready_ = "recovering: 12 of 30 batches";
  auto http = client();
  const auto ready = http.Get("/readyz");
  EXPECT_EQ(ready->status, 503);
  EXPECT_EQ(ready->body, "{\"v\":1,\"error\":\"not ready: recovering: 12 of 30 batches\"}\n");
  EXPECT_EQ(http.Get("/livez")->status, 200);
}

TEST_F(HttpServerTest, SaysWhetherAStandbyCouldTakeOver) {
  start();
  not_ready_ = "standby";
  auto http = client();
  EXPECT_EQ(http.Get("/readyz?for=takeover")->status, 200);
  EXPECT_EQ(http.Get("/readyz")->status, 503);
  not_ready_to_take_over_ = "payments[0]: offset 7 is needed";
  const auto ready = http.Get("/readyz?for=takeover");
  EXPECT_EQ(ready->status, 503);
  EXPECT_THAT(ready->body, HasSubstr("not ready: payments[0]: offset 7 is needed"));
  const auto other = http.Get("/readyz?for=work");
  EXPECT_EQ(other->status, 400);
  EXPECT_THAT(other->body, HasSubstr("write /readyz?for=takeover"));
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

TEST_F(HttpServerTest, AReloadNeedsTheTokenOnlyIfThereIsOne) {
  HttpOptions options;
  options.port = 0;
  options.admin_token = "0123456789abcdef";
  server_.emplace(options, handlers(), notes_);
  EXPECT_EQ(client().Post("/reload")->status, 401);
  EXPECT_EQ(client().Post("/reload")->get_header_value("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(client().Post("/reload", {{"Authorization", "Bearer hunter2"}}, "", "")->status, 401);
  EXPECT_EQ(client().Post("/reload", {{"Authorization", "Bearer 0123456789abcdef"}}, "", "")->status, 200);
  EXPECT_EQ(client().Get("/status")->status, 200);
  for (int i = 0; i < 20; ++i) client().Post("/reload", {{"Authorization", "Bearer hunter2"}}, "", "");
  const auto answer = client().Post("/reload", {{"Authorization", "Bearer hunter2"}}, "", "");
  EXPECT_EQ(answer->status, 429);
  EXPECT_EQ(answer->get_header_value("Retry-After"), "1");
}

TEST_F(HttpServerTest, PagesOfItsOwnMayAskForChanges) {
  start();
  const auto status_for = [&](const std::string& headers) {
    return ask("POST /reload HTTP/1.1\r\n" + headers + "\r\n").substr(9, 3);
  };
  EXPECT_EQ(status_for("Host: localhost:9464\r\nOrigin: http://localhost:9464\r\n"), "200");
  EXPECT_EQ(status_for("Host: LOCALHOST\r\nOrigin: https://localhost\r\n"), "200") << "a proxy may speak TLS";
  for (const char* origin : {"http://localhost:9465", "http://localhost", "null", "", "http://evil.example",
                             "http://localhost:9464.evil.example", "http://evil.example/localhost:9464"})
    EXPECT_EQ(status_for(std::string("Host: localhost:9464\r\nOrigin: ") + origin + "\r\n"), "403") << origin;
  EXPECT_EQ(status_for("Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://localhost\r\n"), "403");
}

/// What a handler gets, and the bodies that it takes.
TEST_F(HttpServerTest, HandlersGetTheirRequest) {
  HttpRequest got;
  more_.push_back({"PUT", "/v1/things/{name}", HttpThreads::changes, HttpAccess::admin_if_any, 100'000,
                   [&](const HttpRequest& request) {
                     got = request;
                     return HttpReply{201, "{}\n", "application/json", {{"ETag", "\"7\""}, {"Location", "/x"}}, {}};
                   },
                   false});
  start({.time = milliseconds(500)});
  const auto answer =
      client().Put("/v1/things/a%20b?dry=1", {{"If-Match", "\"6\""}, {"Cookie", "c"}}, std::string(100'000, 'x'), "text/x");
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->get_header_value("ETag"), "\"7\"");
  EXPECT_EQ(answer->get_header_value("Location"), "/x");
  EXPECT_EQ(answer->get_header_value("Cache-Control"), "no-store");
  EXPECT_EQ(got.method, "PUT");
  EXPECT_EQ(got.path.at("name"), "a b");
  EXPECT_EQ(got.query.at("dry"), "1");
  EXPECT_EQ(got.body.size(), 100'000u);
  EXPECT_EQ(got.headers, (std::map<std::string, std::string, std::less<>>{
                             {"accept", "*/*"}, {"content-type", "text/x"}, {"if-match", "\"6\""}}));
  const auto longer = client().Put("/v1/things/x", std::string(100'001, 'x'), "text/x");
  EXPECT_EQ(longer->status, 413);
  EXPECT_THAT(longer->body, HasSubstr("longer than 100000 bytes; send less"));
  EXPECT_EQ(ask("PUT /v1/things/y HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
                .substr(9, 3),
            "201");
  EXPECT_EQ(got.body, "abc");
  for (const char* rubbish : {"zz\r\nabc\r\n0\r\n\r\n", "-1\r\nabc\r\n", "3\r\nabcdef", "ffffffffffffffffff\r\nabc"})
    EXPECT_EQ(ask(std::string("PUT /v1/things/z HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n") + rubbish)
                  .substr(9, 1),
              "4")
        << rubbish;
  EXPECT_EQ(got.path.at("name"), "y") << "no rubbish came through";
}

TEST_F(HttpServerTest, NoBodyIsReadWithoutTheToken) {
  more_.push_back({"PUT", "/thing", HttpThreads::changes, HttpAccess::admin, 1 << 30,
                   [](const HttpRequest&) { return HttpReply{}; }, false});
  start();
  const std::string answer = ask("PUT /thing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(error_in(answer), HasSubstr("set http.admin_token"));
}

TEST_F(HttpServerTest, StreamsAreSentAsTheyGrow) {
  add_lines();
  start({.time = std::chrono::seconds(60), .stream_pause = std::chrono::seconds(60)});
  EXPECT_EQ(ask("HEAD /lines HTTP/1.1\r\nHost: localhost\r\n\r\n").substr(9, 3), "200");
  const RawClient raw(server_->port());
  raw.send("GET /lines HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(testing::eventually([&] { return source_.asked > 0; }));
  source_.push(2);
  ASSERT_TRUE(testing::eventually([&] { return source_.asked >= 4; })) << "woken, not asked by the clock";
  source_.push(1, true);
  const std::string all = raw.read_all();
  EXPECT_THAT(all, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(all.ends_with("\r\n\r\n0\n1\n2\n")) << all;
  ASSERT_TRUE(testing::eventually([&] { return source_.alive == 0; }));
}

TEST_F(HttpServerTest, AClientThatLeavesEndsItsStream) {
  add_lines();
  start({.streams = 2, .time = std::chrono::seconds(60)});
  {
    const RawClient first(server_->port());
    const RawClient second(server_->port());
    for (const RawClient* each : {&first, &second}) each->send("GET /lines HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_TRUE(testing::eventually([&] { return source_.alive == 2; }));
    const std::string third = ask("GET /lines HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(third, StartsWith("HTTP/1.1 503 "));
    EXPECT_EQ(error_in(third), "too many streams are open; close one, or try again");
  }
  ASSERT_TRUE(testing::eventually([&] { return source_.alive == 0; }));
  const RawClient again(server_->port());
  again.send("GET /lines HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(testing::eventually([&] { return source_.alive == 1; }));
  server_->stop();
  EXPECT_EQ(source_.alive, 0);
}

TEST_F(HttpServerTest, AClientThatTakesNothingIsCutOffAndOthersGoOn) {
  add_lines(std::size_t{1} << 20);
  start({.connections = 4, .time = milliseconds(300)});
  source_.push(1'000'000);
  const RawClient stuck(server_->port());
  stuck.send("GET /lines HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(testing::eventually([&] { return source_.asked > 0; }));
  EXPECT_EQ(client().Get("/livez")->status, 200);
  ASSERT_TRUE(testing::eventually([&] { return source_.alive == 0; })) << "it took nothing for 300 ms";
  EXPECT_LT(source_.asked, 200) << "it is asked only as the client takes";
}

TEST_F(HttpServerTest, StreamsDoNotCountAsConnections) {
  add_lines();
  start({.connections = 4, .time = std::chrono::seconds(60)});
  std::vector<std::unique_ptr<RawClient>> streams;
  for (int i = 0; i < 10; ++i) {
    streams.push_back(std::make_unique<RawClient>(server_->port()));
    streams.back()->send("GET /lines HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_TRUE(testing::eventually([&] { return source_.alive == i + 1; }));
  }
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 8; ++i) idle.push_back(std::make_unique<RawClient>(server_->port()));
  EXPECT_EQ(client().Get("/livez")->status, 200);
  EXPECT_EQ(source_.alive, 10) << "idle connections gave way, streams did not";
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
  const auto answer = client().Get("/status");
  EXPECT_EQ(answer->status, 500);
  EXPECT_EQ(nlohmann::json::parse(answer->body).at("error"), "status: is unknown");
  status_ = []() -> std::string { throw std::bad_alloc(); };
  EXPECT_EQ(client().Get("/status")->status, 500);
  status_ = []() -> std::string { throw 7; };  // NOLINT(misc-throw-by-value-catch-by-reference)
  EXPECT_EQ(client().Get("/status")->status, 500);
  EXPECT_EQ(client().Get("/livez")->status, 200);
  EXPECT_THAT(notes_.lines(),
              ::testing::ElementsAre("error http failed error=status: is unknown", "error http failed error=std::bad_alloc",
                                     "error http failed error=unknown failure"));
}

TEST_F(HttpServerTest, ATakenPortIsAnError) {
  start();
  HttpOptions options;
  options.port = server_->port();
  const std::string error = error_of([&] { HttpServer second(options, handlers(), notes_); });
  EXPECT_THAT(error,
              HasSubstr("http: cannot listen on 127.0.0.1:" + std::to_string(options.port) + ": Address already in use"));
  EXPECT_THAT(error, HasSubstr("choose another"));
  options.host = "192.0.2.1";
  options.port = 0;
  EXPECT_THAT(error_of([&] { HttpServer second(options, handlers(), notes_); }), HasSubstr("cannot listen on 192.0.2.1"));
  options.host = "no-such-host.invalid";
  EXPECT_THAT(error_of([&] { HttpServer second(options, handlers(), notes_); }),
              HasSubstr("cannot listen on no-such-host.invalid"));
}

TEST_F(HttpServerTest, APortIsFreeAgainOnceTheServerStopped) {
  const std::uint16_t port = start().port();
  EXPECT_EQ(client().Get("/livez")->status, 200);
  server_.reset();
  HttpOptions options;
  options.port = port;
  server_.emplace(options, handlers(), notes_);
  EXPECT_EQ(server_->port(), port);
  EXPECT_EQ(client().Get("/livez")->status, 200);
}

TEST_F(HttpServerTest, ListensOnlyWhereItWasTold) {
  start();
  EXPECT_EQ(client().Get("/livez")->status, 200);
  httplib::Client elsewhere("127.0.0.2", server_->port());
  EXPECT_FALSE(elsewhere.Get("/livez"));
}

/// Each range would be a part of the answer, and ranges may overlap.
TEST_F(HttpServerTest, RangesAreIgnored) {
  metrics_.assign(40'000, 'm');
  start();
  std::string ranges = "Range: bytes=0-";
  for (int i = 0; i < 3000; ++i) ranges += ",0-";
  const std::string answer = ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n" + ranges + "\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 40000\r\n"));
  EXPECT_LT(answer.size(), 41'000u);
  for (const char* range : {"bytes=0-1", "bytes=5-1", "bytes=-1", "lines=1-2", "x"})
    EXPECT_EQ(client().Get("/metrics", {{"Range", range}})->body.size(), 40'000u) << range;
}

TEST_F(HttpServerTest, DrippingClientsHoldNobodyUp) {
  start({.time = std::chrono::seconds(60)});
  std::vector<std::unique_ptr<RawClient>> dripping;
  for (int i = 0; i < 40; ++i) {
    dripping.push_back(std::make_unique<RawClient>(server_->port()));
    dripping.back()->send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ");
  }
  Clock::duration longest{};
  for (int i = 0; i < 20; ++i) {
    for (const auto& client : dripping) client->send("y");
    for (const char* path : {"/livez", "/readyz", "/metrics"}) {
      const auto begin = Clock::now();
      const auto answer = client().Get(path);
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->status, 200);
      longest = std::max(longest, Clock::now() - begin);
    }
  }
  RecordProperty("longest_microseconds",
                 std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(longest).count()));
  EXPECT_LT(longest, std::chrono::seconds(2));
  for (const auto& client : dripping) client->send("\r\n\r\n");
  for (const auto& client : dripping) EXPECT_THAT(client->read_all(), StartsWith("HTTP/1.1 200 OK")) << "slow is not wrong";
}

TEST_F(HttpServerTest, AClientThatDripsTooLongIsCutOff) {
  start({.time = milliseconds(300)});
  const auto begin = Clock::now();
  const RawClient raw(server_->port());
  raw.send("GET /metrics HTTP/1.1\r\n");
  while (raw.send("X: y\r\n") && Clock::now() - begin < std::chrono::seconds(20)) std::this_thread::sleep_for(milliseconds(20));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(HttpServerTest, AClientWhoseTimeEndsAsItsHeadComesIsCutOff) {
  constexpr milliseconds time{20};
  start({.time = time});
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<std::unique_ptr<RawClient>> clients;
    const auto begin = Clock::now();
    for (int i = 0; i < 30; ++i) {
      clients.push_back(std::make_unique<RawClient>(server_->port()));
      clients.back()->limit_reading({.tv_sec = 10, .tv_usec = 0});
    }
    std::this_thread::sleep_until(begin + time);
    for (const auto& client : clients) client->send("POST /reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n");
    for (const auto& client : clients) client->read_all();
    ASSERT_LT(Clock::now() - begin, std::chrono::seconds(5)) << "a client was waited for without a limit";
  }
}

TEST_F(HttpServerTest, ClientsThatDoNotTakeTheirAnswersHoldNobodyUp) {
  start({.threads = 1, .answer_bytes = std::size_t{16} << 20, .time = std::chrono::seconds(60)});
  std::atomic<int> asked{0};
  status_ = [&] {
    ++asked;
    return std::string(std::size_t{12} << 20, 'x');
  };
  std::vector<std::unique_ptr<RawClient>> stuck;
  for (int i = 0; i < 8; ++i) {
    stuck.push_back(std::make_unique<RawClient>(server_->port()));
    stuck.back()->send("GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  ASSERT_TRUE(testing::eventually([&] { return asked == 8; }));
  EXPECT_EQ(client().Get("/livez")->status, 200);
  EXPECT_EQ(client().Get("/status")->body.size(), (std::size_t{12} << 20) + 1) << "the oldest that is not taken gives way";
  status_ = [] { return std::string(std::size_t{17} << 20, 'x'); };
  const auto answer = client().Get("/status");
  EXPECT_EQ(answer->status, 500);
  EXPECT_THAT(answer->body, HasSubstr("the answer is longer than 16777216 bytes"));
}

TEST_F(HttpServerTest, OfTooManyConnectionsTheOneThatIsAwaitedLongestGoes) {
  start({.connections = 16, .time = std::chrono::seconds(60)});
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 50; ++i) idle.push_back(std::make_unique<RawClient>(server_->port()));
  EXPECT_EQ(client().Get("/livez")->status, 200);
  for (int i = 0; i < 34; ++i) {
    const std::string answer = idle[static_cast<std::size_t>(i)]->read_all();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 ")) << i;
    EXPECT_EQ(error_in(answer), "too many connections are open; try again");
  }
  idle.back()->send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(idle.back()->read_all(), StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(HttpServerTest, RequestsThatWaitAreBoundedAndHealthIsNotAmongThem) {
  start({.threads = 1, .waiting = 2});
  std::atomic<bool> go_on{false};
  status_ = [&] {
    while (!go_on) std::this_thread::sleep_for(milliseconds(1));
    return std::string("{}");
  };
  const RawClient first(server_->port());
  const RawClient second(server_->port());
  for (const RawClient* client : {&first, &second}) client->send("GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string busy;
  ASSERT_TRUE(testing::eventually([&] {  // once both are connected
    const RawClient third(server_->port());
    third.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    timeval soon{0, 20'000};
    third.limit_reading(soon);
    busy = third.read_all();
    return busy.starts_with("HTTP/1.1 503 ");
  }));
  EXPECT_THAT(busy, HasSubstr("\r\nRetry-After: 1\r\n"));
  EXPECT_EQ(error_in(busy), "too many requests are waiting; try again");
  EXPECT_EQ(client().Get("/livez")->status, 200);
  EXPECT_EQ(client().Get("/readyz")->status, 200);
  go_on = true;
  EXPECT_THAT(first.read_all(), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(second.read_all(), StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(HttpServerTest, RequestsAreBounded) {
  start({.request_bytes = 4096});
  const RawClient raw(server_->port());
  raw.send("GET /metrics HTTP/1.1\r\n");
  std::size_t sent = 0;
  while (sent < (std::size_t{64} << 20) && raw.send("X: " + std::string(1000, 'y') + "\r\n")) sent += 1000;
  EXPECT_LT(sent, std::size_t{64} << 20);
  EXPECT_EQ(client().Get("/livez")->status, 200);
  EXPECT_EQ(client().Post("/reload", std::string(100'000, 'x'), "text/plain")->status, 413);
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
  limits.time = std::chrono::seconds(60);
  start(limits);
  std::vector<std::unique_ptr<RawClient>> hanging;
  for (int i = 0; i < 5; ++i) {
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
