#include "ingest/batch/label_use.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace deltamatch::ingest {

void LabelUse::add_labels(const UpdateBatch& batch) {
  constexpr std::size_t most = std::size_t{1} << 17;
  if (!open_) return;
  for (const Update& update : batch.updates()) {
    if (update.kind != UpdateKind::insert_vertex) continue;
    if (update.source.is_text())
      texts_.emplace(update.source.text());
    else
      numbers_.insert(update.source.number());
  }
  if (numbers_.size() + texts_.size() > most) give_up();
}

bool LabelUse::knows(const Id& id) const {
  return id.is_text() ? texts_.contains(std::string(id.text())) : numbers_.contains(id.number());
}

void LabelUse::add_edges(const UpdateBatch& batch) {
  if (!open_ || (numbers_.empty() && texts_.empty())) return;
  for (const Update& update : batch.updates()) {
    if (update.kind != UpdateKind::insert_edge) continue;
    ++edges_;
    if (!knows(update.source) && !knows(update.target)) continue;
    give_up();
    return;
  }
}

std::optional<Warning> LabelUse::warning(std::string where) const {
  if (!open_ || edges_ == 0 || (numbers_.empty() && texts_.empty())) return std::nullopt;
  return Warning{"labels_unused", std::move(where),
                 fmt::format("none of the {} vertices that get labels here occurs in an edge", numbers_.size() + texts_.size()),
                 "check that ids are spelled as in the edges, and that the right column is read as the vertex"};
}

}  // namespace deltamatch::ingest
