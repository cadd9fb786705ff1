#include "ingest/service/http/http_route.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/service/http/http_token.hpp"
#include "unit/alert/support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Notes;

HttpRoute route(std::string method, std::string pattern) {
  return {std::move(method), std::move(pattern), {}, {}, 0, [](const HttpRequest&) { return HttpReply{}; }, false};
}

HttpRoutes some_routes() {
  return HttpRoutes({route("GET", "/{file*}"), route("GET", "/v1/queries/{name}"), route("PUT", "/v1/queries/{name}"),
                     route("GET", "/v1/queries"), route("POST", "/v1/queries"), route("GET", "/v1/queries/plans"),
                     route("GET", "/"), route("GET", "/of/{a}/and/{b}")});
}

class HttpRouteTest : public ::testing::Test {
 protected:
  /// The pattern that a GET of the path leads to, or why there is none.
  std::string pattern(std::string_view path, std::string_view method = "GET") {
    const auto found = routes_.find(method, path, "");
    if (!found) return "cannot be decoded";
    last_ = found->request;
    if (found->route == nullptr) return found->allowed.empty() ? "none" : "another method";
    return found->route->pattern;
  }
  HttpRoutes routes_ = some_routes();
  HttpRequest last_;
};

TEST_F(HttpRouteTest, TheMostLiteralPatternWins) {
  EXPECT_EQ(pattern("/v1/queries"), "/v1/queries");
  EXPECT_EQ(pattern("/v1/queries/"), "/v1/queries");
  EXPECT_EQ(pattern("/v1/queries/ring"), "/v1/queries/{name}");
  EXPECT_EQ(last_.path.at("name"), "ring");
  EXPECT_EQ(pattern("/v1/queries/plans"), "/v1/queries/plans");
  EXPECT_EQ(pattern("/v1/queries/ring/more"), "/{file*}");
  EXPECT_EQ(last_.path.at("file"), "v1/queries/ring/more");
  EXPECT_EQ(pattern("/"), "/");
  EXPECT_EQ(pattern(""), "/");
  EXPECT_EQ(pattern("/of/1/and/2"), "/of/{a}/and/{b}");
  EXPECT_EQ(last_.path, (std::map<std::string, std::string, std::less<>>{{"a", "1"}, {"b", "2"}}));
}

TEST_F(HttpRouteTest, MethodsBelongToThePatternThatWins) {
  EXPECT_EQ(pattern("/v1/queries/ring", "PUT"), "/v1/queries/{name}");
  EXPECT_EQ(pattern("/v1/queries", "HEAD"), "/v1/queries");
  EXPECT_EQ(last_.method, "HEAD");
  EXPECT_EQ(pattern("/v1/queries", "PUT"), "another method");
  EXPECT_THAT(routes_.find("PUT", "/v1/queries", "")->allowed, ElementsAre("GET", "HEAD", "POST"));
  EXPECT_EQ(pattern("/v1/queries/plans", "PUT"), "another method") << "a looser pattern has PUT";
  EXPECT_EQ(pattern("/v1/queries", "get"), "another method") << "methods are case-sensitive";
  EXPECT_EQ(HttpRoutes({route("GET", "/a")}).find("GET", "/b", "")->allowed.size(), 0u);
}

TEST_F(HttpRouteTest, SegmentsAreDecodedAfterTheyAreSplit) {
  EXPECT_EQ(pattern("/v1/queries/a%2Fb%20c+d%25"), "/v1/queries/{name}");
  EXPECT_EQ(last_.path.at("name"), "a/b c+d%");
  EXPECT_EQ(pattern("/v1/%71ueries"), "/v1/queries");
  EXPECT_EQ(pattern("/v1/queries/%C3%A4"), "/v1/queries/{name}");
  EXPECT_EQ(last_.path.at("name"), "ä");
  for (const char* path : {"/v1/queries/%", "/v1/queries/%4", "/v1/queries/%zz", "/v1/queries/%00", "/v1/queries/%ff",
                           "/v1/queries/%C3", "/v1/queries/\xff", "/v1/queries/%ed%a0%80"})
    EXPECT_EQ(pattern(path), "cannot be decoded") << path;
}

TEST_F(HttpRouteTest, NothingLeadsOutOfAFolder) {
  for (const char* path : {"/..", "/../etc/passwd", "/a/../../b", "/a/./b", "/%2e%2e/etc/passwd", "/.%2E/x", "/v1/queries/.."})
    EXPECT_EQ(pattern(path), "cannot be decoded") << path;
  for (const char* path : {"/a/..%2f..%2fetc/passwd", "/a%2fb", "/a%5c..%5cb", "//etc/passwd", "/a//b"})
    EXPECT_EQ(pattern(path), "none") << path;
}

TEST_F(HttpRouteTest, QueriesAreDecoded) {
  const auto of = [&](std::string_view query) { return routes_.find("GET", "/", query); };
  EXPECT_EQ(of("a=1&b&&c=x%3Dy+z&a=2&=v")->request.query,
            (std::map<std::string, std::string, std::less<>>{{"", "v"}, {"a", "2"}, {"b", ""}, {"c", "x=y z"}}));
  for (const char* query : {"a=%", "%4=1", "a=%00", "a=\xff"}) EXPECT_FALSE(of(query)) << query;
}

TEST_F(HttpRouteTest, PathsAreListedByMethod) {
  EXPECT_EQ(HttpRoutes({route("POST", "/reload"), route("GET", "/livez"), route("GET", "/status")}).listed(),
            "GET /livez, /status; POST /reload");
}

class HttpTokenTest : public ::testing::Test {
 protected:
  /// The status of the answer; 200 if the request is admitted.
  unsigned ask(HttpToken& token, std::string_view header, HttpAccess access = HttpAccess::admin,
               const char* from = "10.0.0.1") {
    const auto refused = token.refusal(access, header, from, now_);
    return refused ? refused->status : 200;
  }
  Notes notes_;
  HttpToken token_{"0123456789abcdef", notes_};
  HttpToken::Clock::time_point now_ = HttpToken::Clock::now();
};

TEST_F(HttpTokenTest, OnlyTheTokenAdmits) {
  EXPECT_EQ(ask(token_, "Bearer 0123456789abcdef"), 200u);
  EXPECT_EQ(ask(token_, "bearer  0123456789abcdef"), 200u);
  for (const char* wrong : {"Bearer 0123456789abcdeF", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Bearer ",
                            "Bearer 0123456789abcdef0123456789abcdef", "0123456789abcdef", "Basic 0123456789abcdef"})
    EXPECT_EQ(ask(token_, wrong), 401u) << wrong;
  EXPECT_EQ(ask(token_, ""), 401u);
  EXPECT_EQ(ask(token_, "", HttpAccess::everyone), 200u);
  EXPECT_EQ(ask(token_, "", HttpAccess::admin_if_any), 401u);
  EXPECT_THAT(token_.refusal(HttpAccess::admin, "", "x", now_)->headers,
              ElementsAre(std::pair<std::string, std::string>("WWW-Authenticate", "Bearer")));
}

TEST_F(HttpTokenTest, WithoutATokenNobodyMayChangeAnything) {
  HttpToken none("", notes_);
  EXPECT_EQ(ask(none, ""), 403u);
  EXPECT_EQ(ask(none, "Bearer "), 403u);
  EXPECT_EQ(ask(none, "", HttpAccess::admin_if_any), 200u) << "as it was before there were tokens";
  EXPECT_THAT(none.refusal(HttpAccess::admin, "", "x", now_)->body, HasSubstr("set http.admin_token: {file: PATH}"));
}

TEST_F(HttpTokenTest, GuessesAreLimitedByAddress) {
  for (int i = 0; i < HttpToken::guesses; ++i) EXPECT_EQ(ask(token_, "Bearer hunter2"), 401u) << i;
  EXPECT_EQ(ask(token_, "Bearer hunter2"), 429u);
  EXPECT_EQ(ask(token_, "Bearer 0123456789abcdef"), 200u) << "the right one always passes";
  EXPECT_EQ(ask(token_, "Bearer hunter2"), 429u) << "and forgives nothing";
  EXPECT_EQ(ask(token_, ""), 401u) << "no guess";
  EXPECT_EQ(ask(token_, "Bearer 0123456789abcdef", HttpAccess::admin, "10.0.0.2"), 200u) << "another address";
  now_ += HttpToken::guess_every;
  EXPECT_EQ(ask(token_, "Bearer hunter2"), 401u);
  EXPECT_EQ(ask(token_, "Bearer hunter2"), 429u);
  now_ += HttpToken::guess_every;
  EXPECT_EQ(ask(token_, "Bearer 0123456789abcdef"), 200u);
  EXPECT_EQ(ask(token_, "Bearer 0123456789abcdef"), 200u) << "right ones are not counted";
  now_ += HttpToken::guess_every * 100;
  for (int i = 0; i < HttpToken::guesses; ++i) EXPECT_EQ(ask(token_, "Bearer hunter2"), 401u) << i;
}

TEST_F(HttpTokenTest, WrongTokensAreLoggedWithoutTheToken) {
  for (int i = 0; i < 1000; ++i) ask(token_, "Bearer hunter2");
  EXPECT_EQ(notes_.lines().size(), HttpToken::guesses + 1u);
  EXPECT_EQ(notes_.lines().front(), "warn a request had a wrong admin token address=10.0.0.1");
  EXPECT_THAT(notes_.lines().back(), HasSubstr("too many wrong admin tokens"));
  for (const std::string& line : notes_.lines()) EXPECT_EQ(line.find("hunter2"), std::string::npos) << line;
}

TEST_F(HttpTokenTest, ManyAddressesCostBoundedMemory) {
  for (std::size_t i = 0; i < 2 * HttpToken::most_addresses; ++i) {
    now_ += std::chrono::microseconds(1);
    ask(token_, "Bearer hunter2", HttpAccess::admin, std::to_string(i).c_str());
  }
  EXPECT_EQ(ask(token_, "Bearer 0123456789abcdef", HttpAccess::admin, "0"), 200u);
}

}  // namespace
}  // namespace deltamatch::ingest
