// The programs of a batch's plans, flattened for the kernel, and the anchors that each is to work. Pure bookkeeping: no device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "deltamatch/gpu.hpp"
#include "gpu/loops/kernel.hpp"
#include "gpu/program/flat_sums.hpp"
#include "gpu/program/set_plan.hpp"
#include "match/programs.hpp"

namespace deltamatch::gpu {

/// Programs of one kind (with sums or without) and their anchors.
struct FlatWork {
  std::vector<Program> programs;
  std::vector<ProgramOrigin> origins;  ///< by program
  std::vector<Anchor> anchors;
  std::vector<std::uint32_t> first_anchor;  ///< by program, with the end behind
  std::vector<DepthNeeds> needs;            ///< by depth
  bool weighted = false;                    ///< some list may hold an id several times

  [[nodiscard]] bool empty() const noexcept { return anchors.empty(); }
};

struct FlatPrograms {
  std::vector<Node> nodes;
  std::vector<Step> steps;
  std::vector<Probe> probes;
  std::vector<Joined> joined;
  std::vector<QueryEdge> edges;
  std::vector<std::uint8_t> positions;
  FlatWork sums;
  FlatWork walks;
  FlatSums tables;  ///< sums for the kernel that counts with tables

  [[nodiscard]] bool empty() const noexcept { return sums.empty() && walks.empty() && tables.empty(); }
  /// Totals are numbered in the order of the members.
  [[nodiscard]] std::size_t programs() const noexcept {
    return sums.programs.size() + walks.programs.size() + tables.programs.size();
  }
};

/// What kernels can tell apart and number. Whatever asks for more is left to the CPU; less is for tests.
struct KernelLimits {
  /// Readings that a probe can name.
  std::uint32_t readings = std::uint32_t{1} << (8 * sizeof(Probe::reading));
  /// Entries of a list that is read, before and after the batch. The children of 32 partial matches are numbered together in 32
  /// bits, and those of each may be what a list held before and what the batch adds, so as many as 64 lists have; beside the
  /// lengths of lists lie flags.
  std::uint32_t longest_list = std::uint32_t{1} << 25;
};

/// Sets AnchorProgram::tables of the sums that the kernel is to count with tables.
void choose_tables(std::span<const match::QueryTask> tasks, std::span<const graph::Resolved> resolved, GpuTables tables,
                   match::Programs& programs);

/// Flattens what the anchors and roots of `passes` concern; `choice` says which loops read sets. Sets `left_out`, by task,
/// where the kernel cannot run a task, in whichever pass: it holds query edges in local memory, what a task reads must keep to
/// `limits`, and the frames of all tasks that share a launch must be addressable. The earlier task has precedence. Many anchors
/// are shared out by all threads of `workers`, unless that is null; the result is the same.
void flatten(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, std::span<const match::PassWork> passes,
             std::span<const match::QueryTask> tasks, const match::Programs& programs, SetChoice& choice, FlatPrograms& into,
             std::vector<bool>& left_out, Workers* workers = nullptr, const KernelLimits& limits = {});

/// Cuts the anchors of `work` into chunks for one of `shares` devices: every `shares`-th from `share` on. `warps`: how many
/// there are to share them.
[[nodiscard]] std::vector<Chunk> make_chunks(const FlatWork& work, std::uint32_t warps, std::uint32_t share,
                                             std::uint32_t shares);

}  // namespace deltamatch::gpu
