// Replays a stream of `source target` lines through a standing pattern and writes every match as one line of JSON.
//   replay_file STREAM PATTERN
#include <cstdio>
#include <exception>

#include "deltamatch/engine.hpp"
#include "ingest/sink/sinks.hpp"
#include "ingest/stream.hpp"

int main(int argc, char** argv) try {
  using namespace deltamatch;
  if (argc != 3) return 2;
  Engine engine;
  engine.add_query(parse_pattern(argv[2], "pattern"), {.list = true});

  const auto stream = ingest::open_stream(argv[1], {.limits = {.max_updates = 2}});
  const auto sink = ingest::make_jsonl_sink("-");
  for (ingest::PositionedBatch batch; stream->next(batch);) {
    const BatchResult result = engine.process(batch.updates, stream->on_reject(), sink.get());
    stream->settle(batch, result.rejects);
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
