// The matcher assigns data edges to query edges, one query edge after the other, and keeps assignments that agree on the
// vertices. It uses only the graph's sets.
#include "support/oracle.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/conditions.hpp"

namespace deltamatch::oracle {

ExternalId own(const Id& id) {
  if (id.is_text()) return std::string(id.text());
  return id.number();
}

Id view(const ExternalId& id) {
  if (const auto* text = std::get_if<std::string>(&id)) return Id(std::string_view(*text));
  return Id(std::get<std::int64_t>(id));
}

std::vector<Stored> own(std::span<const AttributeValue> values) {
  std::vector<Stored> stored;
  bool known = false;
  for (const AttributeValue& value : values) {
    known = known || !std::holds_alternative<std::monostate>(value);
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      stored.emplace_back(*number);
    } else if (const auto* real = std::get_if<double>(&value)) {
      stored.emplace_back(*real);
    } else if (const auto* truth = std::get_if<bool>(&value)) {
      stored.emplace_back(*truth);
    } else if (const auto* text = std::get_if<std::string_view>(&value)) {
      stored.emplace_back(std::string(*text));
    } else {
      stored.emplace_back();
    }
  }
  if (!known) stored.clear();
  return stored;
}

std::set<std::string> labels_of(std::string_view text) {
  std::set<std::string> labels;
  std::string label;
  for (const char c : text) {
    if (c != '\037') {
      label += c;
      continue;
    }
    labels.insert(label);
    label.clear();
  }
  labels.insert(label);
  labels.erase("");
  return labels;
}

std::string text_of(const std::set<std::string>& labels) {
  std::string text;
  for (const std::string& label : labels) text += (text.empty() ? "" : "\037") + label;
  return text;
}

Embedding identity(const Embedding& embedding) {
  Embedding result = embedding;
  for (DataEdge& edge : result.edges) {
    if (edge.key) edge = DataEdge{.source = {}, .label = {}, .target = {}, .key = edge.key};
  }
  return result;
}

DataEdge DataGraph::edge(const ExternalId& source, const std::string& label, const ExternalId& target) const {
  if (!directed && target < source) return {target, label, source};
  return {source, label, target};
}

namespace {

/// Whether a vertex or edge with these labels satisfies one of the alternatives. Each is a list of labels that must be there,
/// joined by the byte 0x1f. Those that must be absent begin with 0x1e. The empty label is the one of an element without labels.
bool admits(const LabelSet& alternatives, const std::string& text) {
  if (alternatives.empty()) return true;
  std::set<std::string> labels = labels_of(text);
  if (labels.empty()) labels.insert("");
  return std::any_of(alternatives.begin(), alternatives.end(), [&](const std::string& alternative) {
    std::set<std::string> parts = labels_of(alternative);
    if (parts.empty()) parts.insert("");
    return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
      return part.starts_with('\036') ? !labels.contains(part.substr(1)) : labels.contains(part);
    });
  });
}

/// The position of the query edge that joins `source` to `target` in the same way as `like` joins its ends, if there is one.
std::optional<std::size_t> find_like(const Query& query, const QueryEdge& like, std::size_t source, std::size_t target) {
  for (std::size_t i = 0; i < query.edges.size(); ++i) {
    const QueryEdge& edge = query.edges[i];
    if ((edge.directed != like.directed && source != target) || edge.labels != like.labels) continue;  // loops are alike
    if (edge.source == source && edge.target == target) return i;
    if (!edge.directed && edge.source == target && edge.target == source) return i;
  }
  return std::nullopt;
}

/// The query's edges in an order in which each but the first touches an earlier one. The order affects only speed.
std::vector<std::size_t> connected_order(const Query& query) {
  std::vector<std::size_t> order;
  std::set<std::size_t> vertices;
  std::set<std::size_t> left;
  for (std::size_t i = 0; i < query.edges.size(); ++i) left.insert(i);
  while (!left.empty()) {
    auto next = std::find_if(left.begin(), left.end(), [&](std::size_t i) {
      return vertices.contains(query.edges[i].source) || vertices.contains(query.edges[i].target);
    });
    if (next == left.end()) next = left.begin();
    vertices.insert(query.edges[*next].source);
    vertices.insert(query.edges[*next].target);
    order.push_back(*next);
    left.erase(next);
  }
  return order;
}

// With a limit, partial embeddings without a result also count as a reason to stop.
constexpr std::size_t tries_per_embedding = 100;

class Search {
 public:
  Search(const DataGraph& graph, const Query& query, MatchMode mode, std::size_t limit)
      : query_(query),
        mode_(mode),
        limit_(limit),
        order_(connected_order(query)),
        image_(query.vertices.size(), nullptr),
        choice_(query.edges.size(), nullptr),
        graph_(graph) {}

  std::vector<Embedding> run() {
    assign(0);
    return std::move(found_);
  }

 private:
  using Vertex = std::map<ExternalId, std::string>::value_type;

  /// Tries every data edge for the query edge at `step`.
  void assign(std::size_t step) {
    if (step == order_.size()) return emit();
    if (limit_ < std::numeric_limits<std::size_t>::max() && ++tried_ > tries_per_embedding * limit_) throw TooMany();
    const std::size_t at = order_[step];
    const QueryEdge& edge = query_.edges[at];
    for (const DataEdge& data : graph_.edges) {
      if (!admits(edge.labels, data.label)) continue;
      const bool used = std::find(choice_.begin(), choice_.end(), &data) != choice_.end();
      if (used && mode_ != MatchMode::homomorphism) continue;
      choice_[at] = &data;
      bind(edge.source, data.source, [&] { bind(edge.target, data.target, [&] { assign(step + 1); }); });
      if (!edge.directed && data.source != data.target)
        bind(edge.source, data.target, [&] { bind(edge.target, data.source, [&] { assign(step + 1); }); });
      choice_[at] = nullptr;
    }
  }

  /// Maps a query vertex to a vertex if that is allowed, continues with `then`, and undoes the mapping.
  template <typename Then>
  void bind(std::size_t at, const ExternalId& id, const Then& then) {
    if (image_[at] != nullptr) {
      if (image_[at]->first == id) then();
      return;
    }
    const Vertex& vertex = *graph_.vertices.find(id);
    if (!admits(query_.vertices[at].labels, vertex.second)) return;
    const bool used = std::find(image_.begin(), image_.end(), &vertex) != image_.end();
    if (used && mode_ == MatchMode::isomorphism) return;
    image_[at] = &vertex;
    then();
    image_[at] = nullptr;
  }

  void emit() {
    if (found_.size() == limit_) throw TooMany();
    Embedding& embedding = found_.emplace_back();
    for (const Vertex* vertex : image_) embedding.vertices.push_back(vertex->first);
    for (const DataEdge* edge : choice_) embedding.edges.push_back(*edge);
  }

  const Query& query_;
  MatchMode mode_;
  std::size_t limit_;
  std::size_t tried_ = 0;
  std::vector<std::size_t> order_;
  std::vector<const Vertex*> image_;     ///< of each query vertex
  std::vector<const DataEdge*> choice_;  ///< for each query edge
  const DataGraph& graph_;
  std::vector<Embedding> found_;
};

/// Whether the embedding contains every edge that the graph has between its vertices.
bool takes_every_edge(const DataGraph& graph, const Embedding& embedding) {
  const std::set<ExternalId> vertices(embedding.vertices.begin(), embedding.vertices.end());
  const std::set<DataEdge> edges(embedding.edges.begin(), embedding.edges.end());
  return std::all_of(graph.edges.begin(), graph.edges.end(), [&](const DataEdge& edge) {
    return edges.contains(edge) || !vertices.contains(edge.source) || !vertices.contains(edge.target);
  });
}

/// Whether WHERE is TRUE, and any two edges are less than WITHIN apart.
bool admitted(const Query& query, const DataGraph& graph, const Embedding& embedding) {
  const auto declared = [&](const Element& element) -> const std::vector<Attribute>& {
    return element.kind == Element::Kind::edge ? graph.schema.edges : graph.schema.vertices;
  };
  const auto place = [&](const Element& element, const std::string& name) {
    const auto& attributes = declared(element);
    return static_cast<std::size_t>(std::ranges::find(attributes, name, &Attribute::name) - attributes.begin());
  };
  const Values values{
      [&](const Element& element, const std::string& name) -> Stored {
        const bool edge = element.kind == Element::Kind::edge;
        if (edge && name == "time") {
          const std::optional<Timestamp>& time = embedding.edges[element.index].time;
          return time ? Stored(*time) : Stored();
        }
        const auto at = graph.values.find(edge ? ExternalId() : embedding.vertices[element.index]);
        const std::vector<Stored>* row = edge                       ? &embedding.edges[element.index].attributes
                                         : at == graph.values.end() ? nullptr
                                                                    : &at->second;
        return row == nullptr || row->empty() ? Stored() : row->at(place(element, name));
      },
      [&](const Element& element, const std::string& name) { return declared(element).at(place(element, name)).type; },
      [&](const Element& element) { return embedding.vertices[element.index]; }};
  if (query.where && holds(*query.where, values) != true) return false;
  if (!query.within) return true;
  for (const DataEdge& a : embedding.edges) {
    for (const DataEdge& b : embedding.edges) {
      if (&a == &b) continue;
      if (!a.time || !b.time || *a.time - *b.time >= query.within->microseconds) return false;
    }
  }
  return true;
}

/// A constant as text, the same for all ways to write it. Its contrary, if it is a number or a duration and `negated` is set.
std::string canonical_literal(const Literal& literal, bool negated) {
  if (const auto* duration = std::get_if<Duration>(&literal))
    return std::to_string(negated ? -duration->microseconds : duration->microseconds) + "us";
  if (const auto* number = std::get_if<Decimal>(&literal)) {
    std::int64_t digits = negated ? -number->digits : number->digits;
    int scale = number->scale;
    for (; digits % 10 == 0 && scale > 0; --scale) digits /= 10;
    return std::to_string(digits) + "e" + std::to_string(scale);
  }
  if (const auto* truth = std::get_if<bool>(&literal)) return *truth ? "true" : "false";
  if (const auto* instant = std::get_if<Instant>(&literal)) return std::to_string(instant->microseconds) + "at";
  if (const auto* name = std::get_if<std::string>(&literal)) return "'" + *name + "'";
  return "null";
}

/// Writes a condition, or its contrary, as text that is the same for all ways to write it. Elements are mapped first.
class Canonical {
 public:
  explicit Canonical(const Automorphism& symmetry) : symmetry_(&symmetry) {}

  std::string truth(const Expression& node, bool negated) const {
    switch (node.kind) {
      case Kind::logical_not:
        return truth(node.operands[0], !negated);
      case Kind::logical_and:
      case Kind::logical_or: {
        std::set<std::string> parts;
        gather(node, node.kind, negated, parts);
        return joined((node.kind == Kind::logical_and) != negated, parts);
      }
      case Kind::equal:
        return equality(node.operands[0], node.operands[1], negated);
      case Kind::not_equal:
        return equality(node.operands[0], node.operands[1], !negated);
      case Kind::in: {
        std::set<std::string> parts;
        for (std::size_t i = 1; i < node.operands.size(); ++i)
          parts.insert(equality(node.operands[0], node.operands[i], negated));
        return joined(negated, parts);
      }
      case Kind::less:
      case Kind::less_equal:
        return sign(negated) + order(node.kind == Kind::less, node.operands[0], node.operands[1]);
      case Kind::greater:
      case Kind::greater_equal:
        return sign(negated) + order(node.kind == Kind::greater, node.operands[1], node.operands[0]);
      case Kind::is_null:
        return sign(negated) + "null(" + value(node.operands[0]) + ")";
      default:
        break;
    }
    if (const auto* constant = std::get_if<bool>(&node.literal); node.kind == Kind::literal && constant != nullptr)
      return *constant != negated ? "true" : "false";
    return sign(negated) + value(node);
  }

 private:
  using Kind = Expression::Kind;
  static std::string sign(bool negated) { return negated ? "!" : ""; }

  void gather(const Expression& node, Kind kind, bool negated, std::set<std::string>& parts) const {
    for (const Expression& operand : node.operands) {
      const Expression* inner = &operand;
      bool inverted = negated;
      for (; inner->kind == Kind::logical_not; inner = &inner->operands[0]) inverted = !inverted;
      const Kind same = inverted == negated ? kind : kind == Kind::logical_and ? Kind::logical_or : Kind::logical_and;
      if (inner->kind == same) {
        gather(*inner, same, inverted, parts);
      } else {
        parts.insert(truth(*inner, inverted));
      }
    }
  }
  static std::string joined(bool all, std::set<std::string> parts) {
    if (parts.contains(all ? "false" : "true")) return all ? "false" : "true";
    parts.erase(all ? "true" : "false");
    if (parts.empty()) return all ? "true" : "false";
    if (parts.size() == 1) return *parts.begin();
    std::string text = all ? "and(" : "or(";
    for (const std::string& part : parts) text += part + ",";
    return text + ")";
  }
  std::string equality(const Expression& left, const Expression& right, bool negated) const {
    std::pair<std::string, std::string> ends = std::minmax(value(left), value(right));
    return sign(negated) + ends.first + "=" + ends.second;
  }
  std::string order(bool strict, const Expression& left, const Expression& right) const {
    const std::string comparison = strict ? "<" : "<=";
    const bool number = std::holds_alternative<Decimal>(left.literal) || std::holds_alternative<Duration>(left.literal);
    if (left.kind == Kind::literal && number && right.kind == Kind::subtract)
      return "sub(" + value(right.operands[1]) + "," + value(right.operands[0]) + ")" + comparison +
             canonical_literal(left.literal, true);
    return value(left) + comparison + value(right);
  }
  std::string value(const Expression& node) const {
    if (node.kind == Kind::literal) return canonical_literal(node.literal, false);
    if (node.kind == Kind::attribute || node.kind == Kind::id) {
      const bool vertex = node.element.kind == Element::Kind::vertex;
      const std::size_t image = vertex ? symmetry_->vertices[node.element.index] : symmetry_->edges[node.element.index];
      return (vertex ? "v" : "e") + std::to_string(image) + (node.kind == Kind::id ? "#" : ".") + node.name;
    }
    if (node.kind != Kind::negate && node.kind != Kind::add && node.kind != Kind::subtract && node.kind != Kind::multiply)
      return "(" + truth(node, false) + ")";
    std::vector<std::string> parts;
    for (const Expression& operand : node.operands) parts.push_back(value(operand));
    if (node.kind == Kind::add || node.kind == Kind::multiply) std::sort(parts.begin(), parts.end());
    std::string text = node.kind == Kind::negate     ? "neg("
                       : node.kind == Kind::add      ? "add("
                       : node.kind == Kind::subtract ? "sub("
                                                     : "mul(";
    for (const std::string& part : parts) text += part + ",";
    text.back() = ')';
    return text;
  }

  const Automorphism* symmetry_;
};

/// The embedding under an automorphism: each query vertex v gets the image of its permuted vertex.
Embedding permuted(const Embedding& embedding, const Automorphism& symmetry) {
  Embedding result;
  for (const std::size_t vertex : symmetry.vertices) result.vertices.push_back(embedding.vertices[vertex]);
  for (const std::size_t edge : symmetry.edges) result.edges.push_back(embedding.edges[edge]);
  return result;
}

}  // namespace

std::vector<Automorphism> automorphisms(const Query& query) {
  if (query.vertices.size() > 8) throw std::invalid_argument("the oracle tries every permutation: at most 8 query vertices");
  std::vector<Automorphism> result;
  std::vector<std::size_t> image(query.vertices.size());
  std::iota(image.begin(), image.end(), std::size_t{0});
  do {
    Automorphism candidate{image, {}};
    bool sound = true;
    for (std::size_t v = 0; sound && v < image.size(); ++v) {
      sound = query.vertices[v].labels == query.vertices[image[v]].labels;
    }
    for (std::size_t e = 0; sound && e < query.edges.size(); ++e) {
      const QueryEdge& edge = query.edges[e];
      const auto to = find_like(query, edge, image[edge.source], image[edge.target]);
      sound = to.has_value();
      if (sound) candidate.edges.push_back(*to);
    }
    if (sound && query.where) {
      Automorphism identity = candidate;
      std::iota(identity.vertices.begin(), identity.vertices.end(), std::size_t{0});
      std::iota(identity.edges.begin(), identity.edges.end(), std::size_t{0});
      sound = Canonical(candidate).truth(*query.where, false) == Canonical(identity).truth(*query.where, false);
    }
    if (sound) result.push_back(std::move(candidate));
  } while (std::next_permutation(image.begin(), image.end()));
  return result;
}

Matcher::Matcher(Query query, MatchMode mode, CountMode count, bool induced)
    : query_(std::move(query)), mode_(mode), count_(count), induced_(induced) {
  if (count == CountMode::embeddings) return;
  if (mode != MatchMode::isomorphism) throw std::invalid_argument("subgraphs are counted in isomorphism mode only");
  symmetries_ = automorphisms(query_);
}

Answer Matcher::match(const DataGraph& graph, std::size_t limit) const {
  for (const QueryEdge& edge : query_.edges) {
    if (edge.directed && !graph.directed) throw std::invalid_argument("a directed query edge over undirected data");
  }
  std::vector<Embedding> all = Search(graph, query_, mode_, limit).run();
  std::erase_if(all, [&](const Embedding& embedding) { return !admitted(query_, graph, embedding); });
  if (induced_) std::erase_if(all, [&](const Embedding& embedding) { return !takes_every_edge(graph, embedding); });
  if (count_ == CountMode::embeddings) return {std::make_move_iterator(all.begin()), std::make_move_iterator(all.end())};
  Answer classes;
  for (const Embedding& embedding : all) {
    Embedding least = embedding;
    for (const Automorphism& symmetry : symmetries_) least = std::min(least, permuted(embedding, symmetry));
    classes.insert(std::move(least));
  }
  return classes;
}

std::string to_string(const ExternalId& id) {
  if (const auto* text = std::get_if<std::string>(&id)) return '"' + *text + '"';
  return std::to_string(std::get<std::int64_t>(id));
}

std::string to_string(const std::vector<Stored>& values) {
  std::string text;
  for (const Stored& value : values) {
    text += text.empty() ? " {" : ", ";
    if (const auto* number = std::get_if<std::int64_t>(&value)) text += std::to_string(*number);
    if (const auto* real = std::get_if<double>(&value)) text += std::to_string(*real) + "f";
    if (const auto* truth = std::get_if<bool>(&value)) text += *truth ? "true" : "false";
    if (const auto* symbol = std::get_if<std::string>(&value)) text += "'" + *symbol + "'";
  }
  return text.empty() ? text : text + "}";
}

std::string to_string(const DataEdge& edge) {
  std::string text = to_string(edge.source) + " -[" + edge.label + "]- " + to_string(edge.target);
  if (edge.ordinal != 0) text += " as " + std::to_string(edge.ordinal);
  if (edge.key) text += " with key " + to_string(*edge.key);
  if (edge.time) text += " at " + std::to_string(*edge.time);
  return text + to_string(edge.attributes);
}

std::string to_string(const Embedding& embedding) {
  std::string text;
  for (const ExternalId& vertex : embedding.vertices) text += (text.empty() ? "(" : ", ") + to_string(vertex);
  text += ") by";
  for (const DataEdge& edge : embedding.edges) text += " {" + to_string(edge) + "}";
  return text;
}

std::string to_string(const Update& update) {
  const auto shown = [](std::string_view labels) {
    std::string text(labels);
    std::ranges::replace(text, '\037', '&');
    return "'" + text + "'";
  };
  const auto vertex = [&](const Id& id, const std::optional<std::string_view>& label) {
    return to_string(own(id)) + (label ? ":" + shown(*label) : "");
  };
  const bool insert = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::insert_vertex;
  std::string text = insert ? "+ " : "- ";
  text += vertex(update.source, update.source_label);
  if (update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge) {
    text += " -[" + std::string(update.label) + "]- " + vertex(update.target, update.target_label);
  } else {
    text = "vertex " + text;
    if (insert && !update.label.empty()) text += " adds " + shown(update.label);
    if (insert && update.target_label) text += " removes " + shown(*update.target_label);
  }
  if (update.time) text += " @" + std::to_string(*update.time) + (update.ahead ? "!" : "");
  if (update.key()) text += " #" + to_string(own(*update.key()));
  if (update.properties != nullptr) text += to_string(own(update.properties->attributes));
  return text;
}

}  // namespace deltamatch::oracle
