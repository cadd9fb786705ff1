#include "property/shares.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "property/draw.hpp"

namespace deltamatch::property {
namespace {

/// A case with more matches would take minutes, and shows no more.
constexpr std::size_t most_listed = 20'000;

/// Shares of one to six slots among one to four engines. An engine may own none.
std::vector<Share> draw_shares(std::size_t engines) {
  const auto slots = static_cast<std::uint32_t>(1 + *below(6));
  std::vector<std::vector<std::uint32_t>> own(engines);
  for (std::uint32_t slot = 0; slot < slots; ++slot)
    own[static_cast<std::size_t>(*below(static_cast<int>(engines)))].push_back(slot);
  std::vector<Share> shares;
  shares.reserve(own.size());
  for (const std::vector<std::uint32_t>& some : own) shares.emplace_back(slots, some);
  return shares;
}

std::vector<Listed> sorted(std::vector<Listed> listed) {
  std::ranges::sort(listed, {},
                    [](const Listed& match) { return std::tuple(match.query, match.added, match.id, match.cause); });
  return listed;
}

/// Asserts that an engine took the batch as the one that owns all slots.
void same_batch(const BatchResult& one, const BatchResult& other) {
  RC_ASSERT(one.batch == other.batch);
  RC_ASSERT(one.consumed == other.consumed);
  RC_ASSERT(one.cut == other.cut);
  RC_ASSERT(one.inserted == other.inserted);
  RC_ASSERT(one.deleted == other.deleted);
  RC_ASSERT(one.watermark == other.watermark);
  RC_ASSERT(one.rejects.size() == other.rejects.size());
}

/// The union of what the engines report must be what the whole one does. Counts add up, so no match is reported twice.
void check_union(const Output& whole, const std::vector<Output>& parts) {
  std::vector<Listed> listed;
  for (const Output& part : parts) {
    same_batch(whole.result, part.result);
    listed.insert(listed.end(), part.matches.begin(), part.matches.end());
  }
  if (sorted(listed) != sorted(whole.matches)) {
    fail("batch " + std::to_string(whole.result.batch) + ": the shares list " + std::to_string(listed.size()) +
         " matches, not the " + std::to_string(whole.matches.size()) + " of the whole");
  }
  for (std::size_t q = 0; q < whole.result.queries.size(); ++q) {
    const QueryDelta& expected = whole.result.queries[q];
    QueryDelta sum;
    for (const Output& part : parts) {
      const QueryDelta& delta = part.result.queries[q];
      sum.added += delta.added;
      sum.removed += delta.removed;
      sum.suppressed += delta.suppressed;
      sum.added_digest = plus(sum.added_digest, delta.added_digest);
      sum.removed_digest = plus(sum.removed_digest, delta.removed_digest);
    }
    RC_ASSERT(sum.added == expected.added);
    RC_ASSERT(sum.removed == expected.removed);
    RC_ASSERT(sum.suppressed == expected.suppressed);
    RC_ASSERT(sum.added_digest == expected.added_digest);
    RC_ASSERT(sum.removed_digest == expected.removed_digest);
  }
}

void check_waiting(const Scenario& scenario, Subject& whole, std::deque<Subject>& parts) {
  for (std::size_t q = 0; q < scenario.queries.size(); ++q) {
    if (!scenario.queries[q].query.emit_final) continue;
    Count sum = 0;
    for (Subject& part : parts) sum += part.engine().waiting(part.ids()[q]);
    RC_ASSERT(sum == whole.engine().waiting(whole.ids()[q]));
  }
}

/// Whether the matches of a scenario can be listed in little time, suppressed and waiting ones included.
bool listable(Scenario scenario) {
  for (Standing& standing : scenario.queries) {
    standing.query.once.reset();
    standing.query.emit_final = false;
  }
  Judge judge(scenario);
  if (!judge.take(scenario.start)) return false;
  return std::ranges::all_of(scenario.batches(), [&](const auto& batch) { return judge.take(batch); });
}

/// The share that owns all slots of these.
Share whole_of(const std::vector<Share>& shares) {
  std::vector<std::uint32_t> all(shares.front().slots());
  std::iota(all.begin(), all.end(), 0U);
  return {shares.front().slots(), all};
}

/// What an engine lists lies in its slots. check_union compares the slots themselves.
void check_slots(const Share& share, const Output& output) {
  for (const Listed& match : output.matches) RC_ASSERT(share.owns(match.slot));
}

}  // namespace

void hold_shares(const Scenario& scenario, const SharedRun& run, const MakePart& make) {
  std::optional<Subject> whole = consistent_subject(scenario, 1);
  if (!whole || !listable(scenario)) return;
  std::deque<Subject> parts;
  const auto engines = static_cast<std::size_t>(1 + *below(4));
  for (std::size_t e = 0; e < engines; ++e) parts.push_back(make(scenario, e));
  const auto take_shares = [&] {
    const std::vector<Share> shares = draw_shares(engines);
    for (std::size_t e = 0; e < engines; ++e) parts[e].engine().take_share(shares[e]);
    whole->engine().take_share(whole_of(shares));
  };
  take_shares();
  whole->load(scenario.start);
  for (Subject& part : parts) part.load(scenario.start);
  std::size_t matches = 0;
  for (const auto records : scenario.batches()) {
    UpdateBatch batch = batch_of(records);
    for (bool more = true; more;) {
      const Output expected = whole->process(batch, run.by_record);
      std::vector<Output> outputs;
      outputs.reserve(parts.size());
      for (Subject& part : parts) outputs.push_back(part.process(batch, run.by_record));
      check_union(expected, outputs);
      for (std::size_t e = 0; e < engines; ++e) check_slots(parts[e].engine().share(), outputs[e]);
      for (Subject& part : parts) RC_ASSERT(part.engine().digest() == whole->engine().digest());
      check_waiting(scenario, *whole, parts);
      more = expected.result.cut;
      RC_ASSERT(!more || expected.result.consumed > 0U);
      if (more) batch.drop_first(expected.result.consumed);
      matches += expected.matches.size();
      if (matches > most_listed) return;
    }
    if (run.moves && *below(3) == 0) take_shares();
  }
}

}  // namespace deltamatch::property
