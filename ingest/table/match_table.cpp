#include "ingest/table/match_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "ingest/sink/match_text.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::int64_t rows_of_chunk = std::int64_t{1} << 16;
constexpr std::size_t bytes_of_chunk = std::size_t{1} << 26;
constexpr int digits_of_decimal = 19;  // of 64 bits

enum Place : std::size_t { sign, batch, time_of_match, query_name, id, bindings, edges, cause };

/// What a field of the table is, beside its type. Fields of ids and keys may turn from numbers to texts.
enum class Kind : std::uint8_t { other, vertex, key };

struct Field {
  ArrowField arrow;
  Kind kind = Kind::other;
  std::vector<Field> children{};
};

ArrowField arrow_of(const Field& field) {
  ArrowField arrow = field.arrow;
  for (const Field& child : field.children) arrow.children.push_back(arrow_of(child));
  return arrow;
}

Field field_of(std::string format, std::string name, std::vector<Field> children = {}) {
  return {.arrow = {.format = std::move(format), .name = std::move(name)}, .children = std::move(children)};
}

Field id_field(std::string name, Kind kind, bool text) {
  Field field = field_of(text ? arrow_type::text : arrow_type::int64, std::move(name));
  field.kind = kind;
  return field;
}

std::string format_of(const AttributeType& type) {
  switch (type.kind) {
    case AttributeType::Kind::integer:
      return arrow_type::int64;
    case AttributeType::Kind::decimal:
      return arrow_type::decimal(digits_of_decimal, type.scale);
    case AttributeType::Kind::real:
      return arrow_type::float64;
    case AttributeType::Kind::boolean:
      return arrow_type::boolean;
    case AttributeType::Kind::symbol:
      return arrow_type::text;
    case AttributeType::Kind::time:
      break;
  }
  return arrow_type::timestamp;
}

/// Turns a column of integers into texts of their digits.
void spell_out(ArrowColumn& column) {
  std::vector<std::uint8_t> offsets(sizeof(std::int32_t), 0);
  for (std::int64_t row = 0; row < column.length; ++row) {
    const auto at = static_cast<std::size_t>(row);
    const bool there = column.validity.empty() || (column.validity[at / 8] >> (at % 8) & 1U) != 0;
    if (there) {
      std::int64_t number = 0;
      std::memcpy(&number, column.values.data() + at * sizeof number, sizeof number);
      std::array<char, 24> text{};
      char* const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
      column.bytes.insert(column.bytes.end(), text.data(), end);
    }
    const auto size = static_cast<std::int32_t>(column.bytes.size());
    offsets.resize(offsets.size() + sizeof size);
    std::memcpy(offsets.data() + offsets.size() - sizeof size, &size, sizeof size);
  }
  column.values = std::move(offsets);
}

void spell_out(const Field& field, Kind kind, ArrowColumn& column) {
  if (field.kind == kind) spell_out(column);
  for (std::size_t c = 0; c < field.children.size(); ++c) spell_out(field.children[c], kind, column.children[c]);
}

void make_texts(Field& field, Kind kind) {
  if (field.kind == kind) field.arrow.format = arrow_type::text;
  for (Field& child : field.children) make_texts(child, kind);
}

/// The names of a query's edges. Those without one are called by their place, e1, or e1_2 if another edge is called e1.
std::vector<std::string> names_of_edges(const Query& query) {
  std::vector<std::string> names;
  std::set<std::string, std::less<>> taken;
  for (const QueryEdge& edge : query.edges) taken.insert(edge.name);
  for (const QueryEdge& edge : query.edges) {
    std::string name = edge.name;
    const std::string place = "e" + std::to_string(names.size() + 1);
    for (int turn = 1; name.empty() || (edge.name.empty() && taken.contains(name)); ++turn)
      name = turn == 1 ? place : place + "_" + std::to_string(turn);
    taken.insert(name);
    names.push_back(std::move(name));
  }
  return names;
}

void put_id(ArrayBuilder& column, const Id& id) {
  if (column.field().format == arrow_type::int64) {
    column.integer(id.number());
  } else if (id.is_text()) {
    column.text(id.text());
  } else {
    std::array<char, 24> text{};
    char* const end = std::to_chars(text.data(), text.data() + text.size(), id.number()).ptr;
    column.text({text.data(), static_cast<std::size_t>(end - text.data())});
  }
}

void put_value(ArrayBuilder& column, const AttributeType& type, const AttributeValue& value) {
  if (const auto* truth = std::get_if<bool>(&value))
    column.boolean(*truth);
  else if (const auto* number = std::get_if<std::int64_t>(&value))
    type.kind == AttributeType::Kind::decimal ? column.decimal(*number) : column.integer(*number);
  else if (const auto* real = std::get_if<double>(&value))
    column.real(*real);
  else if (const auto* text = std::get_if<std::string_view>(&value))
    column.text(*text);
  else
    column.null();
}

}  // namespace

class MatchTable::Writer {
 public:
  Writer(const std::vector<Query>& queries, const Form& form) : form_(form) {
    const char* const times = form.timestamps ? arrow_type::timestamp : arrow_type::int64;
    rows_ = field_of(arrow_type::structure, "",
                     {field_of(arrow_type::text, "sign"), field_of(arrow_type::int64, "batch"), field_of(times, "time"),
                      field_of(arrow_type::text, "query"), field_of(arrow_type::text, "id"), bindings_of(queries),
                      edges_of(times), field_of(arrow_type::list, "cause", {field_of(arrow_type::int32, "item")})});
    for (std::size_t column = 0; column < rows_.children.size(); ++column)
      rows_.children[column].arrow.nullable = column == time_of_match;
    make_builder();
  }

  void write(const Match& match) {
    if (!form_.text_ids && has_text_id(match)) turn(Kind::vertex, form_.text_ids);
    if (!form_.text_keys && has_text_key(match)) turn(Kind::key, form_.text_keys);
    ArrayBuilder& row = *builder_;
    row.child(sign).text(match.added ? "+" : "-");
    row.child(batch).integer(static_cast<std::int64_t>(match.batch));
    put_time(row.child(time_of_match), written_time(match, {.schema = form_.schema}));
    row.child(query_name).text(match.query);
    text_.clear();
    append_match_id(text_, match.id);
    row.child(id).text(text_);
    const Names& names = queries_.at(std::string(match.query));
    put_bindings(row.child(bindings), match, names);
    put_edges(row.child(edges), match, names);
    for (const std::uint32_t edge : match.cause) row.child(cause).child().integer(edge);
    row.child(cause).end_list();
    row.end_struct();
    if (row.length() >= rows_of_chunk || row.text_bytes() >= bytes_of_chunk) chunks_.push_back(row.take());
  }

  void commit() {
    if (builder_->length() > 0) chunks_.push_back(builder_->take());
    committed_ = chunks_.size();
  }
  void abort() noexcept {
    chunks_.resize(std::min(committed_, chunks_.size()));
    make_builder();
  }

  ArrowTable take() {
    committed_ = 0;
    return {arrow_of(rows_).children, std::exchange(chunks_, {})};
  }
  [[nodiscard]] std::uint64_t size() const noexcept {
    std::uint64_t rows = 0;
    for (std::size_t c = 0; c < committed_; ++c) rows += static_cast<std::uint64_t>(chunks_[c].length);
    return rows;
  }

 private:
  struct Names {
    std::vector<std::size_t> vertices;  // places in the struct of bindings
    std::map<std::string, std::size_t, std::less<>> paths;
    std::vector<std::string> edges;
  };

  static bool has_text_id(const Match& match) noexcept {
    return std::ranges::any_of(match.vertices, &Id::is_text) || std::ranges::any_of(match.edges, [](const MatchedEdge& edge) {
             return edge.source.is_text() || edge.target.is_text();
           });
  }
  static bool has_text_key(const Match& match) noexcept {
    return std::ranges::any_of(match.edges, [](const MatchedEdge& edge) { return edge.key && edge.key->is_text(); });
  }

  /// Ids, or keys, are texts from here on, and before.
  void turn(Kind kind, bool& texts) {
    ArrowColumn open = builder_->take();
    if (open.length > 0) chunks_.push_back(std::move(open));
    for (ArrowColumn& chunk : chunks_) spell_out(rows_, kind, chunk);
    make_texts(rows_, kind);
    texts = true;
    make_builder();
  }

  void make_builder() { builder_ = std::make_unique<ArrayBuilder>(arrow_of(rows_)); }

  /// A field for each name of a vertex or a path. A path has the name with [] if a vertex of another query has it, too.
  Field bindings_of(const std::vector<Query>& queries) {
    std::vector<Field> fields;
    const auto place = [&](const std::string& name, bool path) {
      const auto found = std::ranges::find(fields, name, [](const Field& field) { return field.arrow.name; });
      if (found != fields.end()) return static_cast<std::size_t>(found - fields.begin());
      fields.push_back(path ? field_of(arrow_type::list, name, {id_field("item", Kind::vertex, form_.text_ids)})
                            : id_field(name, Kind::vertex, form_.text_ids));
      return fields.size() - 1;
    };
    for (const Query& query : queries) {
      Names& names = queries_[query.name];
      for (const QueryVertex& vertex : query.vertices) names.vertices.push_back(place(vertex.name, false));
    }
    for (const Query& query : queries) {
      Names& names = queries_[query.name];
      names.edges = names_of_edges(query);
      for (std::size_t e = 0; e < query.edges.size(); ++e) {
        const std::string& name = query.edges[e].name;
        if (!query.edges[e].quantifier) continue;
        const auto vertex = std::ranges::find_if(
            fields, [&](const Field& field) { return field.arrow.name == name && field.arrow.format != arrow_type::list; });
        names.paths[name] = place(vertex == fields.end() ? name : name + "[]", true);
      }
    }
    return field_of(arrow_type::structure, "bindings", std::move(fields));
  }

  Field edges_of(const char* times) const {
    std::vector<Field> fields = {field_of(arrow_type::text, "edge"), field_of(arrow_type::int32, "step"),
                                 id_field("source", Kind::vertex, form_.text_ids), field_of(arrow_type::text, "label"),
                                 id_field("target", Kind::vertex, form_.text_ids)};
    if (form_.schema.model != EdgeModel::simple) {
      fields.push_back(form_.schema.model == EdgeModel::keyed ? id_field("key", Kind::key, form_.text_keys)
                                                              : field_of(arrow_type::int64, "ordinal"));
      fields.push_back(field_of(times, "time"));
      std::vector<Field> attributes;
      for (const Attribute& attribute : form_.schema.edges)
        attributes.push_back(field_of(format_of(attribute.type), attribute.name));
      if (!attributes.empty()) fields.push_back(field_of(arrow_type::structure, "attributes", std::move(attributes)));
    }
    return field_of(arrow_type::list, "edges", {field_of(arrow_type::structure, "item", std::move(fields))});
  }

  static void put_time(ArrayBuilder& column, const std::optional<Timestamp>& time) {
    if (time)
      column.integer(*time);
    else
      column.null();
  }

  void put_bindings(ArrayBuilder& column, const Match& match, const Names& names) {
    set_.assign(column.field().children.size(), false);
    for (std::size_t v = 0; v < names.vertices.size(); ++v) {
      put_id(column.child(names.vertices[v]), match.vertices[v]);
      set_[names.vertices[v]] = true;
    }
    for (const MatchedPath& path : match.paths) {
      const std::size_t place = names.paths.find(path.name)->second;
      ArrayBuilder& list = column.child(place);
      for (std::uint32_t v = 0; v + 1 < path.steps; ++v) put_id(list.child(), match.vertices[path.first_vertex + v]);
      list.end_list();
      set_[place] = true;
    }
    for (std::size_t place = 0; place < set_.size(); ++place) {
      if (!set_[place]) column.child(place).null();
    }
    column.end_struct();
  }

  void put_edges(ArrayBuilder& column, const Match& match, const Names& names) const {
    for_each_query_edge(
        match,
        [&](std::uint32_t query_edge, std::uint32_t edge) {
          put_edge(column.child(), match.edges[edge], names.edges[query_edge], std::nullopt);
        },
        [&](std::uint32_t query_edge, const MatchedPath& path) {
          for (std::uint32_t step = 0; step < path.steps; ++step)
            put_edge(column.child(), match.edges[path.first_edge + step], names.edges[query_edge], step);
        });
    column.end_list();
  }

  void put_edge(ArrayBuilder& row, const MatchedEdge& edge, const std::string& name, std::optional<std::uint32_t> step) const {
    enum : std::size_t { edge_name, step_of_path, source, label, target, identity, time, attributes };
    row.child(edge_name).text(name);
    if (step)
      row.child(step_of_path).integer(*step);
    else
      row.child(step_of_path).null();
    put_id(row.child(source), edge.source);
    row.child(label).text(edge.label);
    put_id(row.child(target), edge.target);
    if (form_.schema.model != EdgeModel::simple) {
      if (form_.schema.model == EdgeModel::events)
        row.child(identity).integer(static_cast<std::int64_t>(edge.ordinal));
      else if (edge.key)
        put_id(row.child(identity), *edge.key);
      else
        row.child(identity).null();
      put_time(row.child(time), edge.time);
      if (!form_.schema.edges.empty()) put_attributes(row.child(attributes), edge);
    }
    row.end_struct();
  }

  void put_attributes(ArrayBuilder& row, const MatchedEdge& edge) const {
    for (std::size_t a = 0; a < form_.schema.edges.size(); ++a) {
      const AttributeValue value = a < edge.attributes.size() ? edge.attributes[a] : AttributeValue();
      put_value(row.child(a), form_.schema.edges[a].type, value);
    }
    row.end_struct();
  }

  Form form_;
  Field rows_;
  std::map<std::string, Names> queries_;
  std::unique_ptr<ArrayBuilder> builder_;
  std::vector<ArrowColumn> chunks_;
  std::size_t committed_ = 0;
  std::string text_;
  std::vector<char> set_;
};

MatchTable::MatchTable(const std::vector<Query>& queries, const Form& form)
    : writer_(std::make_unique<Writer>(queries, form)) {}
MatchTable::~MatchTable() = default;

ArrowTable MatchTable::take() {
  incomplete_.clear();
  return writer_->take();
}
std::uint64_t MatchTable::size() const noexcept { return writer_->size(); }

void MatchTable::begin(std::uint64_t /*batch*/) {}
void MatchTable::write(const Match& match) { writer_->write(match); }
void MatchTable::end(const ListingEnd& end) {
  if (end.shortfall != Shortfall::none) incomplete_.push_back({std::string(end.query), end.shortfall});
}
void MatchTable::commit() { writer_->commit(); }
void MatchTable::abort() noexcept { writer_->abort(); }

}  // namespace deltamatch::ingest
