// Edges partitioned by their label, and two ways to find a vertex's neighbours in a partition: what the store's lists, which
// lie together by vertex, are compared with.
//
// A partition is a PCSR (GSI, Zeng et al. 2020): rows of neighbours for the vertices that have edges of the label, and nothing
// for the others; so a vertex's row has to be looked for. Either by hashing, or in intervals of consecutive vertices, for which
// vertices are numbered anew so that those with the same edge labels come one after the other and the intervals become few.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "graph/blocks.hpp"

namespace deltamatch::bench {

/// Undirected edges of one label: tail < head, ascending strictly.
using LabelEdges = std::vector<graph::EdgeEnds>;

inline constexpr std::uint32_t no_row = 0xffffffff;

/// Rows of consecutive vertices in intervals. A look-up is a binary search. 8 bytes an interval.
class Intervals {
 public:
  explicit Intervals(std::span<const VertexId> vertices);
  [[nodiscard]] std::uint32_t row(VertexId vertex) const noexcept {
    const VertexId* at = starts_.data();
    for (std::size_t left = starts_.size(); left > 1;) {  // the last that is not above the vertex
      const std::size_t half = left / 2;
      at = at[half] <= vertex ? at + half : at;
      left -= half;
    }
    const auto i = static_cast<std::size_t>(at - starts_.data());
    const std::uint32_t row = rows_[i] + (vertex - *at);
    return vertex >= *at && row < rows_[i + 1] ? row : no_row;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return (starts_.size() + rows_.size()) * sizeof(std::uint32_t); }
  [[nodiscard]] std::size_t size() const noexcept { return starts_.size(); }

 private:
  std::vector<VertexId> starts_;
  std::vector<std::uint32_t> rows_;  // of the interval's first vertex, and one past the last row
};

/// Rows in a hash table with linear probing, at most three quarters full. 11 to 21 bytes a row.
class Slots {
 public:
  explicit Slots(std::span<const VertexId> vertices);
  [[nodiscard]] std::uint32_t row(VertexId vertex) const noexcept {
    for (std::size_t at = home(vertex);; at = (at + 1) & mask_) {
      if (slots_[at].vertex == vertex) return slots_[at].row;
      if (slots_[at].row == no_row) return no_row;
    }
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return slots_.size() * sizeof(Slot); }
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }

 private:
  struct Slot {
    VertexId vertex = 0xffffffff;
    std::uint32_t row = no_row;
  };
  [[nodiscard]] std::size_t home(VertexId vertex) const noexcept { return (vertex * 0x9e3779b97f4a7c15U >> 32) & mask_; }
  std::vector<Slot> slots_;
  std::size_t mask_;
};

/// What a partition holds, apart from its index.
struct Rows {
  std::vector<VertexId> vertices;  ///< that have a row, ascending: only to build the index from
  std::vector<std::uint32_t> begins;
  std::vector<VertexId> neighbours;  ///< ascending within a row
};

/// O(edges log edges).
[[nodiscard]] Rows make_rows(const LabelEdges& edges);

template <class Index>
class Partition {
 public:
  explicit Partition(Rows rows)
      : index_(rows.vertices), begins_(std::move(rows.begins)), neighbours_(std::move(rows.neighbours)) {}
  [[nodiscard]] std::span<const VertexId> find(VertexId vertex) const noexcept {
    const std::uint32_t row = index_.row(vertex);
    if (row == no_row) return {};
    return std::span(neighbours_).subspan(begins_[row], begins_[row + 1] - begins_[row]);
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return index_.bytes() + (begins_.size() + neighbours_.size()) * sizeof(std::uint32_t);
  }
  [[nodiscard]] const Index& index() const noexcept { return index_; }

 private:
  Index index_;
  std::vector<std::uint32_t> begins_;
  std::vector<VertexId> neighbours_;
};

/// The numbers that interval indexes want, by vertex. Label after label, from the one with most vertices left: its vertices in
/// groups that share all edge labels, first the group with most labels, then again and again the one that has most of them in
/// common with the group before. O(groups x labels of one x groups of a label that have another label, too).
[[nodiscard]] std::vector<VertexId> number_by_labels(VertexId vertices, std::span<const LabelEdges> edges);

/// The same edges under other numbers. O(edges log edges).
[[nodiscard]] LabelEdges renumbered(const LabelEdges& edges, std::span<const VertexId> to);

}  // namespace deltamatch::bench
