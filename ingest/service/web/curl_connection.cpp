#include "ingest/service/web/curl_connection.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string_view>
#include <system_error>

#include "deltamatch/error.hpp"
#include "ingest/service/signals_blocked.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t most_of_head = std::size_t{64} << 10;
constexpr std::chrono::seconds longest_retry_after = std::chrono::hours(1);
constexpr int longest_poll_ms = 1000;

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

std::string host_of(std::string_view url) {
  if (const auto scheme = url.find("://"); scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  return std::string(url.substr(0, url.find_first_of(":/?#")));
}

}  // namespace

struct CurlConnection::State {
  explicit State(Limits limits_);

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
  CURLcode perform();
  [[nodiscard]] std::string why(CURLcode code) const;

  static std::size_t take_head(char* bytes, std::size_t, std::size_t size, void* state);
  static std::size_t take_body(char* bytes, std::size_t, std::size_t size, void* state);

  Limits limits;
  std::atomic<bool> cancelled{false};
  std::unique_ptr<CURLM, MultiDeleter> multi{curl_multi_init()};  // must outlive the request
  std::unique_ptr<CURL, EasyDeleter> easy{curl_easy_init()};

  std::string host;  // of the request

  // The answer that is being read.
  int status = 0;
  std::size_t head_bytes = 0;
  std::size_t body_bytes = 0;
  std::string body;  // its first bytes
};

CurlConnection::State::State(Limits limits_) : limits(limits_) {
  if (!multi || !easy) throw std::bad_alloc();
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // does not wait for a name lookup
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(limits.timeout.count()));
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.timeout.count()));
  set(CURLOPT_HEADERFUNCTION, &State::take_head);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &State::take_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  // OpenSSL's own programs do the same.
  if (const char* file = std::getenv("SSL_CERT_FILE"); file != nullptr) set(CURLOPT_CAINFO, file);
  if (const char* folder = std::getenv("SSL_CERT_DIR"); folder != nullptr) set(CURLOPT_CAPATH, folder);
}

std::size_t CurlConnection::State::take_head(char* bytes, std::size_t, std::size_t size, void* state) {
  auto& self = *static_cast<State*>(state);
  if ((self.head_bytes += size) > most_of_head) return 0;
  const std::string_view line(bytes, size);
  const long code = line == "\r\n" || line == "\n" ? self.get<long>(CURLINFO_RESPONSE_CODE) : 0;
  if (code >= 200) self.status = static_cast<int>(code);
  return size;
}

std::size_t CurlConnection::State::take_body(char* bytes, std::size_t, std::size_t size, void* state) {
  auto& self = *static_cast<State*>(state);
  self.body.append(bytes, std::min(size, self.limits.kept - self.body.size()));
  return (self.body_bytes += size) <= self.limits.most ? size : 0;
}

/// Performs one request. Another thread may end it.
CURLcode CurlConnection::State::perform() {
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
std::string CurlConnection::State::why(CURLcode code) const {
  if (cancelled) return "cancelled";
  if (head_bytes > most_of_head) return "its answer's head is longer than " + std::to_string(most_of_head) + " bytes";
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "no connection: its host " + host + " is not known";
    case CURLE_COULDNT_CONNECT: {
      const long number = get<long>(CURLINFO_OS_ERRNO);
      return "no connection" + (number == 0 ? std::string() : ": " + std::generic_category().message(static_cast<int>(number)));
    }
    case CURLE_OPERATION_TIMEDOUT: {
      const bool connected = get<curl_off_t>(CURLINFO_PRETRANSFER_TIME_T) != 0;
      return (connected ? "no answer within " : "no connection within ") + std::to_string(limits.timeout.count()) + " ms";
    }
    case CURLE_PEER_FAILED_VERIFICATION:
      return "its certificate is not trusted";
    case CURLE_SSL_CACERT_BADFILE:
      return "the certificates to trust cannot be read";
    case CURLE_SSL_CERTPROBLEM:
      return "the certificate of this client, or its key, cannot be read";
    default:
      return std::string("no answer: ") + curl_easy_strerror(code);
  }
}

CurlConnection::CurlConnection(Limits limits) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK) throw Error("libcurl", "it cannot be used");
  state_ = std::make_unique<State>(limits);
}

CurlConnection::~CurlConnection() = default;

void CurlConnection::authenticate(const std::string& user, const std::string& password) {
  state_->set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
  state_->set(CURLOPT_USERNAME, user.c_str());
  state_->set(CURLOPT_PASSWORD, password.c_str());
}

void CurlConnection::use(const Tls& tls) {
  if (!tls.ca.empty()) state_->set(CURLOPT_CAINFO, tls.ca.c_str());
  if (!tls.certificate.empty()) state_->set(CURLOPT_SSLCERT, tls.certificate.c_str());
  if (!tls.key.empty()) state_->set(CURLOPT_SSLKEY, tls.key.c_str());
}

void CurlConnection::keep(std::size_t bytes) noexcept { state_->limits.kept = bytes; }

CurlConnection::Answer CurlConnection::get(const std::string& url, const Headers& headers) {
  state_->set(CURLOPT_HTTPGET, 1L);
  return perform(url, headers);
}

CurlConnection::Answer CurlConnection::post(const std::string& url, const Headers& headers, const std::string& body) {
  state_->set(CURLOPT_POST, 1L);
  state_->set(CURLOPT_POSTFIELDS, body.c_str());
  state_->set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  return perform(url, headers);
}

CurlConnection::Answer CurlConnection::perform(const std::string& url, const Headers& headers) {
  State& state = *state_;
  Answer answer;
  if (state.cancelled) {
    answer.error = "cancelled";
    return answer;
  }
  List lines;
  // An empty value has another form. "name:" would remove a header of libcurl.
  for (const auto& [name, value] : headers) append(lines, value.empty() ? name + ';' : name + ": " + value);
  append(lines, "Expect:");
  state.set(CURLOPT_URL, url.c_str());
  state.host = host_of(url);
  state.set(CURLOPT_HTTPHEADER, lines.get());
  state.status = 0;
  state.head_bytes = 0;
  state.body_bytes = 0;
  state.body.clear();
  const CURLcode code = state.perform();
  if (state.status == 0) {
    answer.error = state.why(code);
    return answer;
  }
  answer.status = state.status;
  answer.whole = code == CURLE_OK && state.body_bytes == state.body.size();
  const auto retry_after = std::chrono::seconds(state.get<curl_off_t>(CURLINFO_RETRY_AFTER));
  if (retry_after.count() > 0) answer.retry_after = std::min(retry_after, longest_retry_after);
  answer.body = std::move(state.body);
  return answer;
}

void CurlConnection::cancel() noexcept {
  state_->cancelled = true;
  curl_multi_wakeup(state_->multi.get());
}

std::string CurlConnection::decoded(const std::string& text) const {
  int length = 0;
  char* const plain = curl_easy_unescape(state_->easy.get(), text.data(), static_cast<int>(text.size()), &length);
  std::string out = plain == nullptr ? text : std::string(plain, static_cast<std::size_t>(length));
  curl_free(plain);
  return out;
}

}  // namespace deltamatch::ingest
