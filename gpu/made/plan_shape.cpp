#include "gpu/made/plan_shape.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "gpu/made/made_launch.hpp"

namespace deltamatch::gpu {

namespace {

std::vector<Read> sorted(std::vector<Read> reads) {
  std::ranges::sort(reads);
  const auto rest = std::ranges::unique(reads);
  reads.erase(rest.begin(), rest.end());
  return reads;
}

bool has_node(const Step& step) { return step.kind == StepKind::count || step.kind == StepKind::loop; }

}  // namespace

PlanShape::PlanShape(const FlatPrograms& flat, const Program& program) : flat_(flat), program_(program) {
  // Steps number their nodes before those below them.
  const auto steps = std::span(flat.steps).subspan(program.first_step, program.end_step - program.first_step);
  const auto first = std::ranges::find_if(steps, has_node);
  if (first != steps.end()) first_node_ = first->node;
  for (std::uint32_t i = 0; i < program.closing; ++i) {
    const Probe& probe = flat.probes[program.first_closing + i];
    const WayOf way{probe.query_relation, probe.inclusive != 0};
    if (std::ranges::find(ways_, way) == ways_.end()) ways_.push_back(way);
  }
  note_ways(program.first_step, program.end_step);
  note_steps(program.first_step, program.end_step, 0, true);
  for (const WaitingWork& work : works_) deepest_ = std::max(deepest_, work.depth);
}

void PlanShape::note_ways(std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t i = first; i < end; ++i) {
    if (!has_node(step(i))) continue;
    const Node& own = node(step(i).node);
    for (std::uint32_t p = 0; p < own.probes; ++p) {
      const Probe& probe = flat_.probes[own.first_probe + p];
      const WayOf way{probe.query_relation, probe.inclusive != 0};
      if (std::ranges::find(ways_, way) == ways_.end()) ways_.push_back(way);
    }
    if (step(i).kind == StepKind::loop) note_ways(own.first_step, own.end_step);
  }
}

void PlanShape::note_steps(std::uint32_t first, std::uint32_t end, std::uint32_t depth, bool whole) {
  for (std::uint32_t i = first; i < end; ++i) {
    if (!has_node(step(i))) continue;
    const Node& own = node(step(i).node);
    const bool loops = step(i).kind == StepKind::loop;
    const bool last = loops ? step(i).tail != 0 : adds_up(i);
    // Sets of inner loops lie in memory of the warp that has found them.
    const bool alone = (own.sets_read & ((1U << (depth + 1)) - 1) & ~3U) == 0;
    if (whole && last && alone && depth + 1 < made_depths && (loops || (lists(own) > 1 && !is_hoisted(own, depth)))) {
      works_.push_back({step(i).node, depth + 1, !loops});
      if (loops && depth == 0) ++root_works_;
    }
    if (loops && own.keeps_set(depth + 1)) kept_sets_ = std::max(kept_sets_, depth + 1);
    if (loops) note_steps(own.first_step, own.end_step, depth + 1, whole && step(i).tail != 0);
  }
}

const WaitingWork* PlanShape::work_of(std::uint32_t node) const {
  const auto at = std::ranges::find(works_, node, &WaitingWork::node);
  return at == works_.end() ? nullptr : &*at;
}

std::uint32_t PlanShape::way_of(const Probe& probe) const {
  const WayOf way{probe.query_relation, probe.inclusive != 0};
  return static_cast<std::uint32_t>(std::ranges::find(ways_, way) - ways_.begin());
}

std::vector<Read> PlanShape::own_reads(const Node& node) const {
  std::vector<Read> reads;
  for (std::uint32_t p = 0; p < (node.base != 0 ? node.rest : node.probes); ++p) {
    const Probe& probe = flat_.probes[node.first_probe + p];
    reads.push_back({probe.position, way_of(probe)});
  }
  std::ranges::sort(reads);
  return reads;
}

void PlanShape::note_reads(std::uint32_t first, std::uint32_t end, std::vector<Read>& reads) const {
  for (std::uint32_t i = first; i < end; ++i) {
    if (!has_node(step(i))) continue;
    const Node& own = node(step(i).node);
    std::ranges::copy(own_reads(own), std::back_inserter(reads));
    if (step(i).kind == StepKind::loop) note_reads(own.first_step, own.end_step, reads);
  }
}

std::vector<Read> PlanShape::reads_below(std::uint32_t first, std::uint32_t end) const {
  std::vector<Read> reads;
  note_reads(first, end, reads);
  return sorted(std::move(reads));
}

std::vector<Read> PlanShape::reads_of(const WaitingWork& work) const {
  const Node& own = node(work.node);
  std::vector<Read> reads;
  if (!work.counts) note_reads(own.first_step, own.end_step, reads);
  // A set stands for the lists that it was found in.
  if (!ranges_over_set(work)) std::ranges::copy(own_reads(own), std::back_inserter(reads));
  std::erase_if(reads, [&](const Read& read) { return read.position > work.depth; });
  return sorted(std::move(reads));
}

std::vector<Read> PlanShape::closing_reads() const {
  std::vector<Read> reads;
  for (std::uint32_t i = 0; i < program_.closing; ++i) reads.push_back({0, way_of(flat_.probes[program_.first_closing + i])});
  return reads;
}

std::span<const std::uint8_t> PlanShape::positions(const Node& node) const {
  return std::span(flat_.positions).subspan(node.first_position, node.distinct + 0U + node.above + node.below);
}

bool PlanShape::adds_up(std::uint32_t step) const {
  return flat_.nodes[flat_.steps[step].node].choose == 1 && flat_.steps[step + 1].kind == StepKind::add;
}

std::uint32_t PlanShape::decided_at(const Node& node) const {
  std::uint32_t last = node.base != 0 ? node.base + 1U : 1;
  for (const Read& read : own_reads(node)) last = std::max(last, read.position);
  return last;
}

bool PlanShape::is_hoisted(const Node& node, std::uint32_t depth) const {
  return depth > 0 && lists(node) > 1 && !ordered(node) && decided_at(node) < depth + 1;
}

bool PlanShape::ranges_over_set(const WaitingWork& work) const {
  return !work.counts && (node(work.node).keeps_set(work.depth) || (work.depth == 1 && lists(node(work.node)) > 1));
}

bool PlanShape::has_loops(const Node& loop) const {
  for (std::uint32_t i = loop.first_step; i < loop.end_step; ++i) {
    if (step(i).kind == StepKind::loop) return true;
  }
  return false;
}

}  // namespace deltamatch::gpu
