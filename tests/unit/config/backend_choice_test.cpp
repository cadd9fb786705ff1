// Where matching runs, given what the user asks for and what the machine's GPUs can do.
#include "cli/options/backend_choice.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "cli/options/gpu_choice.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// One GPU, or none, whose backend cannot be made.
struct Broken {
  std::vector<int> devices{};
  std::string strange{};
  int made = 0;
  std::vector<std::string> warnings{};

  std::shared_ptr<Backend> choose(const BackendOptions& options) {
    const Gpus gpus{[this] { return devices; }, [] { return std::string("no CUDA device is found"); },
                    [this] { return strange; },
                    [this](const GpuOptions&) -> std::shared_ptr<Backend> {
                      ++made;
                      throw Error(ErrorKind::runtime, "GPU", "cudaSetDevice: the device is busy", "free it");
                    }};
    BackendWords words;
    words.warn = [this](const std::string& text) { warnings.push_back(text); };
    const BackendEntry gpu{
        "gpu", true, [&gpus](const BackendOptions& given, const BackendWords& of) { return choose_gpu(given, of, gpus); }};
    return choose_backend(options, words, {&gpu, 1});
  }
};

TEST(BackendChoice, AutoTakesTheCpuWithOneWarningWhereADeviceOpensWithAnError) {
  Broken broken{{0, 1}};
  EXPECT_EQ(broken.choose({}), nullptr);
  EXPECT_EQ(broken.made, 1);
  EXPECT_THAT(broken.warnings, ElementsAre(AllOf(HasSubstr("matching runs on the CPU"), HasSubstr("the device is busy"))));
}

TEST(BackendChoice, WhoInsistsIsToldTheError) {
  std::vector<BackendOptions> insisting(4);
  insisting[0].name = "gpu";
  insisting[1].gpu.policy = CachePolicy::degree;
  insisting[2].gpu.devices = {1};
  insisting[3].gpu.memory = 1;
  for (const BackendOptions& options : insisting) {
    Broken broken{{0, 1}};
    EXPECT_THROW(static_cast<void>(broken.choose(options)), Error);
    EXPECT_EQ(broken.made, 1);
    EXPECT_THAT(broken.warnings, IsEmpty());
  }
}

TEST(BackendChoice, WithoutADeviceAutoIsSilent) {
  Broken broken{{}};
  EXPECT_EQ(broken.choose({}), nullptr);
  EXPECT_EQ(broken.made, 0);
  EXPECT_THAT(broken.warnings, IsEmpty());
  BackendOptions insisting;
  insisting.name = "gpu";
  EXPECT_THROW(static_cast<void>(broken.choose(insisting)), Error);
}

TEST(BackendChoice, AutoWarnsOfADeviceThatTheBuildHasNoCodeFor) {
  Broken broken{{}, "Old One (7.5)"};
  EXPECT_EQ(broken.choose({}), nullptr);
  EXPECT_THAT(broken.warnings, ElementsAre(AllOf(HasSubstr("Old One (7.5)"), HasSubstr("CMAKE_CUDA_ARCHITECTURES"))));
}

TEST(BackendChoice, TheCpuAsksNoDevice) {
  Broken broken{{0}};
  BackendOptions cpu;
  cpu.name = "cpu";
  EXPECT_EQ(broken.choose(cpu), nullptr);
  EXPECT_EQ(broken.made, 0);
}

TEST(BackendChoice, ADeviceThatIsNotThereIsAUsageError) {
  Broken broken{{0, 1}};
  try {
    BackendOptions options;
    options.gpu.devices = {0, 7};
    static_cast<void>(broken.choose(options));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("device 7"), HasSubstr("0, 1")));
  }
  EXPECT_EQ(broken.made, 0);
}

// A backend beside those of the program. Its entry in the table is all that the program needs to offer it.
TEST(BackendChoice, AnEntryIsAllThatABackendNeeds) {
  std::vector<BackendEntry> table(backend_table().begin(), backend_table().end());
  table.push_back({"plain", false, [](const auto&, const auto&) { return make_cpu_backend(); }});
  EXPECT_THAT(backend_names(table),
              ElementsAre(Pair("auto", "auto"), Pair("cpu", "cpu"), Pair("gpu", "gpu"), Pair("plain", "plain")));
  BackendOptions plain;
  plain.name = "plain";
  EXPECT_TRUE(plain.insists());
  const auto made = choose_backend(plain, {}, table);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->name(), "cpu");
  BackendOptions cpu;
  cpu.name = "cpu";
  EXPECT_EQ(choose_backend(cpu, {}, table), nullptr) << "CPU cores need no backend";
  plain.gpu.memory = 1;
  EXPECT_THAT(objection(plain, "--backend ")->what, HasSubstr("options of GPUs"));
}

}  // namespace
}  // namespace deltamatch::cli
