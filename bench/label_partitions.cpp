#include "label_partitions.hpp"

#include <bit>
#include <map>
#include <numeric>

namespace deltamatch::bench {

Intervals::Intervals(std::span<const VertexId> vertices) {
  for (std::uint32_t row = 0; row < vertices.size(); ++row) {
    if (row > 0 && vertices[row] == vertices[row - 1] + 1) continue;
    starts_.push_back(vertices[row]);
    rows_.push_back(row);
  }
  if (starts_.empty()) {  // so that look-ups need no case of their own
    starts_.push_back(0);
    rows_.push_back(0);
  }
  rows_.push_back(static_cast<std::uint32_t>(vertices.size()));
}

Slots::Slots(std::span<const VertexId> vertices)
    : slots_(std::bit_ceil(vertices.size() + vertices.size() / 3 + 1)), mask_(slots_.size() - 1) {
  for (std::uint32_t row = 0; row < vertices.size(); ++row) {
    std::size_t at = home(vertices[row]);
    while (slots_[at].row != no_row) at = (at + 1) & mask_;
    slots_[at] = {vertices[row], row};
  }
}

Rows make_rows(const LabelEdges& edges) {
  std::vector<std::pair<VertexId, VertexId>> entries;
  entries.reserve(2 * edges.size());
  for (const auto& [tail, head] : edges) {
    entries.emplace_back(tail, head);
    entries.emplace_back(head, tail);
  }
  std::sort(entries.begin(), entries.end());
  Rows rows;
  rows.neighbours.reserve(entries.size());
  for (const auto& [vertex, neighbour] : entries) {
    if (rows.vertices.empty() || rows.vertices.back() != vertex) {
      rows.vertices.push_back(vertex);
      rows.begins.push_back(static_cast<std::uint32_t>(rows.neighbours.size()));
    }
    rows.neighbours.push_back(neighbour);
  }
  rows.begins.push_back(static_cast<std::uint32_t>(rows.neighbours.size()));
  return rows;
}

namespace {

/// Vertices with the very same edge labels.
struct Group {
  std::vector<std::uint32_t> labels;  // ascending
  std::vector<VertexId> members;
};

std::vector<Group> groups_of(VertexId vertices, std::span<const LabelEdges> edges) {
  std::vector<std::vector<std::uint32_t>> labels(vertices);
  const auto add = [&](VertexId vertex, std::uint32_t label) {
    if (labels[vertex].empty() || labels[vertex].back() != label) labels[vertex].push_back(label);
  };
  for (std::uint32_t label = 0; label < edges.size(); ++label) {
    for (const auto& [tail, head] : edges[label]) {
      add(tail, label);
      add(head, label);
    }
  }
  std::vector<VertexId> by_labels(vertices);
  std::iota(by_labels.begin(), by_labels.end(), 0U);
  std::stable_sort(by_labels.begin(), by_labels.end(), [&](VertexId a, VertexId b) { return labels[a] < labels[b]; });
  std::vector<Group> groups;
  for (const VertexId vertex : by_labels) {
    if (groups.empty() || groups.back().labels != labels[vertex]) groups.push_back({labels[vertex], {}});
    groups.back().members.push_back(vertex);
  }
  return groups;
}

class Numbering {
 public:
  Numbering(VertexId vertices, std::span<const LabelEdges> edges)
      : groups_(groups_of(vertices, edges)),
        to_(vertices),
        by_label_(edges.size()),
        left_(edges.size()),
        numbered_(groups_.size()),
        common_(groups_.size()) {
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
      for (const std::uint32_t label : groups_[g].labels) {
        by_label_[label].push_back(g);
        left_[label] += groups_[g].members.size();
      }
    }
  }

  std::vector<VertexId> run() && {
    for (;;) {
      const auto most = std::max_element(left_.begin(), left_.end());
      if (most == left_.end() || *most == 0) break;
      number_label(static_cast<std::uint32_t>(most - left_.begin()));
    }
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
      if (!numbered_[g]) number_group(g);  // the one without edges
    }
    return std::move(to_);
  }

 private:
  void number_label(std::uint32_t label) {
    std::erase_if(by_label_[label], [&](std::uint32_t g) { return numbered_[g]; });
    // Groups with another label, among those of this one.
    std::map<std::uint32_t, std::vector<std::uint32_t>> having;
    for (const std::uint32_t g : by_label_[label]) {
      for (const std::uint32_t other : groups_[g].labels) having[other].push_back(g);
    }
    std::vector<std::uint32_t> open = by_label_[label];
    std::sort(open.begin(), open.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(groups_[a].labels.size(), b) < std::pair(groups_[b].labels.size(), a);
    });
    for (std::uint32_t next = open.back();;) {
      number_group(next);
      next = most_in_common(next, having);
      if (next == no_row) return;
    }
  }

  /// no_row: none is left.
  std::uint32_t most_in_common(std::uint32_t with, std::map<std::uint32_t, std::vector<std::uint32_t>>& having) {
    std::uint32_t best = no_row;
    for (const std::uint32_t label : groups_[with].labels) {
      auto& others = having[label];
      std::erase_if(others, [&](std::uint32_t g) { return numbered_[g]; });
      for (const std::uint32_t g : others) {
        ++common_[g];
        if (best == no_row || common_[g] > common_[best]) best = g;
      }
    }
    for (const std::uint32_t label : groups_[with].labels) {
      for (const std::uint32_t g : having[label]) common_[g] = 0;
    }
    return best;
  }

  void number_group(std::uint32_t g) {
    numbered_[g] = true;
    for (const VertexId vertex : groups_[g].members) to_[vertex] = next_++;
    for (const std::uint32_t label : groups_[g].labels) left_[label] -= groups_[g].members.size();
  }

  std::vector<Group> groups_;
  std::vector<VertexId> to_;
  std::vector<std::vector<std::uint32_t>> by_label_;
  std::vector<std::size_t> left_;  // vertices without a number, by label
  std::vector<bool> numbered_;     // by group
  std::vector<std::uint32_t> common_;
  VertexId next_ = 0;
};

}  // namespace

std::vector<VertexId> number_by_labels(VertexId vertices, std::span<const LabelEdges> edges) {
  return Numbering(vertices, edges).run();
}

LabelEdges renumbered(const LabelEdges& edges, std::span<const VertexId> to) {
  LabelEdges moved;
  moved.reserve(edges.size());
  for (const auto& [tail, head] : edges) moved.push_back({std::min(to[tail], to[head]), std::max(to[tail], to[head])});
  std::sort(moved.begin(), moved.end());
  return moved;
}

}  // namespace deltamatch::bench
