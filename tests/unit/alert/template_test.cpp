// Templates: what they give, what is escaped, and what is refused before anything is sent.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "ingest/service/alert/alert_messages.hpp"
#include "ingest/service/alert/alert_template.hpp"
#include "ingest/service/alert/alert_view.hpp"
#include "ingest/text/json_text.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

constexpr std::string_view keyed =
    R"({"v":2,"id":"0123456789abcdef000000000000000f","query":"back","sign":"+","batch":17,"time":1767614400500000,)"
    R"("bindings":{"a":"acct-1","b":9,"t":["x","y"]},"edges":[{"source":"acct-1","label":"TRANSFER","target":9,"key":"tx-77",)"
    R"("time":1767614400500000,"attributes":{"amount":"1200.00","channel":"web"}},[{"source":9,"label":"TRANSFER","target":)"
    R"("x","key":78,"time":null,"attributes":{}}]],"cause":[1]})";

std::string rendered(std::string_view text, std::string_view alert = keyed, Escape escape = Escape::json) {
  const Json view = alert_view(alert);
  const std::array<const Json*, 1> scopes{&view};
  std::string out;
  AlertTemplate(text, escape).render(out, scopes);
  return out;
}

TEST(AlertTemplates, ShowFields) {
  EXPECT_EQ(rendered("{{query}} {{sign}} {{ batch }} {{id}}"), "back + 17 0123456789abcdef000000000000000f");
  EXPECT_EQ(rendered("{{bindings.a}} {{bindings.b}} {{bindings.t}}"), "acct-1 9 x, y");
  EXPECT_EQ(rendered("{{edges.0.amount}} {{edges.0.attributes.amount}} {{edges.1.key}}"), "1200.00 1200.00 78");
  EXPECT_EQ(rendered("{{time}} {{time_text}} [{{edges.1.time}}]"), "1767614400500000 2026-01-05T12:00:00.500000Z []");
  EXPECT_EQ(rendered("{{{bindings.a}}} {{{bindings.b}}} {{{edges.1.time}}} {{{cause}}} {{{nothing}}}"),
            R"("acct-1" 9 null [1] null)");
  EXPECT_EQ(rendered("{{summary}}"), "back: a match appeared: a acct-1, b 9, t x, y");
  EXPECT_EQ(rendered("{{kind}}{{! a comment }}"), "match");
  EXPECT_EQ(Json::parse(rendered("{{{alert}}}")), Json::parse(keyed));
}

TEST(AlertTemplates, RepeatSections) {
  EXPECT_EQ(rendered("{{#bindings}}{{name}}={{value}}{{^last}};{{/last}}{{/bindings}}"), "a=acct-1;b=9;t=x, y");
  EXPECT_EQ(rendered("{{#edges}}{{index}}:{{source}}>{{target}} {{/edges}}"), "0:acct-1>9 1:9>x ");
  EXPECT_EQ(rendered("{{#bindings.t}}<{{value}}>{{/bindings.t}}"), "<x><y>");
  EXPECT_EQ(rendered("{{#appeared}}new{{/appeared}}{{#vanished}}gone{{/vanished}}{{^vanished}}still{{/vanished}}"), "newstill");
  EXPECT_EQ(rendered("{{#bindings.zz}}{{bindings.zz}}{{/bindings.zz}}{{^bindings.zz}}none{{/bindings.zz}}"), "none");
  EXPECT_EQ(rendered("{{#edges}}{{#attributes}}{{name}} {{value}} of {{query}}, {{/attributes}}{{/edges}}"),
            "amount 1200.00 of back, channel web of back, ");
}

TEST(AlertTemplates, EscapeWhatTheyShow) {
  std::string alert =
      R"({"v":1,"id":"0123456789abcdef000000000000000f","query":"q","sign":"-","batch":1,"time":null,)"
      R"("bindings":{"a":"\",\"x\":\"<&>\\\n\udcff\\udc80 {{query}}"},"edges":[["\ud83d\ude00","T","b"]],"cause":[]})";
  const std::string json = R"({"text":"{{bindings.a}}","other":"{{edges.0.source}}"})";
  const Json body = Json::parse(rendered(json, alert));
  EXPECT_EQ(body.at("text"), "\",\"x\":\"<&>\\\n\uFFFD\\udc80 {{query}}");
  EXPECT_EQ(body.at("other"), "\U0001F600");
  EXPECT_EQ(body.size(), 2U);
  alert = R"({"v":1,"id":"0123456789abcdef000000000000000f","query":"a&b=c/ü","sign":"+","batch":1,"time":null,"bindings":{},)"
          R"("edges":[],"cause":[]})";
  EXPECT_EQ(rendered("q={{query}}", alert, Escape::percent), "q=a%26b%3Dc%2F%C3%BC");
  EXPECT_EQ(rendered("<q>{{query}}</q>", alert, Escape::xml), "<q>a&amp;b=c/ü</q>");
  EXPECT_EQ(rendered("{{query}}", alert, Escape::none), "a&b=c/ü");
  EXPECT_EQ(escape_for("Application/JSON; charset=utf-8"), Escape::json);
  EXPECT_EQ(escape_for("application/cloudevents+json"), Escape::json);
  EXPECT_EQ(escape_for("application/x-www-form-urlencoded"), Escape::percent);
  EXPECT_EQ(escape_for("application/soap+xml"), Escape::xml);
  EXPECT_EQ(escape_for("text/plain"), Escape::none);
  for (const char* lines : {"application/x-ndjson", "application/jsonl; charset=utf-8", "application/json-seq"})
    EXPECT_EQ(escape_for(lines), Escape::json) << lines;
  EXPECT_TRUE(is_unescaped("text/csv"));
  EXPECT_FALSE(is_unescaped("text/plain; charset=utf-8"));
  EXPECT_FALSE(is_unescaped("text/html"));
}

TEST(AlertTemplates, EscapeJsonInOtherTypes) {
  const std::string alert =
      R"({"v":1,"id":"0123456789abcdef000000000000000f","query":"</q>&x=1","sign":"+","batch":1,"time":null,)"
      R"("bindings":{},"edges":[],"cause":[]})";
  EXPECT_EQ(rendered("<q>{{{query}}}</q>", alert, Escape::xml), "<q>&quot;&lt;/q&gt;&amp;x=1&quot;</q>");
  EXPECT_EQ(rendered("q={{{query}}}&n={{{time}}}", alert, Escape::percent), "q=%22%3C%2Fq%3E%26x%3D1%22&n=null");
  EXPECT_EQ(rendered("{{{query}}}", alert, Escape::json), R"("</q>&x=1")");
}

TEST(AlertTemplates, HaveNoCharacterInXmlThatXmlForbids) {
  const std::string alert =
      "{\"v\":1,\"id\":\"0123456789abcdef000000000000000f\",\"query\":\"a\xEF\xBF\xBE"
      "b\xEF\xBF\xBF\xEF\xBF\xBD"
      "c\\u0001\",\"sign\":\"+\",\"batch\":1,\"time\":null,\"bindings\":{},"
      "\"edges\":[],\"cause\":[]}";
  EXPECT_EQ(rendered("{{query}}", alert, Escape::xml), "a\uFFFDb\uFFFD\uFFFDc ");
}

RC_GTEST_PROP(AlertTemplates, NoIdBreaksOutOfItsString, (const std::string& id, const std::string& query)) {
  std::string alert = R"({"v":1,"id":"0123456789abcdef000000000000000f","query":)";
  append_json_string(alert, query);
  alert += R"(,"sign":"+","batch":1,"time":null,"bindings":{"a":)";
  append_json_string(alert, id);
  alert += R"(},"edges":[],"cause":[]})";
  const Json body =
      Json::parse(rendered(R"({"id": "{{bindings.a}}", "raw": {{{bindings.a}}}, "all": "{{summary}} {{{batch}}}"})", alert));
  RC_ASSERT(body.size() == 3U);
  RC_ASSERT(body.at("id") == body.at("raw"));
  std::string expected;
  append_json_string(expected, id);
  if (expected.find("\\udc") == std::string::npos) RC_ASSERT(body.at("id") == id);
  const std::string link = rendered("https://x.example/{{query}}?{{bindings.a}}", alert, Escape::percent);
  RC_ASSERT(std::ranges::all_of(
      link, [](char c) { return c > ' ' && c < 0x7f && std::string_view("\"<>|\\^`{}").find(c) == std::string_view::npos; }));
}

TEST(AlertTemplates, AreRefusedWithTheirPlace) {
  const auto refusal = [](std::string_view text) { return error_of([&] { AlertTemplate(text, Escape::json); }); };
  EXPECT_EQ(refusal("a\n  {{query"), "line 2, column 3: the tag is not closed; end it with }}");
  EXPECT_EQ(refusal("{{{query}}"), "line 1, column 1: the tag is not closed; end it with }}}");
  EXPECT_EQ(refusal("{{#edges}}x"), "line 1, column 11: the section edges is not closed; end it with {{/edges}}");
  EXPECT_EQ(refusal("{{#a}}{{#b}}{{/a}}{{/b}}"),
            "line 1, column 13: the section b is open here, not a; close the inner section first");
  EXPECT_EQ(refusal("x{{/a}}"), "line 1, column 2: no section is open here; remove {{/a}}");
  EXPECT_THAT(refusal("{{}}"), HasSubstr("the tag has no name; write e.g. {{query}}"));
  EXPECT_THAT(refusal("{{a..b}}"), HasSubstr("'a..b' is not a name"));
  EXPECT_THAT(refusal("{{a b}}"), HasSubstr("'a b' is not a name"));
  EXPECT_THAT(refusal("{{> part}}"), HasSubstr("{{> is not a part of this language"));
  EXPECT_THAT(refusal("{{&x}}"), HasSubstr("or {{{name}}} for JSON"));
  std::string deep;
  for (int i = 0; i < 17; ++i) deep += "{{#a}}";
  EXPECT_THAT(refusal(deep), HasSubstr("sections are nested more than 16 deep"));
  EXPECT_EQ(refusal("}} { {{! {{ }} {{query}}"), "");
}

class TemplateTrial : public ::testing::Test {
 protected:
  TemplateTrial() {
    schema_ = {.model = EdgeModel::keyed, .edges = {{"amount", {AttributeType::Kind::decimal, 2}}}, .vertices = {}};
    for (const auto& [name, pattern] :
         std::vector<std::pair<std::string, std::string>>{{"ring", "(a)-[t]->{2,4}(a)"}, {"back", "(a)-[x]->(b)-[y]->(a)"}}) {
      samples_.push_back(sample_alerts(parse_pattern(pattern, name), schema_, TimeForm::microseconds));
    }
    options_.name = "web";
    options_.kind = SinkOptions::Kind::webhook;
    options_.each = SinkOptions::Each::alert;
  }

  std::string refusal(const std::string& body) {
    options_.body = body;
    return error_of([&] { try_body("fraud", options_, samples_); });
  }
  std::string refusal_of_link(const std::string& link) {
    options_.link = link;
    return error_of([&] { try_link("fraud", options_, samples_); });
  }

  Schema schema_;
  std::vector<QuerySamples> samples_;
  SinkOptions options_;
};

TEST_F(TemplateTrial, TakesWhatGivesJsonForEverySample) {
  EXPECT_EQ(
      refusal(R"({"text": "{{summary}}", "a": {{{bindings.a}}}, "time": {{{time}}}, "from": "{{application}} {{sink}}"})"), "");
  EXPECT_EQ(refusal(R"({"edges": [{{#edges}}{"amount": {{{amount}}} }{{^last}}, {{/last}}{{/edges}}]})"), "");
  EXPECT_EQ(
      refusal(R"({{#suppressed}}{"n": {{suppressed}}}{{/suppressed}}{{^suppressed}}{"partial": {{{partial}}}}{{/suppressed}})"),
      "");
  EXPECT_EQ(refusal(R"({"b": "{{#bindings.b}}{{bindings.b}}{{/bindings.b}}"})"), "");
  EXPECT_EQ(refusal("{{{alert}}}"), "");
  options_.each = SinkOptions::Each::batch;
  EXPECT_EQ(refusal(R"({"n": {{size}}, "of": [{{#alerts}}"{{summary}}"{{^last}},{{/last}}{{/alerts}}], "batch": {{batch}}})"),
            "");
}

TEST_F(TemplateTrial, RefusesNamesThatCannotExist) {
  EXPECT_THAT(refusal(R"({"x": "{{bindings.zz}}"})"),
              HasSubstr("line 1, column 8: the alerts of query 'ring' have no 'bindings.zz'; correct the name"));
  EXPECT_THAT(refusal(R"({"x": "{{bindings.b}}"})"), HasSubstr("write {{#bindings.b}}...{{/bindings.b}} around it"));
  EXPECT_THAT(refusal(R"({"x": "{{edges.0.amuont}}"})"), HasSubstr("have no 'edges.0.amuont'"));
  EXPECT_THAT(refusal(R"({"x": "{{edges.9.key}}"})"), HasSubstr("have no 'edges.9.key'"));
  EXPECT_THAT(refusal(R"({"x": "{{#suppresed}}{{/suppresed}}"})"), HasSubstr("no alert of this sink has 'suppresed'"));
  EXPECT_THAT(refusal(R"({"x": "{{#edges}}{{ordinal}}{{/edges}}"})"), HasSubstr("have no 'ordinal'"));
  options_.each = SinkOptions::Each::batch;
  EXPECT_THAT(refusal(R"({"x": "{{query}}"})"), HasSubstr("have no 'query'"));
}

TEST_F(TemplateTrial, RefusesWhatIsNoJsonForSomeSample) {
  EXPECT_THAT(refusal(R"({"a": {{bindings.a}}})"),
              HasSubstr("the trial with an alert of query 'ring': the body is not JSON near"));
  EXPECT_THAT(refusal(R"({"a": "{{{bindings.a}}}"})"), HasSubstr("is not JSON"));
  EXPECT_THAT(refusal(R"({"time": {{time}}})"), HasSubstr("is not JSON")) << "a time may be missing";
  EXPECT_THAT(refusal(R"({"e": [{{#edges}}{{{key}}},{{/edges}}]})"), HasSubstr("is not JSON"));
  EXPECT_THAT(refusal("alert {{query}}"), HasSubstr("{{^last}},{{/last}} between entries"));
  options_.content_type = "text/plain";
  EXPECT_EQ(refusal("alert {{query}}"), "");
}

TEST_F(TemplateTrial, OfLinesOfJsonEachMustBeAValue) {
  options_.content_type = "application/x-ndjson";
  EXPECT_EQ(refusal("{\"index\": {}}\n{\"q\": \"{{query}}\"}\n"), "");
  EXPECT_THAT(refusal("{\"index\": {}}\n{\"q\": {{query}}}\n"), HasSubstr("the body is not JSON near {\"q\": ring}"));
  EXPECT_THAT(refusal("{\"q\":\n\"{{query}}\"}\n"), HasSubstr("the body is not JSON"));
  options_.content_type = "application/json-seq";
  EXPECT_EQ(refusal("\x1e{\"q\":\n\"{{query}}\"}\n\x1e{}\n"), "");
  EXPECT_THAT(refusal("\x1e{\"q\":\x1e{}\n"), HasSubstr("the body is not JSON"));
}

TEST_F(TemplateTrial, RefusesLinksThatAreNoUrls) {
  EXPECT_EQ(refusal_of_link("https://dm.example/#/{{query}}/{{bindings.a}}?id={{id}}"), "");
  EXPECT_THAT(refusal_of_link("dm.example/{{id}}"), HasSubstr("the link is not a URL: dm.example/0123"));
  EXPECT_THAT(refusal_of_link("javascript:alert({{id}})"), HasSubstr("is not a URL"));
  EXPECT_THAT(refusal_of_link("https:///x"), HasSubstr("is not a URL"));
  EXPECT_EQ(refusal_of_link("https://dm.example/{{{bindings.a}}}"), "");  // escaped, as all of a link
  EXPECT_THAT(refusal_of_link("https://dm.example/{{ids}}"), HasSubstr("have no 'ids'"));
}

TEST(AlertViews, ClipByUtf16) {
  EXPECT_EQ(clipped("abc", 3), "abc");
  EXPECT_EQ(clipped("abcd", 3), "ab…");
  EXPECT_EQ(clipped("äöüß", 3), "äö…");
  EXPECT_EQ(clipped("\U0001F600\U0001F600", 3), "\U0001F600…") << "a character beyond 16 bits counts twice";
  EXPECT_EQ(clipped("\U0001F600\U0001F600", 4), "\U0001F600\U0001F600");
  EXPECT_EQ(clipped("", 0), "");
}

TEST(AlertViews, RefuseWhatIsNoAlert) {
  EXPECT_NE(error_of([] { static_cast<void>(alert_view("[]")); }), "");
  EXPECT_NE(error_of([] { static_cast<void>(alert_view("{")); }), "");
}

}  // namespace
}  // namespace deltamatch::ingest
