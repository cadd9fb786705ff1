// A backend that matches like the engine alone. It lets tests without a device check what engines do only beside a device.
#pragma once

#include <memory>
#include <string_view>

#include "match/backend.hpp"

namespace deltamatch::test {

class IdleBackend : public Backend {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "idle"; }
  [[nodiscard]] BackendCapabilities capabilities() const noexcept override { return {.own_memory = true, .frees_cores = true}; }
  graph::SlabAllocator& slabs() noexcept override { return graph::heap_slabs(); }
  std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override { return match::make_cpu_matcher(workers); }
};

}  // namespace deltamatch::test
