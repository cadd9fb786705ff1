// A tree of field names: where the values of an update stand in a JSON record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/codec/codec.hpp"
#include "ingest/codec/columns.hpp"

namespace deltamatch::ingest {

/// What a value belongs to. row: the row that a record states; in a change event, the row after the change. before: the row
/// before the change. envelope: what surrounds them.
enum class Part : std::uint8_t { row, before, envelope };
inline constexpr std::size_t part_count = 3;

/// The tree of the fields that are read. Inner nodes are objects, or arrays if a child has an index. Leaves are the values of
/// one or more slots.
class JsonTree {
 public:
  static constexpr std::uint32_t root = 0;
  static constexpr std::uint32_t none = 0xffffffff;

  struct Node {
    std::string name;                     ///< the field's name
    bool usual = false;                   ///< nobody has given the name: it is found in any case
    bool alias = false;                   ///< the role has another name, which goes first if both are there
    bool plain = false;                   ///< JSON spells the name as it is, and it is shorter than Record::padding
    std::string path;                     ///< from the record's start, for messages
    std::uint32_t index = none;           ///< of an array's element, if the name is a number
    bool indexed = false;                 ///< a child has an index, so it may be an array
    std::vector<std::uint32_t> children;  ///< empty in a leaf
    std::vector<std::uint16_t> slots;     ///< empty in an inner node
    bool attribute = false;               ///< one of the slots is an attribute's
  };
  /// Throws Error(usage) for a path that cannot be read, or that starts at an envelope which is not there. Also throws if a
  /// field would have to be an object and a value at once. `vertices`: records state vertices, so `id` is a usual name of one.
  explicit JsonTree(const CodecOptions& options);

  /// A place for the value of a role: its number, and the part and the role that it is for.
  [[nodiscard]] std::size_t slot(Part part, Role role) const noexcept {
    return static_cast<std::size_t>(part) * in_envelope_.size() + static_cast<std::size_t>(role);
  }
  [[nodiscard]] Part part_of(std::size_t slot) const noexcept { return static_cast<Part>(slot / in_envelope_.size()); }
  [[nodiscard]] Role role_of(std::size_t slot) const noexcept { return static_cast<Role>(slot % in_envelope_.size()); }
  /// The number of slots of one part.
  [[nodiscard]] std::size_t roles() const noexcept { return in_envelope_.size(); }
  [[nodiscard]] const ColumnSpec& columns() const noexcept { return columns_; }

  [[nodiscard]] const std::vector<Node>& nodes() const noexcept { return nodes_; }
  /// Whether the role's value stands in the envelope, for both rows.
  [[nodiscard]] bool in_envelope(Role role) const noexcept { return in_envelope_[static_cast<std::size_t>(role)] != 0; }

  // The fields of a change event. Without an envelope they are `none`.
  std::uint32_t payload = none;
  std::uint32_t before = none;
  std::uint32_t after = none;

 private:
  std::uint32_t child(std::uint32_t parent, std::string_view name);
  void add_path(const std::string& path, Role role, bool event);
  void add_attribute(const CodecOptions& options, std::size_t attribute, bool event);
  void add_usual(std::uint32_t start, Part part, bool vertices);
  void add_usual_keys(std::uint32_t start, Part part, bool vertices);
  void add(std::uint32_t start, const std::vector<std::string>& names, std::size_t target, bool usual = false);

  ColumnSpec columns_;
  std::vector<Node> nodes_;
  std::vector<char> in_envelope_;  // by role
};

}  // namespace deltamatch::ingest
