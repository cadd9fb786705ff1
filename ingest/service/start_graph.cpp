#include "ingest/service/start_graph.hpp"

#include <string>

#include "deltamatch/error.hpp"
#include "ingest/stream.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t load_batch = std::size_t{1} << 14;

void load(Engine& engine, UpdateBatch& batch, const std::string& where) {
  if (!engine.load(batch).rejects.empty()) throw Error(where, "the snapshot does not fit this graph", "take one of its kind");
  batch.clear();
}

/// By updates, not as it lies there: the numbers of its batches are another stream's.
void load_snapshot(Engine& engine, const std::string& path) {
  const Engine saved = Engine::restore(path, engine.options().threads);
  if (saved.options().directed != engine.options().directed || saved.options().window != engine.options().window) {
    throw Error(ErrorKind::configuration, path, "a snapshot of a graph of another direction or window",
                "set graph.directed and graph.window to what it was made with");
  }
  UpdateBatch batch;
  saved.for_each([&](const Update& update) {
    batch.add(update);
    batch.set_watermark(saved.watermark());
    if (batch.size() >= load_batch) load(engine, batch, path);
  });
  load(engine, batch, path);
}

void load_file(Engine& engine, const StartFile& file, std::size_t max_record) {
  StreamOptions options;
  options.format = file.format;
  options.codec = file.codec;
  options.max_record = max_record;
  options.limits.max_updates = load_batch;
  options.limits = options.limits.within_window(engine.options().window);
  const std::unique_ptr<BatchSource> stream = open_stream(file.path.string(), options);
  PositionedBatch batch;
  while (stream->next(batch)) stream->settle(batch, engine.load(batch.updates).rejects);
}

}  // namespace

bool has_start_graph(const ServiceOptions& options) noexcept {
  return !options.start_graph.snapshot.empty() || !options.start_graph.files.empty();
}

void load_start_graph(Engine& engine, const ServiceOptions& options, Journal& journal) {
  if (!has_start_graph(options)) return;
  if (!options.start_graph.snapshot.empty()) load_snapshot(engine, options.start_graph.snapshot.string());
  for (const StartFile& file : options.start_graph.files) load_file(engine, file, options.input.max_record);
  const GraphStatistics graph = engine.graph();
  journal.tell(Level::info, "start graph loaded",
               {{"vertices", std::to_string(graph.vertices)}, {"edges", std::to_string(graph.edges)}});
}

}  // namespace deltamatch::ingest
