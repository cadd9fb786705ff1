// The section of a snapshot with what ALERT ONCE remembers.
//
//   memories   how many queries, and each
//   query      name, fingerprint (texts), bindings, matches
//   bindings   how many; for each its hash, 16 bytes, and the time of its last report; ascending
//   matches    how many reported ones may vanish; for each its id, 16 bytes, and until when; ascending
#pragma once

#include <span>
#include <vector>

#include "engine/listing/once_state.hpp"
#include "engine/storage/section_file.hpp"

namespace deltamatch::engine {

void write_memories(SectionWriter& out, std::span<const ParkedMemory> memories);
/// Throws Error if the section holds what no writer writes.
void read_memories(SectionReader& in, std::vector<ParkedMemory>& memories);

}  // namespace deltamatch::engine
