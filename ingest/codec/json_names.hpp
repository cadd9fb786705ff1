// The names of fields in JSON objects: which of them are read.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/codec/json_tree.hpp"
#include "ingest/codec/json_value.hpp"

namespace deltamatch::ingest {

/// Finds the fields of a tree by their keys.
class JsonNames {
 public:
  /// The field is not read, but its name may mean the operation.
  static constexpr std::uint32_t watched = JsonTree::none - 1;
  /// The field is not read, but an object in it may have a field that is to be watched: see is_watched_within().
  static constexpr std::uint32_t metadata = JsonTree::none - 2;

  /// `watches`: look for such fields. The tree must outlive this.
  JsonNames(const JsonTree& tree, bool watches) : tree_(tree), watches_(watches) {}

  /// Call it before the fields of a record.
  void begin() noexcept {
    ++records_;
    next_found_ = 0;
  }
  /// Finds the child of a node that the field's key names: its number, `watched`, or JsonTree::none. Compares the key as it is
  /// written first, then without escapes. Usual names are compared in any case.
  simdjson::error_code find(std::uint32_t node, ondemand::field& field, std::uint32_t& found);
  /// Whether a field in `metadata` is watched. If it is, it becomes the last one.
  bool is_watched_within(const std::string& outer, std::string_view key);
  /// The key of the last field that is watched, or of the last one of metadata. Within an object it is a path.
  [[nodiscard]] const std::string& watched_key() const noexcept { return watched_key_; }
  /// The first field, of those that are not read, that may hold times. Empty if there is none. Any thread may call it.
  [[nodiscard]] std::string_view unread_time() const noexcept {
    return has_unread_time_.load(std::memory_order_acquire) ? std::string_view(unread_time_) : std::string_view();
  }

 private:
  struct Ignored {
    std::uint32_t node;
    std::string name;
  };
  /// A child with its key as JSON writes it, with the closing quote. The mask has the bytes that count.
  struct Found {
    std::uint32_t node = 0;
    std::uint32_t child = 0;
    std::array<std::uint64_t, 2> key{};
    std::array<std::uint64_t, 2> mask{};
  };
  static constexpr std::size_t most_expected = 64;
  static constexpr std::size_t most_ignored = 256;
  static constexpr std::uint64_t most_looked_at = 100;

  bool is_ignored(std::uint32_t node, const char* raw) noexcept;
  void expect(std::uint32_t node, std::uint32_t child);

  const JsonTree& tree_;
  bool watches_;
  std::uint64_t records_ = 0;
  std::string watched_key_;
  std::vector<Found> found_;  // the children that the last records had, in their order
  std::size_t next_found_ = 0;
  std::vector<Ignored> ignored_;
  std::size_t next_ignored_ = 0;
  std::string unread_time_;  // other threads read it once has_unread_time_ is set
  std::atomic<bool> has_unread_time_ = false;
};

}  // namespace deltamatch::ingest
