// What counting dense sets needs from a device. The CUDA implementation queues everything on a stream. Tests use one whose
// device is the host.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "gpu/cuda/memory_ops.hpp"
#include "gpu/mine/dense_layout.hpp"

namespace deltamatch::gpu {

/// The widths that kernels are compiled for, ascending.
inline constexpr std::array<Width, 6> clique_widths{{{1, 1}, {2, 1}, {4, 1}, {8, 1}, {1, 32}, {4, 32}}};

/// How many lanes share the words of a set that lacks edges.
[[nodiscard]] constexpr unsigned set_lanes(unsigned row_words) { return row_words <= 4 ? 1 : row_words <= 16 ? 8 : 32; }

class DenseOps : public MemoryOps {
 public:
  virtual void fill_rows(const RowWork& work) = 0;
  virtual void seed(const SeedWork& work) = 0;
  /// Follows each node until it has no candidates left. Its children go to the output. `width` is one of clique_widths.
  virtual void expand(const CliqueWork& work, Width width) = 0;
  /// Counts the cliques of nodes that lack at most two vertices.
  virtual void evaluate(const CliqueWork& work, Width width) = 0;

  /// Takes every candidate of each node. A child goes to the output if it can still become a set.
  virtual void grow(const SetWork& work) = 0;
  /// Counts the sets of nodes that lack two vertices, by missing edges.
  virtual void finish(const SetWork& work) = 0;
};

/// Makes the operations of the current device.
[[nodiscard]] std::unique_ptr<DenseOps> make_cuda_dense_ops();

}  // namespace deltamatch::gpu
