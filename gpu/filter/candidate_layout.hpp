// Plain structures in device memory that host and device share to filter candidates.
#pragma once

#include <cstdint>

#include "gpu/mirror/layout.hpp"

namespace deltamatch::gpu {

/// The most query vertices: each has a bit in a mask.
inline constexpr unsigned mask_bits = 32;

/// A filter::Need on a device.
struct CandidateRequirement {
  std::uint32_t query_relation;
  std::uint32_t entries;
  std::uint32_t neighbours;
};

enum class CandidateStep : std::uint8_t { label, degree, refine };

/// What a step leaves. `edges` is split, so that threads do not all add to one number.
struct CandidateCounts {
  unsigned long long candidates[mask_bits];  ///< by query vertex
  unsigned long long edges[mask_bits];
};

struct CandidateWork {
  GraphView graph;
  CandidateStep step;
  std::uint32_t vertices;
  std::uint32_t query_vertices;
  const std::uint32_t* labels;         ///< by vertex
  const std::uint32_t* degrees;        ///< by vertex
  const std::uint32_t* by_label;       ///< by vertex label: the query vertices that admit it
  const std::uint32_t* least_degrees;  ///< by query vertex
  const std::uint32_t* first_need;     ///< by query vertex, then the end
  const CandidateRequirement* needs;
  const std::uint32_t* masks;  ///< by vertex: candidates before the step
  std::uint32_t* next;         ///< by vertex: candidates after it
  CandidateCounts* left;       ///< counts of `next`; cleared before the step
};

}  // namespace deltamatch::gpu
