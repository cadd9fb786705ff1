// A device that counts patterns on the host, one walk after the other, with the steps of the kernel.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "gpu/mine/motif_ops.hpp"
#include "gpu/mine/motif_step.hpp"
#include "host_memory_ops.hpp"
#include "host_team.hpp"

namespace deltamatch::gpu {

/// Runs walks of one lane, or of four threads, two of which read a list together.
class HostMotifOps : public HostMemoryOps<MotifOps> {
 public:
  explicit HostMotifOps(Figures& figures, bool teams = false) : HostMemoryOps(figures), teams_(teams) {}

  unsigned warps(unsigned) override { return 5; }
  void walk(const MotifWork& work) override {
    ++figures_->launches;
    std::vector<MotifScratch> scratch(work.warps);
    std::vector<std::uint32_t> halves(2 * std::size_t{work.tables.patterns}, 0);
    const MotifSums sums{halves.data(), halves.data() + work.tables.patterns};
    for (unsigned number = 0; number < work.warps; ++number) {
      if (teams_) {
        TeamWarp<4>().run([&] { MotifWalk<Team<4, 4>, Team<2, 4>>(work, number, scratch[number], sums).run(); });
      } else {
        MotifWalk<Lane, Lane>(work, number, scratch[number], sums).run();
      }
    }
    for (unsigned i = 0; i < work.tables.patterns; ++i) work.counts[i] += sums.of(i);
    ASSERT_LE(work.progress->saved, std::uint64_t{work.warps} * work.tables.depth);
    figures_->deferred += work.progress->saved;
  }

 private:
  bool teams_;
};

}  // namespace deltamatch::gpu
