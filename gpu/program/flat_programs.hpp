// The programs of a batch's plans, flattened for the kernel, with their anchors. Needs no device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/loops/kernel.hpp"
#include "gpu/program/choices.hpp"
#include "gpu/program/eligibility.hpp"
#include "gpu/program/flat_sums.hpp"
#include "gpu/program/set_plan.hpp"
#include "match/programs.hpp"

namespace deltamatch::gpu {

struct MadeKernel;

/// Programs of one kind (with or without sums) and their anchors.
struct FlatWork {
  std::vector<Program> programs;
  std::vector<ProgramOrigin> origins;  ///< by program
  std::vector<Anchor> anchors;
  std::vector<std::uint32_t> first_anchor;  ///< by program, then the end
  std::vector<DepthNeeds> needs;            ///< by depth
  bool weighted = false;                    ///< some list may hold an id several times
  std::vector<const MadeKernel*> made;      ///< by program: kernels of its own; null: the interpreter runs it. Empty: all null

  [[nodiscard]] bool empty() const noexcept { return anchors.empty(); }
  [[nodiscard]] const MadeKernel* made_of(std::size_t program) const noexcept { return made.empty() ? nullptr : made[program]; }
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
  /// The number of programs. Totals are numbered in the order sums, walks, tables.
  [[nodiscard]] std::size_t programs() const noexcept {
    return sums.programs.size() + walks.programs.size() + tables.programs.size();
  }
};

/// Sets AnchorProgram::tables for the sums that the kernel is to count with tables.
void choose_tables(std::span<const match::QueryTask> tasks, std::span<const graph::Resolved> resolved, GpuTables tables,
                   match::Programs& programs);

/// Flattens the programs for the anchors and roots of `passes`. `choice` says which loops read sets.
///
/// Sets `left_out`, by task, if the kernel cannot run a task in some pass (runs_on_kernels). The frames of all tasks in a
/// launch must be addressable; earlier tasks have precedence.
///
/// If `workers` is not null, its threads share out many anchors. The result is the same.
void flatten(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, std::span<const match::PassWork> passes,
             std::span<const match::QueryTask> tasks, const match::Programs& programs, SetChoice& choice, FlatPrograms& into,
             std::vector<bool>& left_out, Workers* workers = nullptr, const KernelLimits& limits = {});

/// Cuts the anchors that the interpreter takes into chunks, and returns every `shares`-th from `share` on, for one of `shares`
/// devices. `warps` is the number of warps that take them.
[[nodiscard]] std::vector<Chunk> make_chunks(const FlatWork& work, std::uint32_t warps, std::uint32_t share,
                                             std::uint32_t shares);

}  // namespace deltamatch::gpu
