// Any bytes are a valid query or an Error(configuration). A query's text parses back to it. The groups of its variants and its
// fingerprint can be had. A graph of events with attributes takes it, or refuses it with an Error(configuration). Its text is
// taken alike.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/query.hpp"
#include "query/arcs.hpp"
#include "query/fingerprint.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

using namespace deltamatch;

Schema schema() {
  using Kind = AttributeType::Kind;
  Schema declared;
  declared.model = EdgeModel::events;
  declared.edges = {{"amount", {Kind::decimal, 2}}, {"n", {Kind::integer, 0}}, {"channel", {Kind::symbol, 0}},
                    {"rate", {Kind::real, 0}},      {"due", {Kind::time, 0}},  {"ok", {Kind::boolean, 0}}};
  declared.vertices = {{"risk", {Kind::integer, 0}}, {"name", {Kind::symbol, 0}}, {"born", {Kind::time, 0}}};
  return declared;
}

/// Why a graph with conditions refuses the query; empty if it takes it. Large queries are left out, because plans take time.
std::string refusal(const Query& query) {
  static Engine engine({.threads = 1, .schema = schema()});
  const std::vector<Query> lengths = variants(query);
  if (lengths.size() * lengths.back().edges.size() > 12 || lengths.back().edges.size() > 4) return {};
  try {
    engine.remove_query(engine.add_query(query));
    return {};
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::configuration);
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
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
  require(refusal(query).empty() == refusal(again).empty());
  for (const Query& variant : variants(query)) {
    const query::Group group(variant);
    std::size_t arcs = 0;
    for (const query::ArcOrbit& orbit : query::arc_orbits(variant, group)) arcs += orbit.members.size();
    require(arcs == query::arcs(variant).size());
  }
  require(query::fingerprint_of_variants(query, MatchMode::isomorphism, CountMode::subgraphs) ==
          query::fingerprint_of_variants(again, MatchMode::isomorphism, CountMode::subgraphs));
  return 0;
}
