// Matches as a graph for Graphviz: a cluster for each match, so that each stays readable.
#include <cstddef>
#include <string>
#include <string_view>

#include "ingest/sink/picture.hpp"
#include "ingest/text/clean_text.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::string_view added_color = "#1a7f37";
constexpr std::string_view removed_color = "#cf222e";

/// Appends a text of any bytes to a quoted string. Graphviz reads backslashes and HTML entities in labels.
void append_label(std::string& out, std::string_view text) {
  std::string clean;
  append_clean(clean, text);
  for (const char c : clean) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
}

class Writer {
 public:
  explicit Writer(const Picture& picture) : picture_(&picture) {}

  std::string write() {
    text_ = "digraph matches {\n";
    text_ += "  graph [rankdir=LR, fontname=\"Helvetica\", labelloc=t, labeljust=l";
    std::string missing;
    for (const DrawnQuery& query : picture_->queries) {
      if (const std::string line = what_is_missing(query); !line.empty()) append_line(missing, line);
    }
    if (picture_->matches.empty()) append_line(missing, "no match");
    if (!missing.empty()) text_ += ", label=\"" + missing + '"';
    text_ +=
        "]\n  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f8fa\", color=\"#8c959f\", fontname=\"Helvetica\"]\n";
    text_ += "  edge [fontname=\"Helvetica\", fontsize=10";
    if (!picture_->directed) text_ += ", dir=none";
    text_ += "]\n";
    for (std::size_t m = 0; m < picture_->matches.size(); ++m) write(picture_->matches[m], m);
    text_ += "}\n";
    return std::move(text_);
  }

 private:
  /// Lines are aligned to the left.
  static void append_line(std::string& label, std::string_view line) {
    append_label(label, line);
    label += "\\l";
  }

  void append_node(std::size_t match, std::size_t vertex) {
    text_ += 'm';
    append_number(text_, std::uint64_t{match});
    text_ += 'v';
    append_number(text_, std::uint64_t{vertex});
  }

  void write(const DrawnMatch& match, std::size_t number) {
    const std::string_view color = match.added ? added_color : removed_color;
    text_ += "  subgraph cluster_";
    append_number(text_, std::uint64_t{number});
    text_ += " {\n    color=\"";
    text_ += color;
    text_ += "\"; fontcolor=\"";
    text_ += color;
    text_ += "\"; tooltip=\"";
    text_ += match.id;
    text_ += "\"; label=\"";
    append_line(text_, picture_->queries[match.query].name + (match.added ? " +" : " -"));
    std::string when = match.batch == 0 ? std::string() : "batch " + std::to_string(match.batch);
    if (!match.time.empty()) when += (when.empty() ? "" : ", ") + match.time;
    if (!when.empty()) append_line(text_, when);
    text_ += "\"\n";
    for (std::size_t v = 0; v < match.vertices.size(); ++v) {
      const DrawnVertex& vertex = match.vertices[v];
      text_ += "    ";
      append_node(number, v);
      text_ += " [label=\"";
      append_label(text_, vertex.id);
      if (!vertex.names.empty()) {
        text_ += "\\n(";
        append_label(text_, vertex.names);
        text_ += ')';
      }
      text_ += "\"]\n";
    }
    for (const DrawnEdge& edge : match.edges) write(edge, number, color);
    text_ += "  }\n";
  }

  void write(const DrawnEdge& edge, std::size_t match, std::string_view color) {
    text_ += "    ";
    append_node(match, edge.source);
    text_ += " -> ";
    append_node(match, edge.target);
    text_ += " [color=\"";
    text_ += color;
    text_ += edge.lost ? "\", penwidth=2" : "\"";
    text_ += ", label=\"";
    append_label(text_, edge.name);
    if (!edge.label.empty()) append_label(text_, (edge.name.empty() ? "" : ":") + edge.label);
    for (const DrawnValue& value : edge.values) {
      text_ += "\\n";
      append_label(text_, picture_->schema.edges[value.attribute].name + ' ' + value.text);
    }
    for (const std::string* line : {&edge.time, &edge.identity}) {
      if (line->empty()) continue;
      text_ += "\\n";
      append_label(text_, *line);
    }
    text_ += "\"]\n";
  }

  const Picture* picture_;
  std::string text_;
};

}  // namespace

std::string to_dot(const Picture& picture) { return Writer(picture).write(); }

}  // namespace deltamatch::ingest
