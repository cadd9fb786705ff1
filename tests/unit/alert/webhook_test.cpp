#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <nlohmann/json.hpp>

#include "http_support.hpp"
#include "ingest/service/alert/alert_sinks.hpp"
#include "ingest/service/alert/deliverer.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::alert_of;
using testing::alerts_of;
using ::testing::Contains;
using testing::deliver;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::milliseconds;
using ::testing::Not;
using testing::Notes;
using ::testing::StartsWith;
using testing::WebServer;
using Clock = std::chrono::steady_clock;

SinkOptions options_for(const std::string& url) {
  SinkOptions options;
  options.name = "web";
  options.kind = SinkOptions::Kind::webhook;
  options.url = url;
  options.headers = {{"Authorization", "Bearer s3cret"}};
  options.timeout = milliseconds(2000);
  return options;
}

class WebhookTest : public ::testing::Test {
 protected:
  std::unique_ptr<AlertSink> sink() { return make_webhook_sink("fraud", options_, notes_); }

  WebServer server_;
  SinkOptions options_ = options_for(server_.url("/hook?token=s3cret"));
  Notes notes_;
};

TEST_F(WebhookTest, PostsABatchAsOneObject) {
  const auto web = sink();
  EXPECT_EQ(web->recover("x"), "");
  EXPECT_EQ(deliver(*web, 17, alerts_of(17, 2)), "");
  deliver(*web, 18, alerts_of(18, 1));
  const auto requests = server_.requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].body, R"({"v":1,"batch":17,"part":0,"alerts":[)" + alert_of(17, 0) + ',' + alert_of(17, 1) + "]}");
  EXPECT_EQ(nlohmann::json::parse(requests[0].body).at("alerts").size(), 2u);
  EXPECT_EQ(requests[0].target, "/hook?token=s3cret");
  EXPECT_EQ(requests[0].get_header_value("Content-Type"), "application/json");
  EXPECT_EQ(requests[0].get_header_value("Deltamatch-Batch"), "17");
  EXPECT_EQ(requests[0].get_header_value("Idempotency-Key"), "fraud/web/17/0");
  EXPECT_EQ(requests[0].get_header_value("Authorization"), "Bearer s3cret");
  EXPECT_EQ(requests[1].get_header_value("Idempotency-Key"), "fraud/web/18/0");
}

TEST_F(WebhookTest, ALargeBatchComesInPartsAndGoesOnWhereItFailed) {
  const AlertList alerts = alerts_of(5, 9, 300'000);
  const auto web = sink();
  server_.answer({});
  server_.answer({.status = 500});
  EXPECT_THAT(error_of([&] { deliver(*web, 5, alerts); }), HasSubstr("sink 'web': the server answered with status 500"));
  web->abort();
  deliver(*web, 5, alerts);
  const auto requests = server_.requests();
  std::vector<std::string> keys;
  std::string all;
  for (const auto& request : requests) {
    keys.push_back(request.get_header_value("Idempotency-Key"));
    EXPECT_LE(request.body.size(), (std::size_t{1} << 20) + 100);
    const auto body = nlohmann::ordered_json::parse(request.body);
    for (const auto& alert : body.at("alerts")) all += alert.dump() + '\n';
  }
  EXPECT_THAT(keys, ElementsAre("fraud/web/5/0", "fraud/web/5/1", "fraud/web/5/1", "fraud/web/5/2"));
  EXPECT_TRUE(requests[1].body == requests[2].body);
  std::string expected;
  for (std::size_t i = 0; i < 6; ++i) expected += std::string(alerts[i]) + '\n';
  for (std::size_t i = 3; i < 9; ++i) expected += std::string(alerts[i]) + '\n';
  EXPECT_TRUE(all == expected);
}

TEST_F(WebhookTest, AfterARestartABatchComesUnderTheSameKeys) {
  server_.answer({.status = 503});
  EXPECT_THAT(error_of([&] { deliver(*sink(), 5, alerts_of(5, 1)); }), HasSubstr("503"));
  deliver(*sink(), 5, alerts_of(5, 1));
  const auto requests = server_.requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].get_header_value("Idempotency-Key"), requests[1].get_header_value("Idempotency-Key"));
  EXPECT_EQ(requests[0].body, requests[1].body);
}

TEST_F(WebhookTest, HonoursRetryAfter) {
  const auto wait_of = [&](const std::string& value) -> std::optional<milliseconds> {
    server_.answer({.status = 429, .headers = {{"Retry-After", value}}});
    try {
      deliver(*sink(), 1, alerts_of(1, 1));
    } catch (const TryLater& later) {
      return later.wait();
    } catch (const Error&) {
    }
    return std::nullopt;
  };
  EXPECT_EQ(wait_of("7"), milliseconds(7000));
  EXPECT_EQ(wait_of("4000000000"), std::chrono::hours(1));
  EXPECT_EQ(wait_of("Fri, 31 Dec 1999 23:59:59 GMT"), std::nullopt);
  EXPECT_EQ(wait_of("Fri, 31 Dec 2199 23:59:59 GMT"), std::chrono::hours(1));
  EXPECT_EQ(wait_of("-1"), std::nullopt);
  EXPECT_EQ(wait_of("soon"), std::nullopt);
}

TEST_F(WebhookTest, RedirectsAreRefusals) {
  for (const int status : {301, 400, 401, 404, 413, 422}) server_.answer({.status = status});
  const auto web = sink();
  for (const int status : {301, 400, 401, 404, 413, 422}) {
    EXPECT_THAT(error_of([&] { deliver(*web, 1, alerts_of(1, 1)); }),
                HasSubstr(std::to_string(status) + ": thanks; check its URL"));
    web->abort();
  }
  EXPECT_EQ(web->dropped(), 0u);
  EXPECT_EQ(server_.requests().size(), 6u) << "redirects are not followed";
  deliver(*web, 1, alerts_of(1, 1));
}

TEST_F(WebhookTest, WhatWasRefusedOftenEnoughIsGivenUpAndTold) {
  options_.refused_tries = 3;
  const auto web = sink();
  for (const int status : {404, 503, 404, 408, 404}) server_.answer({.status = status});
  for (int tries = 0; tries < 4; ++tries) {
    EXPECT_NE(error_of([&] { deliver(*web, 9, alerts_of(9, 2)); }), "");
    web->abort();
  }
  EXPECT_EQ(web->dropped(), 0u);
  deliver(*web, 9, alerts_of(9, 2));
  EXPECT_EQ(web->dropped(), 2u);
  EXPECT_THAT(notes_.lines(),
              Contains(StartsWith("debug request_answered sink=web batch=9 part=0 answer=the server")).Times(5));
  EXPECT_EQ(
      notes_.lines().back(),
      "error alerts are given up sink=web batch=9 part=0 alerts=2 tries=5 error=the server answered with status 404: thanks "
      "dead_letters=");
  deliver(*web, 10, alerts_of(10, 1));
  EXPECT_EQ(web->dropped(), 2u);
  EXPECT_EQ(server_.requests().size(), 6u);
}

TEST_F(WebhookTest, TheFirstBytesOfAnUnsuccessfulAnswerAreTold) {
  const auto web = sink();
  server_.answer({.status = 500, .body = "out of\r\n\tdisk\x1b[31m \xff" + std::string(300, 'x')});
  const std::string error = error_of([&] { deliver(*web, 1, alerts_of(1, 1)); });
  EXPECT_EQ(error, "sink 'web': the server answered with status 500: out of disk [31m ?" + std::string(182, 'x') + "…");
  server_.answer({.status = 503, .body = ""});
  EXPECT_EQ(error_of([&] { deliver(*web, 1, alerts_of(1, 1)); }), "sink 'web': the server answered with status 503");
}

/// The contents of the dead letters' file: "batch part tries reason alert".
std::vector<std::string> letters_in(const std::string& path) {
  std::vector<std::string> letters;
  std::istringstream lines(testing::read_file(path));
  for (std::string line; std::getline(lines, line);) {
    const auto letter = nlohmann::ordered_json::parse(line);
    EXPECT_EQ(letter.at("v"), 1);
    EXPECT_EQ(letter.at("sink"), "web");
    EXPECT_TRUE(line.ends_with(",\"alert\":" + letter.at("alert").dump() + "}")) << "an alert is there as it is";
    letters.push_back(fmt::format("{} {} {} {} {}", letter.at("batch").get<int>(), letter.at("part").get<int>(),
                                  letter.at("tries").get<int>(), letter.at("reason").get<std::string>(),
                                  letter.at("alert").at("id").get<std::string>().substr(31)));
  }
  return letters;
}

class WebhookLettersTest : public WebhookTest {
 protected:
  WebhookLettersTest() { options_.dead_letters = path_; }
  void fail(int times, int status = 500) {
    for (int i = 0; i < times; ++i) server_.answer({.status = status, .body = "no"});
  }
  /// Delivers until it succeeds, as the deliverer does. Returns how often it failed.
  static int deliver_at_last(AlertSink& sink, std::uint64_t batch, const AlertList& alerts, std::uint64_t latest = 0) {
    for (int failures = 0;; ++failures) {
      try {
        sink.await(std::max(latest, batch));
        deliver(sink, batch, alerts);
        return failures;
      } catch (const Error&) {
        sink.abort();
      }
    }
  }

  testing::Folder folder_;
  std::string path_ = folder_.file("letters.jsonl");
};

TEST_F(WebhookLettersTest, AfterSoManyTriesAlertsAreDeadLetters) {
  options_.max_tries = 3;
  const auto web = sink();
  web->recover("");
  EXPECT_FALSE(std::filesystem::exists(path_)) << "it is made when it is needed";
  fail(3);
  EXPECT_EQ(deliver_at_last(*web, 7, alerts_of(7, 2)), 2);
  EXPECT_THAT(letters_in(path_), ElementsAre("7 0 3 the server answered with status 500: no 0",
                                             "7 0 3 the server answered with status 500: no 1"));
  EXPECT_EQ(web->dropped(), 2u);
  EXPECT_EQ(deliver_at_last(*web, 8, alerts_of(8, 1)), 0) << "what comes later is tried anew";
  EXPECT_EQ(server_.requests().size(), 4u);
  EXPECT_THAT(notes_.lines(), Contains(HasSubstr("alerts are given up sink=web batch=7 part=0 alerts=2 tries=3")).Times(1));
}

TEST_F(WebhookLettersTest, TriesAtAServerThatCannotBeReachedCountToo) {
  options_.max_tries = 4;
  options_.url = "http://127.0.0.1:1/";
  const auto web = sink();
  EXPECT_EQ(deliver_at_last(*web, 7, alerts_of(7, 1)), 3);
  EXPECT_THAT(letters_in(path_), ElementsAre("7 0 4 no connection: Connection refused 0"));
}

TEST_F(WebhookLettersTest, AfterSoLongAlertsAreDeadLetters) {
  options_.max_tries = 0;
  options_.give_up_after = milliseconds(50);
  const auto web = sink();
  fail(1000);
  EXPECT_GT(deliver_at_last(*web, 7, alerts_of(7, 1)), 0);
  EXPECT_EQ(letters_in(path_).size(), 1u);
}

TEST_F(WebhookLettersTest, NothingIsGivenUpIfNothingIsToBe) {
  options_.max_tries = 0;
  options_.give_up_after = milliseconds(0);
  fail(150);
  EXPECT_EQ(deliver_at_last(*sink(), 7, alerts_of(7, 1)), 150);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(WebhookLettersTest, ByDefaultItIsAfterAHundredTriesOrADay) {
  EXPECT_EQ(options_.max_tries, 100u);
  EXPECT_EQ(options_.give_up_after, std::chrono::hours(24));
}

/// Batches wait for the one before them. If each began its own count of tries only then, ever more batches would wait for a
/// server that is gone.
TEST_F(WebhookLettersTest, WhatHasWaitedForTheSameTriesIsGivenUpWithThem) {
  options_.max_tries = 3;
  const auto web = sink();
  fail(100);
  EXPECT_EQ(deliver_at_last(*web, 1, alerts_of(1, 1), 5), 2);
  for (std::uint64_t batch = 2; batch <= 5; ++batch) {
    EXPECT_TRUE(web->gives_up(batch));
    EXPECT_EQ(deliver_at_last(*web, batch, alerts_of(batch, 1), 6), 0);
  }
  EXPECT_EQ(server_.requests().size(), 3u) << "no more tries were made for them";
  EXPECT_FALSE(web->gives_up(6)) << "it came later";
  EXPECT_EQ(deliver_at_last(*web, 6, alerts_of(6, 1)), 2);
  EXPECT_EQ(letters_in(path_).size(), 6u);
}

TEST_F(WebhookLettersTest, ABatchThatIsRefusedTakesNoOtherWithIt) {
  options_.max_tries = 3;
  const auto web = sink();
  fail(3, 400);
  EXPECT_EQ(deliver_at_last(*web, 1, alerts_of(1, 1), 5), 2);
  for (std::uint64_t batch = 2; batch <= 5; ++batch) EXPECT_EQ(deliver_at_last(*web, batch, alerts_of(batch, 1)), 0);
  EXPECT_EQ(letters_in(path_).size(), 1u);
  EXPECT_EQ(server_.requests().size(), 7u);
}

TEST_F(WebhookLettersTest, OnlyThePartThatIsRefusedIsGivenUp) {
  options_.refused_tries = 1;
  const auto web = sink();
  server_.answer({});
  fail(1, 422);
  deliver(*web, 5, alerts_of(5, 9, 300'000));
  EXPECT_EQ(server_.requests().size(), 3u);
  EXPECT_EQ(letters_in(path_).size(), 3u);
  EXPECT_THAT(letters_in(path_).front(), HasSubstr("5 1 1 the server answered with status 422"));
}

/// A crash after the dead letters, and before the batch is noted as delivered, delivers the batch again.
TEST_F(WebhookLettersTest, NoLetterIsWrittenTwice) {
  options_.refused_tries = 1;
  std::string position;
  {
    const auto web = sink();
    position = web->recover("");
    fail(1, 400);
    position = deliver(*web, 1, alerts_of(1, 1));
    EXPECT_EQ(position, std::to_string(std::filesystem::file_size(path_)));
    fail(1, 400);
    deliver(*web, 2, alerts_of(2, 3));
  }
  const std::string whole = testing::read_file(path_);
  const std::size_t third = whole.rfind("{\"v\":1,\"sink\"");
  // Torn at the places where a crash may tear it: within the last line, after it, and before it.
  for (const std::size_t end : {third, third + 1, third + 30, whole.size() - 1, whole.size()}) {
    testing::write_file(path_, whole.substr(0, end));
    const auto web = sink();
    EXPECT_EQ(web->recover(position), position);
    fail(1, 400);
    EXPECT_EQ(deliver(*web, 2, alerts_of(2, 3)), std::to_string(whole.size()));
    EXPECT_EQ(testing::read_file(path_), whole) << end;
  }
}

TEST_F(WebhookLettersTest, TheFileMayBeMovedAwayOrHoldWhatOthersWrote) {
  options_.refused_tries = 1;
  auto web = sink();
  fail(4, 400);
  deliver(*web, 1, alerts_of(1, 1));
  std::filesystem::rename(path_, path_ + ".old");
  deliver(*web, 2, alerts_of(2, 1));
  EXPECT_EQ(letters_in(path_ + ".old").size(), 1u);
  EXPECT_EQ(letters_in(path_).size(), 1u);
  testing::write_file(path_, "");
  deliver(*web, 3, alerts_of(3, 1));
  EXPECT_EQ(letters_in(path_).size(), 1u);
  testing::write_file(path_, "of somebody else");
  deliver(*web, 4, alerts_of(4, 1));
  EXPECT_THAT(testing::read_file(path_), ::testing::StartsWith("of somebody else\n{\"v\":1,"));
  web.reset();
  EXPECT_EQ(sink()->recover("123456789"), "0");
  EXPECT_THAT(testing::read_file(path_), ::testing::StartsWith("of somebody else\n{\"v\":1,")) << "nothing is removed";
}

TEST_F(WebhookLettersTest, WhatCannotBeWrittenIsTriedAgain) {
  options_.refused_tries = 1;
  options_.dead_letters = folder_.file("none/letters.jsonl");
  const auto web = sink();
  fail(2, 400);
  EXPECT_THAT(error_of([&] { deliver(*web, 1, alerts_of(1, 1)); }), HasSubstr("letters.jsonl: cannot be opened for writing"));
  EXPECT_EQ(web->dropped(), 0u);
  std::filesystem::create_directory(folder_.file("none"));
  deliver(*web, 1, alerts_of(1, 1));
  EXPECT_EQ(letters_in(options_.dead_letters).size(), 1u);
}

TEST_F(WebhookTest, AServerThatIsSlowOrGoneIsAnError) {
  options_.timeout = milliseconds(500);
  server_.answer({.before = [] { std::this_thread::sleep_for(milliseconds(2000)); }});
  const auto web = sink();
  const auto begin = Clock::now();
  EXPECT_THAT(error_of([&] { deliver(*web, 1, alerts_of(1, 1)); }), HasSubstr("sink 'web': no answer"));
  EXPECT_LT(Clock::now() - begin, milliseconds(1900));
  web->abort();
  deliver(*web, 1, alerts_of(1, 1));
  for (const char* nobody : {"http://127.0.0.1:1/s3cret", "http://no-such-host.invalid/s3cret"}) {
    options_.url = nobody;
    EXPECT_THAT(error_of([&] { deliver(*sink(), 1, alerts_of(1, 1)); }), HasSubstr("sink 'web': no connection"));
  }
  EXPECT_THAT(error_of([&] { deliver(*sink(), 1, alerts_of(1, 1)); }),
              ::testing::AnyOf(HasSubstr("its host no-such-host.invalid is not known"), HasSubstr("no connection within")));
}

/// A server whose answers the test writes byte by byte.
class RawServer {
 public:
  /// `serve` handles one connection. It is given a function that sends. That function returns false if `serve` must end.
  explicit RawServer(std::function<void(const std::function<bool(std::string_view)>& send)> serve)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    const bool listens = ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
                         ::listen(listener_, 8) == 0 &&
                         ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) == 0;
    if (!listens) throw Error("server", "does not listen");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, serve = std::move(serve)] {
      for (int client = 0; (client = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(client)) {
        const timeval soon{1, 0};
        ::setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
        serve([client](std::string_view bytes) {
          return ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
        });
        ::shutdown(client, SHUT_WR);
        std::array<char, 4096> rest;
        while (::recv(client, rest.data(), rest.size(), 0) > 0) {
        }
      }
    });
  }
  ~RawServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }

 private:
  int listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

/// A server that sends a byte now and then keeps each single read within its time.
TEST_F(WebhookTest, TheTimeoutHoldsForTheWholeRequest) {
  const RawServer server([](const auto& send) {
    send("HTTP/1.1 200 OK\r\nX-Drip: ");
    while (send("x")) std::this_thread::sleep_for(milliseconds(20));
  });
  options_.url = server.url();
  options_.timeout = milliseconds(300);
  const auto begin = Clock::now();
  EXPECT_THAT(error_of([&] { deliver(*sink(), 1, alerts_of(1, 1)); }), HasSubstr("no answer within 300 ms"));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
}

/// A hostile server that sends without end takes neither memory nor more time than one request may.
TEST_F(WebhookTest, HeadsAndBodiesWithoutEndAreNotTaken) {
  const auto error_with = [&](const std::string& first, const std::string& again) {
    auto sent = std::make_shared<std::size_t>(0);
    std::string error;
    {
      const RawServer server([=](const auto& send) {
        for (bool taken = send(first); taken && *sent < (std::size_t{64} << 20); *sent += again.size()) taken = send(again);
      });
      options_.url = server.url();
      options_.timeout = milliseconds(10'000);
      error = error_of([&] { deliver(*sink(), 1, alerts_of(1, 1)); });
    }
    EXPECT_LT(*sent, std::size_t{32} << 20) << first;
    return error;
  };
  const std::string too_long = "its answer's head is longer than 65536 bytes";
  EXPECT_THAT(error_with("HTTP/1.1 200 OK\r\n", "X: " + std::string(1000, 'x') + "\r\n"), HasSubstr(too_long));
  EXPECT_THAT(error_with("", "HTTP/1.1 100 Continue\r\n\r\n" + std::string()), HasSubstr(too_long));
  EXPECT_THAT(error_with("HTTP/1.1 200 OK\r\nX: ", std::string(1000, 'x')), HasSubstr("no answer"));
  EXPECT_THAT(error_with("HTTP/1.1 ", std::string(1000, '2')), HasSubstr("no answer"));
  EXPECT_EQ(error_with("HTTP/1.1 200 OK\r\n\r\n", std::string(1000, 'x')), "") << "the head says that it is delivered";
  EXPECT_EQ(error_with("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "3e8\r\n" + std::string(1000, 'x') + "\r\n"),
            "");
  EXPECT_THAT(error_with("HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n", "3e8\r\n" + std::string(1000, 'x') + "\r\n"),
              HasSubstr("status 500: xxx"));
  EXPECT_EQ(error_with("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: " + std::string(1000, 'x') + "\r\n"),
            "");
}

TEST_F(WebhookTest, AnAnswerWithoutEndIsNotTaken) {
  server_.answer({.body = std::string(std::size_t{8} << 20, 'x')});
  const auto web = sink();
  deliver(*web, 1, alerts_of(1, 1));
  deliver(*web, 2, alerts_of(2, 1));
  EXPECT_EQ(server_.requests().size(), 2u);
}

TEST_F(WebhookTest, CancellingEndsARequestThatIsUnderWay) {
  options_.timeout = milliseconds(60'000);
  struct Gates {
    std::atomic<bool> arrived{false};
    std::atomic<bool> go_on{false};
  };
  const auto gates = std::make_shared<Gates>();  // the server may use them for longer than this test lasts
  server_.answer({.before = [gates] {
    gates->arrived = true;
    while (!gates->go_on) std::this_thread::sleep_for(milliseconds(1));
  }});
  const auto web = sink();
  std::string error;
  std::thread thread([&] { error = error_of([&] { deliver(*web, 1, alerts_of(1, 1)); }); });
  while (!gates->arrived) std::this_thread::sleep_for(milliseconds(1));
  const auto begin = Clock::now();
  web->cancel();
  thread.join();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
  gates->go_on = true;
  EXPECT_THAT(error, HasSubstr("sink 'web': cancelled"));
  EXPECT_THAT(error_of([&] { deliver(*web, 1, alerts_of(1, 1)); }), HasSubstr("cancelled"));
  EXPECT_EQ(server_.requests().size(), 1u);
}

TEST_F(WebhookTest, CancellingEndsAConnectionThatIsBeingMade) {
  options_.url = "http://192.0.2.1:81/";  // an address without a host
  options_.timeout = milliseconds(60'000);
  const auto web = sink();
  std::string error;
  std::thread thread([&] { error = error_of([&] { deliver(*web, 1, alerts_of(1, 1)); }); });
  std::this_thread::sleep_for(milliseconds(100));
  const auto begin = Clock::now();
  web->cancel();
  thread.join();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
  EXPECT_THAT(error, Not(::testing::IsEmpty()));
}

TEST_F(WebhookTest, RefusesAConfigurationThatCannotBe) {
  const auto error_for = [&](const std::string& url) {
    options_.url = url;
    const std::string error = error_of([&] { sink(); });
    EXPECT_THAT(error, Not(HasSubstr("s3cret"))) << "URLs are secrets with some services";
    return error;
  };
  EXPECT_THAT(error_for("ftp://host/s3cret"), HasSubstr("neither http nor https"));
  EXPECT_THAT(error_for("s3cret"), HasSubstr("neither http nor https"));
  EXPECT_THAT(error_for("http://user:s3cret@host/"), HasSubstr("user or password"));
  for (const char* url :
       {"http://", "http:///s3cret", "http://a b/", "http://h:/", "http://h:99999/", "http://h:1x/", "http://h:0"})
    EXPECT_THAT(error_for(url), HasSubstr("no valid host and port")) << url;
  EXPECT_THAT(error_for("http://h/s3cret path"), HasSubstr("blanks"));
  for (const char* url : {"http://h", "https://h:1", "http://[::1]:80/x", "http://a-b.example?x=1#s3cret"})
    EXPECT_EQ(error_for(url), "");

  options_ = options_for("http://h/");
  options_.headers = {{"X", "s3cret\r\nY: 1"}};
  EXPECT_THAT(error_of([&] { sink(); }), HasSubstr("header 'X' holds control characters"));
  options_.headers = {{"a b", "s3cret"}};
  EXPECT_THAT(error_of([&] { sink(); }), HasSubstr("is not valid"));
  options_.headers = {{"idempotency-Key", "s3cret"}};
  EXPECT_THAT(error_of([&] { sink(); }), HasSubstr("is set by the sink itself"));
  try {
    sink();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::configuration);
  }
}

TEST_F(WebhookTest, NoSecretIsEverTold) {
  options_.refused_tries = 1;
  const testing::Folder folder;
  options_.dead_letters = folder.file("letters.jsonl");
  const std::string echo = R"(POST /hook?token=s3cret: {"Authorization": "Bearer s3cret"}; s3cret.)";
  server_.answer({.status = 404, .body = echo});
  const auto web = sink();
  deliver(*web, 1, alerts_of(1, 1));
  server_.answer({.status = 500, .body = echo});
  const std::string error = error_of([&] { deliver(*web, 2, alerts_of(2, 1)); });
  EXPECT_THAT(error, HasSubstr("status 500: POST ***: {"));
  EXPECT_THAT(error, Not(HasSubstr("s3cret")));
  EXPECT_THAT(testing::read_file(options_.dead_letters), Not(HasSubstr("s3cret")));
  for (const std::string& line : notes_.lines()) EXPECT_THAT(line, Not(HasSubstr("s3cret")));
}

/// Makes a self-signed certificate for 127.0.0.1, and its key.
void make_certificate(const std::string& certificate_file, const std::string& key_file) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  std::string host = "127.0.0.1";
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(host.data()), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  X509_EXTENSION* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ("IP:" + host).c_str());
  X509_add_ext(certificate.get(), names, -1);
  X509_EXTENSION_free(names);
  ASSERT_NE(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
  const std::unique_ptr<BIO, decltype(&BIO_free)> to_certificate(BIO_new_file(certificate_file.c_str(), "w"), &BIO_free);
  const std::unique_ptr<BIO, decltype(&BIO_free)> to_key(BIO_new_file(key_file.c_str(), "w"), &BIO_free);
  ASSERT_EQ(PEM_write_bio_X509(to_certificate.get(), certificate.get()), 1);
  ASSERT_EQ(PEM_write_bio_PrivateKey(to_key.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
}

TEST_F(WebhookTest, HttpsTrustsOnlyCertificatesThatTheSystemTrusts) {
  const testing::Folder folder;
  make_certificate(folder.file("certificate.pem"), folder.file("key.pem"));
  const WebServer server(
      std::make_unique<httplib::SSLServer>(folder.file("certificate.pem").c_str(), folder.file("key.pem").c_str()));
  options_.url = server.url("/hook", "https");
  EXPECT_THAT(error_of([&] { deliver(*sink(), 1, alerts_of(1, 1)); }), HasSubstr("sink 'web': its certificate is not trusted"));
  EXPECT_EQ(server.requests().size(), 0u);
  ::setenv("SSL_CERT_FILE", folder.file("certificate.pem").c_str(), 1);
  deliver(*sink(), 1, alerts_of(1, 1));
  ::unsetenv("SSL_CERT_FILE");
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(WebhookTest, AllKindsOfSinksAreMadeFromTheirOptions) {
  const testing::Folder folder;
  SinkOptions options;
  options.name = "one";
  options.kind = SinkOptions::Kind::file;
  options.path = folder.file("a.jsonl");
  const auto file = make_alert_sink("fraud", options, notes_);
  EXPECT_EQ(file->recover(""), "0:0");
  options.kind = SinkOptions::Kind::console;
  EXPECT_EQ(make_alert_sink("fraud", options, notes_)->recover(""), "");
  deliver(*make_alert_sink("fraud", options_, notes_), 1, alerts_of(1, 1));
  EXPECT_EQ(server_.requests().size(), 1u);
  options.kind = SinkOptions::Kind::kafka;
  EXPECT_THAT(error_of([&] { static_cast<void>(make_alert_sink("fraud", options, notes_)); }), HasSubstr("transaction"));
}

TEST_F(WebhookTest, AFailingServerIsTriedUntilItTakesEveryBatchInOrder) {
  for (int i = 0; i < 7; ++i) server_.answer({.status = i % 2 == 0 ? 500 : 429});
  std::vector<DeliveryTarget> targets;
  targets.push_back({"web", sink(), milliseconds(10), {}, std::nullopt});
  Deliverer deliverer(
      std::move(targets),
      {[](std::string_view, std::uint64_t, const std::string&) {}, [](std::string_view, std::uint64_t, const std::string&) {},
       [](std::string_view, std::uint64_t, std::uint64_t, std::size_t) { return std::vector<Delivery>(); }},
      notes_, {.first_backoff = milliseconds(1)});
  for (std::uint64_t batch = 1; batch <= 5; ++batch) deliverer.submit("web", batch, alerts_of(batch, 1));
  ASSERT_TRUE(testing::eventually([&] { return deliverer.statistics().at("web").batches == 5; }));
  EXPECT_EQ(deliverer.statistics().at("web").failures, 7u);
  std::vector<std::string> keys;
  for (const auto& request : server_.requests()) keys.push_back(request.get_header_value("Deltamatch-Batch"));
  EXPECT_THAT(keys, ElementsAre("1", "1", "1", "1", "1", "1", "1", "1", "2", "3", "4", "5"));
}

DeliveryHooks no_hooks() {
  return {[](std::string_view, std::uint64_t, const std::string&) {},
          [](std::string_view, std::uint64_t, const std::string&) {},
          [](std::string_view, std::uint64_t, std::uint64_t, std::size_t) { return std::vector<Delivery>(); }};
}

/// One webhook takes no connection and another answers in drips; neither delays a third. The first gives up all waiting
/// batches. Afterwards nothing is kept for it.
TEST_F(WebhookTest, AFailingOrSlowWebhookHoldsUpNoOtherSinkAndEndsByItself) {
  const testing::Folder folder;
  const RawServer slow([](const auto& send) {
    send("HTTP/1.1 200 OK\r\nX-Drip: ");
    while (send("x")) std::this_thread::sleep_for(milliseconds(10));
  });
  std::vector<DeliveryTarget> targets;
  targets.push_back({"web", sink(), milliseconds(10), {}, std::nullopt});
  SinkOptions gone = options_for("http://127.0.0.1:1/");
  gone.name = "gone";
  gone.max_tries = 20;
  gone.dead_letters = folder.file("gone.jsonl");
  targets.push_back({"gone", make_webhook_sink("fraud", gone, notes_), milliseconds(10), {}, std::nullopt});
  SinkOptions dripping = options_for(slow.url());
  dripping.name = "dripping";
  targets.push_back({"dripping", make_webhook_sink("fraud", dripping, notes_), milliseconds(10), {}, std::nullopt});
  targets.push_back({"file", make_file_sink("file", folder.file("alerts.jsonl"), 0, 0), milliseconds(10), {}, std::nullopt});
  Deliverer deliverer(std::move(targets), no_hooks(), notes_, {.first_backoff = milliseconds(1)});
  for (std::uint64_t batch = 1; batch <= 50; ++batch) {
    for (const char* name : {"web", "gone", "dripping", "file"}) deliverer.submit(name, batch, alerts_of(batch, 2));
  }
  ASSERT_TRUE(testing::eventually([&] {
    const auto statistics = deliverer.statistics();
    return statistics.at("web").alerts == 100 && statistics.at("file").alerts == 100 && statistics.at("gone").undelivered == 0;
  }));
  const auto statistics = deliverer.statistics();
  EXPECT_EQ(statistics.at("gone").dropped, 100u);
  EXPECT_EQ(statistics.at("gone").alerts, 0u) << "what is given up is not delivered";
  EXPECT_THAT(statistics.at("gone").last_error, HasSubstr("no connection"));
  EXPECT_LT(statistics.at("gone").failures, 50u) << "tries count for all that wait";
  EXPECT_EQ(statistics.at("dripping").undelivered, 50u);
  std::istringstream lines(testing::read_file(folder.file("gone.jsonl")));
  std::size_t letters = 0;
  for (std::string line; std::getline(lines, line); ++letters)
    EXPECT_EQ(nlohmann::json::parse(line).at("batch"), letters / 2 + 1);
  EXPECT_EQ(letters, 100u);
}

}  // namespace
}  // namespace deltamatch::ingest
