#include "ingest/codec/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/codec/message_columns.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::string_view how_to_write = R"(write names with dots between them, payer.id, and \. for a dot within a name)";

[[noreturn]] void bad_path(std::string_view path, std::string_view what, std::string_view remedy = how_to_write) {
  throw Error(ErrorKind::usage, "columns", fmt::format("the path `{}` {}", path, what), remedy);
}

}  // namespace

std::vector<std::string> split_path(std::string_view path, std::string_view whole) {
  std::vector<std::string> names(1);
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '.') {
      names.emplace_back();
    } else if (path[i] == '\\') {
      ++i;
      if (i == path.size() || (path[i] != '.' && path[i] != '\\')) bad_path(whole, R"(has a \ before neither . nor \)");
      names.back() += path[i];
    } else {
      names.back() += path[i];
    }
  }
  if (std::find(names.begin(), names.end(), "") != names.end()) bad_path(whole, "has an empty name");
  return names;
}

namespace {

/// The number that a name spells canonically, below a thousand million. Otherwise none.
std::uint32_t index_of(std::string_view name) noexcept {
  constexpr std::size_t most_digits = 9;
  const bool digits =
      !name.empty() && name.size() <= most_digits && name.find_first_not_of("0123456789") == std::string_view::npos;
  if (!digits || (name.size() > 1 && name[0] == '0')) return JsonTree::none;
  std::uint32_t index = 0;
  for (const char c : name) index = index * 10 + static_cast<std::uint32_t>(c - '0');
  return index;
}

/// The paths of a role: the given one, or the usual ones. No path if the role is to have none.
std::vector<std::string> paths_of(const ColumnSpec& columns, Role role, bool keyed) {
  if (const auto& told = columns.name(role); told && surrounds_message(*told)) return {};
  if (const auto& told = columns.name(role)) return told->empty() ? std::vector<std::string>() : std::vector{*told};
  if ((role == Role::edge && !keyed) || is_label_list(role)) return {};
  if (role == Role::op) return {"op", "__op", "_change_type"};
  if (role == Role::deleted) return columns.usual(role) ? std::vector<std::string>{"__deleted"} : std::vector<std::string>();
  return {std::string(role_name(role))};
}

}  // namespace

std::uint32_t JsonTree::child(std::uint32_t parent, std::string_view name) {
  for (const std::uint32_t node : nodes_[parent].children) {
    if (nodes_[node].name == name) return node;
  }
  const auto made = static_cast<std::uint32_t>(nodes_.size());
  const std::string& above = nodes_[parent].path;
  const bool plain =
      name.size() < Record::padding &&
      std::all_of(
          name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; });
  Node node;
  node.name = name;
  node.plain = plain;
  node.path = above.empty() ? std::string(name) : fmt::format("{}.{}", above, name);
  node.index = index_of(name);
  nodes_[parent].indexed = nodes_[parent].indexed || node.index != none;
  nodes_.push_back(std::move(node));
  nodes_[parent].children.push_back(made);
  return made;
}

void JsonTree::add(std::uint32_t start, const std::vector<std::string>& names, std::size_t target, bool usual) {
  const auto check = [this](std::uint32_t node, bool inner) {
    if (inner ? nodes_[node].slots.empty() : nodes_[node].children.empty()) return;
    throw Error(ErrorKind::usage, "columns",
                fmt::format("the field `{}` cannot be an object and a value at once", nodes_[node].path), "name other fields");
  };
  std::uint32_t node = start;
  for (const std::string& name : names) {
    check(node, true);
    node = child(node, name);
  }
  check(node, false);
  nodes_[node].slots.push_back(static_cast<std::uint16_t>(target));
  nodes_[node].usual = nodes_[node].usual || usual;
  nodes_[node].attribute = nodes_[node].attribute || is_attribute(role_of(target));
}

void JsonTree::add_path(const std::string& path, Role role, bool event) {
  if (path.starts_with('.')) {
    in_envelope_[static_cast<std::size_t>(role)] = 1;
    if (!event)
      bad_path(path, "starts at an envelope, and there is none", "name the envelope (debezium), or leave out the first dot");
    const std::vector<std::string> names = split_path(std::string_view(path).substr(1), path);
    if (names[0] == "payload")
      bad_path(path, "names the payload, which is looked into anyway", "leave `payload` out of the path");
    add(root, names, slot(Part::envelope, role));
    return;
  }
  const std::vector<std::string> names = split_path(path, path);
  add(event ? after : root, names, slot(Part::row, role));
  if (event) add(before, names, slot(Part::before, role));
}

/// Adds the usual names of roles that nobody has named. They are found in any case, and come after the given names.
void JsonTree::add_usual(std::uint32_t start, Part part, bool vertices) {
  for (const auto& [name, role] : usual_names()) {
    if (!columns_.usual(role)) continue;
    const bool operation = role == Role::op || role == Role::deleted;
    if (operation && start != root) continue;                         // a change event says the operation itself
    if (role == Role::vertex && name == "id" && !vertices) continue;  // most records have an id of their own
    const auto& siblings = nodes_[start].children;
    const auto known = std::ranges::find_if(siblings, [&, n = name](std::uint32_t node) { return nodes_[node].name == n; });
    if (known != siblings.end()) {
      if (nodes_[*known].attribute) continue;  // an attribute of that name goes first
      nodes_[*known].usual = nodes_[*known].slots == std::vector{static_cast<std::uint16_t>(slot(part, role))};
      continue;
    }
    const std::uint32_t node = child(start, name);
    nodes_[node].slots.push_back(static_cast<std::uint16_t>(slot(part, role)));
    nodes_[node].usual = true;
    nodes_[node].alias = !operation;
  }
}

/// Adds the usual names of an edge's key. `id` is one of them, unless it is a vertex.
void JsonTree::add_usual_keys(std::uint32_t start, Part part, bool vertices) {
  const auto add_key = [&](std::string_view name) {
    const auto& siblings = nodes_[start].children;
    if (std::ranges::any_of(siblings, [&](std::uint32_t node) { return nodes_[node].name == name; })) return;
    const std::uint32_t node = child(start, name);
    nodes_[node].slots.push_back(static_cast<std::uint16_t>(slot(part, Role::edge)));
    nodes_[node].usual = nodes_[node].alias = true;
  };
  for (const std::string_view name : usual_keys()) add_key(name);
  if (!vertices) add_key("id");
}

/// The field of an attribute is found in any case if nobody has named it.
void JsonTree::add_attribute(const CodecOptions& options, std::size_t attribute, bool event) {
  const Role role = attribute_role(attribute);
  const std::string& name = columns_.attributes[attribute];
  const auto& given = columns_.name(role);
  if (given && (given->empty() || surrounds_message(*given))) return;
  const std::string path = given ? *given : attribute_column(options, name);
  if (!path.empty()) return add_path(path, role, event);
  add(event ? after : root, {name}, slot(Part::row, role), true);
  if (event) add(before, {name}, slot(Part::before, role), true);
}

JsonTree::JsonTree(const CodecOptions& options) : columns_(parse_columns(options)), nodes_(1), in_envelope_(columns_.roles()) {
  const ColumnSpec& columns = columns_;
  const bool event = options.envelope == Envelope::debezium;
  if (event) {
    add(root, {"op"}, slot(Part::envelope, Role::op));
    before = child(root, "before");
    after = child(root, "after");
  }
  for (std::size_t r = 0; r < role_count; ++r) {
    const auto role = static_cast<Role>(r);
    if (event && (role == Role::op || role == Role::deleted)) {
      if (!columns.names[r]) continue;
      throw Error(ErrorKind::usage, "columns", "a change event has its own op", fmt::format("leave {} out", role_name(role)));
    }
    for (const std::string& path : paths_of(columns, role, options.edges == EdgeModel::keyed)) add_path(path, role, event);
  }
  for (std::size_t attribute = 0; attribute < columns.attributes.size(); ++attribute) add_attribute(options, attribute, event);
  if (options.edges == EdgeModel::keyed && !columns.name(Role::edge)) {
    add_usual_keys(event ? after : root, Part::row, options.vertices);
    if (event) add_usual_keys(before, Part::before, options.vertices);
  }
  if (event) {
    add_usual(before, Part::before, options.vertices);
    add_usual(after, Part::row, options.vertices);
  } else {
    add_usual(root, Part::row, options.vertices);
  }
  if (event) {
    const std::vector<std::uint32_t> bare = nodes_[root].children;
    payload = child(root, "payload");
    nodes_[payload].children = bare;
    nodes_[payload].indexed = nodes_[root].indexed;
  }
}

}  // namespace deltamatch::ingest
