// Any bytes are a valid query or an Error(configuration); a query's text parses back to it; its group and fingerprint can be
// had.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "deltamatch/error.hpp"
#include "deltamatch/query.hpp"
#include "query/arcs.hpp"
#include "query/fingerprint.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace deltamatch;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Query query;
  try {
    query = parse_pattern(text, "fuzz");
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::configuration);
    return 0;
  }
  validate(query, "fuzz");
  const Query again = parse_pattern(to_pattern(query), "fuzz");
  require(again == query);
  const query::Group group(query);
  std::size_t arcs = 0;
  for (const query::ArcOrbit& orbit : query::arc_orbits(query, group)) arcs += orbit.members.size();
  require(arcs == query::arcs(query).size());
  require(query::fingerprint(query, MatchMode::isomorphism, CountMode::subgraphs) ==
          query::fingerprint(again, MatchMode::isomorphism, CountMode::subgraphs));
  return 0;
}
