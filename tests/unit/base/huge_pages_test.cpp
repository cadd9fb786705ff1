// Tables on huge pages, smaller and larger than one page.
#include "base/huge_pages.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace deltamatch {
namespace {

struct alignas(32) Record {
  std::uint64_t number;
};

TEST(HugePages, AVectorKeepsItsElementsWhileItGrows) {
  HugeVector<Record> records;
  constexpr std::uint64_t count = std::uint64_t{1} << 18;  // 8 MiB
  for (std::uint64_t i = 0; i < count; ++i) {
    records.push_back({i});
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(records.data()) % alignof(Record), 0U);
  }
  const HugeVector<Record> copy = records;
  const HugeVector<Record> moved = std::move(records);
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(copy[i].number, i);
    ASSERT_EQ(moved[i].number, i);
  }
}

TEST(HugePages, LargeMemoryBeginsAtAHugePage) {
  constexpr std::size_t huge_page = std::size_t{1} << 21;
  for (const std::size_t bytes : {std::size_t{1}, huge_page - 1, huge_page, huge_page + 1}) {
    void* const memory = allocate_pages(bytes, 8);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % (bytes >= huge_page ? huge_page : 8), 0U);
    release_pages(memory, bytes, 8);
  }
}

}  // namespace
}  // namespace deltamatch
