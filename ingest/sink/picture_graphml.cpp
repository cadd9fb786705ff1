// Matches as one graph in GraphML: the vertices and edges of all matches, with how many matches each is in.
#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/sink/picture.hpp"
#include "ingest/text/clean_text.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

void append_xml(std::string& out, std::string_view text) {
  std::string clean;
  append_clean(clean, text);
  for (const char c : clean) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
}

std::string_view type_name(const AttributeType& type) noexcept {
  using Kind = AttributeType::Kind;
  if (type.kind == Kind::integer) return "long";
  if (type.kind == Kind::decimal || type.kind == Kind::real) return "double";
  if (type.kind == Kind::boolean) return "boolean";
  return "string";
}

/// In how many matches of which queries an element is.
struct Uses {
  std::uint64_t added = 0;
  std::uint64_t removed = 0;
  std::set<std::size_t> queries;
  void add(const DrawnMatch& match) {
    ++(match.added ? added : removed);
    queries.insert(match.query);
  }
};

struct Vertex {
  const DrawnVertex* drawn;
  Uses uses;
};
struct Edge {
  std::size_t source;
  std::size_t target;
  const DrawnEdge* drawn;
  Uses uses;
};

/// The vertices and edges of all matches, each once, in the order in which they come.
struct Merged {
  explicit Merged(const Picture& picture) {
    std::map<std::pair<bool, std::string>, std::size_t> vertex_numbers;
    std::map<std::vector<std::string>, std::size_t> edge_numbers;
    for (const DrawnMatch& match : picture.matches) {
      std::vector<std::size_t> places;
      for (const DrawnVertex& vertex : match.vertices) {
        const auto [known, fresh] = vertex_numbers.try_emplace({vertex.is_text, vertex.id}, vertices.size());
        if (fresh) vertices.push_back({&vertex, {}});
        vertices[known->second].uses.add(match);
        places.push_back(known->second);
      }
      std::set<std::size_t> seen;  // with homomorphism, a match may have an edge twice
      for (const DrawnEdge& edge : match.edges) {
        std::vector<std::string> parts{std::to_string(places[edge.source]), std::to_string(places[edge.target]), edge.label,
                                       edge.identity, edge.time};
        for (const DrawnValue& value : edge.values) parts.insert(parts.end(), {std::to_string(value.attribute), value.text});
        const auto [known, fresh] = edge_numbers.try_emplace(std::move(parts), edges.size());
        if (fresh) edges.push_back({places[edge.source], places[edge.target], &edge, {}});
        if (seen.insert(known->second).second) edges[known->second].uses.add(match);
      }
    }
  }
  std::vector<Vertex> vertices;
  std::vector<Edge> edges;
};

class Writer {
 public:
  explicit Writer(const Picture& picture) : picture_(&picture), merged_(picture) {}

  std::string write() {
    text_ =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"\n"
        "    xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns "
        "http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n";
    std::string missing;
    for (const DrawnQuery& query : picture_->queries) {
      if (const std::string line = what_is_missing(query); !line.empty()) missing += (missing.empty() ? "" : "; ") + line;
    }
    if (!missing.empty()) {
      text_ += "  <desc>";
      append_xml(text_, missing);
      text_ += "</desc>\n";
    }
    declare_all();
    text_ += "  <graph id=\"matches\" edgedefault=\"";
    text_ += picture_->directed ? "directed\">\n" : "undirected\">\n";
    for (std::size_t v = 0; v < merged_.vertices.size(); ++v) write_vertex(v);
    for (std::size_t e = 0; e < merged_.edges.size(); ++e) write_edge(e);
    text_ += "  </graph>\n</graphml>\n";
    return std::move(text_);
  }

 private:
  /// Declares a key. A name that is taken gets _2, _3 ... behind it, because readers tell keys apart by their names.
  void declare(std::string_view id, std::string_view of, std::string name, std::string_view type,
               std::set<std::string>& taken) {
    const std::string wanted = name;
    for (int number = 2; !taken.insert(name).second; ++number) name = wanted + '_' + std::to_string(number);
    text_ += "  <key id=\"";
    text_ += id;
    text_ += "\" for=\"";
    text_ += of;
    text_ += "\" attr.name=\"";
    append_xml(text_, name);
    text_ += "\" attr.type=\"";
    text_ += type;
    text_ += "\"/>\n";
  }

  void declare_all() {
    std::set<std::string> of_nodes;
    declare("v_label", "node", "label", "string", of_nodes);
    declare("v_kind", "node", "id_type", "string", of_nodes);
    declare_uses('v', "node", of_nodes);
    std::set<std::string> of_edges;
    declare("e_label", "edge", "label", "string", of_edges);
    declare_uses('e', "edge", of_edges);
    if (picture_->schema.model == EdgeModel::simple) return;
    const bool events = picture_->schema.model == EdgeModel::events;
    declare("e_identity", "edge", events ? "ordinal" : "key", events ? "long" : "string", of_edges);
    declare("e_time", "edge", "time", "string", of_edges);
    for (std::size_t a = 0; a < picture_->schema.edges.size(); ++a) {
      const Attribute& attribute = picture_->schema.edges[a];
      declare("e_" + std::to_string(a), "edge", attribute.name, type_name(attribute.type), of_edges);
    }
  }
  void declare_uses(char prefix, std::string_view of, std::set<std::string>& taken) {
    declare(prefix + std::string("_queries"), of, "queries", "string", taken);
    declare(prefix + std::string("_new"), of, "new", "long", taken);
    declare(prefix + std::string("_removed"), of, "removed", "long", taken);
  }

  void data(std::string_view key, std::string_view value) {
    text_ += "      <data key=\"";
    text_ += key;
    text_ += "\">";
    append_xml(text_, value);
    text_ += "</data>\n";
  }
  void data_uses(char prefix, const Uses& uses) {
    std::string names;
    for (const std::size_t query : uses.queries) names += (names.empty() ? "" : ", ") + picture_->queries[query].name;
    data(prefix + std::string("_queries"), names);
    data(prefix + std::string("_new"), std::to_string(uses.added));
    data(prefix + std::string("_removed"), std::to_string(uses.removed));
  }

  void write_vertex(std::size_t number) {
    const Vertex& vertex = merged_.vertices[number];
    text_ += "    <node id=\"n" + std::to_string(number) + "\">\n";
    data("v_label", vertex.drawn->id);
    data("v_kind", vertex.drawn->is_text ? "text" : "integer");
    data_uses('v', vertex.uses);
    text_ += "    </node>\n";
  }

  void write_edge(std::size_t number) {
    const Edge& edge = merged_.edges[number];
    text_ += "    <edge id=\"e" + std::to_string(number) + "\" source=\"n" + std::to_string(edge.source) + "\" target=\"n" +
             std::to_string(edge.target) + "\">\n";
    data("e_label", edge.drawn->label);
    data_uses('e', edge.uses);
    if (!edge.drawn->identity.empty()) data("e_identity", edge.drawn->identity);
    if (!edge.drawn->time.empty()) data("e_time", edge.drawn->time);
    for (const DrawnValue& value : edge.drawn->values) data("e_" + std::to_string(value.attribute), value.text);
    text_ += "    </edge>\n";
  }

  const Picture* picture_;
  Merged merged_;
  std::string text_;
};

}  // namespace

std::string to_graphml(const Picture& picture) { return Writer(picture).write(); }

}  // namespace deltamatch::ingest
