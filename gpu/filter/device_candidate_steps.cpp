#include "gpu/filter/device_candidate_steps.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "gpu/cuda/check.hpp"

namespace deltamatch::gpu {

namespace {

constexpr std::size_t grain = std::size_t{1} << 14;

}  // namespace

struct DeviceCandidates::Memory {
  std::uint32_t vertices;
  std::uint32_t query_vertices;
  DeviceArray<std::uint32_t> labels;
  DeviceArray<std::uint32_t> degrees;
  DeviceArray<std::uint32_t> by_label;
  DeviceArray<std::uint32_t> least_degrees;
  DeviceArray<std::uint32_t> first_need;
  DeviceArray<CandidateRequirement> needs;
  DeviceArray<std::uint32_t> masks;
  DeviceArray<std::uint32_t> next;
  DeviceArray<CandidateCounts> left;
};

DeviceCandidates::DeviceCandidates(std::unique_ptr<CandidateOps> ops, Workers& workers)
    : ops_(std::move(ops)), workers_(&workers) {}

DeviceCandidates::~DeviceCandidates() = default;

void DeviceCandidates::look_at(const GraphView& graph) {
  memory_.reset();  // of a filter that was not read
  graph_ = graph;
}

bool DeviceCandidates::begin(const filter::CandidateRequirements& asked) {
  const std::size_t vertices = asked.graph.base().vertices();
  if (vertices == 0) return false;
  std::vector<std::uint32_t> labels(vertices);
  std::vector<std::uint32_t> degrees(vertices);
  workers_->for_each(vertices, grain, [&](unsigned, std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      degrees[i] = asked.graph.degree(static_cast<VertexId>(i));
      if (degrees[i] > 0) labels[i] = asked.graph.dictionary.label(static_cast<VertexId>(i));
    }
  });
  std::vector<std::uint32_t> first_need{0};
  std::vector<CandidateRequirement> needs;
  for (const auto& own : asked.needs) {
    for (const filter::ListRequirement& need : own) needs.push_back({need.query_relation, need.entries, need.neighbours});
    first_need.push_back(static_cast<std::uint32_t>(needs.size()));
  }
  memory_.reset();
  try {
    MemoryOps& ops = *ops_;
    memory_ = std::make_unique<Memory>(Memory{static_cast<std::uint32_t>(vertices),
                                              static_cast<std::uint32_t>(asked.needs.size()),
                                              {ops, labels},
                                              {ops, degrees},
                                              {ops, asked.by_label},
                                              {ops, asked.degrees},
                                              {ops, first_need},
                                              {ops, needs},
                                              {ops, vertices},
                                              {ops, vertices},
                                              {ops, 1}});
  } catch (const DeviceOutOfMemory&) {
    return false;
  }
  return true;
}

filter::RemainingCandidates DeviceCandidates::run(CandidateStep step) {
  Memory& memory = *memory_;
  ops_->clear(memory.left.get(), sizeof(CandidateCounts));
  ops_->step({graph_, step, memory.vertices, memory.query_vertices, memory.labels.get(), memory.degrees.get(),
              memory.by_label.get(), memory.least_degrees.get(), memory.first_need.get(), memory.needs.get(),
              memory.masks.get(), memory.next.get(), memory.left.get()});
  std::swap(memory.masks, memory.next);
  CandidateCounts left;
  ops_->read(&left, memory.left.get(), sizeof left);
  filter::RemainingCandidates made;
  static_assert(mask_bits == std::tuple_size_v<decltype(made.candidates)>);
  std::copy(std::begin(left.candidates), std::end(left.candidates), made.candidates.begin());
  made.edges = std::accumulate(std::begin(left.edges), std::end(left.edges), std::uint64_t{0});
  return made;
}

filter::RemainingCandidates DeviceCandidates::by_label() { return run(CandidateStep::label); }
filter::RemainingCandidates DeviceCandidates::by_degree() { return run(CandidateStep::degree); }
filter::RemainingCandidates DeviceCandidates::refine() { return run(CandidateStep::refine); }

void DeviceCandidates::read(std::span<filter::Mask> masks) {
  ops_->read(masks.data(), memory_->masks.get(), masks.size_bytes());
  memory_.reset();
}

}  // namespace deltamatch::gpu
