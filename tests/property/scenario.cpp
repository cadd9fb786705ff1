#include "property/scenario.hpp"

#include <algorithm>
#include <ostream>

namespace deltamatch::property {

Update Record::view() const {
  Update update;
  update.kind = kind;
  update.continues = continues;
  update.ahead = ahead;
  update.source = oracle::view(source);
  update.target = oracle::view(target);
  update.label = label;
  if (source_label) update.source_label = *source_label;
  if (target_label) update.target_label = *target_label;
  update.time = time;
  if (!key && values.empty()) return update;
  shown_.clear();
  for (const oracle::Stored& value : values) {
    std::visit(
        [&]<typename T>(const T& one) {
          if constexpr (std::is_same_v<T, std::string>) {
            shown_.emplace_back(std::string_view(one));
          } else {
            shown_.emplace_back(one);
          }
        },
        value);
  }
  properties_ = {key ? std::optional(oracle::view(*key)) : std::nullopt, shown_};
  update.properties = &properties_;
  return update;
}

std::vector<std::span<const Record>> Scenario::batches(std::size_t size) const {
  std::vector<std::span<const Record>> result;
  std::span<const Record> rest = stream;
  do {
    const std::size_t take = std::min(size, rest.size());
    result.push_back(rest.first(take));
    rest = rest.subspan(take);
  } while (!rest.empty());
  return result;
}

std::vector<Update> views(std::span<const Record> records) {
  std::vector<Update> result;
  for (const Record& record : records) result.push_back(record.view());
  return result;
}

UpdateBatch batch_of(std::span<const Record> records) {
  UpdateBatch batch;
  for (const Record& record : records) batch.add(record.view());
  return batch;
}

namespace {

bool reads_vertices(const Expression& node) {
  if (node.kind == Expression::Kind::attribute && node.element.kind == Element::Kind::vertex) return true;
  return std::ranges::any_of(node.operands, [](const Expression& operand) { return reads_vertices(operand); }) ||
         std::ranges::any_of(node.pattern, [](const CountedPattern& pattern) {
           return std::ranges::any_of(pattern.where, [](const Expression& inner) { return reads_vertices(inner); });
         });
}

}  // namespace

Timestamp Scenario::retained() const {
  Timestamp longest = 0;
  for (const Standing& standing : queries) {
    if (window != 0 || !standing.query.within) return 0;
    longest = std::max(longest, standing.query.within->microseconds + lateness);
  }
  return longest;
}

bool Scenario::reads_vertices() const {
  return std::ranges::any_of(queries, [](const Standing& standing) {
    return std::ranges::any_of(variants(standing.query), [](const Query& variant) {  // conditions may fall away
      return variant.where && property::reads_vertices(*variant.where);
    });
  });
}

bool Scenario::lists() const {
  return std::ranges::any_of(queries, [](const Standing& standing) { return standing.options.list; });
}

Query make_query(const std::vector<LabelSet>& labels, const std::vector<QueryEdge>& edges) {
  Query query;
  query.name = "q";
  for (std::size_t i = 0; i < labels.size(); ++i) query.vertices.push_back({"v" + std::to_string(i), labels[i]});
  query.edges = edges;
  return query;
}

namespace {

/// ":A|B&!C", with quotes around the empty label; nothing for a wildcard.
std::string alternatives(const LabelSet& labels) {
  std::string text;
  for (const std::string& label : labels) {
    text += (text.empty() ? ":" : "|") + (label.empty() ? "''" : label);
    std::ranges::replace(text, '\037', '&');
    std::ranges::replace(text, '\036', '!');
  }
  return text;
}

const char* name_of(MatchMode mode) {
  switch (mode) {
    case MatchMode::isomorphism:
      return "isomorphism";
    case MatchMode::edge_distinct:
      return "edge_distinct";
    case MatchMode::homomorphism:
      return "homomorphism";
  }
  return "?";
}

}  // namespace

void show(const Query& query, std::ostream& out) {
  const auto vertex = [&](std::uint32_t at) {
    return "(v" + std::to_string(at) + alternatives(query.vertices[at].labels) + ")";
  };
  const char* comma = "";
  for (const QueryEdge& edge : query.edges) {
    out << comma << vertex(edge.source) << "-[" << alternatives(edge.labels) << (edge.directed ? "]->" : "]-")
        << vertex(edge.target);
    comma = ", ";
  }
  if (query.where || query.within) out << "; " << to_pattern(query);
}

void show(std::span<const Record> batch, std::ostream& out) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    out << "    " << i << (batch[i].continues ? "& " : ": ") << oracle::to_string(batch[i].view()) << '\n';
  }
}

void showValue(const Scenario& scenario, std::ostream& out) {
  out << (scenario.directed ? "directed" : "undirected")
      << (scenario.schema.model == EdgeModel::events  ? " events"
          : scenario.schema.model == EdgeModel::keyed ? " keyed"
                                                      : "")
      << " data" << (scenario.self_loops == SelfLoops::keep ? " with self-loops" : "") << ", window " << scenario.window
      << ", lateness " << scenario.lateness << ", bad records "
      << (scenario.on_reject == OnReject::stop ? "stop the batch" : "are skipped") << '\n';
  for (std::size_t i = 0; i < scenario.queries.size(); ++i) {
    const auto& [query, options] = scenario.queries[i];
    out << "  query " << i << " (" << name_of(options.mode)
        << (options.count == CountMode::subgraphs ? ", subgraphs" : ", embeddings")
        << (options.list ? ", listed): " : ", counted): ");
    show(query, out);
    out << '\n';
  }
  if (!scenario.start.empty()) {
    out << "  start:\n";
    show(scenario.start, out);
  }
  std::size_t number = 0;
  for (const auto batch : scenario.batches()) {
    out << "  batch " << ++number << ":\n";
    show(batch, out);
  }
}

}  // namespace deltamatch::property
