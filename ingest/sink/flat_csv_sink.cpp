// A sink that writes one flat row of CSV for each match. First the columns of all queries are laid out, then each match fills
// the cells of its query.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/sink/file_sink.hpp"
#include "ingest/sink/match_text.hpp"
#include "ingest/sink/sheet_text.hpp"
#include "ingest/sink/sinks.hpp"
#include "ingest/sink/value_text.hpp"
#include "ingest/text/csv_text.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

/// Indices of columns.
struct EdgeColumns {
  static constexpr std::size_t none = 0;  // `query` is no column of an edge
  std::size_t source = none;
  std::size_t label = none;
  std::size_t identity = none;
  std::size_t time = none;
  std::vector<std::size_t> attributes;
};
/// Of an edge, or of the steps of a path.
struct StepColumns {
  std::size_t count = EdgeColumns::none;  // of a path: its length
  std::vector<EdgeColumns> steps;
  std::vector<std::size_t> targets;  // of a path: the vertices between its steps
};
struct QueryColumns {
  std::vector<std::size_t> vertices;
  std::vector<StepColumns> edges;
};

enum Fixed : std::size_t { query_column, sign_column, id_column, batch_column, time_column };

/// Lays out the columns of one query after another.
class Layout {
 public:
  explicit Layout(const Schema& schema) : schema_(schema) {}

  [[nodiscard]] const std::vector<std::string>& header() const noexcept { return header_; }
  /// Whether the column holds what the match states, rather than what tells matches and edges apart.
  [[nodiscard]] bool is_fact(std::size_t column) const { return facts_[column]; }

  QueryColumns add(const Query& query) {
    taken_.assign(header_.size(), false);
    for (const Fixed fixed : {query_column, sign_column, id_column, batch_column, time_column}) taken_[fixed] = true;
    QueryColumns columns;
    for (const QueryVertex& vertex : query.vertices) columns.vertices.push_back(column(vertex.name));
    const std::vector<std::string> names = names_of_edges(query);
    for (std::size_t e = 0; e < query.edges.size(); ++e) columns.edges.push_back(add_steps(query.edges[e], names[e]));
    return columns;
  }

 private:
  static std::vector<std::string> names_of_edges(const Query& query) {
    std::vector<std::string> names;
    for (std::size_t e = 0; e < query.edges.size(); ++e) {
      const std::string& name = query.edges[e].name;
      names.push_back(name.empty() ? "e" + std::to_string(e + 1) : name);
    }
    return names;
  }

  StepColumns add_steps(const QueryEdge& edge, const std::string& name) {
    StepColumns columns;
    if (!edge.quantifier) {
      columns.steps.push_back(add(edge, name + '.'));
      return columns;
    }
    columns.count = column(name + ".count");
    for (std::uint32_t step = 1; step <= edge.quantifier->most; ++step) {
      const std::string prefix = name + '[' + std::to_string(step) + "].";
      columns.steps.push_back(add(edge, prefix));
      if (step < edge.quantifier->most) columns.targets.push_back(column(prefix + "target"));
    }
    return columns;
  }

  EdgeColumns add(const QueryEdge& edge, const std::string& prefix) {
    EdgeColumns columns;
    if (!edge.directed) columns.source = column(prefix + "source");
    if (edge.labels.size() != 1) columns.label = column(prefix + "label", false);
    if (schema_.model == EdgeModel::simple) return columns;
    columns.identity = schema_.model == EdgeModel::events ? column(prefix + "ordinal", false) : column(prefix + "key");
    columns.time = column(prefix + "time");
    for (const Attribute& attribute : schema_.edges) columns.attributes.push_back(column(prefix + attribute.name));
    return columns;
  }

  /// The column with this name, or with the next free one if the query has it already.
  std::size_t column(const std::string& name, bool fact = true) {
    std::string wanted = name;
    for (int next = 2;; ++next) {
      const auto known = std::ranges::find(header_, wanted);
      const auto index = static_cast<std::size_t>(known - header_.begin());
      if (known == header_.end()) {
        header_.push_back(wanted);
        facts_.push_back(fact);
        taken_.push_back(false);
      }
      if (!taken_[index]) {
        taken_[index] = true;
        return index;
      }
      wanted = name + '_' + std::to_string(next);
    }
  }

  const Schema& schema_;
  std::vector<std::string> header_{"query", "sign", "id", "batch", "time"};
  std::vector<bool> facts_{true, true, false, false, true};
  std::vector<bool> taken_;  // by the query that is added
};

void append_id(std::string& out, const Id& id) {
  if (id.is_text()) {
    append_csv_text(out, id.text());
  } else {
    append_number(out, id.number());
  }
}

class FlatCsvSink final : public FileSink {
 public:
  FlatCsvSink(const std::string& path, MatchForm form, std::span<const Query> queries, std::optional<char> sheet)
      : FileSink(path), form_(std::move(form)), sheet_(sheet) {
    Layout layout(form_.schema);
    for (const Query& query : queries) queries_.emplace(query.name, layout.add(query));
    cells_.resize(layout.header().size());
    order_.resize(cells_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (sheet_) {
      text() += "\xef\xbb\xbf";
      std::ranges::stable_partition(order_, [&](std::size_t column) { return layout.is_fact(column); });
    }
    for (std::size_t c = 0; c < cells_.size(); ++c) append_csv_text(cells_[c], layout.header()[c]);
    append_row();
    file_.commit();
  }

  void write(const Match& match) override {
    const QueryColumns& columns = columns_of(match.query);
    append_csv_text(cells_[query_column], match.query);
    cells_[sign_column] = match.added ? "+" : "-";
    append_match_id(cells_[id_column], match.id);
    append_number(cells_[batch_column], match.batch);
    if (const auto time = written_time(match, form_)) append_time(cells_[time_column], *time);
    for (std::size_t v = 0; v < match.names.size(); ++v) append_id(cells_[columns.vertices[v]], match.vertices[v]);
    for_each_query_edge(
        match, [&](std::uint32_t e, std::uint32_t edge) { fill(columns.edges[e].steps[0], match.edges[edge]); },
        [&](std::uint32_t e, const MatchedPath& path) { fill(columns.edges[e], match, path); });
    append_row();
    file_.spill_if_large();
  }

  void end(const ListingEnd& end) override {
    if (end.shortfall == Shortfall::none) return;
    append_csv_text(cells_[query_column], end.query);
    cells_[sign_column] = "partial:";
    cells_[sign_column] += shortfall_name(end.shortfall);
    append_number(cells_[batch_column], end.batch);
    append_row();
  }

 private:
  [[nodiscard]] const QueryColumns& columns_of(std::string_view query) const {
    const auto found = queries_.find(query);
    if (found == queries_.end()) {
      throw Error(ErrorKind::usage, "flat CSV", "the sink has no columns for the query '" + std::string(query) + "'",
                  "name all queries when the sink is made");
    }
    return found->second;
  }

  void fill(const StepColumns& columns, const Match& match, const MatchedPath& path) {
    append_number(cells_[columns.count], std::uint64_t{path.steps});
    for (std::uint32_t step = 0; step < path.steps; ++step) {
      fill(columns.steps[step], match.edges[path.first_edge + step]);
      if (step + 1 < path.steps) append_id(cells_[columns.targets[step]], match.vertices[path.first_vertex + step]);
    }
  }

  void fill(const EdgeColumns& columns, const MatchedEdge& edge) {
    if (columns.source != EdgeColumns::none) append_id(cells_[columns.source], edge.source);
    if (columns.label != EdgeColumns::none) append_csv_text(cells_[columns.label], edge.label);
    if (columns.identity == EdgeColumns::none) return;
    if (form_.schema.model == EdgeModel::events) {
      append_number(cells_[columns.identity], edge.ordinal);
    } else if (edge.key) {
      append_id(cells_[columns.identity], *edge.key);
    }
    if (edge.time) append_time(cells_[columns.time], *edge.time);
    for (std::size_t a = 0; a < std::min(edge.attributes.size(), columns.attributes.size()); ++a) {
      append_value(cells_[columns.attributes[a]], form_.schema.edges[a].type, edge.attributes[a]);
    }
  }

  void append_value(std::string& cell, const AttributeType& type, const AttributeValue& value) const {
    if (const auto* symbol = std::get_if<std::string_view>(&value)) return append_csv_text(cell, *symbol);
    if (sheet_) return append_sheet_value(cell, type, value, *sheet_);
    append_value_text(cell, type, value, form_.times);
  }

  void append_time(std::string& cell, Timestamp time) const {
    if (sheet_) return append_sheet_time(cell, time, *sheet_);
    append_time_text(cell, time, form_.times);
  }

  /// Appends the cells as a row, and empties them.
  void append_row() {
    std::string& out = text();
    const char separator = sheet_ == ',' ? ';' : ',';
    for (const std::size_t c : order_) {
      if (c != order_.front()) out += separator;
      out += cells_[c];
      cells_[c].clear();
    }
    out += "\r\n";
  }

  MatchForm form_;
  std::optional<char> sheet_;       // the decimal sign
  std::vector<std::size_t> order_;  // of columns in a row
  std::map<std::string, QueryColumns, std::less<>> queries_;
  std::vector<std::string> cells_;
};

}  // namespace

std::unique_ptr<MatchSink> make_flat_csv_sink(const std::string& path, const MatchForm& form, std::span<const Query> queries,
                                              std::optional<char> sheet) {
  return std::make_unique<FlatCsvSink>(path, form, queries, sheet);
}

}  // namespace deltamatch::ingest
