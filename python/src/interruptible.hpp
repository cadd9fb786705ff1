// Runs work without Python's lock, so that other threads of Python go on and Ctrl-C ends it.
#pragma once

#include <atomic>
#include <functional>

namespace deltamatch::python {

/// Runs `work` in a thread of its own and waits for it, without Python's lock. A signal whose handler raises an exception, such
/// as Ctrl-C, sets `stop`; `work` should then return soon. Rethrows that exception, or what `work` throws. The caller holds the
/// lock, and `work` must not touch objects of Python without it.
void run_interruptible(const std::function<void(const std::atomic<bool>& stop)>& work);

}  // namespace deltamatch::python
