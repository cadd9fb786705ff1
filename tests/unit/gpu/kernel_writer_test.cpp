// The text of kernels that are made for one plan: which programs get some, and that NVIDIA's compiler takes it.
#include "gpu/made/kernel_writer.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <set>
#include <source_dir.hpp>
#include <string>
#include <vector>

#include "deltamatch/error.hpp"
#include "gpu/made/compiler.hpp"
#include "gpu/made/made_kernels.hpp"
#include "gpu/made/made_launch.hpp"
#include "gpu/made/plan_shape.hpp"
#include "unit/estimate/support.hpp"

namespace deltamatch::gpu {
namespace {

using estimate::World;

constexpr const char* house = "(a)--(b)--(c)--(d)--(a), (a)--(e)--(b)";
constexpr const char* two_cliques = "(a)--(b)--(c)--(d)--(a)--(c), (b)--(d), (d)--(e)--(f)--(g)--(d)--(f), (e)--(g)";

// The programs of a query for a small batch.
FlatPrograms programs_of(World& world, const char* pattern, GpuReuse reuse, bool list = false) {
  world.add(parse_pattern(pattern, "q"), MatchMode::isomorphism, CountMode::subgraphs, list);
  world.stage();
  FlatPrograms flat;
  SetChoice sets(reuse);
  std::vector<bool> left_out;
  flatten(world.graph, world.graph.resolved(), world.passes, world.tasks, world.programs, sets, flat, left_out);
  return flat;
}

std::vector<Program> all_programs(const FlatPrograms& flat) {
  std::vector<Program> all = flat.sums.programs;
  all.insert(all.end(), flat.walks.programs.begin(), flat.walks.programs.end());
  return all;
}

TEST(KernelWriter, CountsOverListsOfOneRelationAreMade) {
  World counted({.edges = 300}, 6);
  const FlatPrograms flat = programs_of(counted, house, GpuReuse::never);
  ASSERT_FALSE(all_programs(flat).empty());
  for (const Program& program : all_programs(flat)) EXPECT_TRUE(can_be_made(flat, program));
}

TEST(KernelWriter, ListingAndListsOfSeveralRelationsAreNot) {
  World listed({.edges = 300}, 6);
  const FlatPrograms lists = programs_of(listed, house, GpuReuse::never, true);
  ASSERT_FALSE(all_programs(lists).empty());
  for (const Program& program : all_programs(lists)) EXPECT_FALSE(can_be_made(lists, program));
  World wild({.edges = 300, .edge_labels = 2}, 6);
  const FlatPrograms mixed = programs_of(wild, house, GpuReuse::never);
  ASSERT_FALSE(all_programs(mixed).empty());
  for (const Program& program : all_programs(mixed)) EXPECT_FALSE(can_be_made(mixed, program));
}

// Both passes of a plan have the same kernels. Plans of one query differ.
TEST(KernelWriter, SignaturesTellPlansApart) {
  World world({.edges = 300}, 6);
  const FlatPrograms flat = programs_of(world, house, GpuReuse::never);
  std::set<std::string> signatures;
  std::set<std::string> texts;
  for (const Program& program : all_programs(flat)) {
    signatures.insert(signature_of(flat, program));
    texts.insert(write_kernels(flat, program).text);
  }
  EXPECT_EQ(signatures.size(), texts.size());
  EXPECT_EQ(2 * signatures.size(), all_programs(flat).size());
}

TEST(KernelWriter, TasksFitAWarp) {
  for (const GpuReuse reuse : {GpuReuse::never, GpuReuse::always}) {
    World world({.edges = 300}, 6);
    const FlatPrograms flat = programs_of(world, two_cliques, reuse);
    for (const Program& program : all_programs(flat)) {
      const MadeText made = write_kernels(flat, program);
      EXPECT_LE(made.task_words, most_task_words);
      EXPECT_LE(made.ways.size(), made_ways);
      EXPECT_LE(made.depths, made_depths);
      EXPECT_GT(made.depths, 1U);
      const std::uint32_t kept = PlanShape(flat, program).kept_sets();
      EXPECT_EQ(kept > 0, reuse == GpuReuse::always);
      // Others are those that tasks range over, and what lists have in common.
      EXPECT_GT(made.sets, 0U);
      EXPECT_GE(made.sets, kept);
      EXPECT_GT(made.meetings, 0U);
      EXPECT_LE(made.bitmaps, made_bitmaps);
    }
  }
}

// The machine's compiler, or else the one that `scripts/setup --cuda` has installed. NVRTC looks for its second library by name
// only, so that is opened first.
std::unique_ptr<Compiler> any_compiler() {
  if (auto found = Compiler::open()) return found;
  const std::string folder = DELTAMATCH_SOURCE_DIR "/.cuda/toolkit/lib/";
  if (dlopen((folder + "libnvrtc-builtins.so.13.0").c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) return nullptr;
  setenv("DELTAMATCH_NVRTC", (folder + "libnvrtc.so.13").c_str(), 1);
  return Compiler::open();
}

TEST(KernelWriter, ACompilerTakesWhatIsWritten) {
  const auto compiler = any_compiler();
  if (compiler == nullptr) GTEST_SKIP() << "there is no NVRTC";
  World world({.edges = 300}, 6);
  const FlatPrograms flat = programs_of(world, two_cliques, GpuReuse::always);
  const MadeText made = write_kernels(flat, all_programs(flat).front());
  EXPECT_FALSE(compiler->compile(made.text, 9, 0).empty());
  EXPECT_THROW(static_cast<void>(compiler->compile(made.text + "}", 9, 0)), Error);
}

// Plans that differ only in labels have kernels of their own, but one cubin. So have plans of another engine.
TEST(KernelWriter, EnginesShareWhatIsCompiled) {
  if (any_compiler() == nullptr) GTEST_SKIP() << "there is no NVRTC";
  World world({.edges = 300, .vertex_labels = 2}, 6);
  for (const char* pattern : {"(a:V0)--(b:V0)--(c:V0)--(a)", "(a:V1)--(b:V1)--(c:V1)--(a)"}) {
    world.add(parse_pattern(pattern, "q"));
  }
  FlatPrograms flat = programs_of(world, "(a:V0)--(b:V1)--(c:V0)", GpuReuse::never, true);
  const std::vector<Program> programs = all_programs(flat);
  Workers workers(2);
  MadeKernels engine(9, 0);
  const auto choose = [&](MadeKernels& kernels) {
    kernels.choose(flat, workers);
    std::vector<const MadeKernel*> all = flat.sums.made;
    all.insert(all.end(), flat.walks.made.begin(), flat.walks.made.end());
    return all;
  };
  const std::vector<const MadeKernel*> own = choose(engine);
  ASSERT_EQ(own.size(), programs.size());
  std::set<const MadeKernel*> kernels;
  std::set<Cubin> cubins;
  std::size_t listed = 0;
  for (std::size_t p = 0; p < programs.size(); ++p) {
    ASSERT_EQ(own[p] != nullptr, can_be_made(flat, programs[p])) << p;
    listed += own[p] == nullptr ? 1 : 0;
    if (own[p] == nullptr) continue;
    kernels.insert(own[p]);
    cubins.insert(own[p]->cubin);
    EXPECT_FALSE(own[p]->cubin->empty());
    EXPECT_TRUE(own[p]->shape.text.empty());
  }
  EXPECT_GT(listed, 0U);
  EXPECT_EQ(kernels.size(), 2 * cubins.size());
  EXPECT_EQ(choose(engine), own);
  MadeKernels another(9, 0);
  MadeKernels older(8, 0);
  const std::vector<const MadeKernel*> others = choose(another);
  const std::vector<const MadeKernel*> of_older = choose(older);
  for (std::size_t p = 0; p < programs.size(); ++p) {
    if (own[p] == nullptr) continue;
    EXPECT_NE(others[p], own[p]);
    EXPECT_EQ(others[p]->cubin, own[p]->cubin);
    EXPECT_NE(*of_older[p]->cubin, *own[p]->cubin);
  }
}

}  // namespace
}  // namespace deltamatch::gpu
