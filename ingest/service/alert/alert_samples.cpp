// Samples of the alerts of a query, for trials of templates.
#include <algorithm>
#include <deque>

#include "ingest/service/alert/alert_messages.hpp"
#include "ingest/service/alert/alert_text.hpp"
#include "ingest/sink/match_text.hpp"

namespace deltamatch::ingest {
namespace {

/// What the ids and values of a sample are.
enum class Style : std::uint8_t {
  hostile,  ///< hard to write
  plain,    ///< numbers, and nothing that may be left out
  test,     ///< marked as such
};

constexpr std::string_view hostile = "a\"b\\c},{]\n<!channel>&|\xff{{x}}";

/// A match of the query, with the memory that its views refer to.
class SampleMatch {
 public:
  SampleMatch(const Query& query, const Schema& schema, Style style, Timestamp time) : style_(style), time_(time) {
    for (const QueryVertex& vertex : query.vertices) {
      names_.push_back(vertex.name);
      vertices_.push_back(next_id());
    }
    for (const QueryEdge& edge : query.edges) {
      const std::uint32_t steps = !edge.quantifier          ? 1
                                  : style == Style::hostile ? edge.quantifier->most
                                                            : edge.quantifier->least;
      if (edge.quantifier) {
        paths_.push_back(
            {edge.name, static_cast<std::uint32_t>(edges_.size()), steps, static_cast<std::uint32_t>(vertices_.size())});
        for (std::uint32_t step = 1; step < steps; ++step) vertices_.push_back(next_id());
      }
      for (std::uint32_t step = 0; step < steps; ++step) add_edge(schema);
    }
    for (std::size_t i = 0; i < edges_.size(); ++i) edges_[i].attributes = attributes_[i];
  }

  [[nodiscard]] Match match(const std::string& query, std::uint64_t batch) const {
    static const std::vector<std::uint32_t> cause{0};
    Match match{.id = {0x0123456789abcdefU, batch},
                .query = query,
                .added = style_ != Style::plain,
                .batch = batch,
                .time = style_ == Style::plain ? std::nullopt : std::optional(time_),
                .names = names_,
                .vertices = vertices_,
                .edges = edges_,
                .cause = cause};
    match.paths = paths_;
    return match;
  }

 private:
  Id next_id() {
    ++ids_;
    if (style_ == Style::plain) return static_cast<std::int64_t>(ids_);
    if (style_ == Style::hostile) return hostile;
    return std::string_view(texts_.emplace_back("test-" + std::to_string(ids_)));
  }

  void add_edge(const Schema& schema) {
    MatchedEdge& edge = edges_.emplace_back(MatchedEdge{next_id(), text(), next_id()});
    edge.ordinal = edges_.size();
    if (schema.model == EdgeModel::keyed) edge.key = next_id();
    if (schema.model != EdgeModel::simple && style_ != Style::plain) edge.time = time_;
    std::vector<AttributeValue>& values = attributes_.emplace_back();
    for (const Attribute& attribute : schema.edges) values.push_back(value_of(attribute.type));
  }

  [[nodiscard]] AttributeValue value_of(const AttributeType& type) const {
    if (style_ == Style::plain) return {};
    switch (type.kind) {
      case AttributeType::Kind::real:
        return 0.5;
      case AttributeType::Kind::boolean:
        return true;
      case AttributeType::Kind::symbol:
        return text();
      default:
        return std::int64_t{120'000};
    }
  }

  [[nodiscard]] std::string_view text() const {
    return style_ == Style::plain ? "" : style_ == Style::hostile ? hostile : "test";
  }

  Style style_;
  Timestamp time_;
  std::uint64_t ids_ = 0;
  std::deque<std::string> texts_;
  std::vector<std::string> names_;
  std::vector<Id> vertices_;
  std::vector<MatchedEdge> edges_;
  std::vector<MatchedPath> paths_;
  std::deque<std::vector<AttributeValue>> attributes_;
};

}  // namespace

QuerySamples sample_alerts(const Query& query, const Schema& schema, TimeForm times) {
  const MatchForm form{schema, times};
  QuerySamples samples{query.name, {}};
  for (const Style style : {Style::hostile, Style::plain}) {
    const SampleMatch sample(query, schema, style, 1'767'614'400'500'000);
    append_match_json(samples.alerts.emplace_back(), sample.match(query.name, 17), form);
  }
  append_suppressed(samples.alerts.emplace_back(), form.version(), query.name, 17, 123);
  append_partial(samples.alerts.emplace_back(), form.version(), {query.name, 0, Shortfall::limit, 17});
  return samples;
}

std::string test_alert(const Query& query, const Schema& schema, TimeForm times, std::uint64_t batch, Timestamp time) {
  std::string alert;
  const SampleMatch sample(query, schema, Style::test, time);
  append_match_json(alert, sample.match(query.name + " (test)", batch), {schema, times});
  return alert;
}

}  // namespace deltamatch::ingest
