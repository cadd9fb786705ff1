// The steps of filtering on a device where the graph's lists lie already.
#pragma once

#include <cstddef>
#include <memory>

#include "base/parallel.hpp"
#include "filter/candidate_steps.hpp"
#include "gpu/filter/candidate_ops.hpp"

namespace deltamatch::gpu {

/// Holds no device memory but between begin and read.
class DeviceCandidates final : public filter::CandidateSteps {
 public:
  /// `workers` outlives it.
  DeviceCandidates(std::unique_ptr<CandidateOps> ops, Workers& workers);
  ~DeviceCandidates() override;

  /// What steps read from now on: device pointers to all lists that the graph's readings have, and no batch; whoever made them
  /// has waited for the device. They are to stay until read.
  void look_at(const GraphView& graph);
  [[nodiscard]] double kernel_seconds() { return ops_->kernel_seconds(); }

  /// False where device memory is short or there is nothing to filter.
  bool begin(const filter::Asked& asked) override;
  filter::Left by_label() override;
  filter::Left by_degree() override;
  filter::Left refine() override;
  void read(std::span<filter::Mask> masks) override;

 private:
  struct Memory;
  filter::Left run(CandidateStep step);

  std::unique_ptr<CandidateOps> ops_;
  Workers* workers_;
  GraphView graph_{};
  std::unique_ptr<Memory> memory_;
};

}  // namespace deltamatch::gpu
