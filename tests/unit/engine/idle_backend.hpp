// A backend that matches as the engine alone does: what engines do only beside a device can be tested without one.
#pragma once

#include <memory>

#include "match/backend.hpp"

namespace deltamatch::test {

class IdleBackend : public Backend {
 public:
  graph::SlabAllocator& slabs() noexcept override { return graph::heap_slabs(); }
  std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override { return match::make_cpu_matcher(workers); }
};

}  // namespace deltamatch::test
