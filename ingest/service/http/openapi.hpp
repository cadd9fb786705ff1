// The description of the HTTP interface, docs/reference/openapi.json.
#pragma once

#include <string_view>

namespace deltamatch::ingest {

/// One JSON document, OpenAPI 3.1.
[[nodiscard]] std::string_view openapi_text() noexcept;

}  // namespace deltamatch::ingest
