// Every text becomes a JSON string of ASCII and valid UTF-8 from which its bytes can be had back.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingest/text/json_text.hpp"

namespace {

int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

/// The inverse of append_json_string.
std::string restore(std::string_view json) {
  std::string out;
  if (json.size() < 2 || json.front() != '"' || json.back() != '"') std::abort();
  json = json.substr(1, json.size() - 2);
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (static_cast<unsigned char>(json[i]) < 0x20 || json[i] == '"') std::abort();
    if (json[i] != '\\') {
      out += json[i];
      continue;
    }
    switch (json[++i]) {
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u': {
        const std::string_view prefix = json.substr(i + 1, 2);
        const char byte = static_cast<char>(digit(json[i + 3]) * 16 + digit(json[i + 4]));
        if (prefix != "00" && (prefix != "dc" || static_cast<unsigned char>(byte) < 0x80)) std::abort();
        out += byte;
        i += 4;
        break;
      }
      default:
        out += json[i];
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string json;
  deltamatch::ingest::append_json_string(json, text);
  if (restore(json) != text) std::abort();
  return 0;
}
