// Heads of requests, one part a line: method, target, Host, and the rest as headers of browsers. Every request
// gets a page, or an error that says in printable characters what is wrong. No Host is accepted that a web page could choose.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "ingest/service/http/http_request.hpp"

namespace {

using namespace deltamatch::ingest;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Names of the Internet have letters and a dot between them, and do not end in localhost.
bool may_be_foreign(std::string_view host) {
  if (host.starts_with('[')) return false;
  std::string_view name = host.substr(0, host.find(':'));
  if (name.ends_with('.')) name.remove_suffix(1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view top = name.substr(dot + 1);
  if (top.size() == 9 && (top[0] == 'l' || top[0] == 'L')) return false;
  return top.find_first_not_of("0123456789") != std::string_view::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string_view> lines = lines_of({reinterpret_cast<const char*>(data), size});
  const auto line = [&](std::size_t i) { return i < lines.size() ? lines[i] : std::string_view(); };
  HttpHead head;
  head.method = line(0);
  head.target = line(1);
  if (lines.size() > 2) head.hosts.push_back(line(2));
  if (lines.size() > 3) head.fetch_sites.push_back(line(3));
  head.fetch_mode = line(4);
  head.fetch_destination = line(5);
  head.has_origin = lines.size() > 6;
  head.host_is_optional = lines.size() > 7;
  for (const bool loopback : {true, false}) {
    const HttpHosts hosts({}, loopback);
    if (hosts.hold(line(2)) && may_be_foreign(line(2))) std::abort();
    const HttpVerdict verdict = judge(head, hosts);
    if (verdict.page.has_value() != (verdict.status == 200) || verdict.page.has_value() != verdict.error.empty()) std::abort();
    if ((verdict.status == 405) == verdict.allow.empty()) std::abort();
    if (verdict.page && !lines.empty() && head.has_origin && head.method == "POST") std::abort();
    for (const char c : verdict.error) {
      if (c < ' ' || c > '~') std::abort();
    }
  }
  return 0;
}
