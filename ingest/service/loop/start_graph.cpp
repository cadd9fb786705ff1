#include "ingest/service/loop/start_graph.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <variant>

#include "deltamatch/error.hpp"
#include "deltamatch/misfit.hpp"
#include "encoding/numbers.hpp"
#include "encoding/updates.hpp"
#include "ingest/codec/schema_text.hpp"
#include "ingest/stream.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t load_batch = std::size_t{1} << 14;

void load(Engine& engine, UpdateBatch& batch, const std::string& where) {
  for (const Reject& reject : engine.load(batch).rejects) {
    if (reject.reason == RejectReason::label_limit) {
      throw Error(ErrorKind::configuration, where, "the snapshot has more labels than input.max_labels",
                  "raise input.max_labels");
    }
    throw Error(where, "the snapshot holds an edge or vertex that this graph refuses",
                "name a snapshot of a graph of this kind");
  }
  batch.clear();
}

/// Loads a snapshot as updates. It is not restored, because its batch numbers belong to another stream.
void load_snapshot(Engine& engine, const std::string& path) {
  const Engine saved = Engine::restore(path, engine.options().threads);
  if (saved.options().schema != engine.options().schema) {
    throw Error(ErrorKind::configuration, path, "the snapshot's graph has other edges or attributes",
                "set graph.edges, graph.attributes and graph.vertex_attributes as the snapshot has them");
  }
  if (saved.options().directed != engine.options().directed || saved.options().window != engine.options().window) {
    throw Error(ErrorKind::configuration, path, "the snapshot's graph has another direction or window",
                "set graph.directed and graph.window as deltamatch snapshot info shows them");
  }
  if (saved.options().self_loops != engine.options().self_loops) {
    throw Error(ErrorKind::configuration, path,
                "the snapshot's graph keeps or leaves out self-loops, and graph.self_loops says the other",
                "set graph.self_loops as deltamatch snapshot info shows it");
  }
  if (saved.options().order != engine.options().order) {
    throw Error(
        ErrorKind::configuration, path,
        "the snapshot remembers deletions, because it was made with --order time; the service takes records as they come",
        "make it again with --order arrival");
  }
  UpdateBatch batch;
  saved.for_each([&](const Update& update) {
    batch.add(update);
    batch.set_watermark(saved.watermark());
    if (batch.size() >= load_batch) load(engine, batch, path);
  });
  load(engine, batch, path);
}

void load_file(Engine& engine, const StartFile& file, std::size_t max_record, Journal& journal) {
  ReadOptions options;
  options.format = file.format;
  options.codec = file.codec;
  options.codec.directed = engine.options().directed;
  options.max_record = max_record;
  options.limits.max_updates = load_batch;
  options.limits = options.limits.within_window(engine.options().window);
  options.window = engine.options().window;
  options.spelling.in_configuration = true;
  const std::unique_ptr<UpdateStream> stream = open_stream(file.path.string(), options);
  if (engine.options().directed && stream->says_undirected()) {
    throw Error(ErrorKind::configuration, stream->name(),
                "the file says that its edges are undirected, but graph.directed is true",
                "set graph.directed to false, or convert the file to jsonl (deltamatch convert) to take each edge as directed");
  }
  PositionedBatch batch;
  try {
    while (stream->next(batch)) stream->settle(batch, engine.load(batch.updates).rejects);
  } catch (const Error& error) {
    if (stream->refused().total() == 0) throw;
    throw Error(ErrorKind::record, {}, error.what());
  }
  for (const Warning& warning : stream->warnings()) {
    journal.tell(Level::warn, "doubtful_reading",
                 {{"code", warning.code}, {"where", warning.where}, {"what", warning.what}, {"remedy", warning.remedy}});
  }
}

void load_start_graph(Engine& engine, const ServiceOptions& options, Journal& journal) {
  const StartGraph& start = options.start_graph;
  if (start.snapshot.empty() && start.files.empty()) return;
  if (!start.snapshot.empty()) load_snapshot(engine, start.snapshot.string());
  for (const StartFile& file : start.files) load_file(engine, file, options.input.max_record, journal);
  const GraphStatistics graph = engine.graph();
  journal.tell(Level::info, "start graph loaded",
               {{"vertices", std::to_string(graph.vertices)}, {"edges", std::to_string(graph.edges)}});
}

}  // namespace

Engine begin_engine(const ServiceOptions& options, const EngineOptions& wanted, const std::optional<GraphIdentity>& known,
                    Journal& journal) {
  Engine engine(wanted);
  engine.limit_labels(options.input.max_labels);
  load_start_graph(engine, options, journal);
  if (known && known->start != start_fingerprint(engine)) {
    throw Error(ErrorKind::configuration, "graph.start", "the start graph differs from the one that batch 0 was committed with",
                "restore graph.start and its files for this start, or restore the state directory from a backup");
  }
  engine.begin_digest();  // the same graph from other files may be numbered differently
  return engine;
}

std::string start_fingerprint(const Engine& engine) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash(XXH3_createState(), &XXH3_freeState);
  if (hash == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(hash.get());
  std::string bytes;
  const auto put_id = [&](const Id& id) {
    bytes.push_back(id.is_text() ? 1 : 0);
    id.is_text() ? encoding::put_text(bytes, id.text()) : encoding::put_signed(bytes, id.number());
  };
  const auto put_time = [&](const std::optional<Timestamp>& time) {
    bytes.push_back(time ? 1 : 0);
    if (time) encoding::put_signed(bytes, *time);
  };
  put_time(engine.watermark());
  engine.for_each([&](const Update& update) {
    bytes.push_back(static_cast<char>(update.kind));
    put_id(update.source);
    if (update.kind == UpdateKind::insert_edge) {
      put_id(update.target);
      encoding::put_text(bytes, update.label);
    } else {
      encoding::put_text(bytes, update.source_label.value_or(""));
    }
    put_time(update.time);
    if (update.properties != nullptr) encoding::put_plain(bytes, update);
    XXH3_128bits_update(hash.get(), bytes.data(), bytes.size());
    bytes.clear();
  });
  XXH3_128bits_update(hash.get(), bytes.data(), bytes.size());  // needed for a graph without vertices
  const XXH128_hash_t sum = XXH3_128bits_digest(hash.get());
  return fmt::format("{:016x}{:016x}", sum.high64, sum.low64);
}

namespace {

/// A time as the configuration writes it: 48h, 90s. `none` stands for 0.
std::string time_text(Timestamp time, std::string_view none) {
  constexpr std::array<std::pair<Timestamp, std::string_view>, 5> units{
      {{3'600'000'000, "h"}, {60'000'000, "m"}, {1'000'000, "s"}, {1'000, "ms"}, {1, "us"}}};
  if (time == 0) return std::string(none);
  const auto* const unit = std::ranges::find_if(units, [&](const auto& each) { return time % each.first == 0; });
  return fmt::format("{}{}", time / unit->first, unit->second);
}

}  // namespace

void must_be_same_kind(const EngineOptions& engine, const std::optional<GraphIdentity>& known) {
  if (!known) return;
  const auto refuse = [](std::string_view key, const auto& was, const auto& is) {
    throw Error(ErrorKind::configuration, key,
                fmt::format("earlier batches of this application were made with {}, not with {}", was, is),
                "set the earlier value and name an empty state directory, or choose another application name. All instances of "
                "an application, standbys too, have the same graph settings");
  };
  if (known->directed != engine.directed) refuse("graph.directed", known->directed, engine.directed);
  if (known->window != engine.window)
    refuse("graph.window", time_text(known->window, "no window"), time_text(engine.window, "no window"));
  if (known->lateness != engine.allowed_lateness)
    refuse("graph.allowed_lateness", time_text(known->lateness, "none"), time_text(engine.allowed_lateness, "none"));
  const auto shown = [](const std::string& text, std::string_view none) { return text.empty() ? std::string(none) : text; };
  if (const std::string edges = edges_text(engine); known->edges != edges)
    refuse("graph.edges", shown(known->edges, "simple"), shown(edges, "simple"));
  if (const std::string vertices = attributes_text(engine.schema.vertices); known->vertices != vertices)
    refuse("graph.vertex_attributes", shown(known->vertices, "none"), shown(vertices, "none"));
}

std::string shard_text(const ShardOptions& shard) {
  return shard.divided() ? fmt::format("{} of {}", shard.number, shard.count) : std::string();
}

void must_be_same_shard(const ShardOptions& shard, const std::optional<GraphIdentity>& known) {
  const std::string now = shard_text(shard);
  if (!known || known->shard == now) return;
  const auto shown = [](const std::string& text) { return text.empty() ? "without shards" : "as shard " + text; };
  constexpr std::string_view other = "; to divide the input in another way, choose another application name";
  const std::string_view was = known->shard.empty() ? "leave shards and --shard out"
                               : now.empty()        ? "set shards.count as it was, and start with --shard"
                                                    : "set shards.count as it was";
  throw Error(ErrorKind::configuration, "shards",
              fmt::format("earlier batches were made {}, not {}", shown(known->shard), shown(now)),
              fmt::format("{}{}", was, other));
}

std::string edges_text(const EngineOptions& engine) {
  const Schema& schema = engine.schema;
  const std::string loops = engine.self_loops == SelfLoops::keep ? "; self-loops kept" : "";
  if (schema.model == EdgeModel::simple && loops.empty()) return {};
  const std::string declared = attributes_text(schema.edges);
  return fmt::format("{}{}{}{}", model_name(schema.model), declared.empty() ? "" : "; ", declared, loops);
}

std::string identity_text(const EngineOptions& engine) {
  if (engine.self_loops == SelfLoops::leave_out) return schema_text(engine.schema);
  return to_text(engine.schema) + ", self-loops kept";
}

}  // namespace deltamatch::ingest
