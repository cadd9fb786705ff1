#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"

namespace deltamatch {
namespace {

TEST(Workers, AtLeastOne) {
  EXPECT_GE(Workers().size(), 1U);
  EXPECT_EQ(Workers(1).size(), 1U);
  EXPECT_EQ(Workers(5).size(), 5U);
}

TEST(Workers, RefusesAbsurdNumbersOfThreads) {
  EXPECT_THROW(Workers(Workers::max_threads + 1), Error);
  EXPECT_THROW(Workers(~0U), Error);
}

TEST(Workers, EveryIndexOnceInChunksOfTheGrainAtMost) {
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    Workers workers(threads);
    for (const std::size_t n : {0, 1, 2, 7, 31, 32, 33, 65, 1000, 10007}) {
      for (const std::size_t grain : {0, 1, 2, 32, 1000, 100000}) {
        std::vector<std::atomic<int>> seen(n);
        std::atomic<bool> sound{true};
        workers.for_each(n, grain, [&](unsigned worker, std::size_t begin, std::size_t end) {
          if (worker >= threads || begin >= end || end > n || end - begin > std::max<std::size_t>(grain, 1)) sound = false;
          for (std::size_t i = begin; i < end; ++i) ++seen[i];
        });
        EXPECT_TRUE(sound) << threads << " " << n << " " << grain;
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], 1) << threads << " " << n << " " << grain << " at " << i;
      }
    }
  }
}

TEST(Workers, GrainsLeaveEachThreadSomeChunks) {
  EXPECT_EQ(Workers(1).grain(1000, 512), 512U);
  const Workers workers(4);
  EXPECT_EQ(workers.grain(100'000, 512), 512U);
  EXPECT_EQ(workers.grain(3200, 512), 200U);
  EXPECT_EQ(workers.grain(10, 512), 64U);
  EXPECT_EQ(workers.grain(0, 4), 1U);
}

TEST(Workers, NoTwoChunksAtOnceUnderOneWorker) {
  Workers workers(4);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::atomic<int>> inside(workers.size());
    std::atomic<bool> shared{false};
    std::vector<std::uint64_t> sums(workers.size());  // not atomic, so ThreadSanitizer notices a worker that is shared
    workers.for_each(2000, 3, [&](unsigned worker, std::size_t begin, std::size_t end) {
      if (inside[worker]++ != 0) shared = true;
      for (std::size_t i = begin; i < end; ++i) sums[worker] += i;
      --inside[worker];
    });
    EXPECT_FALSE(shared);
    EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), std::uint64_t{0}), 2000U * 1999U / 2);
  }
}

TEST(Workers, LoopsOfABodyForWhichThreadsStandBy) {
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    Workers workers(threads);
    for (int round = 0; round < 20; ++round) {
      const auto caller = std::this_thread::get_id();
      std::uint64_t seen = 0;
      workers.stand_by([&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        for (std::size_t n : {1, 7, 8, 100, 1000, 3, 2, 5000}) {
          std::vector<std::uint64_t> sums(workers.size());  // not atomic, so ThreadSanitizer notices what is shared
          std::vector<std::uint8_t> visits(n);
          workers.for_each(n, 3, [&](unsigned worker, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
              sums[worker] += i;
              ++visits[i];
            }
          });
          EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), std::uint64_t{0}), n * (n - 1) / 2);
          EXPECT_EQ(std::ranges::count(visits, 1), static_cast<std::ptrdiff_t>(n));
          workers.stand_by([&] {
            workers.for_each(n, 2, [&](unsigned, std::size_t begin, std::size_t end) {
              for (std::size_t i = begin; i < end; ++i) visits[i] = 2;
            });
          });
          EXPECT_EQ(std::ranges::count(visits, 2), static_cast<std::ptrdiff_t>(n));
          seen += n;
        }
      });
      EXPECT_EQ(seen, 6121U);
    }
  }
}

TEST(Workers, ThreadsThatStandByTakePartAtOnce) {
  Workers workers(3);
  std::atomic<unsigned> present{0};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  workers.stand_by([&] {
    for (unsigned loop = 1; loop <= 100; ++loop) {
      // Each chunk waits for the others: the loop ends only if three threads run it at once.
      workers.for_each(3, 1, [&](unsigned, std::size_t, std::size_t) {
        ++present;
        while (present < 3 * loop && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
      });
    }
  });
  EXPECT_EQ(present, 300U);
  EXPECT_LT(std::chrono::steady_clock::now(), deadline) << "the chunks did not run at once";
}

TEST(Workers, WhatABodyThrowsReachesTheCaller) {
  Workers workers(4);
  EXPECT_THROW(workers.stand_by([] { throw std::runtime_error("body"); }), std::runtime_error);
  EXPECT_THROW(workers.stand_by([&] {
    workers.for_each(100, 1, [](unsigned, std::size_t begin, std::size_t) {
      if (begin == 50) throw std::runtime_error("loop");
    });
  }),
               std::runtime_error);
  std::atomic<int> sum{0};
  workers.stand_by([&] { workers.for_each(10, 1, [&](unsigned, std::size_t, std::size_t) { ++sum; }); });
  EXPECT_EQ(sum, 10);
}

TEST(Workers, SeveralThreadsTakePartTheCallerAsWorker0) {
  Workers workers(3);
  const auto caller = std::this_thread::get_id();
  std::atomic<unsigned> present{0};
  std::atomic<bool> caller_is_0{true};
  // Each chunk waits for the others: it ends only if three threads run at once.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  workers.for_each(3, 1, [&](unsigned worker, std::size_t, std::size_t) {
    if ((worker == 0) != (std::this_thread::get_id() == caller)) caller_is_0 = false;
    ++present;
    while (present < 3 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  });
  EXPECT_EQ(present, 3U);
  EXPECT_LT(std::chrono::steady_clock::now(), deadline) << "the chunks did not run at once";
  EXPECT_TRUE(caller_is_0);
}

TEST(Workers, SmallLoopsRunOnTheCaller) {
  Workers workers(4);
  const auto caller = std::this_thread::get_id();
  workers.for_each(10, 10, [&](unsigned worker, std::size_t begin, std::size_t end) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(worker, 0U);
    EXPECT_EQ(begin, 0U);
    EXPECT_EQ(end, 10U);
  });
}

TEST(Workers, OneThreadGoesThroughTheChunksInOrder) {
  Workers workers(1);
  std::vector<std::size_t> bounds;
  workers.for_each(10, 4, [&](unsigned, std::size_t begin, std::size_t end) { bounds.insert(bounds.end(), {begin, end}); });
  EXPECT_EQ(bounds, (std::vector<std::size_t>{0, 4, 4, 8, 8, 10}));
}

TEST(Workers, AnExceptionStopsTheLoopAndReachesTheCaller) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    Workers workers(threads);
    for (int round = 0; round < 20; ++round) {
      std::atomic<std::size_t> chunks{0};
      std::atomic<int> inside{0};
      const auto body = [&](unsigned, std::size_t begin, std::size_t) {
        ++inside;
        ++chunks;
        if (begin == 40) {
          --inside;
          throw std::domain_error("at 40");
        }
        std::this_thread::sleep_for(std::chrono::microseconds(1));
        --inside;
      };
      EXPECT_THROW(workers.for_each(100000, 1, body), std::domain_error);
      EXPECT_EQ(inside, 0) << "the caller was told before all chunks had ended";
      EXPECT_LT(chunks, 100000U) << "chunks were started after the exception";
    }
    // The workers are still usable.
    std::atomic<std::size_t> sum{0};
    workers.for_each(1000, 1, [&](unsigned, std::size_t begin, std::size_t) { sum += begin; });
    EXPECT_EQ(sum, 999U * 500U);
  }
}

TEST(Workers, OneOfSeveralExceptionsArrives) {
  Workers workers(4);
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(workers.for_each(64, 1, [](unsigned, std::size_t, std::size_t) { throw std::bad_alloc(); }), std::bad_alloc);
  }
}

TEST(Workers, ResultsOfAllChunksAreVisibleAfterwards) {
  Workers workers(4);
  std::vector<std::size_t> values(50000);
  for (std::size_t round = 1; round <= 20; ++round) {
    workers.for_each(values.size(), 64, [&](unsigned, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) values[i] += i;
    });
    ASSERT_EQ(values[49999], 49999 * round);
  }
}

TEST(Workers, MovesAndLivesBesideOthers) {
  Workers first(3);
  Workers second(std::move(first));
  Workers third(2);
  third = std::move(second);
  EXPECT_EQ(third.size(), 3U);
  Workers other(6);
  std::atomic<std::size_t> sum{0};
  third.for_each(100, 1, [&](unsigned worker, std::size_t, std::size_t) { sum += worker < 3 ? 1 : 1000; });
  other.for_each(100, 1, [&](unsigned worker, std::size_t, std::size_t) { sum += worker < 6 ? 1 : 1000; });
  EXPECT_EQ(sum, 200U);
}

}  // namespace
}  // namespace deltamatch
