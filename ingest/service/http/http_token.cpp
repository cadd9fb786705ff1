#include "ingest/service/http/http_token.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace deltamatch::ingest {
namespace {

/// Whether the texts are equal. The time depends on the length of `given` only. `secret` is not empty.
bool equal(std::string_view secret, std::string_view given) noexcept {
  volatile unsigned difference = secret.size() == given.size() ? 0U : 1U;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto wanted = static_cast<unsigned char>(secret[i % secret.size()]);
    difference = difference | (wanted ^ static_cast<unsigned char>(given[i]));
  }
  return difference == 0;
}

/// The token in "Bearer TOKEN", or nothing.
std::optional<std::string_view> bearer(std::string_view header) {
  constexpr std::string_view scheme = "bearer ";
  if (header.size() <= scheme.size()) return std::nullopt;
  const auto same = [](char wanted, char c) { return std::tolower(static_cast<unsigned char>(c)) == wanted; };
  if (!std::equal(scheme.begin(), scheme.end(), header.begin(), same)) return std::nullopt;
  header.remove_prefix(scheme.size());
  while (header.starts_with(' ')) header.remove_prefix(1);
  return header.empty() ? std::nullopt : std::optional(header);
}

HttpReply unauthorized(std::string_view what) {
  HttpReply reply = http_error(401, what);
  reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

}  // namespace

HttpToken::Guesses& HttpToken::of(const std::string& address, Clock::time_point now) {
  if (addresses_.size() >= most_addresses && !addresses_.contains(address)) {
    addresses_.erase(std::ranges::min_element(addresses_, {}, [](const auto& entry) { return entry.second.since; }));
  }
  Guesses& found = addresses_.try_emplace(address, Guesses{guesses, now, false}).first->second;
  const std::chrono::duration<double> passed = now - found.since;
  found.left = std::min<double>(guesses, found.left + passed / guess_every);
  found.since = now;
  found.told = found.told && found.left < guesses;
  return found;
}

std::optional<HttpReply> HttpToken::refusal(HttpAccess access, std::string_view authorization, const std::string& address,
                                            Clock::time_point now) {
  if (access == HttpAccess::everyone || (access == HttpAccess::admin_if_any && !configured())) return std::nullopt;
  if (!configured())
    return http_error(403,
                      "the service has no admin token, so nothing can be changed here; set http.admin_token: {file: PATH}");
  if (authorization.empty()) return unauthorized("this needs the admin token; send the header Authorization: Bearer TOKEN");
  const std::optional<std::string_view> given = bearer(authorization);
  if (given && equal(token_, *given)) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  const auto known = addresses_.find(address);
  if (known != addresses_.end() && of(address, now).left < 1) {
    if (!std::exchange(known->second.told, true)) {
      journal_.tell(Level::warn, "too many wrong admin tokens, so further ones are not logged", {{"address", address}});
    }
    HttpReply reply = http_error(429, "too many wrong tokens came from this address; try again in a second");
    reply.headers.emplace_back("Retry-After", std::to_string(guess_every.count()));
    return reply;
  }
  of(address, now).left -= 1;
  journal_.tell(Level::warn, "a request had a wrong admin token", {{"address", address}});
  return unauthorized(given ? "the token is wrong; send the one that http.admin_token names"
                            : "the header Authorization has another form; send Authorization: Bearer TOKEN");
}

}  // namespace deltamatch::ingest
