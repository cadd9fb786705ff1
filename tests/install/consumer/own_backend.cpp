// A backend of one's own around another: it matches as CPU cores do, and counts the steps of batches.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "deltamatch/engine.hpp"
#include "deltamatch/wrapped_backend.hpp"

namespace {

using namespace deltamatch;

class Counting final : public WrappedBackend {
 public:
  using WrappedBackend::WrappedBackend;

  [[nodiscard]] std::string_view name() const noexcept override { return "counting"; }
  void begin_step(const char* step) noexcept override {
    ++steps[step];
    WrappedBackend::begin_step(step);
  }

  std::map<std::string, int> steps;
};

}  // namespace

int main() {
  const auto backend = std::make_shared<Counting>(make_cpu_backend());
  Engine engine({.backend = backend});
  engine.add_query(parse_pattern("(a)-->(b)-->(c)-->(a)", "triangle"));
  UpdateBatch batch;
  batch.add({.source = 1, .target = 2});
  batch.add({.source = 2, .target = 3});
  batch.add({.source = 3, .target = 1});
  const BatchResult result = engine.process(batch);
  std::printf("%s: %s triangle;", engine.backend_statistics().backend.c_str(), to_string(result.queries[0].added).c_str());
  for (const auto& [step, times] : backend->steps) std::printf(" %s %d", step.c_str(), times);
  std::printf("\n");
}
