// The client of schema registries: what it asks, what it makes of answers, and that it outlasts hostile servers.
#include "ingest/service/web/schema_registry.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/service/loop/schema_waits.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Answers GETs by their path.
class Server {
 public:
  struct Answer {
    int status = 200;
    std::string body;
    httplib::Headers headers{};
    std::chrono::milliseconds after{};
  };

  Server() {
    server_.Get(".*", [this](const httplib::Request& request, httplib::Response& response) {
      Answer answer{404, R"({"error_code":40403,"message":"Schema not found"})"};
      {
        const std::lock_guard lock(mutex_);
        asked_.push_back(request.path);
        authorization_ = request.get_header_value("Authorization");
        if (const auto found = answers_.find(request.path); found != answers_.end()) answer = found->second;
      }
      std::this_thread::sleep_for(answer.after);
      response.status = answer.status;
      for (const auto& [name, value] : answer.headers) response.set_header(name, value);
      response.set_content(answer.body, "application/json");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Server() {
    server_.stop();
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void answer(const std::string& path, Answer answer) {
    const std::lock_guard lock(mutex_);
    answers_[path] = std::move(answer);
  }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  [[nodiscard]] std::string authorization() const {
    const std::lock_guard lock(mutex_);
    return authorization_;
  }

 private:
  httplib::Server server_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, Answer> answers_;
  std::vector<std::string> asked_;
  std::string authorization_;
  std::thread thread_;
};

RegistryOptions options(const std::vector<std::string>& urls) {
  RegistryOptions options;
  options.urls = urls;
  options.timeout = 2s;
  return options;
}

/// Why a schema is not available.
std::string unavailable(SchemaRegistry& registry, std::uint32_t id = 7) {
  try {
    static_cast<void>(registry.find(id));
  } catch (const SchemaUnavailable& why) {
    return why.what();
  }
  return "available";
}

constexpr const char* nobody = "http://127.0.0.1:1";

TEST(SchemaRegistry, FetchesEachSchemaOnceAndAuthenticates) {
  Server server;
  server.answer("/base/schemas/ids/7", {200, R"({"schema":"\"string\""})"});
  RegistryOptions with = options({server.url() + "/base/"});
  with.user = "me";
  with.password = "word";
  SchemaRegistry registry(with);
  for (int i = 0; i < 3; ++i) {
    const auto schema = registry.find(7);
    ASSERT_NE(schema, nullptr);
    EXPECT_EQ(schema->type, "AVRO");
    EXPECT_EQ(schema->fault, "");
    EXPECT_TRUE(std::holds_alternative<AvroSchema>(schema->read));
  }
  EXPECT_THAT(server.asked(), ElementsAre("/base/schemas/ids/7"));
  EXPECT_EQ(server.authorization(), "Basic bWU6d29yZA==");
}

TEST(SchemaRegistry, ResolvesReferencesOfReferencesOnceEach) {
  Server server;
  const auto reference = [](std::string_view name, std::string_view subject) {
    return fmt::format(R"({{"name":"{}","subject":"{}","version":1}})", name, subject);
  };
  const std::string money = R"("schema":"{\"type\":\"fixed\",\"name\":\"Money\",\"size\":4}")";
  const std::string party =
      R"("schema":"{\"type\":\"record\",\"name\":\"Party\",\"fields\":[{\"name\":\"m\",\"type\":\"Money\"}]}")";
  const std::string payment =
      R"("schema":"{\"type\":\"record\",\"name\":\"P\",\"fields\":[{\"name\":\"a\",\"type\":\"Party\"},{\"name\":\"b\",\"type\":\"Money\"}]}")";
  server.answer("/schemas/ids/7", {200, fmt::format(R"({{{},"references":[{},{}]}})", payment, reference("Party", "a/b party"),
                                                    reference("Money", "money"))});
  server.answer("/subjects/a/b party/versions/1",
                {200, fmt::format(R"({{{},"references":[{}]}})", party, reference("Money", "money"))});
  server.answer("/subjects/money/versions/1", {200, "{" + money + "}"});
  SchemaRegistry registry(options({server.url()}));
  EXPECT_EQ(registry.find(7)->fault, "");
  EXPECT_THAT(server.asked(), ElementsAre("/schemas/ids/7", "/subjects/a/b party/versions/1", "/subjects/money/versions/1"));
}

TEST(SchemaRegistry, ReferencesThatLeadNowhereOrInCirclesMakeAFault) {
  Server server;
  const std::string self = R"({"schema":"\"long\"","references":[{"name":"Self","subject":"self","version":1}]})";
  server.answer("/schemas/ids/7", {200, self});
  server.answer("/subjects/self/versions/1", {200, self});
  server.answer("/schemas/ids/8", {200, R"({"schema":"\"long\"","references":[{"name":"N","subject":"none","version":3}]})"});
  server.answer("/subjects/none/versions/3", {404, R"({"error_code":40401,"message":"Subject not found"})"});
  SchemaRegistry registry(options({server.url()}));
  EXPECT_EQ(registry.find(7)->fault, "");
  EXPECT_EQ(registry.find(8)->fault, "the registry has no version 3 of the subject none, to which it refers");
  for (int i = 0; i < 40; ++i) {
    server.answer(
        fmt::format("/subjects/s{}/versions/1", i),
        {200, fmt::format(R"({{"schema":"\"long\"","references":[{{"name":"s{0}","subject":"s{0}","version":1}}]}})", i + 1)});
  }
  server.answer("/schemas/ids/9", {200, R"({"schema":"\"long\"","references":[{"name":"s0","subject":"s0","version":1}]})"});
  EXPECT_EQ(registry.find(9)->fault, "it refers to too many schemas");
}

TEST(SchemaRegistry, AVersionIsANumberOrAText) {
  Server server;
  const auto refers_to = [&](const std::string& version) {
    return fmt::format(R"({{"schema":"\"long\"","references":[{{"name":"N","subject":"s","version":{}}}]}})", version);
  };
  server.answer("/schemas/ids/7", {200, refers_to(std::string(200'000, '[') + std::string(200'000, ']'))});
  server.answer("/schemas/ids/8", {200, refers_to(R"("latest")")});
  server.answer("/subjects/s/versions/latest", {200, R"({"schema":"\"long\""})"});
  SchemaRegistry registry(options({server.url()}));
  EXPECT_EQ(registry.find(7)->fault, "it refers to a version of the subject s that is no number");
  EXPECT_EQ(registry.find(8)->fault, "");
}

TEST(SchemaRegistry, AnUnknownIdIsNoFailureAndIsNotAskedForAtOnceAgain) {
  Server server;
  SchemaRegistry registry(options({server.url()}));
  EXPECT_EQ(registry.find(7), nullptr);
  server.answer("/schemas/ids/7", {200, R"({"schema":"\"string\""})"});
  EXPECT_EQ(registry.find(7), nullptr);
  EXPECT_EQ(server.asked().size(), 1U);
}

TEST(SchemaRegistry, AsksTheNextServerAndRemembersIt) {
  Server server;
  server.answer("/schemas/ids/7", {200, R"({"schema":"\"string\""})"});
  server.answer("/schemas/ids/8", {200, R"({"schema":"\"string\""})"});
  Server broken;
  broken.answer("/schemas/ids/7", {500, R"({"error_code":50001,"message":"Error in the backend"})"});
  SchemaRegistry registry(options({nobody, broken.url(), server.url()}));
  EXPECT_NE(registry.find(7), nullptr);
  EXPECT_NE(registry.find(8), nullptr);
  EXPECT_THAT(broken.asked(), ElementsAre("/schemas/ids/7"));
  SchemaRegistry none(options({nobody, broken.url()}));
  EXPECT_THAT(unavailable(none), AllOf(HasSubstr(std::string(nobody) + ": no connection"),
                                       HasSubstr(broken.url() + ": HTTP 500: Error in the backend (50001)")));
}

TEST(SchemaRegistry, AnswersThatAreNoneAreNoAnswers) {
  Server server;
  SchemaRegistry registry(options({server.url()}));
  const auto says = [&](Server::Answer answer) {
    server.answer("/schemas/ids/7", std::move(answer));
    return unavailable(registry);
  };
  EXPECT_THAT(says({401, R"({"error_code":40101,"message":"Unauthorized"})"}),
              HasSubstr("HTTP 401: Unauthorized (40101); check user and password"));
  EXPECT_THAT(says({302, "", {{"Location", "http://elsewhere/"}}}), HasSubstr("HTTP 302; redirects are not followed"));
  EXPECT_THAT(says({404, "<html>nothing here</html>"}),
              HasSubstr("HTTP 404; this is no answer of a registry, check the path of its URL"));
  EXPECT_THAT(says({404, R"({"error_code":404,"message":"HTTP 404 Not Found"})"}),
              HasSubstr("HTTP 404: HTTP 404 Not Found (404); this is no answer of a registry, check the path of its URL"));
  EXPECT_THAT(says({404, R"({"error_code":40401,"message":"Subject not found"})"}), HasSubstr("HTTP 404: Subject not found"));
  EXPECT_THAT(says({200, "welcome"}), HasSubstr("HTTP 200; this is no answer of a registry"));
  EXPECT_THAT(says({200, "[]"}), HasSubstr("this is no answer of a registry"));
  EXPECT_THAT(says({200, R"({"schema":7})"}), HasSubstr("this is no answer of a registry"));
  EXPECT_THAT(says({200, std::string(100'000, '[')}), HasSubstr("this is no answer of a registry"));
  EXPECT_THAT(says({200, std::string((std::size_t{16} << 20) + 1, ' ')}),
              HasSubstr("the answer is torn, or longer than 16 MiB"));
  EXPECT_THAT(says({429, "slow down"}), HasSubstr("HTTP 429"));
  EXPECT_THAT(says({200, R"({"schema":"\"string\""})"}), HasSubstr("available"));
}

TEST(SchemaRegistry, ASchemaThatCannotBeReadIsKeptAsSuch) {
  Server server;
  server.answer("/schemas/ids/1", {200, R"({"schema":"{"})"});
  server.answer("/schemas/ids/2", {200, R"({"schema":"{}","schemaType":"JSON"})"});
  SchemaRegistry registry(options({server.url()}));
  EXPECT_THAT(registry.find(1)->fault, HasSubstr("it is not JSON"));
  EXPECT_EQ(registry.find(2)->fault, "it is of the type JSON");
}

TEST(SchemaRegistry, ASlowAnswerEndsAtTheTimeoutOrWhenItIsCancelled) {
  Server server;
  server.answer("/schemas/ids/7", {200, R"({"schema":"\"string\""})", {}, 1500ms});
  RegistryOptions brief = options({server.url()});
  brief.timeout = 100ms;
  SchemaRegistry registry(brief);
  EXPECT_THAT(unavailable(registry), HasSubstr("no answer within 100 ms"));
  SchemaRegistry patient(options({server.url()}));
  std::thread canceller([&] {
    std::this_thread::sleep_for(100ms);
    patient.cancel();
  });
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_THAT(unavailable(patient), HasSubstr("cancelled"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 1400ms);
  canceller.join();
}

TEST(SchemaRegistry, RefusesUrlsThatHoldASecret) {
  for (const char* const url : {"registry:8081", "http://me:word@registry:8081", "http://", "http://a b/"}) {
    EXPECT_THROW(SchemaRegistry{options({url})}, Error) << url;
  }
}

/// Keeps the events.
class Events final : public Journal {
 public:
  void tell(Level /*level*/, std::string_view event, std::initializer_list<Field> /*fields*/) noexcept override {
    all.emplace_back(event);
  }
  std::vector<std::string> all;
};

TEST(SchemaWaits, TriesAgainUntilTheSchemaIsThereAndSaysSo) {
  Events events;
  SchemaWaits waits(nullptr, events);
  int tries = 0;
  int before = 0;
  const auto read = [&] {
    if (++tries < 3) throw SchemaUnavailable("it is down");
    EXPECT_EQ(waits.why(), "waiting for the schema registry: it is down");
  };
  EXPECT_TRUE(waits.until_read(read, [] { return false; }, [&] { ++before; }));
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(before, 1);
  EXPECT_EQ(waits.why(), "");
  EXPECT_THAT(events.all, ElementsAre("schema_registry_waiting", "schema_registry_back"));
  const auto never = [] { throw SchemaUnavailable("it is down"); };
  EXPECT_FALSE(waits.until_read(never, [] { return true; }, [] {}));
}

}  // namespace
}  // namespace deltamatch::ingest
