#include "gpu/mine/set_search.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/checked.hpp"
#include "gpu/cuda/check.hpp"
#include "gpu/mine/dense_memory.hpp"
#include "gpu/mine/node_stack.hpp"

namespace deltamatch::gpu {
namespace {

using match::DenseSpaces;

constexpr std::uint64_t most_row_words = std::uint64_t{1} << 23;  // at a time: making them must not delay a stop
constexpr std::size_t least_bytes = std::size_t{1} << 20;         // retrying with less is not worth it
constexpr std::uint32_t most_members = 1U << 15;                  // NodeHead::from has 16 bits

/// A space, by its place in DenseSpaces.
struct Part {
  std::size_t space;
  std::uint64_t begin;
  std::uint32_t size;
};

class SetSearch {
 public:
  SetSearch(DenseOps& ops, const SetJob& job, const match::GoOn& go_on)
      : ops_(ops),
        job_(job),
        go_on_(go_on),
        layers_(job.budget + 1),
        levels_(job.k > 4 ? job.k - 3 : 1),
        lists_(ops, job.graph),
        sums_(layers_, 0) {
    for (std::size_t bytes = usable_bytes(ops, job.settings.memory, lists_.bytes);; bytes /= 2) {
      try {
        memory_.emplace(ops, bytes, (job.settings.children + job.settings.portion) * (1 + layers_));
        return;
      } catch (const DeviceOutOfMemory&) {
        if (bytes < least_bytes) throw;
      }
    }
  }

  std::vector<Count> run() {
    for (;;) {
      const DenseSpaces batch = job_.queue.take(memory_->row_words);
      if (batch.spaces.empty() || !go_on_(batch.share) || !count(batch)) return std::move(sums_);
    }
  }

 private:
  struct Memory {
    /// A quarter of the memory is for rows, each with 24 bytes about its member and at least one word. Half is for nodes.
    /// Throws DeviceOutOfMemory.
    Memory(DenseOps& ops, std::size_t bytes, std::uint64_t most_node_words)
        : row_words(std::min<std::uint64_t>(bytes / 4 / (sizeof(Word) + 24), most_row_words)),
          node_words(std::min<std::uint64_t>(bytes / 2 / sizeof(Word), most_node_words)),
          rows(ops, row_words),
          owner(ops, row_words),
          members(ops, row_words),
          spaces(ops, row_words),
          nodes(ops, node_words),
          progress(ops, 1) {}
    std::uint64_t row_words;
    std::uint64_t node_words;
    DeviceArray<Word> rows;
    DeviceArray<std::uint32_t> owner;
    DeviceArray<std::uint32_t> members;
    DeviceArray<Space> spaces;
    DeviceArray<Word> nodes;
    DeviceArray<Progress> progress;
  };

  /// Counts spaces of the same width together.
  bool count(const DenseSpaces& batch) {
    std::map<unsigned, std::vector<Part>> by_width;
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < batch.spaces.size(); ++i) {
      const auto size = static_cast<std::uint32_t>(batch.spaces[i].end - begin);
      by_width[std::bit_ceil((size + 63) / 64)].push_back({i, begin, size});
      begin = batch.spaces[i].end;
    }
    for (const auto& [words, parts] : by_width) {
      const Room room = room_for(words);
      std::span<const Part> rest = parts;
      while (!rest.empty()) {
        std::size_t taken = 0;
        for (std::uint64_t rows = 0; taken < rest.size() && taken < room.seeds; ++taken) {
          rows += rest[taken].size;
          if (rows * words > memory_->row_words) break;
        }
        if (taken == 0 || rest[0].size > most_members) {
          job_.queue.leave(batch.spaces[rest[0].space].root);
          rest = rest.subspan(1);
          continue;
        }
        if (!count(batch, words, room, rest.first(taken))) return false;
        rest = rest.subspan(taken);
      }
    }
    return true;
  }

  /// How many nodes there is room for.
  struct Room {
    std::uint64_t capacity = 0;
    std::uint64_t portion = 0;
    std::uint64_t seeds = 0;  ///< 0: too little memory
  };
  [[nodiscard]] Room room_for(unsigned words) const {
    const std::uint64_t nodes = memory_->node_words / (1 + std::uint64_t{layers_} * words);
    Room room;
    room.portion = std::min(job_.settings.portion, nodes / 8);
    room.capacity = nodes - room.portion;
    // A warp makes 32 children at once. Room for twice that lets it go on.
    const std::uint64_t least = std::uint64_t{64} * levels_;
    if (room.portion > 0 && room.capacity / 2 > least) room.seeds = std::min(room.portion, room.capacity / 2);
    return room;
  }

  bool count(const DenseSpaces& batch, unsigned words, const Room& room, std::span<const Part> parts) {
    const RowWork rows = make_rows(batch, words, parts);
    const unsigned node_words = layers_ * words;
    const Nodes nodes{reinterpret_cast<NodeHead*>(memory_->nodes.get()), memory_->nodes.get() + room.capacity + room.portion};
    const Nodes deferred = nodes.behind(room.capacity, node_words);
    write_seeds(batch, words, parts, nodes);
    NodeStack stack(room.capacity, levels_, room.portion);
    stack.start(parts.size());
    while (!stack.empty()) {
      if (!go_on_(batch.share)) return false;
      const unsigned missing = job_.k - 1 - stack.level();
      const NodeStack::Portion portion = stack.next(missing == 2);
      const SetWork work{nodes.behind(portion.first, node_words),
                         portion.count,
                         rows.rows,
                         words,
                         layers_,
                         missing,
                         {nodes.behind(portion.output, node_words), portion.capacity, deferred, memory_->progress.get()}};
      ops_.clear(memory_->progress.get(), sizeof(Progress));
      missing == 2 ? ops_.finish(work) : ops_.grow(work);
      Progress made{};
      ops_.read(&made, memory_->progress.get(), sizeof made);
      for (unsigned i = 0; i < layers_; ++i) sums_[i] = checked_add(sums_[i], made.sums[i]);
      ops_.copy(work.nodes.heads, deferred.heads, made.deferred * sizeof(NodeHead));
      ops_.copy(work.nodes.words, deferred.words, made.deferred * node_words * sizeof(Word));
      stack.done(portion, made.deferred, made.written());
    }
    return true;
  }

  RowWork make_rows(const DenseSpaces& batch, unsigned words, std::span<const Part> parts) {
    std::vector<Space> spaces;
    std::vector<std::uint32_t> owner;
    std::vector<std::uint32_t> members;
    for (const Part& part : parts) {
      spaces.push_back({members.size(), static_cast<std::uint32_t>(members.size()), part.size});
      owner.insert(owner.end(), part.size, static_cast<std::uint32_t>(spaces.size() - 1));
      const auto first = batch.members.begin() + static_cast<std::ptrdiff_t>(part.begin);
      members.insert(members.end(), first, first + part.size);
    }
    memory_->spaces.write(spaces);
    memory_->owner.write(owner);
    memory_->members.write(members);
    const RowWork work{lists_.begin.get(),   lists_.later.get(), memory_->members.get(), memory_->spaces.get(),
                       memory_->owner.get(), owner.size(),       memory_->rows.get(),    words};
    ops_.clear(work.rows, work.count * words * sizeof(Word));
    ops_.fill_rows(work);
    return work;
  }

  /// Writes a node for each space, with the root taken. Members adjacent to it lie in the first layer, others in the second.
  void write_seeds(const DenseSpaces& batch, unsigned words, std::span<const Part> parts, const Nodes& nodes) {
    std::vector<NodeHead> heads;
    std::vector<Word> sets(parts.size() * layers_ * words, 0);
    std::uint32_t first_row = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      heads.push_back({first_row, 0, 0});
      first_row += parts[i].size;
      Word* const set = sets.data() + i * layers_ * words;
      for (std::uint32_t m = 0; m < parts[i].size; ++m) {
        const unsigned layer = batch.joined[parts[i].begin + m] != 0 ? 0 : 1;
        if (layer < layers_) set[layer * words + m / 64] |= Word{1} << m % 64;
      }
    }
    ops_.write(nodes.heads, heads.data(), heads.size() * sizeof(NodeHead));
    ops_.write(nodes.words, sets.data(), sets.size() * sizeof(Word));
  }

  DenseOps& ops_;
  const SetJob& job_;
  const match::GoOn& go_on_;
  unsigned layers_;
  unsigned levels_;
  DeviceLists lists_;
  std::optional<Memory> memory_;
  std::vector<Count> sums_;
};

}  // namespace

std::vector<Count> search_sets(DenseOps& ops, const SetJob& job, const match::GoOn& go_on) {
  std::unique_ptr<SetSearch> search;
  try {
    search = std::make_unique<SetSearch>(ops, job, go_on);
  } catch (const DeviceOutOfMemory&) {
    return std::vector<Count>(job.budget + 1, 0);
  }
  return search->run();
}

}  // namespace deltamatch::gpu
