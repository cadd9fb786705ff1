#include "cli/commands/named_labels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/label_terms.hpp"
#include "base/nearest.hpp"
#include "deltamatch/labels.hpp"
#include "engine/storage/bulk_loader.hpp"

namespace deltamatch::cli {
namespace {

constexpr std::size_t most_compared = 10'000;  // labels, for a guess at what was meant

const LabelTable& table_of(const Engine& engine, bool of_vertex) {
  return of_vertex ? engine::BulkLoader::vertex_labels(engine) : engine::BulkLoader::edge_labels(engine);
}

/// Whether a vertex has the label, alone or beside others, or an edge has it.
bool occurs(const Engine& engine, std::string_view text, bool of_vertex) {
  const LabelTable& table = table_of(engine, of_vertex);
  if (table.find(text)) return true;
  return of_vertex &&
         std::ranges::any_of(table.several(), [&](LabelId label) { return includes_labels(table.text(label), text); });
}

std::string remedy(const LabelTable& table, const std::string& text, bool of_vertex, bool none) {
  if (none) {
    return fmt::format("name the columns that hold labels ({}), or leave the label out of the pattern",
                       of_vertex ? "source_label, target_label" : "label");
  }
  std::vector<std::string> known;
  for (LabelId label = 1; label < table.size() && table.count() <= most_compared; ++label) {
    const auto parts = of_vertex ? split_labels(table.text(label)) : std::vector{table.text(label)};
    known.insert(known.end(), parts.begin(), parts.end());
  }
  const std::string meant = text.size() > 2 ? nearest(text, known) : std::string();
  return meant.empty() ? std::string("check how the data spell it") : fmt::format("did you mean '{}'?", meant);
}

}  // namespace

NamedLabels::NamedLabels(const std::vector<NamedQuery>& queries) {
  for (const NamedQuery& named : queries) {
    for (const QueryVertex& vertex : named.query.vertices) add(named.query.name, vertex.labels, true);
    for (const QueryEdge& edge : named.query.edges) add(named.query.name, edge.labels, false);
  }
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

void NamedLabels::look(engine::GraphFile& file) {
  in_part_ = true;
  had_edges_ = had_edges_ || file.edges() > 0;
  std::erase_if(missing_, [&](const Label& label) { return file.has_label(label.text, label.of_vertex); });
}

void NamedLabels::conclude(const Engine& engine, InputNotes& notes) const {
  if (!had_edges_) return;
  for (const auto& [query, text, of_vertex] : missing_) {
    const LabelTable& table = table_of(engine, of_vertex);
    const bool none = table.count() == 1 && !in_part_;
    notes.warn({"label_absent", "query " + query,
                fmt::format("no {} has the label '{}'{}", of_vertex ? "vertex" : "edge", text, none ? ", nor any other" : ""),
                remedy(table, text, of_vertex, none)});
  }
}

}  // namespace deltamatch::cli
