#include "match/backend.hpp"

#include <algorithm>

#include "deltamatch/statistics.hpp"

namespace deltamatch {

namespace {

class CpuBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "cpu"; }
  [[nodiscard]] BackendCapabilities capabilities() const noexcept override { return {}; }
  [[nodiscard]] graph::SlabAllocator& slabs() noexcept override { return graph::heap_slabs(); }
  [[nodiscard]] std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override {
    return match::make_cpu_matcher(workers);
  }
};

}  // namespace

Backend::~Backend() = default;

std::unique_ptr<match::DenseSetCounter> Backend::make_dense_set_counter() { return nullptr; }

std::unique_ptr<match::MotifCounter> Backend::make_motif_counter() { return nullptr; }

std::shared_ptr<Backend> make_cpu_backend() { return std::make_shared<CpuBackend>(); }

const BackendMetric* BackendStatistics::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(metrics, name, &BackendMetric::name);
  return found == metrics.end() ? nullptr : &*found;
}

std::uint64_t BackendStatistics::count(std::string_view name) const noexcept {
  const BackendMetric* const metric = find(name);
  const auto* const value = metric == nullptr ? nullptr : std::get_if<std::uint64_t>(&metric->value);
  return value == nullptr ? 0 : *value;
}

double BackendStatistics::real(std::string_view name) const noexcept {
  const BackendMetric* const metric = find(name);
  if (metric == nullptr) return 0;
  const auto* const whole = std::get_if<std::uint64_t>(&metric->value);
  return whole != nullptr ? static_cast<double>(*whole) : *std::get_if<double>(&metric->value);
}

}  // namespace deltamatch
