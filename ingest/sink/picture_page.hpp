// The text of the page of matches, around its data.
#pragma once

#include <string_view>

namespace deltamatch::ingest {

/// The data between them is a JSON object that to_html describes. It must not hold `<`.
extern const std::string_view page_before_data;
extern const std::string_view page_after_data;

}  // namespace deltamatch::ingest
