// Any bytes are a valid query or an Error(configuration), directed or not, in the form that is recognised. The pattern of a
// query parses back to the query.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "deltamatch/error.hpp"
#include "deltamatch/query.hpp"
#include "query/recognise.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace deltamatch;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool directed : {false, true}) {
    try {
      validate(query::parse_query_text(text, "fuzz", directed, "fuzz"), "fuzz");
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::configuration) std::abort();
    }
    try {
      const Query query = parse_query_graph(text, "fuzz", directed);
      validate(query, "fuzz");
      if (parse_pattern(to_pattern(query), "fuzz") != query) std::abort();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::configuration) std::abort();
    }
  }
  return 0;
}
