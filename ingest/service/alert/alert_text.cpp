#include "ingest/service/alert/alert_text.hpp"

#include <algorithm>
#include <charconv>

#include "ingest/sink/match_text.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::string_view before_version = R"({"v":)";
constexpr std::string_view known_versions = "12";
constexpr std::string_view before_id = R"("id":")";
constexpr std::size_t id_digits = 32;
constexpr std::string_view before_query = R"("query":")";
constexpr std::string_view before_sign = R"(,"sign":")";
constexpr std::string_view before_batch = R"(,"batch":)";

/// What follows the version and a comma. Empty if the text has no known version.
std::string_view behind_version(std::string_view alert) noexcept {
  if (!alert.starts_with(before_version)) return {};
  alert.remove_prefix(before_version.size());
  if (alert.size() < 2 || known_versions.find(alert[0]) == std::string_view::npos || alert[1] != ',') return {};
  return alert.substr(2);
}

}  // namespace

std::string_view alert_id(std::string_view alert) noexcept {
  const std::string_view rest = behind_version(alert);
  if (!rest.starts_with(before_id) || rest.size() < before_id.size() + id_digits) return {};
  return rest.substr(before_id.size(), id_digits);
}

std::optional<std::uint64_t> alert_batch(std::string_view alert) noexcept {
  if (behind_version(alert).empty()) return std::nullopt;
  // The field is among the first ones. Quotes inside the strings before it are escaped.
  const std::size_t at = alert.find(before_batch);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = alert.substr(at + before_batch.size());
  std::uint64_t batch = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), batch);
  if (error != std::errc{} || end == digits.data() + digits.size()) return std::nullopt;
  return batch;
}

AlertHead alert_head(std::string_view alert) noexcept {
  std::string_view rest = behind_version(alert);
  if (!alert_id(alert).empty()) rest.remove_prefix(std::min(rest.size(), before_id.size() + id_digits + 2));
  if (!rest.starts_with(before_query)) return {};
  std::size_t end = before_query.size();
  while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
  if (end >= rest.size()) return {};
  const std::size_t begin = before_query.size() - 1;
  AlertHead head{rest.substr(begin, end + 1 - begin), std::nullopt};
  rest.remove_prefix(end + 1);
  if (rest.starts_with(before_sign) && rest.size() > before_sign.size()) head.added = rest[before_sign.size()] == '+';
  return head;
}

void append_alert_stub(std::string& out, std::string_view alert) {
  // Quotes inside the strings before it are escaped.
  out += alert.substr(0, alert.find(R"(,"bindings":)"));
  out += R"(,"too_large":)";
  append_number(out, std::uint64_t{alert.size()});
  out += '}';
}

void append_suppressed(std::string& out, int version, std::string_view query, std::uint64_t batch, std::uint64_t count) {
  append_version(out, version);
  out += R"("query":)";
  append_json_string(out, query);
  out += R"(,"batch":)";
  append_number(out, batch);
  out += R"(,"suppressed":)";
  append_number(out, count);
  out += '}';
}

void append_partial(std::string& out, int version, const ListingEnd& end) {
  append_version(out, version);
  out += R"("query":)";
  append_json_string(out, end.query);
  out += R"(,"batch":)";
  append_number(out, end.batch);
  out += R"(,"partial":")";
  out += shortfall_name(end.shortfall);
  out += R"(","matches":)";
  append_number(out, end.matches);
  out += '}';
}

}  // namespace deltamatch::ingest
