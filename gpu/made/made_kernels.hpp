// The kernels that were made for plans, by plan. Internal to gpu.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "gpu/made/compiler.hpp"
#include "gpu/made/kernel_writer.hpp"

namespace deltamatch::gpu {

/// The kernels of one plan.
struct MadeKernel {
  MadeText shape;     ///< without its text
  std::string cubin;  ///< empty: the plan is too large
};

class MadeKernels {
 public:
  /// For devices of one compute capability. Throws Error if there is no compiler.
  MadeKernels(int major, int minor);

  /// Fills FlatWork::made. Waits for the compiler if it has not seen a plan before: a second or more for each. Otherwise O(size
  /// of the programs). Throws Error if the compiler fails.
  void choose(FlatPrograms& flat);

 private:
  const MadeKernel* find(const FlatPrograms& flat, const Program& program);

  int major_;
  int minor_;
  std::unique_ptr<Compiler> compiler_;
  std::map<std::string, std::unique_ptr<MadeKernel>> kernels_;  // by signature
};

}  // namespace deltamatch::gpu
