#include "ingest/codec/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {
namespace {

[[noreturn]] void bad_path(std::string_view path, std::string_view what) {
  throw Error(ErrorKind::usage, "columns", fmt::format("the path `{}` {}", path, what),
              R"(write names with dots between them, payer.id, and \. for a dot within a name)");
}

/// The names between the dots of a path.
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
  nodes_.push_back({std::string(name), plain, above.empty() ? std::string(name) : fmt::format("{}.{}", above, name), {}, {}});
  nodes_[parent].children.push_back(made);
  return made;
}

void JsonTree::add(std::uint32_t start, const std::vector<std::string>& names, std::size_t target) {
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
  nodes_[node].slots.push_back(static_cast<std::uint8_t>(target));
}

JsonTree::JsonTree(const ColumnSpec& columns, Envelope envelope) : nodes_(1) {
  const bool event = envelope == Envelope::debezium;
  if (event) {
    add(root, {"op"}, slot(Part::envelope, Role::op));
    before = child(root, "before");
    after = child(root, "after");
  }
  for (std::size_t r = 0; r < role_count; ++r) {
    const auto role = static_cast<Role>(r);
    if (event && role == Role::op) {
      if (!columns.names[r]) continue;
      throw Error(ErrorKind::usage, "columns", "a change event has its own op", "leave op out");
    }
    const std::string path = columns.names[r].value_or(std::string(role_name(role)));
    if (path.empty()) continue;
    in_envelope_[r] = path.starts_with('.');
    if (in_envelope_[r]) {
      if (!event) bad_path(path, "starts at an envelope, and there is none");
      const std::vector<std::string> names = split_path(std::string_view(path).substr(1), path);
      if (names[0] == "payload") bad_path(path, "names the payload, which is passed through by itself");
      add(root, names, slot(Part::envelope, role));
      continue;
    }
    const std::vector<std::string> names = split_path(path, path);
    add(event ? after : root, names, slot(Part::row, role));
    if (event) add(before, names, slot(Part::before, role));
  }
  if (event) {
    const std::vector<std::uint32_t> bare = nodes_[root].children;
    payload = child(root, "payload");
    nodes_[payload].children = bare;
  }
}

}  // namespace deltamatch::ingest
