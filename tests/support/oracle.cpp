// The matcher assigns data edges to query edges, one query edge after the other, and keeps assignments that agree on the
// vertices. It uses only the graph's sets.
#include "support/oracle.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
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
    if (query_.edges.empty()) {  // a pattern of one vertex
      for (const Vertex& vertex : graph_.vertices) bind(0, vertex.first, [&] { emit(); });
      return std::move(found_);
    }
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

/// What conditions read of an embedding, and of further elements behind those of the variant.
Values values_of(const DataGraph& graph, const Variant& variant, const Embedding& embedding) {
  const auto declared = [&graph](const Element& element) -> const std::vector<Attribute>& {
    return element.kind == Element::Kind::edge ? graph.schema.edges : graph.schema.vertices;
  };
  const auto place = [declared](const Element& element, const std::string& name) {
    const auto& attributes = declared(element);
    return static_cast<std::size_t>(std::ranges::find(attributes, name, &Attribute::name) - attributes.begin());
  };
  return {[&graph, &embedding, place](const Element& element, const std::string& name) -> Stored {
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
          [declared, place](const Element& element, const std::string& name) {
            return declared(element).at(place(element, name)).type;
          },
          [&embedding](const Element& element) { return embedding.vertices[element.index]; },
          [&variant](const Element& element) {
            std::vector<Element> steps;
            for (const std::uint32_t edge : steps_of(variant, element.index)) steps.push_back({Element::Kind::edge, edge});
            return steps;
          }};
}

/// Counts a pattern beside an embedding of the query, by trying every data edge for each of the pattern's edges.
class Counter {
 public:
  Counter(const DataGraph& graph, const CountedPattern& pattern, MatchMode mode, const Variant& variant,
          const Embedding& embedding, std::optional<Timestamp> aged)
      : graph_(graph), pattern_(pattern), mode_(mode), variant_(variant), aged_(aged), whole_(embedding) {
    known_.assign(pattern.first_vertex, true);
    known_.resize(pattern.first_vertex + pattern.vertices.size());
    whole_.vertices.resize(pattern.first_vertex);  // conditions do not read the vertices between steps
    whole_.vertices.resize(known_.size());
    whole_.edges.resize(embedding.edges.size() + pattern.edges.size());
  }

  /// `step`: what a path of the query is asked for, if the count stands in it.
  std::int64_t run(std::optional<std::size_t> step) {
    step_ = step;
    assign(0);
    return pattern_.distinct.empty() ? matches_ : static_cast<std::int64_t>(images_.size());
  }

 private:
  void assign(std::size_t at) {
    if (at == pattern_.edges.size()) return take();
    const QueryEdge& edge = pattern_.edges[at];
    for (const DataEdge& data : graph_.edges) {
      if (!admits(edge.labels, data.label) || (aged_ && (!data.time || *data.time <= *aged_))) continue;
      const auto first = whole_.edges.end() - static_cast<std::ptrdiff_t>(pattern_.edges.size());
      const auto last = first + static_cast<std::ptrdiff_t>(at);
      if (mode_ != MatchMode::homomorphism && std::find(first, last, data) != last) continue;
      *last = data;
      join(edge.source, data.source, edge.target, data.target, at);
      if (!edge.directed) join(edge.source, data.target, edge.target, data.source, at);
    }
  }

  void join(std::uint32_t a, const ExternalId& to_a, std::uint32_t b, const ExternalId& to_b, std::size_t at) {
    const std::vector<bool> known = known_;
    if (give(a, to_a) && give(b, to_b)) assign(at + 1);
    known_ = known;
  }

  bool give(std::uint32_t vertex, const ExternalId& id) {
    if (known_[vertex]) return whole_.vertices[vertex] == id;
    if (!admits(pattern_.vertices[vertex - pattern_.first_vertex].labels, graph_.vertices.at(id))) return false;
    known_[vertex] = true;
    whole_.vertices[vertex] = id;
    return true;
  }

  void take() {
    if (mode_ == MatchMode::isomorphism) {  // the pattern's vertices differ, those that it shares with the query included
      std::set<std::uint32_t> vertices;
      std::set<ExternalId> images;
      for (const QueryEdge& edge : pattern_.edges) vertices.insert({edge.source, edge.target});
      for (const std::uint32_t vertex : vertices) images.insert(whole_.vertices[vertex]);
      if (images.size() != vertices.size()) return;
    }
    if (!pattern_.where.empty() && holds(pattern_.where[0], values_of(graph_, variant_, whole_), step_) != true) return;
    ++matches_;
    std::vector<ExternalId> images;
    for (const std::uint32_t vertex : pattern_.distinct) images.push_back(whole_.vertices[vertex]);
    images_.insert(std::move(images));
  }

  const DataGraph& graph_;
  const CountedPattern& pattern_;
  MatchMode mode_;
  const Variant& variant_;
  std::optional<Timestamp> aged_;
  std::optional<std::size_t> step_;
  Embedding whole_;  ///< of the query, and behind it of the pattern
  std::vector<bool> known_;
  std::int64_t matches_ = 0;
  std::set<std::vector<ExternalId>> images_;
};

/// Whether the conditions are TRUE, and any two edges are less than WITHIN apart.
bool admitted(const Query& query, const Variant& variant, MatchMode mode, const DataGraph& graph, const Embedding& embedding,
              std::optional<Timestamp> aged) {
  Values values = values_of(graph, variant, embedding);
  values.count = [&](const CountedPattern& pattern, std::optional<std::size_t> step) {
    return Counter(graph, pattern, mode, variant, embedding, aged).run(step);
  };
  if (!satisfies(query, variant, values)) return false;
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

std::string canonical(const CountedPattern& pattern, const Automorphism& symmetry);

/// Writes a condition, or its contrary, as text that is the same for all ways to write it. Elements are mapped first.
class Canonical {
 public:
  explicit Canonical(const Automorphism& symmetry) : symmetry_(&symmetry) {}

  std::string truth(const Expression& node, bool negated) const {
    if (const auto of_count = comparison_of_count(node, negated)) return *of_count;
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
  /// A comparison of a count with a whole number: whether there are at least, or exactly, so many.
  std::optional<std::string> comparison_of_count(const Expression& node, bool negated) const {
    if (node.operands.size() != 2) return std::nullopt;
    const bool right = node.operands[1].kind == Kind::count;
    if (!right && node.operands[0].kind != Kind::count) return std::nullopt;
    const auto* decimal = std::get_if<Decimal>(&node.operands[right ? 0 : 1].literal);
    std::int64_t number = decimal == nullptr ? -1 : decimal->digits;
    for (int scale = decimal == nullptr ? 0 : decimal->scale; scale > 0; --scale, number /= 10) {
      if (number % 10 != 0) return std::nullopt;
    }
    if (number < 0) return std::nullopt;
    const std::string count = value(node.operands[right ? 1 : 0]);
    const auto at_least = [&](std::int64_t least, bool holds) {
      if (least == 0) return std::string(holds ? "true" : "false");
      return sign(!holds) + std::to_string(least) + "<=" + count;
    };
    switch (node.kind) {
      case Kind::equal:
      case Kind::not_equal: {
        const bool equals = (node.kind == Kind::equal) != negated;
        return number == 0 ? at_least(1, !equals) : sign(!equals) + std::to_string(number) + "=" + count;
      }
      case Kind::less:
        return right ? at_least(number + 1, !negated) : at_least(number, negated);
      case Kind::less_equal:
        return right ? at_least(number, !negated) : at_least(number + 1, negated);
      case Kind::greater:
        return right ? at_least(number, negated) : at_least(number + 1, !negated);
      case Kind::greater_equal:
        return right ? at_least(number + 1, negated) : at_least(number, !negated);
      default:
        return std::nullopt;
    }
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
    if (node.kind == Kind::count) return "count(" + canonical(node.pattern.at(0), *symmetry_) + ")";
    static const std::map<Kind, std::string> functions{{Kind::negate, "neg("},   {Kind::add, "add("},
                                                       {Kind::subtract, "sub("}, {Kind::multiply, "mul("},
                                                       {Kind::least, "least("},  {Kind::greatest, "greatest("}};
    const auto function = functions.find(node.kind);
    if (function == functions.end()) return "(" + truth(node, false) + ")";
    std::vector<std::string> parts;
    for (const Expression& operand : node.operands) parts.push_back(value(operand));
    if (node.kind != Kind::negate && node.kind != Kind::subtract) std::sort(parts.begin(), parts.end());
    std::string text = function->second;
    for (const std::string& part : parts) text += part + ",";
    text.back() = ')';
    return text;
  }

  const Automorphism* symmetry_;
};

/// The least text over all numberings of the pattern's own vertices and edges.
std::string canonical(const CountedPattern& pattern, const Automorphism& symmetry) {
  std::vector<std::size_t> vertices(pattern.vertices.size());
  std::iota(vertices.begin(), vertices.end(), std::size_t{0});
  std::string least;
  do {
    std::vector<std::size_t> edges(pattern.edges.size());
    std::iota(edges.begin(), edges.end(), std::size_t{0});
    do {
      Automorphism whole = symmetry;
      for (const std::size_t vertex : vertices) whole.vertices.push_back(pattern.first_vertex + vertex);
      for (const std::size_t edge : edges) whole.edges.push_back(pattern.first_edge + edge);
      std::vector<std::string> parts;
      const auto labelled = [](const LabelSet& labels) {
        std::string text = "[";
        for (const std::string& label : labels) text += "'" + label + "'";
        return text + "]";
      };
      for (std::size_t v = 0; v < vertices.size(); ++v)
        parts.push_back("v" + std::to_string(whole.vertices[pattern.first_vertex + v]) + labelled(pattern.vertices[v].labels));
      for (std::size_t e = 0; e < edges.size(); ++e) {
        const QueryEdge& edge = pattern.edges[e];
        auto ends = std::pair(whole.vertices[edge.source], whole.vertices[edge.target]);
        if (!edge.directed && ends.second < ends.first) std::swap(ends.first, ends.second);
        parts.push_back("e" + std::to_string(whole.edges[pattern.first_edge + e]) + ":" + std::to_string(ends.first) +
                        (edge.directed ? ">" : "-") + std::to_string(ends.second) + labelled(edge.labels));
      }
      for (const std::uint32_t vertex : pattern.distinct) parts.push_back("d" + std::to_string(whole.vertices[vertex]));
      for (const Expression& condition : pattern.where) parts.push_back("w" + Canonical(whole).truth(condition, false));
      std::sort(parts.begin(), parts.end());
      std::string text;
      for (const std::string& part : parts) text += part + ";";
      if (least.empty() || text < least) least = std::move(text);
    } while (std::next_permutation(edges.begin(), edges.end()));
  } while (std::next_permutation(vertices.begin(), vertices.end()));
  return least;
}

/// The embedding under an automorphism: each query vertex v gets the image of its permuted vertex.
Embedding permuted(const Embedding& embedding, const Automorphism& symmetry) {
  Embedding result{{}, {}, embedding.lengths};
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
    : query_(std::move(query)), mode_(mode), count_(count), induced_(induced), variants_(variants_of(query_)) {
  if (count == CountMode::embeddings) return;
  if (mode != MatchMode::isomorphism) throw std::invalid_argument("subgraphs are counted in isomorphism mode only");
  for (const Variant& variant : variants_) symmetries_.push_back(automorphisms(variant.query));
}

Answer Matcher::match(const DataGraph& graph, std::size_t limit, std::optional<Timestamp> aged) const {
  for (const QueryEdge& edge : query_.edges) {
    if (edge.directed && !graph.directed) throw std::invalid_argument("a directed query edge over undirected data");
  }
  Answer answer;
  for (std::size_t v = 0; v < variants_.size(); ++v) match(graph, v, limit, aged, answer);
  return answer;
}

void Matcher::match(const DataGraph& graph, std::size_t variant, std::size_t limit, std::optional<Timestamp> aged,
                    Answer& answer) const {
  const Variant& of = variants_[variant];
  std::vector<Embedding> all = Search(graph, of.query, mode_, limit).run();
  std::erase_if(all, [&](const Embedding& embedding) { return !admitted(query_, of, mode_, graph, embedding, aged); });
  if (induced_) std::erase_if(all, [&](const Embedding& embedding) { return !takes_every_edge(graph, embedding); });
  for (Embedding& embedding : all) {
    embedding.lengths = of.lengths;
    Embedding least = embedding;
    for (std::size_t s = 0; count_ == CountMode::subgraphs && s < symmetries_[variant].size(); ++s)
      least = std::min(least, permuted(embedding, symmetries_[variant][s]));
    answer.insert(std::move(least));
  }
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
  for (const std::uint32_t length : embedding.lengths) text += " /" + std::to_string(length);
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
