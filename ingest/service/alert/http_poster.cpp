#include "ingest/service/alert/http_poster.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/service/alert/excerpt.hpp"
#include "ingest/service/signals_blocked.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t most_of_head = std::size_t{64} << 10;
constexpr std::size_t most_of_body = std::size_t{64} << 10;
constexpr std::chrono::seconds longest_retry_after = std::chrono::hours(1);
constexpr int longest_poll_ms = 1000;

struct Url {
  std::string origin;  // scheme://host[:port]
  std::string target;  // path and query
};

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

/// No message contains the URL, because some services treat its path as a secret.
Url parse_url(std::string_view where, std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::string_view name = url.substr(0, scheme);
  if (scheme == std::string_view::npos || (name != "http" && name != "https"))
    refuse(where, "the URL is neither http nor https", "give a URL like https://example.org/alerts");
  const std::size_t end = std::min(url.find_first_of("/?#", scheme + 3), url.size());
  const std::string_view authority = url.substr(scheme + 3, end - scheme - 3);
  if (authority.find('@') != std::string_view::npos)
    refuse(where, "the URL holds a user or password", "give them in a header (Authorization)");
  const std::size_t colon = authority.ends_with(']') ? std::string_view::npos : authority.rfind(':');
  if (!is_host(authority.substr(0, colon)) || (colon != std::string_view::npos && !is_port(authority.substr(colon + 1))))
    refuse(where, "the URL has no valid host and port", "give a URL like https://example.org/alerts");
  const std::string_view target = url.substr(end, url.find('#', end) - end);
  if (!std::ranges::all_of(target, [](char c) { return c > ' ' && c < 0x7f; }))
    refuse(where, "the URL's path holds blanks or characters beyond ASCII", "write them as %XX");
  return {std::string(url.substr(0, end)), target.starts_with('/') ? std::string(target) : '/' + std::string(target)};
}

void check_header(std::string_view where, const std::string& name, const std::string& value) {
  constexpr std::string_view token_marks = "!#$%&'*+-.^_`|~";
  const bool named = !name.empty() && std::ranges::all_of(name, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || token_marks.find(c) != std::string_view::npos;
  });
  if (!named) refuse(where, "the name of a header is not valid", "name headers with letters, digits and dashes");
  const bool valued = std::ranges::all_of(value, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; });
  if (!valued) refuse(where, "the value of header '" + name + "' holds control characters", "remove line ends from it");
}

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using List = std::unique_ptr<curl_slist, ListDeleter>;

void append(List& list, const std::string& line) {
  curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  static_cast<void>(list.release());
  list.reset(longer);
}

/// The text with percent-encoding decoded.
std::string plain(CURL* easy, const std::string& text) {
  int length = 0;
  char* const decoded = curl_easy_unescape(easy, text.data(), static_cast<int>(text.size()), &length);
  std::string out = decoded == nullptr ? text : std::string(decoded, static_cast<std::size_t>(length));
  curl_free(decoded);
  return out;
}

}  // namespace

struct HttpPoster::Connection {
  Connection(Url url_, std::chrono::milliseconds timeout_);

  template <class Value>
  void set(CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(easy.get(), option, value);
    if (code != CURLE_OK) throw Error("libcurl", curl_easy_strerror(code), "install the libcurl that this was built with");
  }
  template <class Value>
  Value get(CURLINFO info) const {
    Value value{};
    curl_easy_getinfo(easy.get(), info, &value);
    return value;
  }
  void add_header(const std::string& name, const std::string& value);
  CURLcode perform();
  [[nodiscard]] std::string why(CURLcode code) const;

  static std::size_t take_head(char* bytes, std::size_t, std::size_t size, void* connection);
  static std::size_t take_body(char* bytes, std::size_t, std::size_t size, void* connection);

  Url url;
  std::chrono::milliseconds timeout;
  std::vector<std::string> headers;
  Secrets secrets;
  std::atomic<bool> cancelled{false};
  std::unique_ptr<CURLM, MultiDeleter> multi{curl_multi_init()};  // must outlive the request
  std::unique_ptr<CURL, EasyDeleter> easy{curl_easy_init()};

  // The answer that is being read.
  int status = 0;
  std::size_t head_bytes = 0;
  std::size_t body_bytes = 0;
  std::string body;  // its first bytes
};

HttpPoster::Connection::Connection(Url url_, std::chrono::milliseconds timeout_) : url(std::move(url_)), timeout(timeout_) {
  if (!multi || !easy) throw std::bad_alloc();
  secrets.add(url.target);
  secrets.add(plain(easy.get(), url.target));
  set(CURLOPT_URL, (url.origin + url.target).c_str());
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // does not wait for a name lookup
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(timeout.count()));
  set(CURLOPT_HEADERFUNCTION, &Connection::take_head);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &Connection::take_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  // OpenSSL's own programs do the same.
  if (const char* file = std::getenv("SSL_CERT_FILE"); file != nullptr) set(CURLOPT_CAINFO, file);
  if (const char* folder = std::getenv("SSL_CERT_DIR"); folder != nullptr) set(CURLOPT_CAPATH, folder);
}

void HttpPoster::Connection::add_header(const std::string& name, const std::string& value) {
  // An empty value has another form. "name:" would remove a header of libcurl.
  headers.push_back(value.empty() ? name + ';' : name + ": " + value);
}

std::size_t HttpPoster::Connection::take_head(char* bytes, std::size_t, std::size_t size, void* connection) {
  auto& self = *static_cast<Connection*>(connection);
  if ((self.head_bytes += size) > most_of_head) return 0;
  const std::string_view line(bytes, size);
  const long code = line == "\r\n" || line == "\n" ? self.get<long>(CURLINFO_RESPONSE_CODE) : 0;
  if (code >= 200) self.status = static_cast<int>(code);
  return size;
}

std::size_t HttpPoster::Connection::take_body(char* bytes, std::size_t, std::size_t size, void* connection) {
  auto& self = *static_cast<Connection*>(connection);
  const std::size_t wanted = excerpt_source_bytes(self.secrets.longest());
  self.body.append(bytes, std::min(size, wanted - self.body.size()));
  return (self.body_bytes += size) <= most_of_body ? size : 0;
}

/// Performs one request. Another thread may end it.
CURLcode HttpPoster::Connection::perform() {
  const SignalsBlocked signals_are_for_other_threads;  // libcurl looks up names in threads
  if (curl_multi_add_handle(multi.get(), easy.get()) != CURLM_OK) throw Error("libcurl", "does not accept a request");
  CURLcode result = CURLE_ABORTED_BY_CALLBACK;
  int running = 1;
  while (running != 0 && !cancelled) {
    if (curl_multi_perform(multi.get(), &running) != CURLM_OK) break;
    if (running != 0 && curl_multi_poll(multi.get(), nullptr, 0, longest_poll_ms, nullptr) != CURLM_OK) break;
  }
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi.get(), &left)) {
    if (message->msg == CURLMSG_DONE) result = message->data.result;
  }
  curl_multi_remove_handle(multi.get(), easy.get());
  return result;
}

/// Explains why there is no answer. libcurl's own message may contain parts of the URL, so it is not used.
std::string HttpPoster::Connection::why(CURLcode code) const {
  if (cancelled) return "cancelled";
  if (head_bytes > most_of_head) return "its answer's head is longer than " + std::to_string(most_of_head) + " bytes";
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "no connection: its host is not known";
    case CURLE_COULDNT_CONNECT: {
      const long number = get<long>(CURLINFO_OS_ERRNO);
      return "no connection" + (number == 0 ? std::string() : ": " + std::generic_category().message(static_cast<int>(number)));
    }
    case CURLE_OPERATION_TIMEDOUT: {
      const bool connected = get<curl_off_t>(CURLINFO_PRETRANSFER_TIME_T) != 0;
      return (connected ? "no answer within " : "no connection within ") + std::to_string(timeout.count()) + " ms";
    }
    case CURLE_PEER_FAILED_VERIFICATION:
      return "its certificate is not trusted";
    case CURLE_SSL_CACERT_BADFILE:
      return "the certificates to trust cannot be read";
    default:
      return std::string("no answer: ") + curl_easy_strerror(code);
  }
}

HttpPoster::HttpPoster(std::string_view where, const std::string& url, const Headers& headers,
                       std::chrono::milliseconds timeout) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK) throw Error(where, "libcurl cannot be used");
  connection_ = std::make_unique<Connection>(parse_url(where, url), timeout);
  for (const auto& [name, value] : headers) {
    check_header(where, name, value);
    connection_->add_header(name, value);
    connection_->secrets.add(value);
  }
}

HttpPoster::~HttpPoster() = default;

HttpAnswer HttpPoster::post(const std::string& body, const Headers& headers) {
  Connection& connection = *connection_;
  if (connection.cancelled) return {0, "cancelled", std::nullopt, {}};
  List lines;
  for (const std::string& line : connection.headers) append(lines, line);
  for (const auto& [name, value] : headers) append(lines, name + ": " + value);
  append(lines, "Expect:");
  append(lines, "Accept: */*");
  connection.set(CURLOPT_HTTPHEADER, lines.get());
  connection.set(CURLOPT_POST, 1L);
  connection.set(CURLOPT_POSTFIELDS, body.c_str());
  connection.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  connection.status = 0;
  connection.head_bytes = 0;
  connection.body_bytes = 0;
  connection.body.clear();
  const CURLcode code = connection.perform();
  if (connection.status == 0) return {0, connection.why(code), std::nullopt, {}};
  HttpAnswer answer;
  answer.status = connection.status;
  const auto retry_after = std::chrono::seconds(connection.get<curl_off_t>(CURLINFO_RETRY_AFTER));
  if (retry_after.count() > 0) answer.retry_after = std::min(retry_after, longest_retry_after);
  answer.excerpt = make_excerpt(connection.body, connection.secrets);
  return answer;
}

void HttpPoster::hide(const std::string& secret) {
  if (!secret.empty()) connection_->secrets.add(secret);
}

void HttpPoster::cancel() noexcept {
  connection_->cancelled = true;
  curl_multi_wakeup(connection_->multi.get());
}

}  // namespace deltamatch::ingest
