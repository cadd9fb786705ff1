#include "ingest/service/http/process_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

namespace deltamatch::ingest {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

/// The fields of /proc/self/stat that are needed (proc(5) numbers them).
struct Stat {
  double cpu_ticks = 0;       // utime and stime: 14 and 15
  double threads = 0;         // 20
  double start_ticks = 0;     // 22: since the system booted
  double virtual_bytes = 0;   // 23
  double resident_pages = 0;  // 24
};

std::optional<Stat> read_stat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The second field is the name of the program in parentheses. It may hold blanks and parentheses itself.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(line.substr(name_end + 1));
  std::string skipped;
  const auto skip = [&](int count) {
    while (count-- > 0) rest >> skipped;
  };
  Stat stat;
  double user = 0;
  double system = 0;
  skip(11);  // 3 to 13
  rest >> user >> system;
  skip(4);  // 16 to 19
  rest >> stat.threads;
  skip(1);  // 21
  rest >> stat.start_ticks >> stat.virtual_bytes >> stat.resident_pages;
  if (!rest) return std::nullopt;
  stat.cpu_ticks = user + system;
  return stat;
}

/// When the system booted, in seconds since the epoch.
std::optional<double> boot_time() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    double time = 0;
    if (word == "btime" && file >> time) return time;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

std::optional<double> open_files() {
  std::error_code error;
  double count = 0;
  std::filesystem::directory_iterator file("/proc/self/fd", error);
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) ++count;
  if (error) return std::nullopt;
  return count - 1;  // the list itself is open while it is read
}

std::optional<double> most_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

class Families {
 public:
  void add(MetricType type, const char* name, const char* help, std::optional<double> value) {
    if (!value) return;
    ClientMetric metric;
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = *value;
    families_.push_back(MetricFamily{name, help, type, {metric}});
  }
  std::vector<MetricFamily> take() { return std::move(families_); }

 private:
  std::vector<MetricFamily> families_;
};

}  // namespace

std::vector<MetricFamily> process_metrics() {
  Families families;
  if (const std::optional<Stat> stat = read_stat()) {
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    const std::optional<double> boot = boot_time();
    families.add(MetricType::Counter, "process_cpu_seconds_total", "Seconds of processor time, of the user and the system.",
                 stat->cpu_ticks / ticks);
    families.add(MetricType::Gauge, "process_virtual_memory_bytes", "Bytes of address space.", stat->virtual_bytes);
    families.add(MetricType::Gauge, "process_resident_memory_bytes", "Bytes of memory in use.",
                 stat->resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
    families.add(MetricType::Gauge, "process_threads", "Threads.", stat->threads);
    if (boot) {
      families.add(MetricType::Gauge, "process_start_time_seconds", "When the process started, in seconds since the epoch.",
                   *boot + stat->start_ticks / ticks);
    }
  }
  families.add(MetricType::Gauge, "process_open_fds", "Open files and connections.", open_files());
  families.add(MetricType::Gauge, "process_max_fds", "The limit of open files and connections.", most_files());
  return families.take();
}

}  // namespace deltamatch::ingest
