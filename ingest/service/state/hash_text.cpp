#include "ingest/service/state/hash_text.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace deltamatch::ingest {

std::optional<Hash128> parse_hash(std::string_view text) {
  Hash128 hash;
  const auto half = [&](std::size_t at, std::uint64_t& number) {
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 16, number, 16);
    return error == std::errc() && end == text.data() + at + 16;
  };
  if (text.size() != 32 || !half(0, hash.high) || !half(16, hash.low)) return std::nullopt;
  return hash;
}

}  // namespace deltamatch::ingest
