// The library inside a shared library of one's own, which other languages can load: counts the triangles of a list of edges.
#include <cstddef>
#include <cstdint>
#include <exception>

#include "deltamatch/engine.hpp"

/// `ends` are source and target of each edge. Returns -1 if that fails: exceptions must not leave a function of C.
extern "C" std::int64_t count_triangles(const std::int64_t* ends, std::size_t edges) try {
  using namespace deltamatch;
  UpdateBatch batch;
  for (std::size_t i = 0; i < edges; ++i) batch.add({.source = ends[2 * i], .target = ends[2 * i + 1]});
  Engine engine({.threads = 1});
  engine.load(batch);
  return static_cast<std::int64_t>(engine.match(parse_pattern("(a)-->(b)-->(c)-->(a)", "triangle")).matches);
} catch (const std::exception&) {
  return -1;
}
