// Records that need not be read: what they do follows from the look-up alone.
#include <algorithm>

#include "graph/batch_resolver.hpp"

namespace deltamatch::graph {

namespace {

// Number of updates that a thread foresees at a time.
constexpr std::size_t foresee_grain = 512;

}  // namespace

/// Finds the records that the look-up alone tells: insertions and deletions of edges between vertices of before the batch that
/// state nothing new. All threads do so. Reading the others must then not change what these rely on.
void BatchResolver::foresee() {
  surprised_ = false;
  foreseen_.assign(updates_.size(), 0);
  portions_.resize(1);
  portions_.front() = {};
  const bool worthwhile = 2 * (look_up_.sorted().size() + look_up_.loops()) >= updates_.size();
  foresees_ = worthwhile && graph_->model() == EdgeModel::simple && deletions_ == nullptr;
  if (!foresees_) return;
  const std::size_t grain = workers_->grain(updates_.size(), foresee_grain);
  portions_.resize((updates_.size() + grain - 1) / grain);
  workers_->for_each(updates_.size(), grain, [&](unsigned, std::size_t begin, std::size_t end) {
    Portion& portion = portions_[begin / grain];
    portion.others.clear();
    portion.newest.reset();
    portion.loops = 0;
    portion.deletes_vertex = false;
    while (begin > 0 && begin < end && updates_[begin].continues) ++begin;  // the portion before has this record
    for (std::size_t first = begin, last = begin; first < end; first = last) {
      bool foreseen = true;
      std::uint32_t loops = 0;
      std::optional<Timestamp> newest;
      do {
        const Update& update = updates_[last];
        const bool loop = look_up_[last].label == BatchLookUp::loop;
        foreseen = foreseen && (loop || is_foreseen(update, look_up_[last]));
        loops += loop ? 1 : 0;
        portion.deletes_vertex = portion.deletes_vertex || update.kind == UpdateKind::delete_vertex;
        if (!update.ahead) newest = std::max(newest, update.time);
        ++last;
      } while (last < updates_.size() && updates_[last].continues);
      if (foreseen) {
        std::fill(foreseen_.begin() + static_cast<std::ptrdiff_t>(first), foreseen_.begin() + static_cast<std::ptrdiff_t>(last),
                  1);
        portion.loops += loops;
        portion.newest = std::max(portion.newest, newest);
      } else {
        portion.others.push_back(static_cast<std::uint32_t>(first));
      }
    }
  });
  if (std::ranges::any_of(portions_, &Portion::deletes_vertex)) forget_foreseen();
}

/// Whether reading an update only means that it counts for its edge, if the vertices and labels stay as they were.
bool BatchResolver::is_foreseen(const Update& update, const BatchLookUp::Ends& ends) const {
  const bool edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
  if (!edge || update.properties != nullptr || ends.source == invalid_vertex || ends.target == invalid_vertex) return false;
  if (ends.source == ends.target || ends.label == BatchLookUp::no_label) return false;
  if (!labels_hold_ && ends.label != empty_label) return false;
  if (window_ != nullptr && update.kind == UpdateKind::insert_edge && !update.time) return false;
  const auto same = [&](VertexId vertex, const std::optional<std::string_view>& label) {
    return (!label || *label == label_text(vertex)) && (retired_.empty() || !retired_.contains(vertex));
  };
  return same(ends.source, update.source_label) && same(ends.target, update.target_label);
}

/// From now on, all records of the batch are read in order.
void BatchResolver::forget_foreseen() noexcept {
  foresees_ = false;
  std::ranges::fill(foreseen_, 0);
}

}  // namespace deltamatch::graph
