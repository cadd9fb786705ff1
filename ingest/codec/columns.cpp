#include "ingest/codec/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::array<std::string_view, role_count> role_names = {"source", "target", "label",  "source_label", "target_label",
                                                                 "time",   "op",     "vertex", "deleted"};

std::optional<Role> role_by_name(std::string_view name) noexcept {
  const auto* const found = std::find(role_names.begin(), role_names.end(), name);
  if (found == role_names.end()) return std::nullopt;
  return static_cast<Role>(found - role_names.begin());
}

[[noreturn]] void bad_columns(std::string_view text, std::string_view what) {
  throw Error(ErrorKind::usage, "columns", fmt::format("`{}`: {}", text, what),
              "give e.g. source,target,label,time by position (- skips one) or source=NAME,target=NAME by name");
}

}  // namespace

std::string_view role_name(Role role) noexcept { return role_names[static_cast<std::size_t>(role)]; }

ColumnSpec parse_columns(std::string_view text) {
  ColumnSpec spec;
  if (without_blanks(text).empty()) return spec;
  std::array<bool, role_count> seen{};
  bool by_name = false;
  for (std::size_t start = 0, entries = 0; start <= text.size(); ++entries) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string_view entry = without_blanks(text.substr(start, end - start));
    start = end + 1;
    const std::size_t equals = entry.find('=');
    const bool has_name = equals != std::string_view::npos;
    if (entries != 0 && has_name != by_name) bad_columns(text, "positions and names are mixed");
    by_name = has_name;
    const std::string_view word = has_name ? without_blanks(entry.substr(0, equals)) : entry;
    const std::optional<Role> role = role_by_name(word);
    if (!role && (by_name || word != "-"))
      bad_columns(text, fmt::format("`{}` is none of {}", word, fmt::join(role_names, ", ")));
    if (role && std::exchange(seen[static_cast<std::size_t>(*role)], true))
      bad_columns(text, fmt::format("{} is there twice", word));
    if (by_name) {
      spec.names[static_cast<std::size_t>(*role)] = std::string(entry.substr(equals + 1));
    } else {
      spec.positions.push_back(role);
    }
  }
  const auto has = [&](Role role) { return seen[static_cast<std::size_t>(role)]; };
  const bool edges = has(Role::source) || has(Role::target);
  if (has(Role::vertex) && edges) bad_columns(text, "vertex goes with neither source nor target");
  if (!by_name && !has(Role::vertex) && !(has(Role::source) && has(Role::target))) {
    bad_columns(text, "neither source and target nor vertex");
  }
  return spec;
}

std::optional<Role> role_by_usual_name(std::string_view field) noexcept {
  static constexpr std::array<std::pair<std::string_view, Role>, 25> names = {{
      {"source", Role::source},
      {"src", Role::source},
      {"from", Role::source},
      {"u", Role::source},
      {"target", Role::target},
      {"dst", Role::target},
      {"to", Role::target},
      {"v", Role::target},
      {"label", Role::label},
      {"type", Role::label},
      {"rel", Role::label},
      {"source_label", Role::source_label},
      {"target_label", Role::target_label},
      {"time", Role::time},
      {"timestamp", Role::time},
      {"t", Role::time},
      {"ts", Role::time},
      {"op", Role::op},
      {"sign", Role::op},
      {"__op", Role::op},
      {"_change_type", Role::op},
      {"__deleted", Role::deleted},
      {"vertex", Role::vertex},
      {"id", Role::vertex},
      {"node", Role::vertex},
  }};
  const auto* const found =
      std::find_if(names.begin(), names.end(), [&](const auto& name) { return same_letters(name.first, field); });
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

Layout::Layout(const std::vector<std::optional<Role>>& positions) : Layout() {
  for (std::size_t column = 0; column < positions.size(); ++column) {
    if (positions[column]) set(*positions[column], column);
  }
}

UpdateMaker::UpdateMaker(IdKind ids, TimeReader times, std::string edge_label, Operations operations)
    : ids_(ids), times_(std::move(times)), edge_label_(std::move(edge_label)), operations_(std::move(operations)) {}

void UpdateMaker::name_operations(std::string op, std::string deleted) {
  op_name_ = std::move(op);
  deleted_name_ = std::move(deleted);
  op_is_flag_ = is_deletion_flag(op_name_);
}

Decoded UpdateMaker::refuse(RejectReason reason, std::string message) {
  message_ = std::move(message);
  return {{}, reason, message_, {}};
}

bool UpdateMaker::take_id(const Layout& layout, std::span<const std::string_view> fields, Role role, Id& id) {
  const std::string_view field = fields[static_cast<std::size_t>(layout.column(role))];
  const IdFault fault = parse_id(field, ids_, id);
  if (fault == IdFault::none) [[likely]]
    return true;
  message_ = fmt::format("{} {} {}", role_name(role), in_ticks(field), fault_text(fault));
  if (fault == IdFault::not_an_integer || fault == IdFault::out_of_range)
    message_ += " (--ids string, in a configuration ids: string, keeps it as text)";
  return false;
}

/// False: a value is not known, or the two columns contradict each other. An empty flag says nothing.
bool UpdateMaker::take_operation(const Layout& layout, std::span<const std::string_view> fields, bool& inserts) {
  const auto field = [&](Role role) { return fields[static_cast<std::size_t>(layout.column(role))]; };
  std::optional<bool> op;
  if (layout.has(Role::op) && !(op_is_flag_ && field(Role::op).empty())) {
    op = operations_.read(field(Role::op), op_is_flag_);
    if (!op) {
      message_ = Operations::refusal(op_name_, field(Role::op), op_is_flag_);
      return false;
    }
  }
  std::optional<bool> flag;
  if (layout.has(Role::deleted) && !field(Role::deleted).empty()) {
    flag = operations_.read(field(Role::deleted), true);
    if (!flag) {
      message_ = Operations::refusal(deleted_name_, field(Role::deleted), true);
      return false;
    }
  }
  if (op && flag && *op != *flag) {
    message_ = Operations::contradiction(op_name_, field(Role::op), deleted_name_, field(Role::deleted));
    return false;
  }
  inserts = op.value_or(flag.value_or(true));
  return true;
}

Decoded UpdateMaker::make(const Layout& layout, std::span<const std::string_view> fields, std::optional<bool> sign) {
  const auto field = [&](Role role) { return fields[static_cast<std::size_t>(layout.column(role))]; };
  bool inserts = sign.value_or(true);
  if (!sign && (layout.has(Role::op) || layout.has(Role::deleted)) && !take_operation(layout, fields, inserts))
    return {{}, RejectReason::bad_operation, message_, {}};
  const bool vertex = layout.has(Role::vertex);
  if (!take_id(layout, fields, vertex ? Role::vertex : Role::source, update_.source) ||
      (!vertex && !take_id(layout, fields, Role::target, update_.target))) {
    return {{}, RejectReason::bad_id, message_, {}};
  }
  update_.time.reset();
  if (layout.has(Role::time) && !field(Role::time).empty()) {
    update_.time = times_.read(field(Role::time));
    if (!update_.time) {
      return refuse(RejectReason::bad_time,
                    fmt::format("time {} is not a time, or beyond the range", in_ticks(field(Role::time))));
    }
  }
  const auto label = [&](Role role) {
    return layout.has(role) && !field(role).empty() ? std::optional(field(role)) : std::nullopt;
  };
  if (vertex) {
    update_.kind = inserts ? UpdateKind::insert_vertex : UpdateKind::delete_vertex;
    update_.source_label = label(layout.has(Role::label) ? Role::label : Role::source_label);
  } else {
    update_.kind = inserts ? UpdateKind::insert_edge : UpdateKind::delete_edge;
    update_.label = layout.has(Role::label) ? field(Role::label) : std::string_view(edge_label_);
    update_.source_label = label(Role::source_label);
    update_.target_label = label(Role::target_label);
  }
  return {{&update_, 1}, std::nullopt, {}, {}};
}

}  // namespace deltamatch::ingest
