#include "ingest/service/state/share_name.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ingest/service/state/files.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::string_view suffix = ".dms";

bool is_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

std::string SharedSnapshot::name() const {
  return fmt::format("{}.{}.{}.{}.{}{}", application, identity, numbered_name("", batch, ""), mark, bytes, suffix);
}

std::optional<SharedSnapshot> parse_shared_name(std::string_view name) {
  if (!name.ends_with(suffix)) return std::nullopt;
  name.remove_suffix(suffix.size());
  const auto take = [&name](std::size_t digits) -> std::string {
    if (name.size() <= digits || name[name.size() - digits - 1] != '.') return {};
    std::string field(name.substr(name.size() - digits));
    name.remove_suffix(digits + 1);
    return field;
  };
  SharedSnapshot snapshot;
  snapshot.bytes = take(32);
  snapshot.mark = take(16);
  const auto batch = number_in(take(20), "", "");
  snapshot.identity = take(16);
  if (snapshot.bytes.empty() || snapshot.mark.empty() || !batch || snapshot.identity.empty() || name.empty())
    return std::nullopt;
  if (!is_hex(snapshot.bytes) || !is_hex(snapshot.mark) || !is_hex(snapshot.identity)) return std::nullopt;
  snapshot.batch = *batch;
  snapshot.application = name;
  return snapshot;
}

std::string mark_fingerprint(const CommitPoint& mark) {
  const std::string text = to_json(mark);
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

}  // namespace deltamatch::ingest
