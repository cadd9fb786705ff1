#include "ingest/alert/alert_text.hpp"

#include "ingest/sink/json_text.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::string_view before_id = R"({"v":1,"id":")";
constexpr std::size_t id_digits = 32;

}  // namespace

std::string_view alert_id(std::string_view alert) noexcept {
  if (!alert.starts_with(before_id) || alert.size() < before_id.size() + id_digits) return {};
  return alert.substr(before_id.size(), id_digits);
}

void append_alert_stub(std::string& out, std::string_view alert) {
  // Within the strings before it quotes are escaped.
  out += alert.substr(0, alert.find(R"(,"bindings":)"));
  out += R"(,"too_large":)";
  append_number(out, std::uint64_t{alert.size()});
  out += '}';
}

void append_suppressed(std::string& out, std::string_view query, std::uint64_t batch, std::uint64_t count) {
  out += R"({"v":1,"query":)";
  append_json_string(out, query);
  out += R"(,"batch":)";
  append_number(out, batch);
  out += R"(,"suppressed":)";
  append_number(out, count);
  out += '}';
}

void append_partial(std::string& out, const ListingEnd& end) {
  out += R"({"v":1,"query":)";
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
