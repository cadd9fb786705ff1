// Which part of the matches an engine finds, if several engines share the work of one stream.
#pragma once

#include <cstdint>
#include <vector>

namespace deltamatch {

/// The slots of an engine. Every match of a batch lies in one slot, and each engine owns some of the slots. Engines that take
/// the same batches, and that own each slot once, report each match once.
///
/// Let S be the number of slots. The slot of a match is a number modulo S:
/// - Usually it is the xxh3 with 64 bits of the match's anchor. That is the least of its edges that the batch removes or
///   inserts. For a query with conditions on edges of a model other than `simple`, it is the one that arrived last. If such a
///   match vanishes, it is the one that arrived first. Induced queries have the least one. What is hashed is tail, head and
///   what tells parallel edges apart, as three little-endian integers of 4 bytes. Numbers are those of the engine, on which
///   replicas agree (deltamatch/digest.hpp).
/// - It is the low half of the match's id, if the match has no anchor. Only a count of its query turns then, or time makes it
///   final. So it is for all queries in a batch in which a vertex or an edge gets a fresh number. Then two anchors may lead to
///   a match that is the same before and after the batch.
/// - It is the low half of a hash of the external ids that ALERT ONCE names, because one engine must decide about them.
///
/// Where the anchor decides, the engines share the work. Else each of them finds all matches, and keeps its own.
class Share {
 public:
  static constexpr std::uint32_t most_slots = 4096;

  /// All there is: one slot, which is owned.
  Share() = default;
  /// Some of `slots` slots, perhaps none. Throws Error(configuration) if there are none or too many, or if a number is not one
  /// of them or occurs twice.
  Share(std::uint32_t slots, const std::vector<std::uint32_t>& own);
  /// The k-th of n parts of one slot each, from 1. Throws Error(configuration).
  [[nodiscard]] static Share part(std::uint32_t k, std::uint32_t n);

  [[nodiscard]] std::uint32_t slots() const noexcept { return static_cast<std::uint32_t>(own_.size()); }
  [[nodiscard]] bool owns(std::uint32_t slot) const noexcept { return own_[slot]; }
  /// Whether the slot of a hash is owned.
  [[nodiscard]] bool owns_hash(std::uint64_t hash) const noexcept { return own_[hash % own_.size()]; }
  /// Whether all slots are owned.
  [[nodiscard]] bool whole() const noexcept { return whole_; }
  /// Whether the other one owns all that this one owns, whatever comes.
  [[nodiscard]] bool within(const Share& other) const noexcept;

  friend bool operator==(const Share&, const Share&) = default;

 private:
  std::vector<bool> own_ = {true};  // by slot
  bool whole_ = true;
};

}  // namespace deltamatch
