// Updates in the packed form. The first byte tells how many there are. What is accepted is what is written again, but for empty
// labels of edges, which may be written and are left out.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "encoding/updates.hpp"

namespace {

using namespace deltamatch;
using Form = encoding::PackedForm<encoding::TextsByFirstUse>;

std::string packed(std::span<const Update> updates) {
  std::string bytes;
  encoding::ByteWriter out(bytes);
  Form form;
  put_packed(out, form, updates);
  return bytes;
}

bool unpack(std::string_view bytes, std::uint64_t count, UpdateBatch& updates) {
  encoding::ByteReader in(bytes);
  Form form;
  const auto outcome = take_packed(in, form, count, [&](const Update& update) { updates.add(update); });
  if (outcome.fault == encoding::PackedFault::unreadable && outcome.reason.empty()) std::abort();
  return outcome.fault == encoding::PackedFault::none && in.finished();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  UpdateBatch updates;
  if (!unpack(bytes, data[0], updates)) return 0;
  if (updates.size() != data[0]) std::abort();
  const std::string once = packed(updates.updates());
  const bool bare = std::ranges::any_of(updates.updates(), [](const Update& update) { return update.label.empty(); });
  if (once != bytes && !bare) std::abort();
  UpdateBatch again;
  if (!unpack(once, updates.size(), again) || packed(again.updates()) != once) std::abort();
  return 0;
}
