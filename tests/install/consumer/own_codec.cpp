// A codec of one's own: reads lines such as "ann pays bob 12.50" and finds who pays in a circle.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/engine.hpp"
#include "ingest/codec/codec.hpp"

namespace {

using namespace deltamatch;

/// Words between blanks. The views are into the record.
std::vector<std::string_view> words(std::string_view record) {
  std::vector<std::string_view> found;
  while (!record.empty()) {
    const std::size_t end = std::min(record.find(' '), record.size());
    if (end > 0) found.push_back(record.substr(0, end));
    record.remove_prefix(std::min(end + 1, record.size()));
  }
  return found;
}

class Ledger final : public ingest::Codec {
 public:
  ingest::Decoded decode(std::string_view record) override {
    const std::vector<std::string_view> word = words(record);
    if (word.empty() || word[0].starts_with('#')) return {};
    if (word.size() != 4 || (word[1] != "pays" && word[1] != "recalls"))
      return {.updates = {}, .refused = RejectReason::malformed, .message = "expected: NAME pays NAME AMOUNT", .remedy = {}};
    update_ = {.kind = word[1] == "pays" ? UpdateKind::insert_edge : UpdateKind::delete_edge,
               .source = word[0],
               .target = word[2],
               .label = "PAYS"};
    return ingest::within_max_name({.updates = {&update_, 1}, .refused = {}, .message = {}, .remedy = {}});
  }

 private:
  Update update_;
};

}  // namespace

int main() {
  Engine engine;
  engine.add_query(parse_pattern("(a)-[:PAYS]->(b)-[:PAYS]->(c)-[:PAYS]->(a)", "circle"));
  Ledger codec;
  UpdateBatch batch;
  std::string line;
  for (int number = 1; std::getline(std::cin, line); ++number) {
    const ingest::Decoded decoded = codec.decode(line);
    if (decoded.refused) std::printf("line %d: %s\n", number, std::string(decoded.message).c_str());
    for (const Update& update : decoded.updates) batch.add(update);
  }
  const BatchResult result = engine.process(batch);
  std::printf("%s circle\n", to_string(result.queries[0].added).c_str());
}
