#include "engine/storage/snapshot_memories.hpp"

namespace deltamatch::engine {
namespace {

constexpr int half = 8;  // bytes

template <class Key>
void write_times(SectionWriter& out, const std::vector<std::pair<Key, Timestamp>>& times) {
  out.number(times.size());
  for (const auto& [key, time] : times) {
    out.fixed(key.high, half);
    out.fixed(key.low, half);
    out.signed_number(time);
  }
}

template <class Key>
void read_times(SectionReader& in, std::vector<std::pair<Key, Timestamp>>& times) {
  for (std::uint64_t left = in.number(); left > 0; --left) {
    Key key;
    key.high = in.fixed(half);
    key.low = in.fixed(half);
    if (!times.empty() && key <= times.back().first) in.refuse("what a query remembers is out of order");
    times.emplace_back(key, in.signed_number());
  }
}

}  // namespace

void write_memories(SectionWriter& out, std::span<const ParkedMemory> memories) {
  out.begin(Section::memories);
  out.number(memories.size());
  for (const ParkedMemory& memory : memories) {
    out.text(memory.name);
    out.text(memory.fingerprint);
    write_times(out, memory.once.last);
    write_times(out, memory.once.reported);
  }
}

void read_memories(SectionReader& in, std::vector<ParkedMemory>& memories) {
  in.begin(Section::memories);
  for (std::uint64_t left = in.number(); left > 0; --left) {
    ParkedMemory& memory = memories.emplace_back();
    in.text(memory.name);
    in.text(memory.fingerprint);
    read_times(in, memory.once.last);
    read_times(in, memory.once.reported);
  }
}

}  // namespace deltamatch::engine
