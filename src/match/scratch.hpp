// Scratch memory of one worker: a stack of arrays that live until the mark before them is released.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace deltamatch::match {

/// Chunks do not move, so neither do arrays in use. Not thread-safe.
class Scratch {
 public:
  struct Mark {
    std::size_t chunk;
    std::size_t used;
  };

  [[nodiscard]] Mark mark() const noexcept { return {chunk_, used_}; }
  void release(Mark mark) noexcept {
    chunk_ = mark.chunk;
    used_ = mark.used;
  }

  /// Returns `count` uninitialised words, aligned to 64 bytes. O(1) once warm. Throws std::bad_alloc.
  std::uint32_t* words(std::size_t count) {
    const std::size_t size = (count + 15) & ~std::size_t{15};
    while (chunk_ < chunks_.size() && used_ + size > chunks_[chunk_].size) {
      ++chunk_;
      used_ = 0;
    }
    if (chunk_ == chunks_.size()) add_chunk(size);
    std::uint32_t* result = chunks_[chunk_].memory.get() + used_;
    used_ += size;
    return result;
  }

  template <class T>
  T* array(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 64);
    return reinterpret_cast<T*>(words((count * sizeof(T) + 3) / 4));
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t words = 0;
    for (const Chunk& chunk : chunks_) words += chunk.size;
    return words * sizeof(std::uint32_t);
  }

 private:
  struct Free {
    void operator()(std::uint32_t* memory) const noexcept { ::operator delete(memory, std::align_val_t{64}); }
  };
  struct Chunk {
    std::unique_ptr<std::uint32_t, Free> memory;
    std::size_t size;
  };

  void add_chunk(std::size_t least) {
    const std::size_t size = std::max({least, std::size_t{1} << 14, chunks_.empty() ? 0 : 2 * chunks_.back().size});
    chunks_.reserve(chunks_.size() + 1);
    chunks_.push_back({std::unique_ptr<std::uint32_t, Free>(
                           static_cast<std::uint32_t*>(::operator new(size * sizeof(std::uint32_t), std::align_val_t{64}))),
                       size});
    used_ = 0;
  }

  std::vector<Chunk> chunks_;
  std::size_t chunk_ = 0;
  std::size_t used_ = 0;
};

/// Releases, when destroyed, what was taken since its construction.
class ScratchScope {
 public:
  explicit ScratchScope(Scratch& scratch) noexcept : scratch_(scratch), mark_(scratch.mark()) {}
  ~ScratchScope() { scratch_.release(mark_); }
  ScratchScope(const ScratchScope&) = delete;
  ScratchScope& operator=(const ScratchScope&) = delete;

 private:
  Scratch& scratch_;
  Scratch::Mark mark_;
};

}  // namespace deltamatch::match
