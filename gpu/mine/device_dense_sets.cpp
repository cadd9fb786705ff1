#include "gpu/mine/device_dense_sets.hpp"

#include <mutex>

#include "base/checked.hpp"
#include "deltamatch/mine.hpp"
#include "gpu/mine/clique_search.hpp"
#include "gpu/mine/set_search.hpp"

namespace deltamatch::gpu {

static_assert(most_layers + 1 == max_quasi_clique);

namespace {

void add(match::CliqueTally& to, const match::CliqueTally& from) {
  to.direct = checked_add(to.direct, from.direct);
  for (std::size_t held = 0; held < from.leaves.size(); ++held) {
    for (std::size_t pivots = 0; pivots < from.leaves[held].size(); ++pivots) {
      if (from.leaves[held][pivots] != 0) to.add_leaves(held, pivots, from.leaves[held][pivots]);
    }
  }
}

class DenseSetCounter final : public match::DenseSetCounter {
 public:
  DenseSetCounter(std::vector<MakeDenseOps> devices, const DenseSettings& settings)
      : devices_(std::move(devices)), settings_(settings) {}

  Cliques count_cliques(const match::LaterLists& graph, std::optional<unsigned> k, const match::GoOn& go_on) override {
    RootQueue queue(graph, k ? *k - 1 : 1);
    Cliques result;
    std::mutex mutex;
    const bool whole = run([&] { return queue.done(0); }, go_on,
                           [&](DenseOps& ops, const match::GoOn& go) {
                             const match::CliqueTally tally =
                                 search_cliques(ops, {graph, k, settings_, queue, devices_.size()}, go);
                             const std::lock_guard lock(mutex);
                             add(result.tally, tally);
                           });
    if (whole) result.left = queue.left();
    return result;
  }

  Sets count_sets(const match::LaterLists& graph, unsigned k, unsigned budget, const match::MakeSpaces& make,
                  const match::GoOn& go_on) override {
    SpaceQueue queue(make);
    Sets result{std::vector<Count>(budget + 1, 0), {}};
    std::mutex mutex;
    const bool whole = run([&] { return queue.share(); }, go_on,
                           [&](DenseOps& ops, const match::GoOn& go) {
                             const std::vector<Count> counts = search_sets(ops, {graph, k, budget, settings_, queue}, go);
                             const std::lock_guard lock(mutex);
                             for (unsigned i = 0; i <= budget; ++i)
                               result.by_missing[i] = checked_add(result.by_missing[i], counts[i]);
                           });
    if (whole) result.left = queue.left();
    return result;
  }

  [[nodiscard]] double kernel_seconds() const noexcept override { return kernel_seconds_; }

 private:
  /// Returns false if `go_on` has returned false.
  template <class Share, class Search>
  bool run(Share share, const match::GoOn& go_on, Search search) {
    const DeviceRun run = run_on_devices(devices_, go_on, share, search);
    kernel_seconds_ += run.kernel_seconds;
    return !run.stopped;
  }

  std::vector<MakeDenseOps> devices_;
  DenseSettings settings_;
  double kernel_seconds_ = 0;
};

}  // namespace

std::unique_ptr<match::DenseSetCounter> make_dense_set_counter(std::vector<MakeDenseOps> devices,
                                                               const DenseSettings& settings) {
  return std::make_unique<DenseSetCounter>(std::move(devices), settings);
}

}  // namespace deltamatch::gpu
