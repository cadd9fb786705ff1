// Alerts of graphs whose edges have an identity, and alerts with ISO times. What is written is parsed again.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "ingest/codec/fields.hpp"
#include "ingest/service/alert/router.hpp"
#include "ingest/sink/match_text.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using Kind = AttributeType::Kind;
using ::testing::HasSubstr;

constexpr std::string_view head = R"("id":"00000000000000010000000000000002","query":"q\",\"batch\":1","sign":"+","batch":3,)";

TEST(AlertText, BothVersionsAreReadBack) {
  for (const int version : {1, 2}) {
    std::string alert;
    append_version(alert, version);
    alert += head;
    alert += R"("time":null,"bindings":{},"edges":[],"cause":[]})";
    EXPECT_EQ(alert_id(alert), "00000000000000010000000000000002");
    EXPECT_EQ(alert_batch(alert), 3u);
    std::string stub;
    append_alert_stub(stub, alert);
    EXPECT_EQ(stub, alert.substr(0, alert.find(R"(,"bindings":{})")) + R"(,"too_large":)" + std::to_string(alert.size()) + '}');
    EXPECT_EQ(alert_id(stub), alert_id(alert));
    EXPECT_EQ(alert_batch(stub), 3u);
    std::string report;
    append_suppressed(report, version, "ring", 9, 2);
    append_version(report, version);
    EXPECT_THAT(report, HasSubstr(R"("query":"ring","batch":9,"suppressed":2})"));
    EXPECT_EQ(alert_batch(report), 9u);
    EXPECT_EQ(alert_id(report), "");
    std::string partial;
    append_partial(partial, version, {"ring", 0, Shortfall::timeout, 8});
    EXPECT_EQ(alert_batch(partial), 8u);
  }
  const std::string rest(head);
  for (const std::string_view before : {R"({"v":3,)", R"({"v":12,)", R"({"v":1)", R"({"v":,)", "{", ""}) {
    EXPECT_EQ(alert_id(std::string(before) + rest), "") << before;
    EXPECT_EQ(alert_batch(std::string(before) + rest), std::nullopt) << before;
  }
}

SinkOptions sink(std::string name, TimeForm times, Signs signs = Signs::both, std::uint64_t limit = 0) {
  SinkOptions options;
  options.name = std::move(name);
  options.times = times;
  options.signs = signs;
  options.rate_limit = limit;
  return options;
}

std::vector<std::string> texts(const AlertList& list) {
  std::vector<std::string> out;
  list.for_each([&](std::string_view alert) { out.emplace_back(alert); });
  return out;
}

TEST(AlertForms, EachSinkGetsTheFormThatItAsksFor) {
  const std::vector sinks{sink("us", TimeForm::microseconds), sink("iso", TimeForm::iso),
                          sink("new", TimeForm::iso, Signs::added), sink("few", TimeForm::microseconds, Signs::both, 1)};
  ServiceQuery query;
  query.query.name = "ring";
  for (const SinkOptions& to : sinks) query.sinks.push_back(to.name);
  const Schema schema{.model = EdgeModel::events, .edges = {}, .vertices = {}};
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{1}}) {  // the second spills to a file
    AlertRouter router(sinks, std::chrono::steady_clock::now, {.bytes = bytes, .folder = {}}, schema);
    router.set_queries({&query, 1});
    const std::array<MatchedEdge, 1> edges{MatchedEdge{Id(1), "T", Id(2), 5, {}, Timestamp{0}}};
    Match match{{1, 2}, "ring", true, 3, Timestamp{7}, {}, {}, edges, {}};
    router.begin(3);
    router.write(match);
    router.abort();
    router.begin(3);
    router.write(match);
    match.added = false;
    router.write(match);
    router.end({"ring", 0, Shortfall::limit, 3});
    router.commit();
    const std::vector<AlertList> lists = router.take();
    const auto us = texts(lists[0]);
    const auto iso = texts(lists[1]);
    ASSERT_EQ(us.size(), 3u);
    ASSERT_EQ(iso.size(), 3u);
    EXPECT_EQ(texts(lists[2]), (std::vector{iso[0], iso[2]}));
    EXPECT_EQ(texts(lists[3]), (std::vector{us[0], us[2]})) << "the limit counts an alert once, whatever the other sinks take";
    EXPECT_THAT(us[0],
                HasSubstr(R"("time":0,"bindings":{},"edges":[{"source":1,"label":"T","target":2,"ordinal":5,"time":0,)"));
    EXPECT_THAT(iso[1], HasSubstr(R"("sign":"-","batch":3,"time":"1970-01-01T00:00:00Z",)"));
    EXPECT_EQ(us[2], R"({"v":2,"query":"ring","batch":3,"partial":"limit","matches":0})");
    EXPECT_EQ(us[2], iso[2]);
    if (bytes > 1) {
      EXPECT_EQ(lists[1][0].data(), lists[2][0].data()) << "an alert is held once for each form";
    }
  }
}

/// Texts with quotes, control characters and letters beyond ASCII.
rc::Gen<std::string> any_text() {
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                          "a", "\"", "\\", "\n", std::string(1, '\0'), "\xc3\xa9", "=", ",", "1")),
                      [](const std::vector<std::string>& parts) {
                        std::string text;
                        for (const std::string& part : parts) text += part;
                        return text;
                      });
}

/// Years 1 to 9999, which ingest reads.
rc::Gen<Timestamp> any_time() { return rc::gen::inRange<Timestamp>(-62'135'596'800'000'000, 253'402'300'800'000'000); }

std::optional<Timestamp> maybe_time() {
  const bool there = *rc::gen::arbitrary<bool>();
  return there ? std::optional(*any_time()) : std::nullopt;
}

struct DrawnId {
  std::string text = *any_text();
  std::int64_t number = *rc::gen::arbitrary<std::int64_t>();
  bool is_text = *rc::gen::arbitrary<bool>();

  [[nodiscard]] Id id() const { return is_text ? Id(text) : Id(number); }
  [[nodiscard]] bool is(const nlohmann::json& value) const {
    return is_text ? value.is_string() && value.get<std::string>() == text
                   : value.is_number_integer() && value.get<std::int64_t>() == number;
  }
};

struct DrawnValue {
  AttributeType type;
  std::string text;
  AttributeValue value;
  bool given = false;

  DrawnValue() {
    type.kind = static_cast<Kind>(*rc::gen::inRange(0, 6));
    if (type.kind == Kind::decimal) type.scale = *rc::gen::inRange<std::uint8_t>(0, 19);
    if (*rc::gen::inRange(0, 4) == 0) return;
    if (type.kind == Kind::symbol) {
      text = *any_text();
    } else if (type.kind == Kind::real) {
      const double number = *rc::gen::arbitrary<double>();
      value = number;
    } else if (type.kind == Kind::boolean) {
      value = *rc::gen::arbitrary<bool>();
    } else {
      value = type.kind == Kind::time ? *any_time() : *rc::gen::arbitrary<std::int64_t>();
    }
    given = true;
  }

  [[nodiscard]] AttributeValue handed() const { return given && type.kind == Kind::symbol ? AttributeValue(text) : value; }
};

bool is_time(const nlohmann::json& value, const std::optional<Timestamp>& time, TimeForm times) {
  if (!time) return value.is_null();
  if (times == TimeForm::microseconds) return value.is_number_integer() && value.get<Timestamp>() == *time;
  return value.is_string() && TimeReader(TimeUnit::seconds, {}).read(value.get<std::string>()) == time;
}

bool is_decimal(const std::string& text, std::size_t scale, std::int64_t digits) {
  const std::size_t point = text.find('.');
  if (scale == 0) return point == std::string::npos && text == std::to_string(digits);
  if (point == std::string::npos || text.size() - point - 1 != scale || point == 0 || text[point - 1] == '-') return false;
  return std::stoll(text.substr(0, point) + text.substr(point + 1)) == digits;
}

bool is_value(const nlohmann::json& value, const DrawnValue& drawn, TimeForm times) {
  switch (drawn.type.kind) {
    case Kind::integer:
      return value.is_number_integer() && value.get<std::int64_t>() == std::get<std::int64_t>(drawn.value);
    case Kind::decimal:
      return value.is_string() && is_decimal(value.get<std::string>(), drawn.type.scale, std::get<std::int64_t>(drawn.value));
    case Kind::real:
      return value.is_number() && value.get<double>() == std::get<double>(drawn.value);
    case Kind::boolean:
      return value.is_boolean() && value.get<bool>() == std::get<bool>(drawn.value);
    case Kind::symbol:
      return value.is_string() && value.get<std::string>() == drawn.text;
    case Kind::time:
      return is_time(value, std::get<std::int64_t>(drawn.value), times);
  }
  return false;
}

RC_GTEST_PROP(AlertForms, WhatIsWrittenIsReadBack, ()) {
  MatchForm form;
  form.schema.model = *rc::gen::element(EdgeModel::keyed, EdgeModel::events);
  form.times = *rc::gen::element(TimeForm::microseconds, TimeForm::iso);
  const std::vector<DrawnValue> drawn(*rc::gen::inRange<std::size_t>(0, 5));
  std::vector<AttributeValue> values;
  for (std::size_t a = 0; a < drawn.size(); ++a) {
    form.schema.edges.push_back({"\"" + std::to_string(a), drawn[a].type});
    values.push_back(drawn[a].handed());
  }
  const std::array<DrawnId, 3> ids;
  const auto ordinal = *rc::gen::arbitrary<std::uint64_t>();
  const std::optional<Timestamp> time = maybe_time();
  const std::optional<Timestamp> other = maybe_time();
  const std::string label = *any_text();
  const bool keyed = form.schema.model == EdgeModel::keyed;
  const std::optional<Id> key = keyed ? std::optional(ids[2].id()) : std::nullopt;
  const std::array<MatchedEdge, 2> edges{MatchedEdge{ids[0].id(), label, ids[1].id(), keyed ? 0 : ordinal, key, time, values},
                                         MatchedEdge{ids[1].id(), label, ids[0].id(), 1, key, other, {}}};
  std::string text;
  append_match_json(text, {{1, 2}, label, true, 3, Timestamp{1}, {}, {}, edges, {}}, form);

  const auto parsed = nlohmann::json::parse(text);
  RC_ASSERT(parsed.at("v") == 2);
  RC_ASSERT(parsed.at("query").get<std::string>() == label);
  RC_ASSERT(is_time(parsed.at("time"), std::max(time, other), form.times));
  RC_ASSERT(parsed.at("edges").size() == 2u);
  const auto& edge = parsed.at("edges").at(0);
  RC_ASSERT(ids[0].is(edge.at("source")) && ids[1].is(edge.at("target")));
  RC_ASSERT(edge.at("label").get<std::string>() == label);
  RC_ASSERT(edge.contains("key") == keyed && edge.contains("ordinal") != keyed);
  RC_ASSERT((keyed ? ids[2].is(edge.at("key")) : edge.at("ordinal").get<std::uint64_t>() == ordinal));
  RC_ASSERT(is_time(edge.at("time"), time, form.times));
  std::size_t given = 0;
  for (std::size_t a = 0; a < drawn.size(); ++a) {
    RC_ASSERT(edge.at("attributes").contains(form.schema.edges[a].name) == drawn[a].given);
    given += drawn[a].given ? 1 : 0;
    if (drawn[a].given) RC_ASSERT(is_value(edge.at("attributes").at(form.schema.edges[a].name), drawn[a], form.times));
  }
  RC_ASSERT(edge.at("attributes").size() == given);
  RC_ASSERT(alert_batch(text) == std::optional<std::uint64_t>(3));
}

}  // namespace
}  // namespace deltamatch::ingest
