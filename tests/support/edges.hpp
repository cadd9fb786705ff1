// Adds edges to batches, especially parallel ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "deltamatch/update.hpp"

namespace deltamatch::test {

inline void join(UpdateBatch& batch, std::int64_t source, std::int64_t target, std::string_view label) {
  Update update;
  update.source = source;
  update.target = target;
  update.label = label;
  batch.add(update);
}

/// Adds this many edges between the two vertices, labelled L0, L1 and so on.
inline void join_often(UpdateBatch& batch, std::int64_t source, std::int64_t target, int edges) {
  for (int label = 0; label < edges; ++label) join(batch, source, target, "L" + std::to_string(label));
}

}  // namespace deltamatch::test
