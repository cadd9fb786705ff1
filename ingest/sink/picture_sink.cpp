#include <algorithm>
#include <map>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/sink/match_text.hpp"
#include "ingest/sink/output_file.hpp"
#include "ingest/sink/picture.hpp"
#include "ingest/sink/sheet_text.hpp"
#include "ingest/sink/value_text.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

/// The vertices of a match, each once, although several query vertices may map to it.
class Vertices {
 public:
  explicit Vertices(std::vector<DrawnVertex>& drawn) : drawn_(&drawn) {}

  std::uint32_t place(const Id& id) {
    for (std::uint32_t i = 0; i < ids_.size(); ++i) {
      if (ids_[i] == id) return i;
    }
    ids_.push_back(id);
    DrawnVertex& vertex = drawn_->emplace_back();
    vertex.is_text = id.is_text();
    if (id.is_text()) {
      vertex.id = id.text();
    } else {
      append_number(vertex.id, id.number());
    }
    return static_cast<std::uint32_t>(ids_.size() - 1);
  }

 private:
  std::vector<DrawnVertex>* drawn_;
  std::vector<Id> ids_;
};

/// How times and values are written.
struct Style {
  const MatchForm& form;
  std::optional<char> sheet;

  void time(std::string& out, Timestamp time) const {
    if (sheet) return append_sheet_time(out, time, *sheet);
    append_time_text(out, time, form.times);
  }
  void value(std::string& out, const AttributeType& type, const AttributeValue& value) const {
    if (sheet) return append_sheet_value(out, type, value, *sheet);
    append_value_text(out, type, value, form.times);
  }
};

DrawnEdge draw(const MatchedEdge& edge, std::string name, const Style& style, Vertices& vertices) {
  DrawnEdge drawn;
  drawn.source = vertices.place(edge.source);
  drawn.target = vertices.place(edge.target);
  drawn.name = std::move(name);
  drawn.label = edge.label;
  if (edge.key) {
    drawn.identity = edge.key->is_text() ? std::string(edge.key->text()) : std::to_string(edge.key->number());
  } else if (edge.ordinal != 0) {
    append_number(drawn.identity, edge.ordinal);
  }
  if (edge.time) style.time(drawn.time, *edge.time);
  const std::vector<Attribute>& declared = style.form.schema.edges;
  for (std::size_t a = 0; a < std::min(edge.attributes.size(), declared.size()); ++a) {
    if (std::holds_alternative<std::monostate>(edge.attributes[a])) continue;
    style.value(drawn.values.emplace_back(DrawnValue{a, {}}).text, declared[a].type, edge.attributes[a]);
  }
  return drawn;
}

DrawnMatch draw(const Match& match, const Query& query, const Style& style) {
  DrawnMatch drawn;
  drawn.added = match.added;
  append_match_id(drawn.id, match.id);
  drawn.batch = match.batch;
  if (const auto time = written_time(match, style.form)) style.time(drawn.time, *time);
  Vertices vertices(drawn.vertices);
  for (std::size_t v = 0; v < match.vertices.size(); ++v) {
    const std::uint32_t place = vertices.place(match.vertices[v]);
    if (v >= match.names.size()) continue;
    std::string& names = drawn.vertices[place].names;
    names += (names.empty() ? "" : ", ") + match.names[v];
  }
  for_each_query_edge(
      match,
      [&](std::uint32_t e, std::uint32_t edge) {
        drawn.edges.push_back(draw(match.edges[edge], query.edges[e].name, style, vertices));
      },
      [&](std::uint32_t /*e*/, const MatchedPath& path) {
        for (std::uint32_t step = 0; step < path.steps; ++step) {
          std::string name = std::string(path.name) + '[' + std::to_string(step + 1) + ']';
          drawn.edges.push_back(draw(match.edges[path.first_edge + step], std::move(name), style, vertices));
        }
      });
  for (const std::uint32_t edge : match.cause) drawn.edges[edge].lost = !match.added;
  return drawn;
}

class DrawingSink final : public PictureSink {
 public:
  DrawingSink(const std::string& path, MatchForm form, std::span<const Query> queries, const PictureOptions& options)
      : file_(path), form_(std::move(form)), options_(options), queries_(queries.begin(), queries.end()) {
    picture_.schema = form_.schema;
    picture_.directed = options.directed;
    for (const Query& query : queries_) {
      numbers_.emplace(query.name, picture_.queries.size());
      picture_.queries.emplace_back().name = query.name;
    }
    file_.commit();
  }

  void begin(std::uint64_t /*batch*/) override { keep(); }
  void write(const Match& match) override {
    const std::size_t number = number_of(match.query);
    DrawnQuery& query = picture_.queries[number];
    if (query.drawn >= options_.most) {
      ++query.left_out;
      return;
    }
    DrawnMatch drawn = draw(match, queries_[number], Style{form_, options_.sheet});
    drawn.query = number;
    picture_.matches.push_back(std::move(drawn));
    ++query.drawn;
  }
  void flush() override { keep(); }
  void end(const ListingEnd& end) override { picture_.queries[number_of(end.query)].shortfall = end.shortfall; }
  void commit() override { keep(); }
  void abort() noexcept override {
    picture_.matches.resize(kept_matches_);
    for (std::size_t q = 0; q < kept_.size(); ++q) {  // names stay, so nothing is allocated
      picture_.queries[q].drawn = kept_[q].first;
      picture_.queries[q].left_out = kept_[q].second;
    }
  }

  void finish() override {
    file_.text() = options_.kind == PictureKind::dot       ? to_dot(picture_)
                   : options_.kind == PictureKind::graphml ? to_graphml(picture_)
                                                           : to_html(picture_);
    file_.commit();
  }
  [[nodiscard]] std::span<const DrawnQuery> queries() const noexcept override { return picture_.queries; }

 private:
  /// What has come so far stays, even if a later write fails.
  void keep() {
    kept_matches_ = picture_.matches.size();
    kept_.clear();
    for (const DrawnQuery& query : picture_.queries) kept_.emplace_back(query.drawn, query.left_out);
  }

  [[nodiscard]] std::size_t number_of(std::string_view query) const {
    const auto found = numbers_.find(query);
    if (found == numbers_.end()) {
      throw Error(ErrorKind::usage, "picture", "the sink does not know the query '" + std::string(query) + "'",
                  "name all queries when the sink is made");
    }
    return found->second;
  }

  OutputFile file_;
  MatchForm form_;
  PictureOptions options_;
  std::vector<Query> queries_;
  std::map<std::string, std::size_t, std::less<>> numbers_;
  Picture picture_;
  std::size_t kept_matches_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> kept_;  // drawn and left out, by query
};

}  // namespace

std::string what_is_missing(const DrawnQuery& query) {
  std::string text;
  if (query.left_out > 0) {
    text = query.name + ": ";
    append_number(text, query.drawn);
    text += " of ";
    append_number(text, query.drawn + query.left_out);
    text += " matches are drawn";
  }
  if (query.shortfall != Shortfall::none) {
    text += (text.empty() ? query.name + ": " : "; ") + std::string("the list of its matches ended early (");
    text += shortfall_name(query.shortfall);
    text += ')';
  }
  return text;
}

std::unique_ptr<PictureSink> make_picture_sink(const std::string& path, const MatchForm& form, std::span<const Query> queries,
                                               const PictureOptions& options) {
  return std::make_unique<DrawingSink>(path, form, queries, options);
}

}  // namespace deltamatch::ingest
