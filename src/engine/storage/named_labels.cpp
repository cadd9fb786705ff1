#include "engine/storage/named_labels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/label_terms.hpp"
#include "base/nearest.hpp"
#include "deltamatch/labels.hpp"
#include "engine/storage/bulk_loader.hpp"
#include "engine/storage/graph_file.hpp"

namespace deltamatch::engine {
namespace {

constexpr std::size_t most_compared = 10'000;  // labels, for a guess at what was meant

const LabelTable& table_of(const Engine& engine, bool of_vertex) {
  return of_vertex ? BulkLoader::vertex_labels(engine) : BulkLoader::edge_labels(engine);
}

/// Whether a vertex has the label, alone or beside others, or an edge has it.
bool occurs(const Engine& engine, std::string_view text, bool of_vertex) {
  const LabelTable& table = table_of(engine, of_vertex);
  if (table.find(text)) return true;
  return of_vertex &&
         std::ranges::any_of(table.several(), [&](LabelId label) { return includes_labels(table.text(label), text); });
}

/// The label of the table that may have been meant.
std::string meant(const LabelTable& table, const std::string& text, bool of_vertex) {
  if (text.size() <= 2) return {};
  std::vector<std::string> known;
  for (LabelId label = 1; label < table.size() && table.count() <= most_compared; ++label) {
    const auto parts = of_vertex ? split_labels(table.text(label)) : std::vector{table.text(label)};
    known.insert(known.end(), parts.begin(), parts.end());
  }
  return nearest(text, known);
}

}  // namespace

std::string AbsentLabel::what() const {
  return fmt::format("no {} has the label '{}'{}", of_vertex ? "vertex" : "edge", text, none ? ", nor any other" : "");
}

void NamedLabels::add(const Query& query) {
  for (const QueryVertex& vertex : query.vertices) add(query.name, vertex.labels, true);
  for (const QueryEdge& edge : query.edges) add(query.name, edge.labels, false);
}

void NamedLabels::add(const std::string& query, const LabelSet& labels, bool of_vertex) {
  if (std::ranges::find(labels, std::string()) != labels.end()) return;
  for (const std::string& term : labels) {
    for (const std::string_view text : split_labels(term)) {
      if (is_absence(text)) continue;
      const auto same = [&](const Label& label) { return label.text == text && label.of_vertex == of_vertex; };
      if (std::ranges::none_of(missing_, same)) missing_.push_back({query, std::string(text), of_vertex});
    }
  }
}

void NamedLabels::look(const Engine& engine) {
  if (missing_.empty()) return;
  had_edges_ = had_edges_ || engine.graph().edges > 0;
  std::erase_if(missing_, [&](const Label& label) { return occurs(engine, label.text, label.of_vertex); });
}

void NamedLabels::look(GraphFile& file) {
  in_part_ = true;
  had_edges_ = had_edges_ || file.edges() > 0;
  std::erase_if(missing_, [&](const Label& label) { return file.has_label(label.text, label.of_vertex); });
}

std::vector<AbsentLabel> NamedLabels::absent(const Engine& engine) const {
  std::vector<AbsentLabel> absent;
  if (!had_edges_) return absent;
  for (const auto& [query, text, of_vertex] : missing_) {
    const LabelTable& table = table_of(engine, of_vertex);
    absent.push_back({query, text, of_vertex, table.count() == 1 && !in_part_, meant(table, text, of_vertex)});
  }
  return absent;
}

}  // namespace deltamatch::engine
