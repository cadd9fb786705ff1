// Archives, broken and whole: they unpack, or an Error says why not, whatever the size of the reads.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/source/bytes.hpp"

namespace {

constexpr std::size_t most = std::size_t{1} << 20;  // what a bomb may cost

std::string read(std::string_view bytes, std::size_t step, std::string& error) {
  std::string out;
  try {
    const auto source = deltamatch::ingest::unpacked(deltamatch::ingest::memory_bytes(bytes, "fuzz"));
    std::vector<char> buffer(step);
    while (out.size() < most) {
      const std::size_t got = source->read(buffer);
      if (got == 0) break;
      if (got > step) std::abort();
      out.append(buffer.data(), got);
    }
  } catch (const deltamatch::Error& failure) {
    error = failure.what();
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string error_large;
  std::string error_small;
  const std::string large = read(bytes, std::size_t{1} << 16, error_large);
  const std::string small = read(bytes, 61, error_small);
  if (large.size() >= most) return 0;
  // How much of a broken archive comes out before it is refused may depend on the reads; whether it is refused may not.
  if (error_large.empty() != error_small.empty()) std::abort();
  if (error_large.empty() && large != small) std::abort();
  return 0;
}
