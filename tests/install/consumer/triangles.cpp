// The shortest use of the library: a standing triangle, two batches, and the matches that each of them made and broke.
#include <cstdio>

#include "deltamatch/engine.hpp"

int main() {
  using namespace deltamatch;
  Engine engine;
  engine.add_query(parse_pattern("(a)-->(b)-->(c)-->(a)", "triangle"));

  UpdateBatch batch;
  batch.add({.source = 1, .target = 2});
  batch.add({.source = 2, .target = 3});
  batch.add({.source = 3, .target = 1});
  const BatchResult first = engine.process(batch);

  batch.clear();
  batch.add({.kind = UpdateKind::delete_edge, .source = 2, .target = 3});
  const BatchResult second = engine.process(batch);

  for (const BatchResult* result : {&first, &second}) {
    std::printf("batch %d: +%s -%s\n", static_cast<int>(result->batch), to_string(result->queries[0].added).c_str(),
                to_string(result->queries[0].removed).c_str());
  }
}
