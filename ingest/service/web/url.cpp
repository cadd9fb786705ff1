#include "ingest/service/web/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

[[noreturn]] void refuse(std::string_view where, std::string_view what, std::string_view remedy) {
  throw Error(ErrorKind::configuration, where, what, remedy);
}

bool is_host(std::string_view host) {
  const bool literal = host.starts_with('[') && host.ends_with(']');
  const std::string_view name = literal ? host.substr(1, host.size() - 2) : host;
  return !name.empty() && std::ranges::all_of(name, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_' || (literal && c == ':');
  });
}

bool is_port(std::string_view port) {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc{} && end == port.data() + port.size() && number != 0;
}

}  // namespace

Url parse_url(std::string_view where, std::string_view url, std::string_view example, std::string_view instead) {
  const std::string give = fmt::format("give a URL like {}", example);
  const std::size_t scheme = url.find("://");
  const std::string_view name = url.substr(0, scheme);
  if (scheme == std::string_view::npos || (name != "http" && name != "https"))
    refuse(where, "the URL is neither http nor https", give);
  const std::size_t end = std::min(url.find_first_of("/?#", scheme + 3), url.size());
  const std::string_view authority = url.substr(scheme + 3, end - scheme - 3);
  if (authority.find('@') != std::string_view::npos) refuse(where, "the URL holds a user or password", instead);
  const std::size_t colon = authority.ends_with(']') ? std::string_view::npos : authority.rfind(':');
  if (!is_host(authority.substr(0, colon)) || (colon != std::string_view::npos && !is_port(authority.substr(colon + 1))))
    refuse(where, "the URL has no valid host and port", give);
  const std::string_view target = url.substr(end, url.find('#', end) - end);
  if (!std::ranges::all_of(target, [](char c) { return c > ' ' && c < 0x7f; }))
    refuse(where, "the URL's path holds blanks or characters beyond ASCII", "write them as %XX");
  return {std::string(url.substr(0, end)), target.starts_with('/') ? std::string(target) : '/' + std::string(target)};
}

}  // namespace deltamatch::ingest
