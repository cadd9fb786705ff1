// If the budget holds the lists that are looked up most, most of them are chosen. This tests walks, prior and selection
// together.
#include <gtest/gtest.h>

#include <algorithm>

#include "estimate/access_prior.hpp"
#include "estimate/estimator.hpp"
#include "estimate/selection.hpp"
#include "estimate/selector.hpp"
#include "unit/estimate/support.hpp"

namespace deltamatch::estimate {
namespace {

class Coverage : public testing::Test {
 protected:
  Coverage()
      : world_({.vertices = 20000, .edges = 200000, .inserted = 4000, .removed = 4000, .skew = 2}, 41),
        workers_(2),
        exact_(workers_) {
    world_.add(parse_pattern("(a)--(b)--(c)--(d)--(a), (a)--(e)--(b)", "house"));
    world_.stage();
    truth_ = &exact_.count(world_.graph, world_.passes, world_.tasks, world_.programs);
  }

  // The size of a packed block with one list.
  [[nodiscard]] std::size_t bytes(const StoredVertex& at) const {
    const std::size_t degree = world_.graph.degree(at.vertex);
    return degree == 0 ? 0 : 4 * (2 + degree);
  }

  // The share of the 5 % most accessed lists, if these vertices are cached.
  [[nodiscard]] TopLists top(const std::vector<StoredVertex>& cached) const {
    std::vector<Accessed> all;
    for (const Access& access : truth_->lists) {
      all.push_back({access.times, std::binary_search(cached.begin(), cached.end(), access.at), bytes(access.at)});
    }
    return top_lists(all, std::vector{0.05}).front();
  }

  [[nodiscard]] double coverage(double walks, double budget) {
    Options options;
    options.walks = walks;
    Estimator estimator(workers_, options);
    const Accesses& found = estimator.run(world_.graph, world_.passes, world_.tasks, world_.programs);
    AccessPrior prior(workers_);
    Selector selector(workers_);
    const auto bytes_of = [this](const StoredVertex& at) { return bytes(at); };
    const auto limit = static_cast<std::size_t>(budget);
    return top(selector.select(prior.posterior_of(world_.graph, found, bytes_of, limit), bytes_of, limit).hot).coverage;
  }

  World world_;
  Workers workers_;
  Estimator exact_;
  const Accesses* truth_ = nullptr;
};

// The selection minimises traffic on the bus. That is not the same as holding the most accessed lists. With half as much memory
// again the two agree.
TEST_F(Coverage, OfTheMostAccessedListsUnderABudgetThatHoldsThem) {
  const double needed = top({}).bytes;
  ASSERT_GT(top({}).accesses, 0.25) << "of all, on a twentieth of the lists";
  EXPECT_GT(coverage(0x1p16, needed), 0.7);
  EXPECT_GT(coverage(0x1p14, 1.5 * needed), 0.9);
  EXPECT_GT(coverage(0x1p16, 1.5 * needed), 0.98);
  EXPECT_LT(coverage(0x1p16, 0.5 * needed), 0.6) << "a half of the room does not hold much more";
}

}  // namespace
}  // namespace deltamatch::estimate
