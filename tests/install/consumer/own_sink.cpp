// A sink of one's own: prints every ring of three transfers that appears or vanishes, if a transfer counts for a day.
#include <cstdio>
#include <string>
#include <string_view>

#include "deltamatch/engine.hpp"

namespace {

using namespace deltamatch;

constexpr Timestamp hour = 3'600'000'000;  // microseconds

class Printer final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override { text_.clear(); }
  void write(const Match& match) override {  // its views end with the call
    text_ += match.added ? '+' : '-';
    for (const Id& vertex : match.vertices) text_ += " " + to_string(vertex);
    text_ += '\n';
  }
  void commit() override { std::fputs(text_.c_str(), stdout); }
  void abort() noexcept override { text_.clear(); }

 private:
  std::string text_;
};

Update transfer(std::string_view from, std::string_view to, Timestamp time) {
  return {.source = from, .target = to, .label = "TRANSFER", .time = time};
}

}  // namespace

int main() {
  Engine engine({.window = 24 * hour});
  UpdateBatch start;  // the graph before the first batch
  start.add(transfer("ann", "bob", 1 * hour));
  engine.load(start);

  const Query ring = parse_pattern("(a)-[:TRANSFER]->(b)-[:TRANSFER]->(c)-[:TRANSFER]->(a)", "ring");
  engine.add_query(ring, {.list = true});

  Printer printer;
  UpdateBatch batch;
  batch.add(transfer("bob", "cy", 2 * hour));
  batch.add(transfer("cy", "ann", 3 * hour));
  engine.process(batch, OnReject::skip, &printer);  // + ann bob cy

  batch.clear();
  batch.add(transfer("dan", "eve", 26 * hour));     // the first transfer leaves the window
  engine.process(batch, OnReject::skip, &printer);  // - ann bob cy
}
