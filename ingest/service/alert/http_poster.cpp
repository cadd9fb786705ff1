#include "ingest/service/alert/http_poster.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/alert/excerpt.hpp"
#include "ingest/service/web/curl_connection.hpp"
#include "ingest/service/web/url.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t most_of_body = std::size_t{64} << 10;

void check_header(std::string_view where, const std::string& name, const std::string& value) {
  constexpr std::string_view token_marks = "!#$%&'*+-.^_`|~";
  const bool named = !name.empty() && std::ranges::all_of(name, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || token_marks.find(c) != std::string_view::npos;
  });
  if (!named) {
    throw Error(ErrorKind::configuration, where, "the name of a header is not valid",
                "name headers with letters, digits and dashes");
  }
  const bool valued = std::ranges::all_of(value, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; });
  if (!valued) {
    throw Error(ErrorKind::configuration, where, "the value of header '" + name + "' holds control characters",
                "remove line ends from it");
  }
}

}  // namespace

struct HttpPoster::Connection {
  std::string url;
  CurlConnection::Headers headers;
  Secrets secrets;
  std::unique_ptr<CurlConnection> curl;
};

HttpPoster::HttpPoster(std::string_view where, const std::string& url, const Headers& headers,
                       std::chrono::milliseconds timeout)
    : connection_(std::make_unique<Connection>()) {
  Connection& connection = *connection_;
  const Url parsed = parse_url(where, url, "https://example.org/alerts", "give them in a header (Authorization)");
  connection.url = parsed.origin + parsed.target;
  for (const auto& [name, value] : headers) {
    check_header(where, name, value);
    connection.headers.emplace_back(name, value);
    connection.secrets.add(value);
  }
  connection.secrets.add(parsed.target);
  const CurlConnection decoder({timeout, 0, 0});
  connection.secrets.add(decoder.decoded(parsed.target));
  connection.curl = std::make_unique<CurlConnection>(
      CurlConnection::Limits{timeout, excerpt_source_bytes(connection.secrets.longest()), most_of_body});
}

HttpPoster::~HttpPoster() = default;

HttpAnswer HttpPoster::post(const std::string& body, const Headers& headers) {
  Connection& connection = *connection_;
  CurlConnection::Headers all = connection.headers;
  all.insert(all.end(), headers.begin(), headers.end());
  all.emplace_back("Accept", "*/*");
  const CurlConnection::Answer answer = connection.curl->post(connection.url, all, body);
  if (answer.status == 0) return {0, answer.error, std::nullopt, {}};
  return {answer.status, {}, answer.retry_after, make_excerpt(answer.body, connection.secrets)};
}

void HttpPoster::hide(const std::string& secret) {
  if (secret.empty()) return;
  connection_->secrets.add(secret);
  connection_->curl->keep(excerpt_source_bytes(connection_->secrets.longest()));
}

void HttpPoster::cancel() noexcept { connection_->curl->cancel(); }

}  // namespace deltamatch::ingest
