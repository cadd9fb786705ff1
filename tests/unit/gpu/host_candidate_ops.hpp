// A device that filters candidates on the host, with the steps of the kernel.
#pragma once

#include "gpu/filter/candidate_ops.hpp"
#include "gpu/filter/candidate_step.hpp"
#include "host_memory_ops.hpp"
#include "host_team.hpp"

namespace deltamatch::gpu {

/// Runs some groups, one after the other. A group has one lane, or four that read lists together.
class HostCandidateOps : public HostMemoryOps<CandidateOps> {
 public:
  explicit HostCandidateOps(Figures& figures, bool teams = false) : HostMemoryOps(figures), teams_(teams) {}

  void step(const CandidateWork& work) override {
    ++figures_->launches;
    for (unsigned number = 0; number < groups; ++number) {
      if (teams_) {
        TeamWarp<4>().run([&] { filter_candidates(Team<4, 4>(), work, number, groups); });
      } else {
        filter_candidates(Lane(), work, number, groups);
      }
    }
  }

 private:
  static constexpr unsigned groups = 3;
  bool teams_;
};

}  // namespace deltamatch::gpu
