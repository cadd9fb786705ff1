// Where an engine's lists live and who matches: what a GPU build hands in.
#pragma once

#include <memory>

#include "graph/arena.hpp"
#include "match/dense_set_counter.hpp"
#include "match/matcher.hpp"
#include "match/motif_counter.hpp"

namespace deltamatch {

/// Owned through shared_ptr by every engine that uses it. One engine at a time may match.
class Backend {
 public:
  virtual ~Backend() = default;
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// Where the lists of the data graph are to live.
  [[nodiscard]] virtual graph::SlabAllocator& slabs() noexcept = 0;
  /// `workers` outlives the matcher.
  [[nodiscard]] virtual std::unique_ptr<match::Matcher> make_matcher(Workers& workers) = 0;
  /// On the same devices; null where they count with matchers only.
  [[nodiscard]] virtual std::unique_ptr<match::DenseSetCounter> make_dense_set_counter() { return nullptr; }
  [[nodiscard]] virtual std::unique_ptr<match::MotifCounter> make_motif_counter() { return nullptr; }

  /// For the backend's profilers: a step of a batch that the engine takes itself begins, or the one begun last ends, in the
  /// same thread. Names are literals.
  virtual void begin_step(const char* /*name*/) noexcept {}
  virtual void end_step() noexcept {}
};

/// A step of the engine's, as long as it lives; nothing without a backend.
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
