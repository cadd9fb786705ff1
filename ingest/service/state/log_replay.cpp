#include "ingest/service/state/log_replay.hpp"

#include <fmt/format.h>

#include <utility>

#include "deltamatch/error.hpp"
#include "deltamatch/misfit.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::string_view remedy = "name an empty state directory, and the service rebuilds the state from Kafka";

Base restore(const SnapshotFile& snapshot, const EngineOptions& options) {
  const std::string where = snapshot.path.string();
  CommitPoint mark = StateDirectory::snapshot_mark(snapshot);
  Engine engine = Engine::restore(snapshot.path, options.threads, options.backend);
  if (engine.options().directed != options.directed || engine.options().window != options.window) {
    throw Error(where, "the snapshot's graph has another direction or window");
  }
  if (engine.options().allowed_lateness != options.allowed_lateness) {
    throw Error(where, "the snapshot was made with another lateness");
  }
  if (engine.options().self_loops != options.self_loops) {
    throw Error(where, "the snapshot's graph keeps or leaves out self-loops, and the configuration says the other");
  }
  if (engine.options().schema != options.schema) {
    throw Error(where,
                fmt::format("the snapshot's graph has {}, not {}", to_text(engine.options().schema), to_text(options.schema)));
  }
  if (engine.batch() != mark.batch || engine.watermark() != mark.watermark) {
    throw Error(where, "the snapshot's annotation does not belong to its graph");
  }
  must_be_digest_of(mark, engine.digest(), where, remedy);
  return {std::move(engine), std::move(mark)};
}

ReplayEnd replay(const StateDirectory& directory, LogReader& reader, Base& base, std::uint64_t latest, const ReplayHooks& hooks,
                 RepeatedQueries& queries) {
  while (base.mark.batch < latest) {
    const LogReader::Entry entry = reader.next();
    if (entry == LogReader::Entry::delivered) continue;
    if (entry == LogReader::Entry::end) {
      const LogReader::End& end = reader.end();
      if (!end.damage.empty()) return {end.damage, !end.gap};
      if (end.torn_bytes > 0) return {fmt::format("the last {} bytes of the log are torn or damaged", end.torn_bytes), true};
      return {};
    }
    const LoggedBatch& batch = reader.batch();
    if (hooks.before && !hooks.before(batch)) return {"replaying was stopped"};
    queries.stand(batch.mark);
    base.engine.absorb(batch.updates, true);
    if (base.engine.batch() != batch.mark.batch || base.engine.watermark() != batch.mark.watermark) {
      throw Error(directory.path().string(),
                  fmt::format("batch {} of the log does not lead to the watermark that the log states", batch.mark.batch),
                  remedy);
    }
    must_be_digest_of(batch.mark, base.engine.digest(), directory.path().string(), remedy);
    base.mark = batch.mark;
    if (hooks.after) hooks.after(batch);
  }
  return {};
}

}  // namespace

std::optional<Base> restore_newest(const StateDirectory& directory, std::uint64_t latest, const EngineOptions& options) {
  for (const SnapshotFile& snapshot : directory.snapshots()) {
    if (snapshot.batch > latest) continue;
    try {
      return restore(snapshot, options);
    } catch (const Error& error) {
      directory.set_aside(snapshot, error.what());
    }
  }
  return std::nullopt;
}

ReplayEnd replay(const StateDirectory& directory, Base& base, std::uint64_t latest, const ReplayHooks& hooks) {
  if (base.mark.batch >= latest) return {};
  LogReader reader(directory.path(), directory.fingerprint(),
                   {.updates_from = base.mark.batch + 1, .alerts_from = LogReader::none});
  RepeatedQueries queries(base.engine, hooks.queries);
  ReplayEnd end = replay(directory, reader, base, latest, hooks, queries);
  queries.leave();
  return end;
}

}  // namespace deltamatch::ingest
