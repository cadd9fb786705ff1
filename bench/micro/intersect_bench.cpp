// Set intersections by size of the shorter list, skew and instruction set. A time is that of one call in a loop over many pairs
// of lists, so that branch predictors do not learn them. Every pair's answer is first checked against std::set_intersection.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "match/intersect.hpp"

namespace {

using deltamatch::match::Isa;
using List = std::vector<std::uint32_t>;

constexpr std::array isa_names = {"portable", "avx2", "avx512"};

List random_list(std::mt19937_64& random, std::size_t n, std::uint32_t below) {
  List list;
  while (list.size() < n) {
    while (list.size() < n) list.push_back(static_cast<std::uint32_t>(random() % below));
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return list;
}

struct Pair {
  List a;
  List b;
};

/// About one in `sparsity` numbers of the range is in the longer list.
std::vector<Pair> make_pairs(std::size_t na, std::size_t nb, std::size_t sparsity) {
  std::mt19937_64 random(na * 1000003 + nb);
  const std::size_t count = std::clamp<std::size_t>(100000 / (na + nb), 4, 512);
  const auto below = static_cast<std::uint32_t>(std::max(na, nb) * sparsity);
  std::vector<Pair> pairs(count);
  for (Pair& pair : pairs) pair = {random_list(random, na, below), random_list(random, nb, below)};
  return pairs;
}

/// Empty if the answers are right.
std::string verify(const std::vector<Pair>& pairs) {
  for (const Pair& pair : pairs) {
    List both;
    std::set_intersection(pair.a.begin(), pair.a.end(), pair.b.begin(), pair.b.end(), std::back_inserter(both));
    const std::size_t count = deltamatch::match::intersect_count(pair.a.data(), pair.a.size(), pair.b.data(), pair.b.size());
    List out(std::min(pair.a.size(), pair.b.size()));
    out.resize(deltamatch::match::intersect(pair.a.data(), pair.a.size(), pair.b.data(), pair.b.size(), out.data()));
    if (count != both.size() || out != both) return "wrong intersection";
  }
  return {};
}

void bench_intersect(benchmark::State& state, Isa isa, bool list) {
  const auto na = static_cast<std::size_t>(state.range(0));
  const auto nb = na * static_cast<std::size_t>(state.range(1));
  if (!deltamatch::match::set_isa(isa)) return state.SkipWithError("not on this processor");
  const std::vector<Pair> pairs = make_pairs(na, nb, 4);
  if (const std::string error = verify(pairs); !error.empty()) return state.SkipWithError(error.c_str());
  List out(na);
  std::size_t next = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Pair& pair = pairs[next];
    next = next + 1 == pairs.size() ? 0 : next + 1;
    benchmark::DoNotOptimize(list ? deltamatch::match::intersect(pair.a.data(), na, pair.b.data(), nb, out.data())
                                  : deltamatch::match::intersect_count(pair.a.data(), na, pair.b.data(), nb));
    benchmark::ClobberMemory();
  }
  deltamatch::match::set_isa(deltamatch::match::best_isa());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(na));
}

void bench_bits(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  std::mt19937_64 random(n);
  std::vector<std::uint64_t> bits(1 << 14);  // 128 KiB: a million vertices
  for (std::uint64_t& word : bits) {
    const std::uint64_t half = random();
    word = half & random();
  }
  const List list = random_list(random, n, static_cast<std::uint32_t>(bits.size() * 64));
  const auto truth = static_cast<std::size_t>(
      std::count_if(list.begin(), list.end(), [&](std::uint32_t x) { return (bits[x / 64] >> (x % 64) & 1) != 0; }));
  if (deltamatch::match::count_in_bits(list.data(), n, bits.data()) != truth) return state.SkipWithError("wrong count");
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(deltamatch::match::count_in_bits(list.data(), n, bits.data()));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(n));
}

bool register_all() {
  for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
    const std::string name = isa_names[static_cast<std::size_t>(isa)];
    for (const bool list : {false, true}) {
      auto* bench =
          benchmark::RegisterBenchmark((std::string(list ? "list/" : "count/") + name).c_str(), bench_intersect, isa, list);
      bench->ArgNames({"size", "skew"})->ArgsProduct({{1, 4, 8, 16, 64, 1000}, {1, 4, 8, 16, 64, 256}});
      bench->Args({100000, 1})->MinTime(0.05);
    }
  }
  benchmark::RegisterBenchmark("bits/any", bench_bits)->ArgName("size")->Arg(8)->Arg(64)->Arg(4096);
  return true;
}

[[maybe_unused]] const bool registered = register_all();

}  // namespace
