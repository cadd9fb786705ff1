#include "ingest/codec/json_rows.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "ingest/codec/columns.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {

bool JsonOperation::take(const JsonFields& fields, bool& inserts, std::string& message) const {
  const auto of = [&](Role role) -> const Scalar& { return fields.of(Part::row, role); };
  const auto name = [&](Role role) { return fields.name(Part::row, role); };
  std::array<std::optional<bool>, 2> said;
  constexpr std::array roles{Role::op, Role::deleted};
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const Scalar& scalar = of(roles[i]);
    const bool flag = op_is_flag_ || roles[i] == Role::deleted;
    if (scalar.kind == Scalar::Kind::absent || (flag && scalar.text.empty())) continue;
    said[i] = operations_.read(scalar.text, flag);
    if (said[i]) continue;
    message = operations_.refusal(name(roles[i]), scalar.text, flag);
    return false;
  }
  if (said[0] && said[1] && *said[0] != *said[1]) {
    message = operations_.contradiction(name(Role::op), of(Role::op).text, name(Role::deleted), of(Role::deleted).text);
    return false;
  }
  inserts = said[0].value_or(said[1].value_or(true));
  return true;
}

bool is_json_header(const JsonFields& fields) {
  const auto is = [&](Role at, Role named) {
    const std::string_view text = fields.of(Part::row, at).text;
    return text.size() > 1 && role_by_usual_name(text) == named;
  };
  if (is(Role::vertex, Role::vertex)) return is(Role::label, Role::label);
  return (is(Role::source, Role::source) && is(Role::target, Role::target)) ||
         (is(Role::source, Role::target) && is(Role::target, Role::source));
}

std::string no_row(ondemand::json_type type, const std::string& columns, bool vertices, const OptionSpelling& spelling) {
  if (type == ondemand::json_type::array) return "it is an array in an array; `jq -c '.[]'` makes a line of each";
  return fmt::format("the array holds values and no objects; {} reads it as a row",
                     columns_of_rows(spelling, columns, vertices));
}

void FirstRows::look(Doubts& doubts, const Update& update, std::string_view record) {
  if (seen_ >= that_tell) return;
  const bool edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
  const bool source = is_numeric(update.source);
  const bool target = edge ? is_numeric(update.target) : source;
  const bool as_expected = seen_ == 0 ? !source && !target : source && target;
  seen_ = as_expected ? seen_ + 1 : that_tell + 1;
  if (seen_ == 1) {
    at_ = doubts.position();
    text_ = in_ticks(record);
  }
  if (seen_ != that_tell) return;
  doubts.report_at(at_, "header_as_record",
                   fmt::format("the words of {} are read as ids, but numbers follow: it may be a header", text_),
                   "leave the row out if it is one");
}

}  // namespace deltamatch::ingest
