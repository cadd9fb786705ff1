#include "ingest/codec/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/codec/name_doubts.hpp"

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

/// Whether a text may be one in quotes, or a word for a missing id. Most names are not by their first character or length.
bool may_be_no_name(std::string_view text) noexcept {
  switch (text.front()) {
    case '"':
    case '\'':
    case '(':
    case '<':
    case '[':
      return true;
    case 'N':
    case 'n':
    case '-':
    case '?':
      return text.size() <= 3;
    case '#':
      return text.size() >= 4 && text.size() <= 7;
    case 'U':
    case 'u':
      return text.size() == 9;
    default:
      return false;
  }
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
    if (entries != 0 && has_name != by_name) bad_columns(text, "positions and names cannot be mixed");
    by_name = has_name;
    const std::string_view word = has_name ? without_blanks(entry.substr(0, equals)) : entry;
    const std::optional<Role> role = role_by_name(word);
    if (!role && (by_name || word != "-"))
      bad_columns(text, fmt::format("`{}` is not one of {}", word, fmt::join(role_names, ", ")));
    if (role && std::exchange(seen[static_cast<std::size_t>(*role)], true))
      bad_columns(text, fmt::format("{} is given twice", word));
    if (by_name) {
      spec.names[static_cast<std::size_t>(*role)] = std::string(entry.substr(equals + 1));
    } else {
      spec.positions.push_back(role);
    }
  }
  const auto has = [&](Role role) { return seen[static_cast<std::size_t>(role)]; };
  const bool edges = has(Role::source) || has(Role::target);
  if (has(Role::vertex) && edges) bad_columns(text, "vertex cannot be given with source or target");
  if (!by_name && !has(Role::vertex) && !(has(Role::source) && has(Role::target))) {
    bad_columns(text, "source and target are missing, and so is vertex");
  }
  return spec;
}

std::span<const std::pair<std::string_view, Role>> usual_names() noexcept {
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
  return names;
}

std::optional<Role> role_by_usual_name(std::string_view field) noexcept {
  const auto names = usual_names();
  const auto found = std::ranges::find_if(names, [&](const auto& name) { return same_letters(name.first, field); });
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

std::string time_column_advice(const OptionSpelling& spelling, std::string_view columns, std::string_view name) {
  return fmt::format("{} reads {} as the time", spell_columns(spelling, with_column(columns, fmt::format("time={}", name))),
                     in_ticks(name));
}

std::string with_column(std::string_view columns, std::string_view entry) {
  const auto role_of = [](std::string_view text) { return without_blanks(text.substr(0, text.find('='))); };
  std::string all;
  for (std::size_t at = 0; at < columns.size();) {
    const std::size_t end = std::min(columns.find(',', at), columns.size());
    const std::string_view other = columns.substr(at, end - at);
    at = end + 1;
    if (role_of(other) != role_of(entry)) all.append(other).append(",");
  }
  return all.append(entry);
}

bool may_be_time(std::string_view column) noexcept {
  constexpr auto words = std::to_array<std::string_view>({"time", "date", "when", "created", "updated", "_at", "_ts", "ts_"});
  const auto holds = [&](std::string_view word) {
    for (std::size_t at = 0; at + word.size() <= column.size(); ++at) {
      if (same_letters(column.substr(at, word.size()), word)) return true;
    }
    return false;
  };
  return std::ranges::any_of(words, holds) || column.ends_with("At") || same_letters(column, "day") ||
         same_letters(column, "at");
}

std::string missing_id_remedy(const OptionSpelling& spelling, bool quotes) {
  return fmt::format(" ({}{} keeps it as a name)", quotes ? "quotes around it, or " : "", spelling.common("ids", "string"));
}

Layout::Layout(const std::vector<std::optional<Role>>& positions) : Layout() {
  for (std::size_t column = 0; column < positions.size(); ++column) {
    if (positions[column]) set(*positions[column], column);
  }
}

std::string spell(const OptionSpelling& spelling, std::string_view option, std::string_view value) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c < 0; };
  const bool bare = !value.empty() && std::ranges::all_of(value, [&](char c) {
    return plain(c) || std::string_view("_-.,=:/@+%").find(c) != std::string_view::npos;
  });
  if (bare || spelling.in_configuration) return spelling(option, value);
  std::string quoted;
  for (const char c : value) quoted += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
  return spelling(option, fmt::format("'{}'", quoted));
}

std::string spell_columns(const OptionSpelling& spelling, std::string_view value) {
  return value.empty() ? spelling("columns", value) : spell(spelling, "columns", value);
}

std::string what_of_operation(std::string_view name, std::string_view value) {
  return fmt::format("{} is ignored; its value {} looks like a deletion, but the record inserts", in_ticks(name),
                     in_ticks(value));
}

std::string remedy_of_unread(const OptionSpelling& spelling, std::string_view columns, std::string_view name,
                             std::string_view value, std::string_view insertions) {
  return fmt::format("{}, {} says that it is no operation", remedy_of_operation(spelling, columns, name, value, insertions),
                     spell_columns(spelling, with_column(columns, "op=")));
}

std::string first_two(std::size_t columns) {
  std::string positions = "source,target";
  for (std::size_t column = 2; column < columns; ++column) positions += ",-";
  return positions;
}

std::string skipping_columns(const OptionSpelling& spelling, const ColumnSpec& spec, std::size_t columns) {
  if (columns <= spec.positions.size() || spec.positions.empty()) return {};
  std::string positions;
  for (std::size_t column = 0; column < columns; ++column) {
    const bool given = column < spec.positions.size() && spec.positions[column];
    positions.append(positions.empty() ? "" : ",").append(given ? role_name(*spec.positions[column]) : "-");
  }
  return fmt::format("{} leaves the other columns out", spelling("columns", positions));
}

std::string columns_of_rows(const OptionSpelling& spelling, std::string_view columns, bool vertices) {
  std::string all(columns);
  for (const std::string_view entry : vertices ? std::array{"vertex=0", "label=1"} : std::array{"source=0", "target=1"})
    all = with_column(all, entry);
  return spell_columns(spelling, all);
}

std::string remedy_of_label(const OptionSpelling& spelling, std::string_view columns, std::string_view name) {
  const std::string op = with_column(with_column(columns, fmt::format("op={}", name)), "label=");
  return fmt::format("{} reads it as the operation, {} says that it is the label", spell_columns(spelling, op),
                     spell_columns(spelling, with_column(columns, fmt::format("label={}", name))));
}

bool is_header_of(const Layout& layout, std::span<const std::string_view> fields) noexcept {
  const auto is = [&](Role at, Role named) {
    const std::string_view field = fields[static_cast<std::size_t>(layout.column(at))];
    return field.size() > 1 && role_by_usual_name(field) == named;
  };
  if (layout.has(Role::vertex)) {
    if (!layout.has(Role::label)) return false;
    constexpr auto labels =
        std::to_array<std::string_view>({"label", "labels", "type", "kind", ":label", ":labels", "_labels"});
    const std::string_view label = fields[static_cast<std::size_t>(layout.column(Role::label))];
    return is(Role::vertex, Role::vertex) || std::ranges::any_of(labels, [&](auto name) { return same_letters(name, label); });
  }
  return (is(Role::source, Role::source) && is(Role::target, Role::target)) ||
         (is(Role::source, Role::target) && is(Role::target, Role::source));
}

void tell_several_labels(Doubts* doubts, std::string_view label) {
  if (doubts == nullptr || label.find_first_of(";|:") == std::string_view::npos) return;
  if (label.find_first_of(";|", 1) == std::string_view::npos &&
      (label[0] != ':' || label.find(':', 1) == std::string_view::npos))
    return;
  doubts->tell("several_labels", fmt::format("the label {} seems to be several labels, but is read as one", in_ticks(label)),
               "leave all labels but one out, or write it in backquotes in queries");
}

UpdateMaker::UpdateMaker(IdKind ids, TimeReader times, std::string edge_label, Operations operations, Doubts* doubts,
                         OptionSpelling spelling, bool quotes)
    : ids_(ids),
      times_(std::move(times)),
      edge_label_(std::move(edge_label)),
      operations_(std::move(operations)),
      doubts_(doubts),
      spelling_(std::move(spelling)),
      quotes_(quotes) {}

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
  const auto column = static_cast<std::size_t>(layout.column(role));
  const std::string_view field = fields[column];
  bool other = false;
  IdFault fault = parse_id(field, ids_, id, other);
  if (fault == IdFault::none) [[likely]] {
    if (doubts_names_ && id.is_text() && (other || may_be_no_name(field) || may_be_of_table(field) || may_be_addresses(field)))
        [[unlikely]]
      doubt_name(field, column, role, other);
    return true;
  }
  if (fault == IdFault::missing && column < names_.size() && names_[column] != 0) fault = parse_id(field, IdKind::string, id);
  if (fault == IdFault::none) return true;
  lacks_id_ = fault == IdFault::missing;
  message_ = fmt::format("{} {} {}", role_name(role), in_ticks(field), fault_text(fault));
  if (fault == IdFault::missing) message_ += missing_id_remedy(spelling_, quotes_);
  if (fault == IdFault::not_an_integer || fault == IdFault::out_of_range)
    message_ += " (--ids string, in a configuration ids: string, keeps it as text)";
  return false;
}

/// Reports an id that may stand for a missing one, or still has its quotes. If the format has quotes, the first one is told
/// once it is known whether it is quoted.
void UpdateMaker::doubt_name(std::string_view field, std::size_t column, Role role, bool other) {
  if (column >= names_.size()) {
    if (may_be_addresses(field)) doubt_addresses(*doubts_, role_name(role), field);
    if (other) doubt_invisible(*doubts_, role_name(role), field);
    doubt_table(*doubts_, role_name(role), field, role != Role::target);
  }
  const char mark = field.front();
  const bool within_marks = field.size() > 1 && field.back() == mark;
  const auto is_name = [&] { return fmt::format("{} says that it is a name", spelling_.common("ids", "string")); };
  if (within_marks && (mark == '\'' || (mark == '"' && !quotes_))) {
    doubts_->tell("quotes_as_id",
                  fmt::format("{} {} is read with its quotes, since {}", role_name(role), in_ticks(field),
                              quotes_ ? "csv has double quotes only" : "only csv has quotes"),
                  fmt::format("leave the quotes out: tr -d {} <FILE; {}", mark == '"' ? "'\"'" : "\"'\"", is_name()));
  } else if (may_stand_for_none(field)) {
    const bool looked = column < names_.size();
    if (quotes_ && !looked) lacks_id_ = true;
    if ((quotes_ && !looked) || (looked && names_[column] != 0)) return;
    doubts_->tell(
        "missing_as_id",
        fmt::format("{} {} may mean \"missing\"; all such records share one vertex", role_name(role), in_ticks(field)),
        fmt::format("leave such records out; {}{}", quotes_ ? "quotes around it, or " : "", is_name()));
  }
}

/// Reports a label that may stand for a missing one. If the format has quotes, the first one is told once it is known whether
/// it is quoted.
void UpdateMaker::look_at_label(std::string_view label, const Layout& layout, Role role) {
  if (!may_be_odd_label(label)) [[likely]]
    return;
  const auto column = static_cast<std::size_t>(layout.column(role));
  const bool looked = column < names_.size();
  if (quotes_ && !looked && is_missing_label(label)) {
    lacks_id_ = lacks_id_ || !doubts_->again("null_as_label");
    return;
  }
  if (!looked || names_[column] == 0) doubt_label(*doubts_, role_name(role), label, quotes_);
}

/// Returns false if a value is unknown, or if the two columns contradict each other. An empty flag means nothing.
bool UpdateMaker::take_operation(const Layout& layout, std::span<const std::string_view> fields, bool& inserts) {
  const auto field = [&](Role role) { return fields[static_cast<std::size_t>(layout.column(role))]; };
  std::optional<bool> op;
  if (layout.has(Role::op) && !(op_is_flag_ && field(Role::op).empty())) {
    op = operations_.read(field(Role::op), op_is_flag_);
    if (!op) {
      message_ = operations_.refusal(op_name_, field(Role::op), op_is_flag_);
      return false;
    }
  }
  std::optional<bool> flag;
  if (layout.has(Role::deleted) && !field(Role::deleted).empty()) {
    flag = operations_.read(field(Role::deleted), true);
    if (!flag) {
      message_ = operations_.refusal(deleted_name_, field(Role::deleted), true);
      return false;
    }
  }
  if (op && flag && *op != *flag) {
    message_ = operations_.contradiction(op_name_, field(Role::op), deleted_name_, field(Role::deleted));
    return false;
  }
  inserts = op.value_or(flag.value_or(true));
  return true;
}

Decoded UpdateMaker::make(const Layout& layout, std::span<const std::string_view> fields, std::optional<bool> sign) {
  const auto field = [&](Role role) { return fields[static_cast<std::size_t>(layout.column(role))]; };
  lacks_id_ = false;
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
    if (update_.source_label) tell_several_labels(doubts_, *update_.source_label);
  } else {
    update_.kind = inserts ? UpdateKind::insert_edge : UpdateKind::delete_edge;
    update_.label = layout.has(Role::label) ? field(Role::label) : std::string_view(edge_label_);
    update_.source_label = label(Role::source_label);
    update_.target_label = label(Role::target_label);
  }
  if (doubts_ != nullptr) {
    for (const Role role : {Role::label, Role::source_label, Role::target_label}) {
      if (layout.has(role)) look_at_label(field(role), layout, role);
    }
  }
  return {{&update_, 1}, std::nullopt, {}, {}};
}

}  // namespace deltamatch::ingest
