// Matches as a page for a browser. The page reads one JSON object:
//   {"directed":true,"identity":"key","missing":["…"],"queries":["ring"],"attributes":["amount"],
//    "matches":[[query,"+",id,batch,time,[[names,id,is
//    text]],[[source,target,name,label,identity,time,[[attribute,text]],lost]]]]}
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/sink/picture.hpp"
#include "ingest/sink/picture_page.hpp"
#include "ingest/text/clean_text.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

/// Writes JSON without `<`, which could end the script that holds it.
class Writer {
 public:
  void string(std::string_view text) {
    std::string clean;
    append_clean(clean, text);
    std::string json;
    append_json_string(json, clean);
    for (const char c : json) {
      if (c == '<') {
        text_ += "\\u003c";
      } else {
        text_ += c;
      }
    }
  }
  void number(std::uint64_t number) { append_number(text_, number); }
  void raw(std::string_view text) { text_ += text; }
  /// An array, of which `one` writes each element.
  template <class Range, class One>
  void array(const Range& range, const One& one) {
    text_ += '[';
    bool first = true;
    for (const auto& each : range) {
      if (!first) text_ += ',';
      first = false;
      one(each);
    }
    text_ += ']';
  }

  void vertex(const DrawnVertex& vertex) {
    raw("[");
    string(vertex.names);
    raw(",");
    string(vertex.id);
    raw(vertex.is_text ? ",true]" : ",false]");
  }

  void edge(const DrawnEdge& edge) {
    raw("[");
    number(edge.source);
    raw(",");
    number(edge.target);
    for (const std::string* text : {&edge.name, &edge.label, &edge.identity, &edge.time}) {
      raw(",");
      string(*text);
    }
    raw(",");
    array(edge.values, [&](const DrawnValue& value) {
      raw("[");
      number(value.attribute);
      raw(",");
      string(value.text);
      raw("]");
    });
    raw(edge.lost ? ",true]" : ",false]");
  }

  void match(const DrawnMatch& match) {
    raw("\n[");
    number(match.query);
    raw(match.added ? ",\"+\"," : ",\"-\",");
    string(match.id);
    raw(",");
    number(match.batch);
    raw(",");
    string(match.time);
    raw(",");
    array(match.vertices, [&](const DrawnVertex& each) { vertex(each); });
    raw(",");
    array(match.edges, [&](const DrawnEdge& each) { edge(each); });
    raw("]");
  }

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

}  // namespace

std::string to_html(const Picture& picture) {
  std::vector<std::string> missing;
  for (const DrawnQuery& query : picture.queries) {
    if (std::string line = what_is_missing(query); !line.empty()) missing.push_back(std::move(line));
  }
  const EdgeModel model = picture.schema.model;
  Writer json;
  json.raw(picture.directed ? R"({"directed":true,"identity":")" : R"({"directed":false,"identity":")");
  json.raw(model == EdgeModel::keyed ? "key" : model == EdgeModel::events ? "ordinal" : "");
  json.raw(R"(","missing":)");
  json.array(missing, [&](const std::string& line) { json.string(line); });
  json.raw(R"(,"queries":)");
  json.array(picture.queries, [&](const DrawnQuery& query) { json.string(query.name); });
  json.raw(R"(,"attributes":)");
  json.array(picture.schema.edges, [&](const Attribute& attribute) { json.string(attribute.name); });
  json.raw(R"(,"matches":)");
  json.array(picture.matches, [&](const DrawnMatch& match) { json.match(match); });
  json.raw("}");
  std::string page(page_before_data);
  page += json.text();
  page += page_after_data;
  return page;
}

}  // namespace deltamatch::ingest
