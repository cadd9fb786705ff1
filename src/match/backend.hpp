// The interface of a backend: where an engine's lists are stored and who matches. A GPU build provides one.
#pragma once

#include <memory>

#include "graph/arena.hpp"
#include "match/dense_set_counter.hpp"
#include "match/matcher.hpp"
#include "match/motif_counter.hpp"

namespace deltamatch {

/// Every engine that uses a backend owns it through shared_ptr. Only one engine at a time may match.
class Backend {
 public:
  virtual ~Backend() = default;
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// Allocates the memory for the lists of the data graph.
  [[nodiscard]] virtual graph::SlabAllocator& slabs() noexcept = 0;
  /// Makes a matcher. `workers` must outlive it.
  [[nodiscard]] virtual std::unique_ptr<match::Matcher> make_matcher(Workers& workers) = 0;
  /// Makes counters on the same devices. Null if the devices have matchers only.
  [[nodiscard]] virtual std::unique_ptr<match::DenseSetCounter> make_dense_set_counter() { return nullptr; }
  [[nodiscard]] virtual std::unique_ptr<match::MotifCounter> make_motif_counter() { return nullptr; }

  /// For the backend's profilers: the engine begins a step of a batch, or ends the step begun last, in the same thread. Names
  /// are string literals.
  virtual void begin_step(const char* /*name*/) noexcept {}
  virtual void end_step() noexcept {}
};

/// Begins a step of the engine and ends it when destroyed. Does nothing without a backend.
class BackendStep {
 public:
  BackendStep(Backend* backend, const char* name) noexcept : backend_(backend) {
    if (backend_ != nullptr) backend_->begin_step(name);
  }
  ~BackendStep() {
    if (backend_ != nullptr) backend_->end_step();
  }
  BackendStep(const BackendStep&) = delete;
  BackendStep& operator=(const BackendStep&) = delete;

 private:
  Backend* backend_;
};

}  // namespace deltamatch
