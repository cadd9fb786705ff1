#include "ingest/service/alert/excerpt.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace deltamatch::ingest {
namespace {

constexpr std::size_t shortest_part = 4;

bool is_part(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || byte >= 0x80 || c == '-' || c == '_' || c == '.' || c == '~' || c == '%';
}

/// A character of a text: its length in bytes and its number. `valid` is false if the bytes are not UTF-8.
struct Character {
  std::size_t bytes = 1;
  std::uint32_t number = 0;
  bool valid = false;
};

Character decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {1, lead, true};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t number = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0U) != 0x80) return {};
    number = number << 6U | (next & 0x3fU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = number >= 0xd800 && number <= 0xdfff;
  if (number < least[bytes] || number > 0x10ffff || surrogate) return {};
  return {bytes, number, true};
}

/// Blanks, and characters that would end the line or change how the rest of it looks.
bool is_blank(std::uint32_t c) {
  return c <= ' ' || (c >= 0x7f && c <= 0xa0) || c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb);
}

/// Whether each byte belongs to a secret.
std::vector<bool> hidden_bytes(std::string_view body, const Secrets& secrets) {
  std::vector<bool> hidden(body.size(), false);
  for (const std::string& secret : secrets.texts()) {
    for (std::size_t at = body.find(secret); at != std::string_view::npos; at = body.find(secret, at + 1))
      std::fill_n(hidden.begin() + static_cast<std::ptrdiff_t>(at), secret.size(), true);
  }
  return hidden;
}

}  // namespace

void Secrets::add(std::string_view text) {
  add_part(text);
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && is_part(text[end])) ++end;
    if (end - begin >= shortest_part) add_part(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

void Secrets::add_part(std::string_view text) {
  if (text.empty() || std::ranges::find(texts_, text) != texts_.end()) return;
  texts_.emplace_back(text);
  longest_ = std::max(longest_, text.size());
}

std::string make_excerpt(std::string_view body, const Secrets& secrets) {
  const std::vector<bool> hidden = hidden_bytes(body, secrets);
  // A secret that begins after this may be incomplete in `body`.
  const std::size_t end = std::min(body.size(), excerpt_source);
  std::string out;
  bool blank = false;
  bool more = body.size() > end;
  for (std::size_t at = 0; at < end;) {
    std::string_view next;
    Character character = decode(body.substr(at));
    if (hidden[at]) {
      next = "***";
      while (at < end && hidden[at]) ++at;
      character = {0, 0, true};
    } else {
      next = character.valid ? body.substr(at, character.bytes) : "?";
      at += character.bytes;
      if (character.valid && is_blank(character.number)) {
        blank = !out.empty();
        continue;
      }
    }
    if (out.size() + (blank ? 1 : 0) + next.size() > excerpt_bytes) {
      more = true;
      break;
    }
    if (blank) out += ' ';
    blank = false;
    out += next;
  }
  return more ? out + "…" : out;
}

}  // namespace deltamatch::ingest
