#include "ingest/service/loop/commit.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "ingest/batch/refusals.hpp"
#include "ingest/service/alert/alert_text.hpp"
#include "ingest/service/alert/dead_letters.hpp"

namespace deltamatch::ingest {
namespace {

RefusedRecord refused(const BadRecord& bad) {
  RefusedRecord record{bad.at, bad.offset, bad.reason, bad.message, std::nullopt, bad.value, bad.length};
  if (!bad.key.empty()) record.key = bad.key;
  return record;
}

struct Applied {
  std::vector<Update> updates;
  std::vector<WatermarkStep> steps;
};

/// The updates that the engine took and did not refuse. The log holds only those.
Applied applied(const Commit& commit) {
  const std::span<const Update> updates = commit.input.updates.updates().first(commit.consumed);
  const std::span<const WatermarkStep> steps = commit.input.updates.steps().value_or(std::span<const WatermarkStep>());
  Applied applied;
  applied.updates.reserve(updates.size());
  std::size_t at = 0;
  std::size_t step = 0;
  const auto take_steps = [&](std::size_t end) {
    for (; step < steps.size() && steps[step].first < end; ++step)
      applied.steps.push_back({applied.updates.size(), steps[step].time});
  };
  const auto take_up_to = [&](std::size_t end) {
    for (; at < end; ++at) {
      take_steps(at + 1);
      applied.updates.push_back(updates[at]);
    }
  };
  for (const Reject& reject : commit.result.rejects) {
    if (reject.index >= updates.size()) break;
    const RecordBounds record = record_around(updates, reject.index);
    take_up_to(record.first);
    take_steps(record.last);
    at = record.last;
  }
  take_up_to(updates.size());
  return applied;
}

/// The ends of a batch as text, for readers of a single alert.
std::string ends_text(const CommitPoint& mark) {
  std::string out;
  for (const auto& [partition, end] : mark.ends) {
    if (!out.empty()) out += ' ';
    out += to_string(partition) + '=' + std::to_string(end);
  }
  return out;
}

}  // namespace

std::vector<BadRecord> letters_of(const InputBatch& batch, const BatchResult& result, OnError on_error) {
  std::vector<BadRecord> letters = batch.bad;
  for (const Reject& reject : result.rejects) {
    if (on_error != OnError::dead_letter) break;
    const std::string_view value = batch.kept.value(reject.index);
    letters.push_back({batch.partition(reject.index), batch.offset(reject.index), reject.reason,
                       rejection_message(batch.updates.updates()[reject.index], reject.reason),
                       std::string(batch.kept.key(reject.index)), std::string(value), value.size()});
  }
  std::sort(letters.begin(), letters.end(),
            [](const BadRecord& a, const BadRecord& b) { return std::tie(a.at, a.offset) < std::tie(b.at, b.offset); });
  return letters;
}

AlertList dead_letter_list(std::span<const BadRecord> letters) {
  AlertList list;
  std::string text;
  for (const BadRecord& letter : letters) {
    text.clear();
    append_dead_letter(text, refused(letter));
    list.add(text);
  }
  return list;
}

bool Commit::is_large() const noexcept {
  return std::any_of(alerts.begin(), alerts.end(), [](const AlertList& list) { return list.streamed(); });
}

bool Commit::visible() const noexcept {
  return !letters.empty() || !changes.empty() ||
         std::any_of(alerts.begin(), alerts.end(), [](const AlertList& list) { return !list.empty(); });
}

std::size_t waiting_bytes(std::span<const AlertList> alerts, std::span<const BadRecord> letters) noexcept {
  constexpr std::size_t of_a_file = std::size_t{64} << 20;
  std::size_t bytes = 0;
  for (const AlertList& list : alerts) bytes = std::max(bytes, list.streamed() ? of_a_file : list.bytes());  // they share text
  for (const BadRecord& letter : letters) bytes += letter.value.size();
  return bytes;
}

std::size_t Commit::bytes() const noexcept {
  std::size_t bytes = input.updates.size() * sizeof(Update) + waiting_bytes(alerts, letters);
  for (const QueryRecord& change : changes) bytes += change.definition.value_or("").size();
  return bytes;
}

void append_to_log(const ServiceOptions& options, Log& log, const Commit& commit, bool as_large) {
  std::vector<SinkAlerts> entries;
  std::vector<StreamedAlerts> streamed;
  for (std::size_t s = 0; s < commit.alerts.size(); ++s) {
    const bool in_transaction = options.sinks[s].kind == SinkOptions::Kind::kafka;
    if (const AlertList& list = commit.alerts[s]; list.streamed() || (as_large && !list.empty())) {
      streamed.push_back(
          {options.sinks[s].name, in_transaction, list.size(), [&list](const auto& take) { list.for_each(take); }});
      continue;
    }
    if (in_transaction || commit.alerts[s].empty()) continue;
    SinkAlerts& entry = entries.emplace_back(SinkAlerts{options.sinks[s].name, {}});
    for (std::size_t i = 0; i < commit.alerts[s].size(); ++i) {
      entry.alerts.push_back({alert_id(commit.alerts[s][i]), commit.alerts[s][i]});
    }
  }
  AlertList letters;
  if (!options.input.dead_letter_file.empty()) letters = dead_letter_list(commit.letters);
  if (!letters.empty()) {
    SinkAlerts& entry = entries.emplace_back(SinkAlerts{std::string(dead_letter_sink), {}});
    for (std::size_t i = 0; i < letters.size(); ++i) entry.alerts.push_back({{}, letters[i]});
  }
  std::span<const Update> updates = commit.input.updates.updates().first(commit.consumed);
  std::optional<std::span<const WatermarkStep>> steps = commit.input.updates.steps();
  Applied some;
  if (!commit.result.rejects.empty()) {
    some = applied(commit);
    updates = some.updates;
    if (steps) steps = some.steps;
  }
  log.append(commit.mark, updates, commit.input.updates.watermark(), entries, streamed, steps);
}

std::span<const kafka::RecordHeader> alert_headers(const CommitPoint& mark, RecordMemory& memory) {
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
  const std::string& committed = memory.texts.emplace_back(std::to_string(now.count()));
  const std::string& ends = memory.texts.emplace_back(ends_text(mark));
  std::vector<kafka::RecordHeader> headers{{"deltamatch.committed", committed}, {"deltamatch.ends", ends}};
  if (mark.graph && !mark.graph->shard.empty())
    headers.push_back({"deltamatch.shard", memory.texts.emplace_back(mark.graph->shard)});
  return memory.headers.emplace_back(std::move(headers));
}

kafka::OutputRecord query_record(const std::string& topic, const QueryRecord& change, RecordMemory& memory) {
  const std::string& key = memory.texts.emplace_back(change.name);
  return {topic, key, memory.texts.emplace_back(to_json(change)), {}};
}

kafka::OutputRecord letter_record(const ServiceOptions& options, const BadRecord& letter, std::size_t most,
                                  RecordMemory& memory) {
  const std::string_view value = std::string_view(letter.value).substr(0, most);
  const std::string_view key = std::string_view(letter.key).substr(0, most);
  RefusedRecord told = refused(letter);
  told.value = value;
  std::vector<kafka::RecordHeader> headers;
  for (auto& [name, text] : dead_letter_headers(told)) {
    const std::string& kept_name = memory.texts.emplace_back(std::move(name));
    headers.push_back({kept_name, memory.texts.emplace_back(std::move(text))});
  }
  if (key.size() < letter.key.size())
    headers.push_back({"deltamatch.key.length", memory.texts.emplace_back(std::to_string(letter.key.size()))});
  kafka::OutputRecord record{options.input.dead_letter_topic, {}, value, memory.headers.emplace_back(std::move(headers))};
  if (!key.empty()) record.key = key;
  return record;
}

}  // namespace deltamatch::ingest
