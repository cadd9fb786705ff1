#include "ingest/codec/json_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ingest/codec/columns.hpp"
#include "ingest/codec/json_exports.hpp"
#include "ingest/codec/json_value.hpp"

namespace deltamatch::ingest {
namespace {

namespace dom = simdjson::dom;

constexpr int deepest_look = 4;  // levels of objects within a record that are searched

std::optional<dom::element> member(dom::object object, std::string_view name) {
  dom::element found;
  if (object.at_key(name).get(found) != simdjson::SUCCESS) return std::nullopt;
  return found;
}

std::optional<dom::object> as_object(std::optional<dom::element> element) {
  dom::object object;
  if (!element || element->get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
  return object;
}

bool is_scalar(dom::element element) { return !element.is_object() && !element.is_array() && !element.is_null(); }

/// A name as a path in `columns` writes it.
std::string in_path(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '.' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

/// Several names as a path.
std::string path_of(const std::vector<std::string_view>& names) {
  std::string path;
  for (const std::string_view name : names) path += (path.empty() ? "" : ".") + in_path(name);
  return path;
}

/// Whether a path can hold the name: `columns` is split at commas, and blanks at its ends are not kept.
bool fits_in_path(std::string_view name) {
  return !name.empty() && name.find(',') == std::string_view::npos && name.find_first_of(" \t") == std::string_view::npos;
}

/// A name as a program of jq writes it, between single quotes of a shell.
std::string in_jq(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  const bool word = !name.empty() && letters.find(name[0]) != std::string_view::npos && std::ranges::all_of(name, [&](char c) {
    return letters.find(c) != std::string_view::npos || (c >= '0' && c <= '9');
  });
  return word ? fmt::format(".{}", name) : fmt::format(".\"{}\"", name);
}

/// The path from an object to the value that identifies it. That is a field called id, one whose name ends so, or the only
/// value that is no object. Empty if none of them is alone.
std::string path_to_id(dom::object object, int depth = 0) {
  std::vector<std::string> values;
  std::vector<std::string> ids;
  std::vector<std::pair<std::string, dom::object>> objects;
  for (const auto [name, value] : object) {
    if (!fits_in_path(name)) continue;
    if (is_scalar(value)) {
      if (same_letters(name, "id")) return in_path(name);
      values.push_back(in_path(name));
      if (name.size() > 2 && same_letters(name.substr(name.size() - 2), "id")) ids.push_back(values.back());
    } else if (const auto inner = as_object(value)) {
      objects.emplace_back(in_path(name), *inner);
    }
  }
  if (ids.size() == 1) return ids[0];
  if (values.size() == 1) return values[0];
  if (!values.empty() || objects.size() != 1 || depth == deepest_look) return {};
  const std::string inner = path_to_id(objects[0].second, depth + 1);
  return inner.empty() ? inner : fmt::format("{}.{}", objects[0].first, inner);
}

bool is_change_event(dom::object object) {
  const auto is = [](dom::object at) { return member(at, "op") && (member(at, "before") || member(at, "after")); };
  if (is(object)) return true;
  const auto payload = as_object(member(object, "payload"));
  return payload && is(*payload);
}

/// The row of a change event that its columns are about.
std::optional<dom::object> row_of(dom::object event) {
  if (const auto payload = as_object(member(event, "payload"))) event = *payload;
  const auto after = as_object(member(event, "after"));
  return after ? after : as_object(member(event, "before"));
}

/// The names of the fields that state an edge by their usual names, an entry for each role. Empty if an end is lacking.
std::vector<std::pair<Role, std::string>> usual_fields(dom::object object) {
  std::vector<std::pair<Role, std::string>> fields;
  const auto has = [&](Role role) {
    return std::ranges::find(fields, role, &std::pair<Role, std::string>::first) != fields.end();
  };
  for (const auto [name, value] : object) {
    const std::optional<Role> role = role_by_usual_name(name);
    if (!role || *role == Role::vertex || is_label_list(*role) || has(*role)) continue;
    if (is_scalar(value)) fields.emplace_back(*role, in_path(name));
  }
  if (!has(Role::source) || !has(Role::target)) fields.clear();
  return fields;
}

struct RecordArray {
  std::string name;         // of the field, with the names above it
  std::string jq;           // the path to it
  bool edges = false;       // its first record has the usual names of an edge, or an object in it has
  bool undirected = false;  // beside it, or above, stands `"directed": false`
};

/// The arrays of objects in an object, and in the objects in it.
void find_arrays(dom::object object, const RecordArray& above, int depth, std::vector<RecordArray>& arrays) {
  const std::optional<dom::element> directed = member(object, "directed");
  bool is_directed = true;
  if (directed && directed->get_bool().get(is_directed) != simdjson::SUCCESS) is_directed = true;
  const bool undirected = above.undirected || !is_directed;
  for (const auto [name, value] : object) {
    if (name.find('\'') != std::string_view::npos || name.find('"') != std::string_view::npos) continue;
    const std::string named = above.name.empty() ? std::string(name) : fmt::format("{}.{}", above.name, name);
    const std::string jq = above.jq + in_jq(name);
    if (const auto inner = as_object(value); inner && depth < deepest_look) {
      find_arrays(*inner, {named, jq, false, undirected}, depth + 1, arrays);
      continue;
    }
    dom::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS || array.begin() == array.end()) continue;
    const auto first = as_object(*array.begin());
    if (!first) continue;
    bool edges = !usual_fields(*first).empty();
    for (const auto [key, field] : *first) {
      const auto inner = as_object(field);
      edges = edges || (inner && !usual_fields(*inner).empty());
    }
    arrays.push_back({named, jq, edges, undirected});
  }
}

class Advice {
 public:
  Advice(dom::object row, const JsonReading& reading)
      : row_(row), reading_(reading), event_(reading.tree.after != JsonTree::none) {}

  [[nodiscard]] std::string text() const {
    if (!event_ && is_change_event(row_))
      return fmt::format("; {} reads a change event of Debezium", reading_.spelling("envelope", "debezium"));
    if (std::string ends = about_objects(); !ends.empty()) return ends;
    if (!reading_.lacking) return {};
    if (std::string known = event_ ? std::string() : advice_on_export(row_, reading_.spelling.in_configuration); !known.empty())
      return known;
    if (std::string inner = reading_.lacking == Role::vertex ? std::string() : about_inner(); !inner.empty()) return inner;
    if (std::string arrays = event_ ? std::string() : about_arrays(); !arrays.empty()) return arrays;
    return about_names() + about_vertex();
  }

 private:
  [[nodiscard]] std::string with(const std::vector<std::pair<Role, std::string>>& paths) const {
    std::string columns(reading_.columns);
    for (const auto& [role, path] : paths) columns = with_column(columns, fmt::format("{}={}", role_name(role), path));
    return spell_columns(reading_.spelling, columns);
  }

  [[nodiscard]] const std::vector<std::uint32_t>& read_nodes() const {
    return reading_.tree.nodes()[event_ ? reading_.tree.after : JsonTree::root].children;
  }

  /// The node that reads a field of the row.
  [[nodiscard]] const JsonTree::Node* node_of(std::string_view name) const {
    for (const std::uint32_t index : read_nodes()) {
      const JsonTree::Node& node = reading_.tree.nodes()[index];
      if (node.name == name || (node.usual && same_letters(node.name, name))) return &node;
    }
    return nullptr;
  }

  /// Fields that should hold an id or a label, and hold an object.
  [[nodiscard]] std::string about_objects() const {
    std::vector<std::pair<Role, std::string>> paths;
    for (const auto [name, value] : row_) {
      const auto object = as_object(value);
      const JsonTree::Node* const node = object ? node_of(name) : nullptr;
      if (node == nullptr || node->slots.empty() || !fits_in_path(name)) continue;
      const auto role = reading_.tree.role_of(node->slots[0]);
      if (role == Role::op || role == Role::deleted || is_label_list(role) || is_attribute(role)) continue;
      const std::string inner = path_to_id(*object);
      if (inner.empty()) {
        std::vector<std::string> names;
        for (const auto [key, field] : *object) names.push_back(in_ticks(key));
        if (names.empty()) return {};
        return fmt::format("; {} reads one of its fields, which are {}", with({{role, in_path(name) + ".NAME"}}),
                           fmt::join(names, ", "));
      }
      paths.emplace_back(role, fmt::format("{}.{}", in_path(name), inner));
    }
    if (paths.empty()) return {};
    return fmt::format("; {} reads {} in it", with(paths), paths.size() == 1 ? "the field" : "the fields");
  }

  /// An object in the row that states the edge by usual names.
  [[nodiscard]] std::string about_inner() const {
    for (const auto [name, value] : row_) {
      const auto object = as_object(value);
      if (!object || !fits_in_path(name)) continue;
      std::vector<std::pair<Role, std::string>> fields = usual_fields(*object);
      if (fields.empty()) continue;
      // A change event says the operation itself.
      std::erase_if(fields,
                    [&](const auto& field) { return event_ && (field.first == Role::deleted || field.first == Role::op); });
      for (auto& [role, path] : fields) path = fmt::format("{}.{}", in_path(name), path);
      if (!event_) add_operation(fields);
      return fmt::format("; {} reads the edge in {}", with(fields), in_ticks(name));
    }
    return {};
  }

  /// If a field beside the edge says the operation, and has no usual name for it, reads that too.
  void add_operation(std::vector<std::pair<Role, std::string>>& fields) const {
    const auto has = [&](Role role) {
      return std::ranges::find(fields, role, &std::pair<Role, std::string>::first) != fields.end();
    };
    const std::vector<std::string_view> names = operation_beside(row_);
    if (names.empty() || has(Role::op) || has(Role::deleted) || !std::ranges::all_of(names, fits_in_path)) return;
    const auto usual = [&](Role role) { return names.size() == 1 && role_by_usual_name(names[0]) == role; };
    if (usual(Role::op)) return;
    fields.emplace_back(Role::op, path_of(names));
    if (usual(Role::label) && !has(Role::label)) fields.emplace_back(Role::label, "");
  }

  /// The program of jq that makes a line of each element. If a field beside them says the operation, each line gets it.
  [[nodiscard]] std::string lines_of(std::string_view jq) const {
    const std::vector<std::string_view> names = operation_beside(row_);
    if (names.empty()) return fmt::format("`jq -c '{}[]'`", jq);
    std::string path;
    for (const std::string_view name : names) path += in_jq(name);
    return fmt::format("`jq -c '{} as $op | {}[] + {{op: $op}}'`", path, jq);
  }

  [[nodiscard]] std::string about_arrays() const {
    std::vector<RecordArray> arrays;
    find_arrays(row_, {}, 0, arrays);
    const auto edges = std::ranges::find(arrays, true, &RecordArray::edges);
    if (edges == arrays.end() && arrays.size() > 1) {
      std::vector<std::string> commands;
      for (const RecordArray& array : arrays) commands.push_back(lines_of(array.jq));
      return fmt::format("; it holds arrays of records, and one of {} makes lines of those that are edges",
                         fmt::join(commands, ", "));
    }
    const auto one = edges == arrays.end() ? arrays.begin() : edges;
    if (one == arrays.end()) return {};
    const std::string_view option = reading_.spelling.in_configuration ? "directed: false" : "--undirected";
    return fmt::format("; {} holds an array of records, and {} makes a line of each{}", in_ticks(one->name), lines_of(one->jq),
                       one->undirected ? fmt::format(" (the edges have no direction: give {})", option) : "");
  }

  /// The fields that stand there in place of the one that is lacking.
  [[nodiscard]] std::string about_names() const {
    constexpr std::size_t most = 12;
    std::string names;
    std::size_t count = 0;
    for (const auto [name, value] : row_) {
      if (node_of(name) != nullptr) continue;
      if (count++ < most) names += (names.empty() ? "" : ", ") + in_ticks(name);
    }
    if (names.empty()) return {};
    const bool letters = member(row_, "s") && member(row_, "t") && reading_.lacking == Role::source && node_of("s") == nullptr;
    if (letters && !event_)
      return fmt::format(" among {}; {} reads the edge, if {} and {} are its ends", names,
                         with({{Role::source, "s"}, {Role::target, "t"}}), in_ticks("s"), in_ticks("t"));
    return fmt::format(" among {}{}; {} names it", names, count > most ? ", ..." : "", with({{*reading_.lacking, "NAME"}}));
  }

  /// Exports often mix lines of vertices and lines of edges.
  [[nodiscard]] std::string about_vertex() const {
    const bool vertex = member(row_, "id") && (member(row_, "labels") || member(row_, "label"));
    if (!vertex || reading_.lacking == Role::vertex) return {};
    return "; if it is a vertex among edges, `jq -c 'select(.source // .src // .from)'` keeps the edges";
  }

  dom::object row_;
  const JsonReading& reading_;
  bool event_;
};

}  // namespace

std::string json_advice(std::string_view record, const JsonReading& reading) {
  dom::parser parser;
  dom::element root;
  if (parser.parse(record.data(), record.size()).get(root) != simdjson::SUCCESS) return {};
  if (reading.element) {
    dom::array array;
    if (root.get_array().get(array) != simdjson::SUCCESS || array.at(*reading.element).get(root) != simdjson::SUCCESS)
      return {};
  }
  auto row = as_object(root);
  if (row && reading.tree.after != JsonTree::none) row = row_of(*row);
  return row ? Advice(*row, reading).text() : std::string();
}

}  // namespace deltamatch::ingest
