// Templates of webhooks and the alerts that they show. An input is a template, a byte 0, and an alert. Whatever both are,
// nothing of the alert ends the string that it stands in, and a link stays one.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "deltamatch/error.hpp"
#include "ingest/service/alert/alert_template.hpp"
#include "ingest/service/alert/alert_view.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace deltamatch;
  using namespace deltamatch::ingest;
  using Json = nlohmann::ordered_json;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\0'), input.size());
  try {
    const Json view = alert_view(input.substr(std::min(end + 1, input.size())));
    const Json* const scope = &view;
    const auto rendered = [&](std::string_view text, Escape escape) {
      std::string out;
      AlertTemplate(text, escape).render(out, {&scope, 1});
      return out;
    };
    const std::string safe =
        R"({"a": "{{query}} {{id}} {{summary}}", "b": {{{bindings}}}, "c": [{{#edges}}"{{source}}"{{^last}}, {{/last}}{{/edges}}]})";
    if (!Json::accept(rendered(safe, Escape::json))) std::abort();
    for (const char c : rendered("{{query}}{{id}}{{bindings}}", Escape::percent)) {
      if (c <= ' ' || c >= 0x7f || std::string_view("\"<>|&?#/").find(c) != std::string_view::npos) std::abort();
    }
    for (const Escape escape : {Escape::json, Escape::percent, Escape::xml, Escape::none}) {
      static_cast<void>(rendered(input.substr(0, end), escape));
    }
  } catch (const Error&) {
    return 0;  // malformed
  }
  return 0;
}
