// Which programs get kernels of their own, and what decides the text of these.
#include <cstdint>
#include <string>

#include "gpu/made/kernel_writer.hpp"

namespace deltamatch::gpu {

namespace {

// Larger programs take long to compile, and their code leaves the caches.
constexpr std::uint32_t most_nodes = 24;

template <class T>
void append(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// Calls `use` for all steps, depth first. Returns false once it returns false.
template <class Use>
bool for_each_step(const FlatPrograms& flat, std::uint32_t first, std::uint32_t end, Use&& use) {
  for (std::uint32_t i = first; i < end; ++i) {
    const Step& step = flat.steps[i];
    if (!use(step)) return false;
    if (step.kind != StepKind::loop) continue;
    const Node& node = flat.nodes[step.node];
    if (!for_each_step(flat, node.first_step, node.end_step, use)) return false;
  }
  return true;
}

}  // namespace

std::string signature_of(const FlatPrograms& flat, const Program& program) {
  std::string made;
  const auto add_probe = [&](const Probe& probe) {
    append(made, probe.query_relation);
    append(made, probe.position);
    append(made, probe.inclusive);
  };
  append(made, program.ordered);
  append(made, program.anchor_above);
  append(made, program.anchor_below);
  append(made, program.closing);
  for (std::uint32_t i = 0; i < program.closing; ++i) add_probe(flat.probes[program.first_closing + i]);
  for_each_step(flat, program.first_step, program.end_step, [&](const Step& step) {
    append(made, step.kind);
    append(made, step.tail);
    append(made, step.coefficient);
    if (step.kind != StepKind::count && step.kind != StepKind::loop) return true;
    const Node& node = flat.nodes[step.node];
    append(made, node.end_step - node.first_step);
    for (const std::uint8_t value : {node.probes, node.distinct, node.above, node.below, node.base, node.rest, node.uncut}) {
      append(made, value);
    }
    append(made, node.sets_read);
    append(made, node.choose);
    for (std::uint32_t i = 0; i < node.probes; ++i) add_probe(flat.probes[node.first_probe + i]);
    for (std::uint32_t i = 0; i < node.distinct + 0U + node.above + node.below; ++i) {
      append(made, flat.positions[node.first_position + i]);
    }
    return true;
  });
  return made;
}

bool can_be_made(const FlatPrograms& flat, const Program& program) {
  if (program.unmixed == 0 || program.joined != 0) return false;
  std::uint32_t nodes = 0;
  return for_each_step(flat, program.first_step, program.end_step, [&](const Step& step) {
    if (step.kind == StepKind::edges || step.kind == StepKind::emit) return false;
    if (step.kind != StepKind::count && step.kind != StepKind::loop) return true;
    const Node& node = flat.nodes[step.node];
    return node.unmixed != 0 && node.probes > 0 && ++nodes <= most_nodes;
  });
}

}  // namespace deltamatch::gpu
