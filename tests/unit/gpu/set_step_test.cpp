// Steps that a group of lanes takes together equal those of a single lane.
#include "gpu/mine/set_step.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "host_team.hpp"

namespace deltamatch::gpu {
namespace {

struct Scene {
  unsigned words;
  unsigned layers;
  std::vector<Word> rows;
  std::vector<Word> node;  // a candidate lies in one layer at most
};

Scene draw(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Scene scene{static_cast<unsigned>(1 + random() % 9), static_cast<unsigned>(1 + random() % 3), {}, {}};
  scene.rows.resize(std::size_t{scene.words} * 64 * scene.words);
  for (Word& word : scene.rows) word = random();
  scene.node.resize(std::size_t{scene.layers} * scene.words, 0);
  for (unsigned member = 0; member < scene.words * 64; ++member) {
    const auto layer = static_cast<unsigned>(random() % (seed % 2 == 0 ? 4 : 40));
    if (layer < scene.layers) scene.node[layer * scene.words + member / 64] |= Word{1} << member % 64;
  }
  return scene;
}

struct Outcome {
  TakenMember taken;
  unsigned left = 0;
  std::vector<Word> child;
};

template <class Group>
void step(const Scene& scene, unsigned missing, unsigned from, Outcome& outcome) {
  const SetSteps<Group> steps{Group{}, scene.rows.data(), scene.words, scene.layers};
  const TakenMember taken = steps.next(scene.node.data(), missing, from);
  if (steps.group.rank() == 0) outcome.taken = taken;
  if (taken.member == TakenMember::none) return;
  const unsigned left = steps.left(scene.node.data(), 0, missing, taken);
  if (steps.group.rank() == 0) outcome.left = left;
  steps.take(scene.node.data(), 0, missing, taken, outcome.child.data());
}

TEST(SetSteps, AreTheSameForSeveralLanes) {
  unsigned taken = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const Scene scene = draw(seed);
    std::mt19937_64 random(seed);
    const auto missing = static_cast<unsigned>(random() % scene.layers);
    const auto from = static_cast<unsigned>(random() % (64 * scene.words));
    Outcome one{{}, 0, std::vector<Word>(scene.node.size(), ~Word{0})};
    Outcome several = one;
    step<Lane>(scene, missing, from, one);
    TeamWarp<4>().run([&] { step<Team<4, 4>>(scene, missing, from, several); });
    ASSERT_EQ(several.taken.member, one.taken.member) << seed;
    if (one.taken.member == TakenMember::none) continue;
    ++taken;
    ASSERT_EQ(several.taken.layer, one.taken.layer) << seed;
    ASSERT_EQ(several.left, one.left) << seed;
    ASSERT_EQ(several.child, one.child) << seed;
    unsigned candidates = 0;
    for (const Word word : one.child) candidates += count_bits(word);
    ASSERT_EQ(candidates, one.left) << seed;
  }
  EXPECT_GT(taken, 60);
}

}  // namespace
}  // namespace deltamatch::gpu
