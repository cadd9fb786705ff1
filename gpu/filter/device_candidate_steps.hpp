// The steps of filtering on a device that already holds the graph's lists.
#pragma once

#include <cstddef>
#include <memory>

#include "base/parallel.hpp"
#include "filter/candidate_steps.hpp"
#include "gpu/filter/candidate_ops.hpp"

namespace deltamatch::gpu {

/// Holds device memory only between begin and read.
class DeviceCandidates final : public filter::CandidateSteps {
 public:
  /// `workers` outlives it.
  DeviceCandidates(std::unique_ptr<CandidateOps> ops, Workers& workers);
  ~DeviceCandidates() override;

  /// Sets the graph that steps read from now on: device pointers to all lists of the graph's query relations, without a batch.
  /// The caller has waited for the device. The lists must stay until read.
  void look_at(const GraphView& graph);
  [[nodiscard]] double kernel_seconds() { return ops_->kernel_seconds(); }

  /// Returns false if device memory is short or there is nothing to filter.
  bool begin(const filter::CandidateRequirements& asked) override;
  filter::RemainingCandidates by_label() override;
  filter::RemainingCandidates by_degree() override;
  filter::RemainingCandidates refine() override;
  void read(std::span<filter::Mask> masks) override;

 private:
  struct Memory;
  filter::RemainingCandidates run(CandidateStep step);

  std::unique_ptr<CandidateOps> ops_;
  Workers* workers_;
  GraphView graph_{};
  std::unique_ptr<Memory> memory_;
};

}  // namespace deltamatch::gpu
