// Updates in the packed form. The first byte tells how many there are. What is accepted is what is written again, but for empty
// labels of edges, which may be written and are left out.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "encoding/updates.hpp"

namespace {

using namespace deltamatch;
using Form = encoding::PackedForm<encoding::LabelsByFirstUse>;

std::string packed(const std::vector<Update>& updates) {
  std::string bytes;
  encoding::ByteWriter out(bytes);
  Form form;
  put_packed(out, form, updates);
  return bytes;
}

bool unpack(std::string_view bytes, std::uint64_t count, std::vector<Update>& updates) {
  encoding::ByteReader in(bytes);
  Form form;
  const auto outcome = take_packed(in, form, count, [&](const Update& update) { updates.push_back(update); });
  if (outcome.fault == encoding::PackedFault::unreadable && outcome.reason.empty()) std::abort();
  return outcome.fault == encoding::PackedFault::none && in.finished();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<Update> updates;
  if (!unpack(bytes, data[0], updates)) return 0;
  if (updates.size() != data[0]) std::abort();
  const std::string once = packed(updates);
  const bool bare = std::any_of(updates.begin(), updates.end(), [](const Update& update) { return update.label.empty(); });
  if (once != bytes && !bare) std::abort();
  std::vector<Update> again;
  if (!unpack(once, updates.size(), again) || packed(again) != once) std::abort();
  return 0;
}
