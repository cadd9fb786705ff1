// A group of lanes whose lanes are host threads, kept in step by barriers. Shows that joint steps are right for any number of
// lanes.
#pragma once

#include <array>
#include <barrier>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace deltamatch::gpu {

/// What the lanes of a warp of `lanes` threads share.
template <unsigned lanes>
struct TeamWarp {
  static inline thread_local TeamWarp* own = nullptr;
  static inline thread_local unsigned lane = 0;

  struct Exchange {
    std::barrier<> barrier;
    std::array<std::uint64_t, lanes> values{};
    explicit Exchange(unsigned size) : barrier(size) {}
  };
  /// For groups of 1, 2, 4 and so on lanes: the exchange of each group.
  std::vector<std::vector<std::unique_ptr<Exchange>>> exchanges;

  TeamWarp() {
    for (unsigned size = 1; size <= lanes; size *= 2) {
      auto& of_size = exchanges.emplace_back();
      for (unsigned group = 0; group < lanes / size; ++group) of_size.push_back(std::make_unique<Exchange>(size));
    }
  }

  /// Runs `body()` in each lane.
  template <class Body>
  void run(Body&& body) {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < lanes; ++i) {
      threads.emplace_back([&, i] {
        own = this;
        lane = i;
        body();
      });
    }
  }
};

/// `of` neighbouring lanes of a warp of `lanes`.
template <unsigned of, unsigned lanes>
struct Team {
  static constexpr unsigned size = of;
  using Warp = TeamWarp<lanes>;

  [[nodiscard]] unsigned rank() const { return Warp::lane % of; }
  void sync() const { exchange().barrier.arrive_and_wait(); }
  template <class T>
  T from(T value, unsigned which) const {
    return static_cast<T>(gather(static_cast<std::uint64_t>(value))[which]);
  }
  [[nodiscard]] unsigned ballot(bool vote) const {
    const auto all = gather(vote ? 1 : 0);
    unsigned bits = 0;
    for (unsigned i = 0; i < of; ++i) bits |= static_cast<unsigned>(all[i]) << i;
    return bits;
  }
  [[nodiscard]] unsigned sum(unsigned value) const {
    const auto all = gather(value);
    unsigned total = 0;
    for (unsigned i = 0; i < of; ++i) total += static_cast<unsigned>(all[i]);
    return total;
  }

 private:
  [[nodiscard]] static typename Warp::Exchange& exchange() {
    unsigned size_index = 0;
    while (1U << size_index < of) ++size_index;
    return *Warp::own->exchanges[size_index][Warp::lane / of];
  }
  [[nodiscard]] std::array<std::uint64_t, lanes> gather(std::uint64_t value) const {
    auto& shared = exchange();
    shared.values[rank()] = value;
    shared.barrier.arrive_and_wait();
    const auto all = shared.values;
    shared.barrier.arrive_and_wait();
    return all;
  }
};

}  // namespace deltamatch::gpu
