#include "ingest/service/http/alert_stream.hpp"

#include <gmock/gmock.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <thread>

#include "ingest/service/http/http_server.hpp"
#include "unit/alert/support.hpp"

namespace deltamatch::ingest {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Notes;
using ::testing::StartsWith;

std::string alert(std::string_view query, std::uint64_t batch, char sign = '+', std::size_t padding = 0) {
  return fmt::format(R"({{"v":1,"id":"{:032x}","query":"{}","sign":"{}","batch":{},"pad":"{}"}})", batch, query, sign, batch,
                     std::string(padding, 'x'));
}

/// A server with the one route.
class Streams : public ::testing::Test {
 protected:
  void start(milliseconds patience = milliseconds(300)) {
    HttpOptions options;
    options.port = 0;
    HttpLimits limits;
    limits.time = patience;
    limits.stream_pause = milliseconds(20);
    std::vector<HttpRoute> routes;
    routes.push_back(alert_route(feed_, {.streams = 3, .piece = 16 << 10, .heartbeat = milliseconds(100)}));
    server_.emplace(options, std::move(routes), notes_, limits);
  }
  /// A client that has sent its request.
  tcp::socket open(std::string_view parameters = "", std::string_view headers = "", const char* from = "127.0.0.1") {
    tcp::socket client(clients_);
    client.open(tcp::v4());
    client.bind({asio::ip::make_address(from), 0});
    client.set_option(asio::socket_base::receive_buffer_size(4096));
    client.connect({asio::ip::address_v4::loopback(), server_->port()});
    asio::write(client,
                asio::buffer(fmt::format("GET /v1/alerts{} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", parameters, headers)));
    return client;
  }
  void publish(std::uint64_t batch, std::initializer_list<std::string> alerts) {
    SeenAlerts seen;
    for (const std::string& each : alerts) seen.list.add(each);
    feed_.publish(batch, seen);
  }
  /// Reads until the text ends so. Fails the test if the stream ends first.
  static std::string read_to(tcp::socket& client, std::string_view end) {
    std::string text;
    boost::system::error_code error;
    while (!text.ends_with(end) && !error) {
      char next = 0;
      asio::read(client, asio::buffer(&next, 1), error);
      if (!error) text += next;
    }
    EXPECT_FALSE(error) << text;
    return text;
  }
  bool opened(std::size_t streams) {
    return testing::eventually([&] { return feed_.watchers().open == streams; });
  }

  AlertFeed feed_{{.alerts = 2000, .bytes = 4 << 20, .per_query = 2000, .block = 16 << 10, .pace = milliseconds(0)}};
  Notes notes_;
  asio::io_context clients_;
  std::optional<HttpServer> server_;
};

AlertWish wish_of(std::vector<std::pair<std::string, std::string>> parameters, std::string_view last = "") {
  return alert_wish(parameters, last);
}

TEST(AlertWish, ReadsParameters) {
  const AlertWish wish = wish_of({{"query", "a b"}, {"query", "\"\xC3\xA9"}, {"sign", "+"}, {"last", "7"}, {"other", "1"}});
  EXPECT_EQ(wish.error, "");
  EXPECT_THAT(wish.filter.queries, ElementsAre(R"("a b")", "\"\\\"\xC3\xA9\""));
  EXPECT_EQ(wish.filter.signs, Signs::added);
  EXPECT_EQ(wish.last, 7u);
  EXPECT_FALSE(wish.after);
  EXPECT_EQ(wish_of({{"sign", " "}}).filter.signs, Signs::added) << "as people type it";
  EXPECT_EQ(wish_of({{"sign", "-"}}).filter.signs, Signs::removed);
  EXPECT_EQ(wish_of({{"after", "1.2"}}, "17.3").after, (FeedPlace{17, 3})) << "whoever connects again says so in the header";
  EXPECT_EQ(wish_of({{"after", "1.2"}}).after, (FeedPlace{1, 2}));
  EXPECT_EQ(wish_of({}).error, "");
  for (const auto& [name, value] : std::initializer_list<std::pair<std::string, std::string>>{
           {"sign", "x"}, {"sign", ""}, {"after", "17"}, {"last", "-1"}, {"last", "many"}})
    EXPECT_NE(wish_of({{name, value}}).error, "") << name << value;
  EXPECT_NE(wish_of({}, "x").error, "");
  EXPECT_THAT(wish_of(std::vector<std::pair<std::string, std::string>>(65, {"query", "q"})).error, HasSubstr("64"));
}

TEST_F(Streams, AClientGetsHeadAlertsAndHeartbeats) {
  start();
  publish(1, {alert("old", 1)});
  tcp::socket client = open("?last=5");
  const std::string first = read_to(client, R"("pad":""})"
                                            "\n\n");
  EXPECT_THAT(first, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(first, HasSubstr("\r\nContent-Type: text/event-stream\r\n"));
  EXPECT_THAT(first,
              HasSubstr("\r\n\r\nretry: 2000\nevent: start\ndata: {\"v\":1,\"batch\":1,\"missed\":0}\n\nid: 1.0\ndata: "));
  publish(2, {alert("new", 2)});
  EXPECT_EQ(read_to(client, "}\n\n"), "id: 2.0\ndata: " + alert("new", 2) + "\n\n");
  EXPECT_EQ(read_to(client, ":\n\n"), ":\n\n");
  EXPECT_EQ(read_to(client, ":\n\n"), ":\n\n");
  publish(3, {alert("new", 3)});
  EXPECT_THAT(read_to(client, "}\n\n"), HasSubstr("id: 3.0\n"));
}

TEST_F(Streams, EachClientGetsWhatItAskedFor) {
  start();
  tcp::socket ring = open("?query=r%69ng&query=other&sign=-");
  tcp::socket all = open();
  read_to(ring, "}\n\n");
  read_to(all, "}\n\n");
  publish(1, {alert("ring", 1), alert("path", 1, '-'), alert("ring", 1, '-')});
  EXPECT_THAT(read_to(ring, "}\n\n"), HasSubstr("id: 1.2\ndata: " + alert("ring", 1, '-') + "\n\n"));
  EXPECT_THAT(read_to(all, alert("ring", 1, '-') + "\n\n"), HasSubstr("id: 1.0"));
  tcp::socket again = open("", "Last-Event-ID: 1.1\r\n");
  const std::string rest = read_to(again, alert("ring", 1, '-') + "\n\n");
  EXPECT_THAT(rest, HasSubstr("id: 1.2"));
  EXPECT_THAT(rest, ::testing::Not(HasSubstr("id: 1.1")));
}

TEST_F(Streams, WhatIsWrongIsRefused) {
  start();
  tcp::socket client = open("?sign=x");
  EXPECT_THAT(read_to(client, "}\n"), StartsWith("HTTP/1.1 400 "));
  tcp::socket other = open("", "Last-Event-ID: x\r\n");
  EXPECT_THAT(read_to(other, "}\n"), HasSubstr("Last-Event-ID"));
}

TEST_F(Streams, TheirNumberIsLimitedAndRoomComesBack) {
  start();
  std::vector<tcp::socket> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(open());
  ASSERT_TRUE(opened(3));
  tcp::socket fourth = open();
  const std::string answer = read_to(fourth, "}\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, HasSubstr("Retry-After: "));
  EXPECT_EQ(feed_.watchers().refused, 1u);
  clients.pop_back();  // it leaves
  EXPECT_TRUE(opened(2));
  clients.push_back(open());
  EXPECT_TRUE(opened(3));
  EXPECT_EQ(feed_.watchers().cut_off, 0u);
  server_.reset();
  EXPECT_EQ(feed_.watchers().open, 0u);
  publish(1, {alert("q", 1)});  // nobody listens any more
}

TEST_F(Streams, OneAddressDoesNotTakeAllTheRoom) {
  start();
  std::vector<tcp::socket> greedy;
  for (int i = 0; i < 3; ++i) {
    greedy.push_back(open("", "", "127.0.0.2"));
    ASSERT_TRUE(opened(static_cast<std::size_t>(i) + 1));
  }
  tcp::socket other = open("", "", "127.0.0.3");
  EXPECT_THAT(read_to(other, "\n\n"), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_TRUE(opened(3)) << "the oldest of the others has ended";
  EXPECT_EQ(feed_.watchers().ended, 1u);
  std::string rest;
  boost::system::error_code end;
  asio::read(greedy.front(), asio::dynamic_buffer(rest), end);
  EXPECT_EQ(end, asio::error::eof);
  tcp::socket again = open("", "", "127.0.0.3");  // it would have more than the other address has then
  EXPECT_THAT(read_to(again, "}\n"), StartsWith("HTTP/1.1 503 "));
  publish(1, {alert("q", 1)});
  EXPECT_THAT(read_to(greedy.back(), "}\n\n"), HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_THAT(read_to(other, "}\n\n"), HasSubstr("id: 1.0"));
}

TEST_F(Streams, AClientThatTakesNothingIsCutOffAndHoldsNobodyUp) {
  start();
  tcp::socket slow = open();
  tcp::socket quick = open();
  ASSERT_TRUE(opened(2));
  std::uint64_t got = 0;
  std::thread reader([&] {
    boost::system::error_code error;
    std::string bytes(1 << 16, '\0');
    while (!error) got += quick.read_some(asio::buffer(bytes), error);
  });
  std::uint64_t sent = 0;
  for (std::uint64_t batch = 1; batch <= 20'000 && feed_.watchers().cut_off == 0; ++batch) {
    publish(batch, {alert("q", batch, '+', 4000)});
    sent += 4000;
    if (batch % 20 == 0) std::this_thread::sleep_for(milliseconds(2));
  }
  EXPECT_TRUE(testing::eventually([&] { return feed_.watchers().cut_off == 1; }));
  EXPECT_EQ(feed_.watchers().open, 1u) << "the other one goes on";
  server_->stop();
  reader.join();
  EXPECT_GT(got, sent / 2);
}

TEST_F(Streams, AClientThatReadsSlowlyMissesAlertsAndLearnsHowMany) {
  start(milliseconds(30'000));
  tcp::socket client = open();
  read_to(client, "}\n\n");
  for (std::uint64_t batch = 1; batch <= 6000; ++batch) publish(batch, {alert("q", batch, '+', 4000)});
  publish(6001, {alert("last", 6001)});
  std::string text;
  std::string bytes(1 << 16, '\0');
  while (text.find(alert("last", 6001)) == std::string::npos) text.append(bytes, 0, client.read_some(asio::buffer(bytes)));
  std::uint64_t missed = 0;
  std::uint64_t got = 0;
  for (std::size_t at = text.find("event: missed"); at != std::string::npos; at = text.find("event: missed", at + 1))
    missed += std::stoull(text.substr(text.find("\"alerts\":", at) + 9));
  for (std::size_t at = text.find("id: "); at != std::string::npos; at = text.find("\nid: ", at + 1)) ++got;
  EXPECT_GT(missed, 1000u);
  EXPECT_EQ(missed + got, 6001u);
  EXPECT_EQ(feed_.watchers().missed, missed);
}

TEST_F(Streams, AClientThatTalksIsCutOff) {
  start();
  tcp::socket client = open();
  ASSERT_TRUE(opened(1));
  boost::system::error_code error;
  const std::string noise(1 << 16, 'x');
  for (int i = 0; i < 100 && !error; ++i) asio::write(client, asio::buffer(noise), error);
  EXPECT_TRUE(opened(0));
}

}  // namespace
}  // namespace deltamatch::ingest
