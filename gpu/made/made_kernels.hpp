// The kernels that were made for plans, by plan. Internal to gpu.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/parallel.hpp"
#include "gpu/made/compiler.hpp"
#include "gpu/made/cubins.hpp"
#include "gpu/made/kernel_writer.hpp"

namespace deltamatch::gpu {

/// The kernels of one plan.
struct MadeKernel {
  MadeText shape;  ///< without its text
  Cubin cubin;     ///< null: the plan is too large
};

class MadeKernels {
 public:
  /// For devices of one compute capability. Throws Error if there is no compiler.
  MadeKernels(int major, int minor);

  /// Fills FlatWork::made. Threads of `workers` compile the plans that no engine of the process has compiled before: a second
  /// or more for each. Otherwise O(size of the programs). Throws Error if the compiler fails.
  void choose(FlatPrograms& flat, Workers& workers);

 private:
  using BySignature = std::map<std::string, std::unique_ptr<MadeKernel>>;
  void compile(BySignature& made, Workers& workers);

  int major_;
  int minor_;
  std::unique_ptr<Compiler> compiler_;
  BySignature kernels_;
};

}  // namespace deltamatch::gpu
