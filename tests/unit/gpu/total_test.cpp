// Sums of 64 bits that several threads add up to 128 bits.
#include "gpu/loops/total.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "deltamatch/count.hpp"

namespace deltamatch::gpu {
namespace {

__extension__ using Wide = __int128;

Wide value_of(const Total& total) { return static_cast<Wide>(Count{total.high} << 64 | total.low); }

TEST(Total, CarriesAndBorrows) {
  constexpr long long most = std::numeric_limits<long long>::max();
  constexpr long long least = std::numeric_limits<long long>::min();
  Total total{};
  Wide sum = 0;
  for (const long long found : {most, most, most, 1LL, 0LL, -1LL, least, least, least, least, -1LL, most, 5LL}) {
    add_to(total, found);
    sum += found;
    ASSERT_TRUE(value_of(total) == sum) << "after " << found;
  }
}

TEST(Total, IsTheSumOfWhatAllAdd) {
  Total total{};
  std::vector<Wide> sums(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < sums.size(); ++t) {
      threads.emplace_back([&, t] {
        std::mt19937_64 random(t);
        for (int i = 0; i < 50'000; ++i) {
          const auto found = static_cast<long long>(random());
          add_to(total, found);
          sums[t] += found;
        }
      });
    }
  }
  Wide sum = 0;
  for (const Wide part : sums) sum += part;
  EXPECT_TRUE(value_of(total) == sum);
}

}  // namespace
}  // namespace deltamatch::gpu
