#include "ingest/service/state/digest_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <system_error>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

Hash128 read_hash(const std::string& text, std::string_view where) {
  Hash128 hash;
  const auto half = [&](std::size_t at, std::uint64_t& number) {
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 16, number, 16);
    return error == std::errc() && end == text.data() + at + 16;
  };
  if (text.size() != 32 || !half(0, hash.high) || !half(16, hash.low)) throw Error(where, "its digest is not a hash");
  return hash;
}

}  // namespace

std::string to_json(const RunningDigest& digest) {
  return fmt::format(R"({{"begin":"{}","now":"{}"}})", to_string(digest.begin), to_string(digest.now));
}

RunningDigest parse_digest(std::string_view json, std::string_view where) {
  try {
    const nlohmann::json object = nlohmann::json::parse(json);
    return {.begin = read_hash(object.at("begin").get<std::string>(), where),
            .now = read_hash(object.at("now").get<std::string>(), where)};
  } catch (const nlohmann::json::exception& error) {
    throw Error(where, fmt::format("this is not a digest: {}", error.what()));
  }
}

}  // namespace deltamatch::ingest
