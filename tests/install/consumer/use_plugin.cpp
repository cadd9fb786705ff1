// Calls plugin.cpp, and links nothing of deltamatch itself.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>

extern "C" std::int64_t count_triangles(const std::int64_t* ends, std::size_t edges);

int main() {
  const std::int64_t ends[] = {1, 2, 2, 3, 3, 1};
  std::printf("%lld triangle\n", static_cast<long long>(count_triangles(ends, std::size(ends) / 2)));
}
