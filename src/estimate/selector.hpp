// What to cache for one batch after the other.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "estimate/access_prior.hpp"
#include "estimate/selection.hpp"

namespace deltamatch::estimate {

/// Selects for one batch after the other those that save most of the bus in the batch, less what moving them takes where they
/// are not there. Of vertices that were selected before, what is usual is known better: the mean of what to expect of the
/// batches before, where newer ones count for more; so the batches' walks add up. Room that is left is filled with what is
/// worth moving for its use over some batches.
class Selector {
 public:
  /// `workers` outlives it.
  explicit Selector(Workers& workers) noexcept : workers_(&workers) {}
  /// What fits is taken as by estimate::select. `bytes` is asked for vertices that were selected for the batch before and are
  /// not in the posterior.
  Selection select(const Posterior& posterior, const BytesOf& bytes, std::size_t budget, double miss = miss_bytes);
  [[nodiscard]] std::size_t memory() const noexcept { return (heat_.capacity() + together_.capacity()) * sizeof(Heat); }

 private:
  struct Heat {
    StoredVertex at;
    std::size_t bytes;  // 0: to be passed over
    double times;       // by the batch
    double usual;
    unsigned unseen;  // batches since the last whose posterior had it
    bool known;       // it was selected for the batch before
    bool kept;        // it is selected
  };
  void keep(std::span<const StoredVertex> hot) noexcept;

  Workers* workers_;
  std::vector<Heat> heat_;  // of what was selected, ascending
  std::vector<Heat> together_;
};

}  // namespace deltamatch::estimate
