// The values that a JSON object states: read along the tree of fields, without a document in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/codec/columns.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/json_names.hpp"
#include "ingest/codec/json_tree.hpp"
#include "ingest/codec/json_value.hpp"
#include "ingest/codec/message_columns.hpp"

namespace deltamatch::ingest {

/// Call begin(), then walk() with an object, then settle(). The values hold until the next begin().
class JsonFields {
 public:
  /// `watches`: note fields that are not read and say a removal. Throws Error(usage) as JsonTree does.
  JsonFields(const CodecOptions& options, bool watches);

  [[nodiscard]] const JsonTree& tree() const noexcept { return tree_; }
  [[nodiscard]] const JsonNames& names() const noexcept { return names_; }

  /// Makes room for the texts of a record of this size. Call it before its first object is walked: values are views.
  void reserve(std::size_t size);
  /// States what surrounds the records that follow, or null.
  void surround(const MessageFrame* frame) noexcept { frame_ = frame; }
  void begin();
  simdjson::error_code walk(ondemand::object object, std::uint32_t node);
  simdjson::error_code walk(ondemand::array array, std::uint32_t node);
  /// Takes values under the usual names, for roles that have no other value in the object.
  void settle();
  /// What is wrong with the object, if its fields cannot be taken. Empty if they can.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

  [[nodiscard]] const Scalar& of(Part part, Role role) const noexcept {
    return scalars_[tree_.slot(tree_.in_envelope(role) ? Part::envelope : part, role)];
  }
  [[nodiscard]] bool has(Part part, Role role) const noexcept { return of(part, role).kind != Scalar::Kind::absent; }
  /// Whether the object has the field, and whether the field is an object too.
  [[nodiscard]] bool is_there(std::uint32_t node) const noexcept { return seen_[node].record == records_; }
  [[nodiscard]] bool is_object(std::uint32_t node) const noexcept { return is_there(node) && seen_[node].object; }
  /// The name that the role's field has in the data. If it has several, the one in this object.
  [[nodiscard]] std::string name(Part part, Role role) const;
  /// A field that is not read and says a removal, and its value. Empty if there is none.
  [[nodiscard]] const std::string& removal_field() const noexcept { return removal_field_; }
  [[nodiscard]] std::string_view removal() const noexcept { return removal_; }
  /// The last value of that field that inserts and needs a mapping. Empty if there was none.
  [[nodiscard]] std::string_view insertion() const noexcept {
    return inserted_in_ == removal_field_ ? std::string_view(insertion_) : std::string_view();
  }
  /// The labels of both texts. They hold until the next record.
  std::string_view unite(std::string_view labels, std::string_view others);
  /// The option that reads the role from the field of this name.
  [[nodiscard]] std::string columns(Role role, std::string_view name) const;

 private:
  /// The value under a usual name that is not the role's own.
  struct Alias {
    Scalar scalar;  // absent: neither a string nor a number
    std::uint32_t node = JsonTree::none;
    std::size_t count = 0;
  };
  struct Seen {
    std::uint64_t record = 0;  // the last one that had the field
    bool object = false;
  };

  simdjson::error_code take(std::uint32_t index, ondemand::value value);
  simdjson::error_code take_inner(std::uint32_t index, ondemand::json_type type, ondemand::value value);
  simdjson::error_code take_scalar(ondemand::json_type type, ondemand::value& value, Scalar& scalar);
  simdjson::error_code take_labels(const JsonTree::Node& node, ondemand::value& value, Scalar& scalar);
  simdjson::error_code take_alias(std::uint32_t index, ondemand::value value);
  simdjson::error_code watch(ondemand::value value);
  simdjson::error_code watch_within(ondemand::value value);
  [[nodiscard]] bool removes(const std::string& field, std::string_view value);
  void take_aliases(Part part);
  void tell_two_names(Role role, std::size_t slot);
  simdjson::error_code take_attribute(const JsonTree::Node& node, ondemand::json_type type, ondemand::value value);
  simdjson::error_code take_scaled(ondemand::object object, Scalar& scalar);
  void take_surroundings();
  void complain(std::string message) {
    if (fault_.empty()) fault_ = std::move(message);
  }
  [[nodiscard]] bool is_letter(const Alias& alias) const noexcept {
    return alias.count != 0 && tree_.nodes()[alias.node].name.size() == 1;
  }

  JsonTree tree_;
  JsonNames names_;
  std::string columns_;
  OptionSpelling spelling_;
  Doubts* doubts_;
  MessageColumns surroundings_;
  const MessageFrame* frame_ = nullptr;
  std::vector<Scalar> scalars_;
  std::vector<Alias> aliases_;
  std::vector<std::uint16_t> touched_;  // slots of the aliases in this object
  std::vector<Seen> seen_;              // by node
  std::uint64_t records_ = 0;           // objects begun so far, with the present one
  std::deque<std::string> united_;
  std::string unescaped_;
  std::string removal_field_;
  std::string_view removal_;
  std::string looked_at_in_;  // the last field that was looked at for a removal, its value, and whether it says one
  std::string looked_at_;
  bool says_removal_ = false;
  std::string insertion_;  // the last value that inserts and needs a mapping, and its field
  std::string inserted_in_;
  static constexpr std::size_t most_counts = 64;
  std::vector<std::string> counts_;  // fields called like a sign or a flag that have other values
  std::uint64_t ends_ = 0;           // objects that have an end of the edge, and the last one
  std::uint64_t last_end_ = 0;
  std::string fault_;
};

}  // namespace deltamatch::ingest
