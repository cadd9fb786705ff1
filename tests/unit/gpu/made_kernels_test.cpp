// Kernels that are made for one plan, run on a warp of the host: they find what the CPU matcher finds.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <source_dir.hpp>

#include "gpu/made/kernel_writer.hpp"
#include "gpu/made/made_launch.hpp"
#include "gpu/mirror/device_graph.hpp"
#include "host_ops.hpp"
#include "match/matcher.hpp"
#include "unit/estimate/support.hpp"

namespace deltamatch::gpu {
namespace {

using estimate::World;
using estimate::WorldOptions;

// How much room kernels have, and when their work is late.
struct Room {
  const char* name;
  std::uint32_t queue = 4096;  // tasks
  std::uint32_t scratch = 2048;
  long long most_clocks = 1'000'000'000;
};

// Kernels as a library of the host.
class Kernels {
 public:
  explicit Kernels(const std::string& text) {
    static int number = 0;
    const std::filesystem::path path =
        std::filesystem::path(testing::TempDir()) / ("made-" + std::to_string(getpid()) + "-" + std::to_string(number++));
    const std::string source = path.string() + ".cpp";
    const std::string library = path.string() + ".so";
    std::ofstream(source) << "#include \"unit/gpu/host_warp.hpp\"\n"
                          << text << "extern \"C\" void run(void (*kernel)(MadeLaunch), const MadeLaunch* launch) {\n"
                          << "  host_warp::run(kernel, *launch);\n}\n";
    const std::string root = DELTAMATCH_SOURCE_DIR;
    const std::string command =
        "c++ -std=c++20 -O1 -w -shared -fPIC -I" + root + " -I" + root + "/tests -o " + library + " " + source;
    if (std::system(command.c_str()) != 0) throw Error(source, "does not compile");
    library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) throw Error(library, dlerror());
    std::filesystem::remove(source);
    std::filesystem::remove(library);
  }
  ~Kernels() { dlclose(library_); }
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  void run(std::uint32_t depth, const MadeLaunch& launch) const {
    const auto run = reinterpret_cast<void (*)(void (*)(MadeLaunch), const MadeLaunch*)>(find("run"));
    run(reinterpret_cast<void (*)(MadeLaunch)>(find("made_" + std::to_string(depth))), &launch);
  }

 private:
  [[nodiscard]] void* find(const std::string& name) const {
    void* found = dlsym(library_, name.c_str());
    if (found == nullptr) throw Error(name, "is missing");
    return found;
  }
  void* library_;
};

// The changed vertices of a store and the lists to which the batch adds entries, as StagedIndex has them.
struct Staged {
  explicit Staged(const Store& store) : table(4 * (std::size_t{mask} + 1), ~0U) {
    for (std::uint32_t row = 0; row < store.delta_rows; ++row) {
      const std::uint32_t vertex = store.delta_vertices[row];
      std::uint32_t at = staged_place(vertex, mask);
      while (table[4 * at] != ~0U) at = (at + 1) & mask;
      const std::uint32_t first = store.delta_first_slice[row];
      const std::uint32_t end = store.delta_first_slice[row + 1];
      const std::size_t header = words.size();
      words.resize(header + 2 * std::size_t{end - first});
      for (std::uint32_t slice = first; slice < end; ++slice) {
        const std::vector<std::uint32_t> list = merge(store, vertex, slice);
        words[header + 2 * std::size_t{slice - first}] = static_cast<std::uint32_t>(words.size());
        words[header + 2 * std::size_t{slice - first} + 1] =
            list.empty() ? MergedLists::unmerged : static_cast<std::uint32_t>(list.size());
        words.insert(words.end(), list.begin(), list.end());
      }
      table[4 * at] = vertex;
      table[4 * at + 1] = first;
      table[4 * at + 2] = end;
      table[4 * at + 3] = static_cast<std::uint32_t>(header);
    }
  }

  // Empty if the batch adds nothing to the list.
  static std::vector<std::uint32_t> merge(const Store& store, std::uint32_t vertex, std::uint32_t slice) {
    const std::span added(store.added + store.slices[slice].added_begin, store.added + store.slices[slice + 1].added_begin);
    if (added.empty()) return {};
    std::vector<std::uint32_t> list(added.begin(), added.end());
    if (vertex >= store.vertices) return list;
    const Row& row = store.rows[vertex];
    std::uint32_t begin = 0;
    for (std::uint32_t i = 0; i < row.shape >> 7; ++i) {
      const std::uint32_t end = row.block[2 * i + 1];
      const std::uint32_t* const ids = row.block + (2U << (row.shape >> 2 & 31U));
      if (row.block[2 * i] == store.slices[slice].relation) list.insert(list.end(), ids + begin, ids + end);
      begin = end;
    }
    std::ranges::sort(list);
    return list;
  }

  static constexpr std::uint32_t mask = 1023;
  std::vector<std::uint32_t> table;
  std::vector<std::uint32_t> words;
  std::uint32_t state[2] = {0, 0};
};

// Runs a program's anchors as MadeLauncher does. Returns the number of late tasks.
std::uint32_t run_program(const FlatWork& work, std::uint32_t index, const MadeText& shape, const Kernels& kernels,
                          const GraphView& graph, const Room& room, Total& total) {
  const Program& program = work.programs[index];
  MadeState state{};
  Counters counters{};
  const unsigned stop = 0;
  Staged staged(graph.stores[0]);
  std::vector<std::uint32_t> pool(std::size_t{1} << 20);
  std::vector<std::uint32_t> scratch(std::size_t{room.scratch} * std::max(1U, shape.sets));
  const std::uint32_t anchors = work.first_anchor[index + 1] - work.first_anchor[index];
  MadeLaunch launch{};
  launch.store = graph.stores[0];
  launch.query_relations = graph.query_relations;
  launch.directed = graph.directed;
  launch.staged = staged.table.data();
  launch.staged_mask = Staged::mask;
  launch.merged = {staged.words.data(), static_cast<std::uint32_t>(staged.words.size()), staged.state};
  for (std::size_t w = 0; w < shape.ways.size(); ++w) {
    launch.ways[w] = {shape.ways[w].query_relation, shape.ways[w].inclusive ? 1U : 0U};
  }
  launch.passes[0] = {work.anchors.data() + work.first_anchor[index], anchors, 0, 1, program.pass, &total};
  launch.state = &state;
  launch.pool = pool.data();
  launch.pool_words = static_cast<std::uint32_t>(pool.size());
  launch.scratch = scratch.data();
  launch.scratch_words = room.scratch;
  launch.sets = shape.sets;
  launch.stop = &stop;
  launch.counters = &counters;
  std::vector<std::vector<std::uint32_t>> tasks;
  for (std::uint32_t phase = 0; phase < made_phases; ++phase) {
    for (std::uint32_t depth = 1; depth < shape.depths; ++depth) {
      const std::uint32_t reserve = anchors * shape.tasks;
      tasks.emplace_back(std::size_t{shape.task_words} * (room.queue + reserve));
      launch.queues[phase][depth] = {tasks.back().data(), room.queue, reserve};
    }
  }
  for (std::uint32_t phase = 0; phase < made_phases; ++phase) {
    launch.phase = phase;
    launch.most_clocks = phase + 1 < made_phases ? room.most_clocks : std::numeric_limits<long long>::max();
    for (std::uint32_t depth = phase == 0 ? 0 : 1; depth < shape.depths; ++depth) kernels.run(depth, launch);
  }
  EXPECT_EQ(state.full, 0U);
  std::uint32_t late = 0;
  for (std::uint32_t depth = 1; depth < shape.depths; ++depth) late += state.depths[1][depth].cut;
  return late;
}

struct Seen {
  unsigned programs = 0;
  unsigned results = 0;  // programs that found something
  unsigned late = 0;
};

// Compares all programs of a world that can be made with what the CPU matcher finds.
void compare(World& world, GpuReuse reuse, const std::vector<Room>& rooms, Seen& seen) {
  world.stage();
  Workers workers(1);
  const auto resolved = world.graph.resolved();
  std::vector<match::QueryResult> expected(world.passes.size() * world.tasks.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i].plans.resize(world.tasks[i % world.tasks.size()].plans->plans.size());
  }
  match::MatchSteps steps;
  match::make_cpu_matcher(workers)->match(world.graph, world.passes, world.tasks, expected, nullptr, steps);
  FlatPrograms flat;
  SetChoice sets(reuse);
  std::vector<bool> left_out;
  flatten(world.graph, resolved, world.passes, world.tasks, world.programs, sets, flat, left_out);
  HostOps::Figures figures;
  auto ops = std::make_unique<HostOps>(figures);
  HostOps* const drained = ops.get();
  DeviceGraph mirror(std::move(ops), DeviceGraphOptions{Storage::resident, 0, std::size_t{1} << 20}, workers);
  mirror.begin(world.graph, resolved);
  drained->drain();
  std::map<std::string, std::pair<MadeText, std::unique_ptr<Kernels>>> made;
  for (const FlatWork* work : {&flat.sums, &flat.walks}) {
    for (std::uint32_t p = 0; p < work->programs.size(); ++p) {
      const Program& program = work->programs[p];
      if (!can_be_made(flat, program)) continue;
      auto& [shape, kernels] = made[signature_of(flat, program)];
      if (!kernels) {
        shape = write_kernels(flat, program);
        kernels = std::make_unique<Kernels>(shape.text);
      }
      const ProgramOrigin& origin = work->origins[p];
      const match::PlanResult& own = expected[origin.pass * world.tasks.size() + origin.task].plans[origin.plan];
      for (const Room& room : rooms) {
        Total total{};
        seen.late += run_program(*work, p, shape, *kernels, mirror.view(), room, total);
        EXPECT_EQ(total.overflow, 0U);
        __extension__ using Wide = __int128;
        const auto found = static_cast<Wide>(static_cast<Count>(total.high) << 64 | total.low);
        EXPECT_TRUE(found == (origin.sums ? own.sum : static_cast<Wide>(own.found)))
            << room.name << ", pass " << origin.pass << ", plan " << origin.plan << ": " << static_cast<long long>(found)
            << " instead of " << static_cast<long long>(origin.sums ? own.sum : static_cast<Wide>(own.found)) << '\n'
            << (testing::Test::HasFailure() ? "" : shape.text);
        seen.results += found != 0 ? 1 : 0;
      }
      ++seen.programs;
    }
  }
}

const std::vector<Room>& rooms() {
  static const std::vector<Room> all{
      {"roomy"}, {"narrow", 3, 2}, {"late", 4096, 8, 0}, {"late_narrow", 16, 2048, 0}, {"late_by_and_by", 4096, 2048, 40}};
  return all;
}

TEST(MadeKernels, FindWhatTheCpuFinds) {
  Seen seen;
  for (unsigned seed = 1; seed <= 2; ++seed) {
    World world({.directed = seed % 2 == 0, .vertices = 16, .edges = 70, .inserted = 8, .removed = 8, .skew = 1.5}, seed);
    for (unsigned vertices : {4U, 5U}) world.add(world.draw_query(vertices));
    compare(world, seed % 2 == 0 ? GpuReuse::always : GpuReuse::never, rooms(), seen);
  }
  EXPECT_GT(seen.programs, 10U);
  EXPECT_GT(seen.results, 20U);
  // A task is late after a window of 32 candidates at the earliest.
  World hubs({.vertices = 60, .edges = 900, .inserted = 8, .removed = 8, .skew = 2}, 3);
  hubs.add(hubs.draw_query(4));
  compare(hubs, GpuReuse::never, {rooms()[2], rooms()[3], rooms()[4]}, seen);
  EXPECT_GT(seen.late, 20U);
}

constexpr const char* house = "(a)--(b)--(c)--(d)--(a), (a)--(e)--(b)";
constexpr const char* prism = "(a)--(b)--(c)--(a), (d)--(e)--(f)--(d), (a)--(d), (b)--(e), (c)--(f)";
constexpr const char* near_clique = "(a)--(b)--(c)--(a), (d)--(a), (d)--(b), (d)--(c), (e)--(a), (e)--(b), (e)--(c)";
// Tasks of several depths, and filters: some lists are long.
class MadeKernelsOfHubs : public testing::TestWithParam<std::pair<const char*, GpuReuse>> {};

TEST_P(MadeKernelsOfHubs, FindWhatTheCpuFinds) {
  Seen seen;
  // Tasks of the house are cut into so many candidates that some can be late.
  const bool late = GetParam().first == std::string(house);
  World world({.vertices = 130, .edges = 2000, .inserted = late ? 10U : 3U, .removed = late ? 10U : 2U, .skew = 2}, 7);
  world.add(parse_pattern(GetParam().first, "q"));
  compare(world, GetParam().second, {rooms()[0], rooms()[2], rooms()[4]}, seen);
  EXPECT_GT(seen.results, 4U);
  if (late) {
    EXPECT_GT(seen.late, 20U);
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, MadeKernelsOfHubs,
                         testing::Values(std::pair{house, GpuReuse::never}, std::pair{prism, GpuReuse::always},
                                         std::pair{near_clique, GpuReuse::always}),
                         [](const auto& of) { return std::string(std::array{"house", "prism", "near_clique"}[of.index]); });

}  // namespace
}  // namespace deltamatch::gpu
