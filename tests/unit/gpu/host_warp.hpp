// A warp on the host, for kernels that are made for one plan (gpu/made): their text is compiled by the host's compiler behind
// this header. Lanes are coroutines that take turns at every operation of the whole warp. So they are as far apart as the
// operations allow, and an operation that some lanes miss is noticed.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)

struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};
struct Place {
  unsigned x;
};
inline Place threadIdx{0};
inline constexpr Place blockIdx{0};
inline constexpr Place blockDim{32};
inline constexpr Place gridDim{1};

namespace host_warp {

inline constexpr unsigned lanes = 32;
inline constexpr std::size_t stack_bytes = std::size_t{256} << 10;

enum class Operation : unsigned { sync, shuffle, vote, sum, join };

struct Lane {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  unsigned operations = 0;
  bool done = false;
};
inline Lane all[lanes];
inline ucontext_t outside;
inline unsigned long long values[2][lanes];
inline Operation kinds[2][lanes];
inline unsigned counts[2][lanes];
inline long long clock = 0;

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "host_warp: %s\n", what);
  std::abort();
}

// Gives all lanes a value each. Returns those of the operation.
inline const unsigned long long* exchange(Operation kind, unsigned long long value) {
  const unsigned lane = threadIdx.x;
  Lane& own = all[lane];
  const unsigned side = own.operations % 2;
  values[side][lane] = value;
  kinds[side][lane] = kind;
  counts[side][lane] = ++own.operations;
  const unsigned next = (lane + 1) % lanes;
  if (all[next].done) fail("a lane has ended before an operation of all");
  threadIdx.x = next;
  swapcontext(&own.context, &all[next].context);
  threadIdx.x = lane;
  for (unsigned i = 0; i < lanes; ++i) {
    if (kinds[side][i] != kind || counts[side][i] != own.operations) fail("lanes are at different operations");
  }
  return values[side];
}

template <class T>
unsigned long long bits_of(T value) {
  unsigned long long bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T value_of(unsigned long long bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace host_warp

inline void __syncthreads() { host_warp::exchange(host_warp::Operation::sync, 0); }
inline void __syncwarp() { host_warp::exchange(host_warp::Operation::sync, 0); }
template <class T>
T __shfl_sync(unsigned, T value, unsigned lane) {
  return host_warp::value_of<T>(host_warp::exchange(host_warp::Operation::shuffle, host_warp::bits_of(value))[lane % 32]);
}
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned by) {
  const unsigned lane = threadIdx.x;
  return host_warp::value_of<T>(
      host_warp::exchange(host_warp::Operation::shuffle, host_warp::bits_of(value))[lane < by ? lane : lane - by]);
}
template <class T>
T __shfl_xor_sync(unsigned, T value, unsigned with) {
  const unsigned lane = threadIdx.x;
  return host_warp::value_of<T>(host_warp::exchange(host_warp::Operation::shuffle, host_warp::bits_of(value))[lane ^ with]);
}
inline unsigned __ballot_sync(unsigned, bool value) {
  const unsigned long long* all = host_warp::exchange(host_warp::Operation::vote, value ? 1 : 0);
  unsigned mask = 0;
  for (unsigned i = 0; i < 32; ++i) mask |= static_cast<unsigned>(all[i]) << i;
  return mask;
}
inline bool __any_sync(unsigned mask, bool value) { return __ballot_sync(mask, value) != 0; }
inline unsigned __reduce_add_sync(unsigned, unsigned value) {
  const unsigned long long* all = host_warp::exchange(host_warp::Operation::sum, value);
  unsigned sum = 0;
  for (unsigned i = 0; i < 32; ++i) sum += static_cast<unsigned>(all[i]);
  return sum;
}
inline unsigned __reduce_or_sync(unsigned, unsigned value) {
  const unsigned long long* all = host_warp::exchange(host_warp::Operation::join, value);
  unsigned joined = 0;
  for (unsigned i = 0; i < 32; ++i) joined |= static_cast<unsigned>(all[i]);
  return joined;
}

inline unsigned __popc(unsigned value) { return static_cast<unsigned>(std::popcount(value)); }
inline int __ffs(int value) { return value == 0 ? 0 : std::countr_zero(static_cast<unsigned>(value)) + 1; }
inline long long __mul64hi(long long a, long long b) {
  __extension__ using Wide = __int128;
  return static_cast<long long>(static_cast<Wide>(a) * b >> 64);
}
inline long long clock64() { return ++host_warp::clock; }
template <class T>
T __ldg(const T* at) {
  return *at;
}
template <class T>
T atomicAdd(T* at, T value) {
  const T before = *at;
  *at += value;
  return before;
}
template <class T>
T atomicSub(T* at, T value) {
  const T before = *at;
  *at -= value;
  return before;
}
template <class T>
T atomicOr(T* at, T value) {
  const T before = *at;
  *at |= value;
  return before;
}
using std::min;

namespace host_warp {

template <class Launch>
struct Running {
  static inline void (*kernel)(Launch) = nullptr;
  static inline const Launch* launch = nullptr;

  static void run_lane() {
    const unsigned lane = threadIdx.x;
    kernel(*launch);
    all[lane].done = true;
    if (lane + 1 == lanes) {
      setcontext(&outside);
    } else {
      threadIdx.x = lane + 1;
      setcontext(&all[lane + 1].context);
    }
  }
};

template <class Launch>
void run(void (*kernel)(Launch), const Launch& launch) {
  Running<Launch>::kernel = kernel;
  Running<Launch>::launch = &launch;
  for (Lane& lane : all) {
    lane.operations = 0;
    lane.done = false;
    if (!lane.stack) lane.stack = std::make_unique<char[]>(stack_bytes);
    getcontext(&lane.context);
    lane.context.uc_stack.ss_sp = lane.stack.get();
    lane.context.uc_stack.ss_size = stack_bytes;
    lane.context.uc_link = nullptr;
    makecontext(&lane.context, Running<Launch>::run_lane, 0);
  }
  threadIdx.x = 0;
  swapcontext(&outside, &all[0].context);
}

}  // namespace host_warp
