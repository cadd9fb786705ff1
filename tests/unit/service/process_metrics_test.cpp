#include "ingest/service/http/process_metrics.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <map>
#include <thread>
#include <vector>

#include "unit/ingest/support.hpp"

namespace deltamatch::ingest {
namespace {

using prometheus::MetricType;

std::map<std::string, double> values() {
  std::map<std::string, double> found;
  for (const prometheus::MetricFamily& family : process_metrics()) {
    EXPECT_FALSE(family.help.empty());
    EXPECT_EQ(family.metric.size(), 1u);
    const bool counter = family.type == MetricType::Counter;
    EXPECT_EQ(counter, family.name.ends_with("_total")) << family.name;
    found[family.name] = counter ? family.metric[0].counter.value : family.metric[0].gauge.value;
  }
  return found;
}

TEST(ProcessMetricsTest, AsTheKernelCountsThem) {
  const auto before = values();
  EXPECT_EQ(before.size(), 7u);

  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  EXPECT_NEAR(before.at("process_cpu_seconds_total"), seconds(usage.ru_utime) + seconds(usage.ru_stime), 0.5);
  EXPECT_NEAR(before.at("process_start_time_seconds"), static_cast<double>(std::time(nullptr)), 600);
  EXPECT_LE(before.at("process_start_time_seconds"), static_cast<double>(std::time(nullptr)) + 2);
  EXPECT_GT(before.at("process_resident_memory_bytes"), 1 << 20);
  EXPECT_LE(before.at("process_resident_memory_bytes"), static_cast<double>(usage.ru_maxrss) * 1024 + (64 << 20));
  EXPECT_GT(before.at("process_virtual_memory_bytes"), before.at("process_resident_memory_bytes"));
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(before.at("process_max_fds"), static_cast<double>(limit.rlim_cur));
}

TEST(ProcessMetricsTest, TheyFollowTheProcess) {
  const auto before = values();
  const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  std::vector<char> memory(std::size_t{64} << 20, 'x');  // written to, so that it is in memory
  const auto during = values();
  EXPECT_GT(memory[memory.size() / 2], 0);
  EXPECT_EQ(during.at("process_open_fds"), before.at("process_open_fds") + 1);
  EXPECT_GE(during.at("process_virtual_memory_bytes"), before.at("process_virtual_memory_bytes") + (48 << 20));
  close(file);
  EXPECT_EQ(values().at("process_open_fds"), before.at("process_open_fds"));
  double threads = 0;
  std::thread([&] { threads = values().at("process_threads"); }).join();
  EXPECT_EQ(threads, before.at("process_threads") + 1);
  const std::clock_t start = std::clock();
  while (std::clock() - start < CLOCKS_PER_SEC / 20) {
  }
  EXPECT_GE(values().at("process_cpu_seconds_total"), before.at("process_cpu_seconds_total") + 0.03);
}

}  // namespace
}  // namespace deltamatch::ingest
