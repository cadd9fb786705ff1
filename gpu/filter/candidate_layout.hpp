// What host and device agree on where candidates are filtered: plain structures in device memory.
#pragma once

#include <cstdint>

#include "gpu/mirror/layout.hpp"

namespace deltamatch::gpu {

/// Query vertices, and so bits of a mask.
inline constexpr unsigned mask_bits = 32;

/// filter::Need.
struct CandidateNeed {
  std::uint32_t reading;
  std::uint32_t entries;
  std::uint32_t neighbours;
};

enum class CandidateStep : std::uint8_t { label, degree, refine };

/// Figures of what a step leaves; `edges` in parts, so that not all threads add to one number.
struct CandidateLeft {
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
  const std::uint32_t* first_need;     ///< by query vertex, with the end behind
  const CandidateNeed* needs;
  const std::uint32_t* masks;  ///< by vertex: what there was
  std::uint32_t* next;         ///< by vertex: what is left
  CandidateLeft* left;         ///< of `next`; to be cleared before
};

}  // namespace deltamatch::gpu
