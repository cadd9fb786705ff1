// What backends and their callers need beside the public interface: the types that it only declares.
#pragma once

#include "deltamatch/backend.hpp"
#include "graph/arena.hpp"
#include "match/dense_set_counter.hpp"
#include "match/matcher.hpp"
#include "match/motif_counter.hpp"

namespace deltamatch {

/// Begins a step of the engine for a backend's profilers, and ends it when destroyed.
class BackendStep {
 public:
  BackendStep(Backend& backend, const char* name) noexcept : backend_(&backend) { backend_->begin_step(name); }
  ~BackendStep() { backend_->end_step(); }
  BackendStep(const BackendStep&) = delete;
  BackendStep& operator=(const BackendStep&) = delete;

 private:
  Backend* backend_;
};

}  // namespace deltamatch
