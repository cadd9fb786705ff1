// Answers of foreign servers. The first line of an input is a secret. What a log shows of an answer is short: one line of valid
// UTF-8 without control characters. It does not hold the secret.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingest/service/alert/excerpt.hpp"
#include "ingest/text/json_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace deltamatch::ingest;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view secret = text.substr(0, end);
  const std::string_view body = text.substr(std::min(end + 1, text.size()));
  Secrets secrets;
  secrets.add(secret);
  const std::string shown = make_excerpt(body, secrets);
  constexpr std::size_t ellipsis = 3;
  if (shown.size() > excerpt_bytes + ellipsis) std::abort();
  for (const char c : shown) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) std::abort();
  }
  std::string unescaped = shown;
  std::ranges::replace(unescaped, '\\', '/');
  std::string json;  // invalid bytes become surrogates there
  append_json_string(json, unescaped);
  if (json.find("\\udc") != std::string::npos) std::abort();
  // Unless what stands in for others makes it up: marks, question marks, blanks and the ellipsis.
  const bool plain =
      secret.find_first_of("*? ") == std::string_view::npos && secret.find("\xe2\x80\xa6") == std::string_view::npos;
  if (plain && !secret.empty() && shown.find(secret) != std::string::npos) {
    // A secret of which the text is broken by what became one blank, or the like, is none that the body held.
    if (body.find(secret) != std::string_view::npos) std::abort();
  }
  const std::string short_body = std::string(body.substr(0, excerpt_source_bytes(secrets.longest())));
  if (body.size() > short_body.size() && make_excerpt(short_body, secrets) != shown) std::abort();
  return 0;
}
