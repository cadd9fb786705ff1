// Where in a JSON record the values stand that make an update: a tree of field names.
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

/// What a value belongs to: the row that a record states (in a change event the row after the change), the row before the
/// change, or what surrounds them.
enum class Part : std::uint8_t { row, before, envelope };
inline constexpr std::size_t part_count = 3;
inline constexpr std::size_t slot_count = part_count * role_count;

[[nodiscard]] constexpr std::size_t slot(Part part, Role role) noexcept {
  return static_cast<std::size_t>(part) * role_count + static_cast<std::size_t>(role);
}

/// The tree of the fields that are looked at. Inner nodes are objects, or arrays where a child has an index; leaves are the
/// values of one or more slots.
class JsonTree {
 public:
  static constexpr std::uint32_t root = 0;
  static constexpr std::uint32_t none = 0xffffffff;

  struct Node {
    std::string name;                     ///< as the field is called
    bool usual = false;                   ///< nobody has told the name: it is found in letters of either case
    bool alias = false;                   ///< the role has another name, which comes first where both are there
    bool plain = false;                   ///< it is written in JSON as it is called, and shorter than Record::padding
    std::string path;                     ///< from the record's start, for messages
    std::uint32_t index = none;           ///< of the element of an array that the name is, too: of digits alone
    bool indexed = false;                 ///< there is a child with an index: it may be an array
    std::vector<std::uint32_t> children;  ///< empty in a leaf
    std::vector<std::uint8_t> slots;      ///< empty in an inner node
  };
  /// Throws Error(usage) for paths that cannot be read, that start at an envelope which is not there, or that want a field to
  /// be an object and a value at once.
  /// `vertices`: records state vertices, so that `id` is one, and nothing is source or target by its usual name alone.
  JsonTree(const ColumnSpec& columns, Envelope envelope, bool vertices);

  [[nodiscard]] const std::vector<Node>& nodes() const noexcept { return nodes_; }
  /// Whether the role's value stands in the envelope, for both rows.
  [[nodiscard]] bool in_envelope(Role role) const noexcept { return in_envelope_[static_cast<std::size_t>(role)]; }

  // Of a change event; none without an envelope.
  std::uint32_t payload = none;
  std::uint32_t before = none;
  std::uint32_t after = none;

 private:
  std::uint32_t child(std::uint32_t parent, std::string_view name);
  void add_path(const std::string& path, Role role, bool event);
  void add_usual(std::uint32_t start, Part part, const ColumnSpec& columns, bool vertices);
  void add(std::uint32_t start, const std::vector<std::string>& names, std::size_t target);

  std::vector<Node> nodes_;
  std::array<bool, role_count> in_envelope_{};
};

}  // namespace deltamatch::ingest
