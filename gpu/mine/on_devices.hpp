// Runs one search on each of several devices at the same time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "match/dense_set_counter.hpp"

namespace deltamatch::gpu {

/// Makes a device current and returns its operations. Called on the thread that then uses the device.
template <class Ops>
using MakeOps = std::function<std::unique_ptr<Ops>()>;

/// How a search ended.
struct DeviceRun {
  bool stopped;           ///< `go_on` has returned false
  double kernel_seconds;  ///< the longest of the devices
};

/// Runs `search(ops, go_on)` in a thread for each device; the first runs in the caller's thread. While only other devices work,
/// the caller's thread still calls `go_on`, with `share()`. If a search throws, the exception is rethrown after all have ended.
template <class Ops, class Share, class Search>
DeviceRun run_on_devices(const std::vector<MakeOps<Ops>>& devices, const match::GoOn& go_on, Share share, Search search) {
  std::atomic<bool> stopped = false;
  std::atomic<std::size_t> working = devices.size();
  std::mutex mutex;
  std::exception_ptr failure;
  double longest = 0;
  const auto work = [&](std::size_t device, const match::GoOn& go) {
    try {
      const std::unique_ptr<Ops> ops = devices[device]();
      search(*ops, go);
      const std::lock_guard lock(mutex);
      longest = std::max(longest, ops->kernel_seconds());
    } catch (...) {
      stopped = true;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
    --working;
  };
  const match::GoOn ask = [&](double done) {
    if (!stopped && !go_on(done)) stopped = true;
    return !stopped;
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t device = 1; device < devices.size(); ++device) {
      others.emplace_back([&, device] { work(device, [&](double) { return !stopped; }); });
    }
    work(0, ask);
    try {
      while (working > 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ask(share());
      }
    } catch (...) {  // from go_on or share
      stopped = true;
      throw;
    }
  }
  if (failure) std::rethrow_exception(failure);
  return {stopped, longest};
}

}  // namespace deltamatch::gpu
