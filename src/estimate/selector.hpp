// Selects what to cache for one batch after the other.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "estimate/access_prior.hpp"
#include "estimate/selection.hpp"

namespace deltamatch::estimate {

/// Selects the vertices that save most bus traffic in the next batch. The cost of moving a vertex is subtracted if it is not in
/// the cache.
///
/// For vertices that were selected before, the usual look-ups are known better. They are the mean of what earlier batches were
/// expected to look up, with more weight on newer batches. So the walks of batches add up. The remaining room is filled with
/// vertices whose use over several batches is worth moving them.
class Selector {
 public:
  /// `workers` must outlive it.
  explicit Selector(Workers& workers) noexcept : workers_(&workers) {}
  /// Selects what fits, as estimate::select does. `bytes` is also called for vertices that were selected for the previous batch
  /// and are not in the posterior.
  Selection select(const Posterior& posterior, const BytesOf& bytes, std::size_t budget, const Terms& terms = {});
  [[nodiscard]] std::size_t memory() const noexcept {
    return (tracked_.capacity() + together_.capacity()) * sizeof(TrackedVertex);
  }

 private:
  struct TrackedVertex {
    StoredVertex at;
    std::size_t bytes;  // 0: to be skipped
    double times;       // look-ups by the batch
    double usual;
    unsigned unseen;  // batches since the last whose posterior had it
    bool known;       // it was selected for the previous batch
    bool kept;        // it is selected
  };
  void keep(std::span<const StoredVertex> hot) noexcept;

  Workers* workers_;
  std::vector<TrackedVertex> tracked_;  // of what was selected, ascending
  std::vector<TrackedVertex> together_;
};

}  // namespace deltamatch::estimate
