#include "ingest/codec/json_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "deltamatch/labels.hpp"
#include "ingest/codec/operation_columns.hpp"

namespace deltamatch::ingest {
namespace {

bool says_operation(Role role) noexcept { return role == Role::op || role == Role::deleted; }

bool is_end(Role role) noexcept { return role == Role::source || role == Role::target; }

}  // namespace

JsonFields::JsonFields(const CodecOptions& options, bool watches)
    : tree_(options),
      names_(tree_, watches),
      columns_(options.columns),
      spelling_(spelling_of(options)),
      doubts_(options.doubts),
      surroundings_(tree_.columns()),
      scalars_(tree_.roles() * (options.envelope == Envelope::debezium ? part_count : 1)),
      aliases_(scalars_.size()),
      seen_(tree_.nodes().size()) {}

void JsonFields::reserve(std::size_t size) {
  unescaped_.clear();
  unescaped_.reserve(2 * size);  // of texts with escapes, and of joined labels
  united_.clear();
}

void JsonFields::begin() {
  std::ranges::fill(scalars_, Scalar());
  fault_.clear();
  ++records_;
  names_.begin();
  for (const std::uint16_t slot : touched_) aliases_[slot] = {};
  touched_.clear();
  removal_field_.clear();
}

void JsonFields::settle() {
  if (!surroundings_.empty()) take_surroundings();
  for (const Part part : {Part::row, Part::before}) take_aliases(part);
}

/// Takes what surrounds the message, for both rows of a change event.
void JsonFields::take_surroundings() {
  if (std::string fault = surroundings_.take(frame_); !fault.empty()) complain(std::move(fault));
  const bool event = scalars_.size() > tree_.roles();
  for (std::size_t column = 0; column < surroundings_.size(); ++column) {
    const Role role = surroundings_.role(column);
    scalars_[tree_.slot(Part::row, role)] = surroundings_.value(column);
    if (event) scalars_[tree_.slot(Part::before, role)] = surroundings_.value(column);
  }
}

/// Complains if a value under a usual name is needed and cannot be taken.
void JsonFields::take_aliases(Part part) {
  if (touched_.empty()) return;
  if (tree_.slot(part, Role::source) >= scalars_.size()) return;
  const bool told_vertex = has(part, Role::vertex);
  const auto of_role = [&](Role role) -> Alias& { return aliases_[tree_.slot(part, role)]; };
  const auto there = [&](Role role) { return has(part, role) || of_role(role).count != 0; };
  const bool edge = !told_vertex && there(Role::source) && there(Role::target);
  const bool vertex = !edge && there(Role::vertex);
  // A single letter may mean anything: v may be a version. So u counts only with v.
  const bool letters = is_letter(of_role(Role::source)) != is_letter(of_role(Role::target));
  for (const std::uint16_t touched : touched_) {
    if (tree_.part_of(touched) != part) continue;
    const Role role = tree_.role_of(touched);
    Alias& alias = aliases_[touched];
    if (alias.count == 0) continue;
    if (scalars_[touched].kind != Scalar::Kind::absent) {
      tell_two_names(role, touched);
      continue;
    }
    if ((is_end(role) && (vertex || (letters && is_letter(alias)))) || (role == Role::vertex && !vertex)) continue;
    if (role == Role::edge && (vertex || told_vertex)) continue;
    if (is_label_list(role) && !vertex && !told_vertex) continue;
    const std::string& name = tree_.nodes()[alias.node].path;
    if (alias.count > 1) {
      complain(fmt::format("two fields say the {}; {} reads that one", role_name(role), columns(role, name)));
    } else if (alias.scalar.kind == Scalar::Kind::absent) {
      const std::string none =
          is_end(role) ? "" : fmt::format("; {} says that there is no {}", columns(role, ""), role_name(role));
      complain(fmt::format("field {} is neither a string nor a number{}", in_ticks(name), none));
    }
    scalars_[touched] = alias.scalar;
  }
}

/// Reports another name for a role beside the one that goes first, if their values differ.
void JsonFields::tell_two_names(Role role, std::size_t slot) {
  const Alias& alias = aliases_[slot];
  if (role == Role::vertex) return;  // most records have an id of their own
  const bool differs = alias.scalar.kind != Scalar::Kind::absent && alias.scalar.text != scalars_[slot].text;
  if (doubts_ == nullptr || is_letter(alias) || !differs || doubts_->again("two_names")) return;
  const std::string& other = tree_.nodes()[alias.node].path;
  const auto option = [&](std::string_view path) {  // paths in a row start there
    return columns(role, path.substr(path.find_last_of('.') + 1));
  };
  const std::string read = name(tree_.part_of(slot), role);
  doubts_->tell("two_names",
                fmt::format("{} and {} may both be the {}, and differ; {} is read", in_ticks(read), in_ticks(other),
                            role_name(role), in_ticks(read)),
                fmt::format("{} says so, {} reads the other", option(read), option(other)));
}

std::string JsonFields::columns(Role role, std::string_view name) const {
  return spell_columns(spelling_, with_column(columns_, fmt::format("{}={}", tree_.columns().role_text(role), name)));
}

simdjson::error_code JsonFields::walk(ondemand::object object, std::uint32_t node) {  // NOLINT(misc-no-recursion): as the tree
  for (auto item : object) {
    ondemand::field field;
    if (const auto error = std::move(item).get(field)) return error;
    std::uint32_t child = JsonTree::none;
    if (const auto error = names_.find(node, field, child)) return error;
    if (child == JsonNames::watched) {
      if (const auto error = watch(field.value())) return error;
    } else if (child == JsonNames::metadata) {
      if (const auto error = watch_within(field.value())) return error;
    } else if (const auto error = child == JsonTree::none ? pass(field.value()) : take(child, field.value())) {
      return error;
    }
  }
  return simdjson::SUCCESS;
}

simdjson::error_code JsonFields::walk(ondemand::array array, std::uint32_t node) {  // NOLINT(misc-no-recursion)
  std::size_t element = 0;
  for (auto item : array) {
    ondemand::value value;
    if (const auto error = item.get(value)) return error;
    std::uint32_t found = JsonTree::none;
    for (const std::uint32_t child : tree_.nodes()[node].children) {
      if (tree_.nodes()[child].index == element) found = child;
    }
    if (const auto error = found == JsonTree::none ? pass(value) : take(found, value)) return error;
    ++element;
  }
  return simdjson::SUCCESS;
}

/// Looks into an object that may say the operation of the record.
simdjson::error_code JsonFields::watch_within(ondemand::value value) {
  ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  if (type != ondemand::json_type::object) return pass(value);
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) return error;
  const std::string outer = names_.watched_key();
  for (auto item : object) {
    ondemand::field field;
    if (const auto error = std::move(item).get(field)) return error;
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return error;
    const bool watched = names_.is_watched_within(outer, key);
    if (const auto error = watched ? watch(field.value()) : pass(field.value())) return error;
  }
  return simdjson::SUCCESS;
}

/// Looks at the value of the field that is watched.
simdjson::error_code JsonFields::watch(ondemand::value value) {
  ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  if (type == ondemand::json_type::string || type == ondemand::json_type::boolean || type == ondemand::json_type::number) {
    std::string_view token = token_text(value.raw_json_token());
    if (token.size() > 1 && token.front() == '"' && token.back() == '"') token = token.substr(1, token.size() - 2);
    const bool same = token == looked_at_ && names_.watched_key() == looked_at_in_;
    if (!same) {
      looked_at_ = token;
      looked_at_in_ = names_.watched_key();
      says_removal_ = removes(looked_at_in_, token);
    }
    // An end that all records have is no end of the edge.
    if (says_removal_ && is_end_in_some_rows(looked_at_in_)) {
      if (std::exchange(last_end_, records_) != records_) ++ends_;
      if (ends_ == records_) return pass(value);
    }
    if (says_removal_) {
      removal_field_ = names_.watched_key();
      removal_ = token;
    }
  }
  return pass(value);
}

/// Whether a value of a field says a removal. Remembers what the field had before.
bool JsonFields::removes(const std::string& field, std::string_view value) {
  const bool is_action = adds_with_letter(field);
  if (needs_mapping(field, value) || (is_action && value == "A")) {
    insertion_ = value;
    inserted_in_ = field;
  }
  if (is_action && value == "R") return inserted_in_ == field && insertion_ == "A";  // added and removed
  const bool counts = std::ranges::find(counts_, field) != counts_.end();
  if (!counts && counts_something(field, value)) {
    if (counts_.size() < most_counts) counts_.push_back(field);
    if (doubts_ != nullptr) doubts_->clear_operation(field);
  }
  return !counts && says_removal(field, value);
}

simdjson::error_code JsonFields::take(std::uint32_t index, ondemand::value value) {  // NOLINT(misc-no-recursion)
  const JsonTree::Node& node = tree_.nodes()[index];
  if (node.alias) return take_alias(index, value);
  if (is_there(index)) return complain(fmt::format("field {} is there twice", in_ticks(node.path))), pass(value);
  seen_[index] = {records_, false};
  ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  if (node.attribute) return take_attribute(node, type, value);
  if (type == ondemand::json_type::null) return pass(value);
  if (node.slots.empty()) return take_inner(index, type, value);
  Scalar scalar;
  if (type == ondemand::json_type::string || type == ondemand::json_type::number) {
    if (const auto error = take_scalar(type, value, scalar)) return error;
  } else if (type == ondemand::json_type::boolean &&
             std::ranges::all_of(node.slots, [&](std::uint16_t slot) { return says_operation(tree_.role_of(slot)); })) {
    bool yes = false;
    if (const auto error = value.get_bool().get(yes)) return error;
    scalar = {Scalar::Kind::boolean, yes ? "true" : "false"};
  } else if (type == ondemand::json_type::array &&
             std::ranges::all_of(node.slots, [&](std::uint16_t slot) { return says_labels(tree_.role_of(slot)); })) {
    if (const auto error = take_labels(node, value, scalar)) return error;
  } else {
    return complain(fmt::format("field {} is neither a string nor a number", in_ticks(node.path))), pass(value);
  }
  for (const std::uint16_t slot : node.slots) {
    if (scalars_[slot].kind != Scalar::Kind::absent) [[unlikely]]  // only for the operation, which has several usual names
      complain(fmt::format("two fields say the operation; {} reads that one", columns(Role::op, node.path)));
    scalars_[slot] = scalar;
  }
  return simdjson::SUCCESS;
}

/// Takes a value that is read as an attribute, and perhaps for other roles too.
simdjson::error_code JsonFields::take_attribute(const JsonTree::Node& node, ondemand::json_type type, ondemand::value value) {
  using Kind = Scalar::Kind;
  Scalar scalar;
  if (type == ondemand::json_type::string || type == ondemand::json_type::number) {
    if (const auto error = take_scalar(type, value, scalar)) return error;
  } else if (type == ondemand::json_type::boolean) {
    bool yes = false;
    if (const auto error = value.get_bool().get(yes)) return error;
    scalar = {Kind::boolean, yes ? "true" : "false"};
  } else if (type == ondemand::json_type::object) {
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return error;
    if (const auto error = take_scaled(object, scalar)) return error;
  } else {
    scalar.kind = type == ondemand::json_type::null ? Kind::null : Kind::composed;
    if (const auto error = pass(value)) return error;
  }
  for (const std::uint16_t slot : node.slots) {
    const bool attribute = is_attribute(tree_.role_of(slot));
    const bool plain = scalar.kind == Kind::string || scalar.kind == Kind::number;
    const bool fits = attribute || plain || (scalar.kind == Kind::boolean && says_operation(tree_.role_of(slot)));
    if (fits)
      scalars_[slot] = scalar;
    else if (scalar.kind != Kind::null)
      complain(fmt::format("field {} is neither a string nor a number", in_ticks(node.path)));
  }
  return simdjson::SUCCESS;
}

/// Takes a decimal of Debezium, {"scale":2,"value":"base64"}. Any other object is composed.
simdjson::error_code JsonFields::take_scaled(ondemand::object object, Scalar& scalar) {
  constexpr int both = 2;
  int found = 0;
  bool other = false;
  for (auto item : object) {
    ondemand::field field;
    if (const auto error = std::move(item).get(field)) return error;
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return error;
    ondemand::value value = field.value();
    ondemand::json_type type{};
    if (const auto error = value.type().get(type)) return error;
    Scalar inner;
    if (key == "scale" && type == ondemand::json_type::number) {
      if (const auto error = take_scalar(type, value, inner)) return error;
      other = other || parse_integer(inner.text, scalar.number) != NumberFault::none;
      ++found;
    } else if (key == "value" && type == ondemand::json_type::string) {
      if (const auto error = take_scalar(type, value, inner)) return error;
      scalar.text = inner.text;
      ++found;
    } else {
      other = true;
      if (const auto error = pass(value)) return error;
    }
  }
  scalar.kind = found == both && !other ? Scalar::Kind::scaled : Scalar::Kind::composed;
  if (scalar.kind == Scalar::Kind::composed) scalar.text = {};
  return simdjson::SUCCESS;
}

/// Takes the value of an inner node.
simdjson::error_code JsonFields::take_inner(std::uint32_t index, ondemand::json_type type,  // NOLINT(misc-no-recursion)
                                            ondemand::value value) {
  const JsonTree::Node& node = tree_.nodes()[index];
  if (type == ondemand::json_type::array && node.indexed) {
    seen_[index].object = true;
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return error;
    return walk(array, index);
  }
  if (type == ondemand::json_type::object) {
    seen_[index].object = true;
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return error;
    return walk(object, index);
  }
  const bool array = type == ondemand::json_type::array;
  complain(fmt::format("field {} is no object{}", in_ticks(node.path),
                       array ? fmt::format("; {0}.0 is the first of its elements alone, and `jq -c '.{0}[]'` makes a record "
                                           "of each",
                                           node.path)
                             : ""));
  return pass(value);
}

simdjson::error_code JsonFields::take_scalar(ondemand::json_type type, ondemand::value& value, Scalar& scalar) {
  if (type == ondemand::json_type::string) {
    scalar.kind = Scalar::Kind::string;
    if (const auto error = take_token(value, scalar.text)) return error;
    return take_quotes(scalar.text, unescaped_) ? simdjson::SUCCESS : simdjson::STRING_ERROR;
  }
  scalar = {Scalar::Kind::number, token_text(value.raw_json_token())};
  return is_number(scalar.text) ? simdjson::SUCCESS : simdjson::NUMBER_ERROR;
}

/// Takes a value whose field has one of several names of its role. Whether it counts is decided when the object has been read.
simdjson::error_code JsonFields::take_alias(std::uint32_t index, ondemand::value value) {
  ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  if (type == ondemand::json_type::null) return pass(value);
  seen_[index] = {records_, false};
  const std::uint16_t slot = tree_.nodes()[index].slots[0];
  Alias& alias = aliases_[slot];
  const Role role = tree_.role_of(slot);
  if (alias.count == 0) {
    touched_.push_back(slot);
  } else if (is_end(role)) {
    const bool letter = tree_.nodes()[index].name.size() == 1;
    if (letter && !is_letter(alias)) return pass(value);  // v may be a version: words go first
    if (!letter && is_letter(alias)) alias = {};
  } else if (role == Role::edge) {
    const auto is_id = [&](std::uint32_t node) { return tree_.nodes()[node].name == "id"; };
    if (is_id(index)) return pass(value);  // other names go first
    if (is_id(alias.node)) alias = {};
  }
  ++alias.count;
  alias.node = index;
  if (type == ondemand::json_type::array && says_labels(role)) return take_labels(tree_.nodes()[index], value, alias.scalar);
  if (type != ondemand::json_type::string && type != ondemand::json_type::number) return pass(value);
  return take_scalar(type, value, alias.scalar);
}

/// Takes an array of labels as one text. There is room for it, because the array is longer.
simdjson::error_code JsonFields::take_labels(const JsonTree::Node& node, ondemand::value& value, Scalar& scalar) {
  ondemand::array array;
  if (const auto error = value.get_array().get(array)) return error;
  std::vector<std::string_view> labels;
  for (auto item : array) {
    ondemand::value inner;
    if (const auto error = item.get(inner)) return error;
    ondemand::json_type type{};
    if (const auto error = inner.type().get(type)) return error;
    if (type != ondemand::json_type::string && type != ondemand::json_type::number) {
      complain(fmt::format("field {} has a label that is neither a string nor a number", in_ticks(node.path)));
      if (const auto error = pass(inner)) return error;
      continue;
    }
    Scalar label;
    if (const auto error = take_scalar(type, inner, label)) return error;
    labels.push_back(label.text);
  }
  const std::size_t start = unescaped_.size();
  unescaped_ += join_labels(std::move(labels));
  scalar = {Scalar::Kind::string, std::string_view(unescaped_).substr(start)};
  return simdjson::SUCCESS;
}

std::string_view JsonFields::unite(std::string_view labels, std::string_view others) {
  return united_.emplace_back(add_labels(labels, others));
}

std::string JsonFields::name(Part part, Role role) const {
  const Part where = tree_.in_envelope(role) ? Part::envelope : part;
  for (std::size_t column = 0; column < surroundings_.size(); ++column) {
    if (surroundings_.role(column) == role) return surroundings_.name(column);
  }
  const auto target = static_cast<std::uint16_t>(tree_.slot(where, role));
  std::string_view named = tree_.columns().role_text(role);
  bool first = true;
  for (std::uint32_t node = 0; node < tree_.nodes().size(); ++node) {
    const std::vector<std::uint16_t>& slots = tree_.nodes()[node].slots;
    if (std::find(slots.begin(), slots.end(), target) == slots.end()) continue;
    const bool there = is_there(node) && (!tree_.nodes()[node].alias || has(where, role));
    if (std::exchange(first, false) || there) named = tree_.nodes()[node].path;
    if (there && !tree_.nodes()[node].alias) break;
  }
  return std::string(named);
}

}  // namespace deltamatch::ingest
