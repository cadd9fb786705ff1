// Logs that are torn, damaged or forged. What a reader takes out of one can be written and read back alike. A log that is
// opened on it goes on behind it. If the first byte of an input is odd, the rest is the file. If it is even, the rest is cut at
// byte 0xfe into the payloads of entries, under a valid head and checksums. If the next bit is set, the version in the head is
// the one before the present one. The other bits tell behind which batch the log goes on.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/service/state/log.hpp"
#include "ingest/service/state/log_format.hpp"

namespace {

using namespace deltamatch;
using namespace deltamatch::ingest;

const std::string fingerprint(log_format::fingerprint_size, 'f');

void require(bool condition) {
  if (!condition) std::abort();
}

/// Syncing costs nothing there.
std::filesystem::path make_folder() {
  const std::filesystem::path memory = "/dev/shm";
  const std::filesystem::path parent = ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
  const std::filesystem::path folder = parent / ("deltamatch-fuzz-" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  return folder;
}

std::string forge(std::string_view payloads, std::uint32_t version) {
  static log_format::Packer packer;
  std::string bytes = log_format::to_bytes({version, 1, fingerprint});
  while (!payloads.empty()) {
    const std::string_view payload = payloads.substr(0, payloads.find('\xfe'));
    packer.pack(payload, bytes.size(), "", bytes);
    payloads.remove_prefix(std::min(payload.size() + 1, payloads.size()));
  }
  return bytes;
}

/// The payload that a batch is written as.
std::string payload_of(const LoggedBatch& batch) {
  std::string payload;
  log_format::put_batch(payload, batch.mark, batch.updates.updates(), batch.updates.watermark(), batch.alerts, {},
                        batch.updates.steps());
  return payload;
}

std::vector<std::string> read_all(const std::filesystem::path& folder) {
  std::vector<std::string> payloads;
  LogReader reader(folder, fingerprint, {.updates_from = 0, .alerts_from = 0});
  for (LogReader::Entry entry{}; (entry = reader.next()) != LogReader::Entry::end;) {
    if (entry != LogReader::Entry::batch) continue;
    require(reader.batch().mark.batch == payloads.size() + 1);
    payloads.push_back(payload_of(reader.batch()));
    LoggedBatch again;
    require(log_format::read_batch(payloads.back(), {}, {.updates_from = 0, .alerts_from = 0}, again));
    require(payload_of(again) == payloads.back());
  }
  require(reader.end().next_batch == payloads.size() + 1 && reader.end().damage.empty());
  return payloads;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path folder = make_folder();
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string bytes = (data[0] & 1) != 0 ? std::string(input) : forge(input, log_format::version - (data[0] >> 1 & 1U));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::ofstream(folder / log_format::segment_name(1), std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  try {
    std::vector<std::string> batches = read_all(folder);
    batches.resize(std::min<std::size_t>(batches.size(), data[0] >> 2));
    CommitPoint mark;
    mark.batch = batches.size() + 1;
    {
      Log log(folder, fingerprint, batches.size(), {.sync = [](int) { return 0; }});
      require(log.undelivered_from() <= mark.batch);
      log.append(mark, {}, {}, {});
    }
    LoggedBatch appended;
    appended.mark = mark;
    batches.push_back(payload_of(appended));
    require(read_all(folder) == batches);
  } catch (const Error&) {
    // Of another version or configuration.
  }
  std::filesystem::remove_all(folder);
  return 0;
}
