#include "ingest/service/state/commit_point.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "deltamatch/error.hpp"
#include "ingest/service/state/digest_text.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

constexpr int version = 1;

[[noreturn]] void refuse(std::string_view where, std::string_view what) {
  throw Error(where, fmt::format("this is not the mark of a batch: {}", what));
}

/// Matches escape bytes that are not UTF-8, but not every JSON reader accepts that. A mark must be readable by all.
void append_name(std::string& out, const std::string& name) {
  try {
    out += nlohmann::json(name).dump();
  } catch (const nlohmann::json::exception&) {
    std::string shown;
    append_json_string(shown, name);
    throw Error(ErrorKind::configuration, shown, "the name is not UTF-8", "rename it");
  }
}

std::int32_t partition_number(std::string_view text, std::string_view where) {
  std::int32_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    refuse(where, "the number of a partition is not a number");
  return number;
}

std::uint64_t unsigned_number(const nlohmann::json& value, std::string_view where) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    refuse(where, fmt::format("{} is not a batch or an offset", value.dump()));
  }
  return value.get<std::uint64_t>();
}

/// Appends a map from topics to what `append` writes of each of their partitions that `wanted` holds for.
template <class Wanted, class Append>
void append_by_topic(std::string& out, std::string_view key, char open, char close, const CommitPoint& mark, Wanted wanted,
                     Append append) {
  const std::string* topic = nullptr;
  for (const auto& [partition, time] : mark.times) {
    if (!wanted(time)) continue;
    if (topic == nullptr) out += fmt::format(R"(,"{}":{{)", key);
    if (topic == nullptr || *topic != partition.topic) {
      if (topic != nullptr) (out += close) += ',';
      append_name(out, partition.topic);
      (out += ':') += open;
    } else {
      out += ',';
    }
    topic = &partition.topic;
    append(partition.partition, time);
  }
  if (topic != nullptr) (out += close) += '}';
}

void append_times(std::string& out, const CommitPoint& mark) {
  append_by_topic(
      out, "times", '{', '}', mark, [](const PartitionTime&) { return true; },
      [&](std::int32_t partition, const PartitionTime& time) {
        out += fmt::format(R"("{}":{})", partition, time.largest ? std::to_string(*time.largest) : "null");
      });
  append_by_topic(
      out, "idle", '[', ']', mark, [](const PartitionTime& time) { return time.idle; },
      [&](std::int32_t partition, const PartitionTime&) { out += std::to_string(partition); });
}

void read_times(const nlohmann::json& object, std::string_view where, CommitPoint& mark) {
  if (object.contains("times")) {
    for (const auto& [topic, partitions] : object.at("times").items()) {
      for (const auto& [number, time] : partitions.items()) {
        PartitionTime& at = mark.times[{topic, partition_number(number, where)}];
        if (!time.is_null()) at.largest = time.get<Timestamp>();
      }
    }
  }
  if (!object.contains("idle")) return;
  for (const auto& [topic, partitions] : object.at("idle").items()) {
    for (const nlohmann::json& number : partitions) {
      const auto at = mark.times.find({topic, number.get<std::int32_t>()});
      if (at == mark.times.end()) refuse(where, "a partition is idle whose time is not known");
      at->second.idle = true;
    }
  }
}

}  // namespace

bool is_name(std::string_view name) {
  try {
    static_cast<void>(nlohmann::json(name).dump());
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

std::string to_string(const TopicPartition& partition) { return fmt::format("{}[{}]", partition.topic, partition.partition); }

std::string to_json(const CommitPoint& mark) {
  std::string out = fmt::format(R"({{"v":{},"batch":{},"time":)", version, mark.batch);
  out += mark.watermark ? std::to_string(*mark.watermark) : "null";
  out += R"(,"ends":{)";
  const std::string* topic = nullptr;
  for (const auto& [partition, end] : mark.ends) {
    if (topic == nullptr || *topic != partition.topic) {
      if (topic != nullptr) out += "},";
      append_name(out, partition.topic);
      out += ":{";
    } else {
      out += ',';
    }
    topic = &partition.topic;
    out += fmt::format(R"("{}":{})", partition.partition, end);
  }
  out += topic == nullptr ? R"(},"queries":{)" : R"(}},"queries":{)";
  bool first = true;
  for (const ActiveQuery& query : mark.queries) {
    if (!first) out += ',';
    first = false;
    append_name(out, query.name);
    out += ':';
    append_name(out, query.fingerprint);
  }
  out += '}';
  if (!mark.reading.empty()) {
    out += R"(,"reading":)";
    append_name(out, mark.reading);
  }
  if (mark.graph) {
    out += fmt::format(R"(,"graph":{{"directed":{},"window":{},"start":)", mark.graph->directed, mark.graph->window);
    append_name(out, mark.graph->start);
    const auto text = [&](std::string_view key, const std::string& value) {
      if (value.empty()) return;
      out += fmt::format(R"(,"{}":)", key);
      append_name(out, value);
    };
    text("edges", mark.graph->edges);
    text("vertices", mark.graph->vertices);
    if (mark.graph->lateness != 0) out += fmt::format(R"(,"allowed_lateness":{})", mark.graph->lateness);
    text("shard", mark.graph->shard);
    out += '}';
  }
  append_times(out, mark);
  if (mark.retention != 0) out += fmt::format(R"(,"retention":{})", mark.retention);
  if (mark.watches_vertices) out += R"(,"watches_vertices":true)";
  if (mark.digest) out += R"(,"digest":)" + to_json(*mark.digest);
  for (std::size_t i = 0; i < mark.suspended.size(); ++i) {
    const SuspendedQuery& query = mark.suspended[i];
    out += i == 0 ? R"(,"suspended":{)" : ",";
    append_name(out, query.name);
    out += R"(:{"fingerprint":)";
    append_name(out, query.fingerprint);
    out += fmt::format(R"(,"batch":{},"over":"{}"}})", query.batch, shortfall_name(query.shortfall));
    if (i + 1 == mark.suspended.size()) out += '}';
  }
  for (std::size_t i = 0; i < mark.over_http.size(); ++i) {
    out += i == 0 ? R"(,"over_http":[)" : ",";
    append_name(out, mark.over_http[i]);
    if (i + 1 == mark.over_http.size()) out += ']';
  }
  out += '}';
  return out;
}

void must_be_digest_of(const CommitPoint& mark, const RunningDigest& digest, std::string_view where, std::string_view remedy) {
  if (!mark.digest || !mark.digest->contradicts(digest)) return;
  throw Error(where,
              fmt::format("batch {} leads to another graph, or to other numbers, than when it was committed: the digest is {} "
                          "now, and its mark says {}",
                          mark.batch, to_string(digest.now), to_string(mark.digest->now)),
              remedy);
}

CommitPoint parse_mark(std::string_view json, std::string_view where) {
  CommitPoint mark;
  try {
    const nlohmann::json object = nlohmann::json::parse(json);
    if (object.at("v").get<int>() != version) refuse(where, "it has another version");
    mark.batch = unsigned_number(object.at("batch"), where);
    if (!object.at("time").is_null()) mark.watermark = object.at("time").get<Timestamp>();
    for (const auto& [topic, partitions] : object.at("ends").items()) {
      for (const auto& [number, end] : partitions.items()) {
        mark.ends[{topic, partition_number(number, where)}] = static_cast<std::int64_t>(unsigned_number(end, where));
      }
    }
    for (const auto& [name, fingerprint] : object.at("queries").items()) {
      mark.queries.push_back({name, fingerprint.get<std::string>()});
    }
    if (object.contains("suspended")) {
      for (const auto& [name, query] : object.at("suspended").items()) {
        const auto over = query.at("over").get<std::string>();
        const bool time = over == shortfall_name(Shortfall::timeout);
        if (!time && over != shortfall_name(Shortfall::limit))
          refuse(where, "the reason why a query is suspended is not known");
        mark.suspended.push_back({name, query.at("fingerprint").get<std::string>(), unsigned_number(query.at("batch"), where),
                                  time ? Shortfall::timeout : Shortfall::limit});
      }
    }
    read_times(object, where, mark);
    mark.retention = object.value("retention", Timestamp{0});
    mark.watches_vertices = object.value("watches_vertices", false);
    if (object.contains("digest")) mark.digest = parse_digest(object.at("digest").dump(), where);
    if (object.contains("over_http")) mark.over_http = object.at("over_http").get<std::vector<std::string>>();
    if (object.contains("reading")) mark.reading = object.at("reading").get<std::string>();
    if (object.contains("graph")) {
      const nlohmann::json& graph = object.at("graph");
      mark.graph = {graph.at("directed").get<bool>(),       graph.at("window").get<Timestamp>(),
                    graph.at("start").get<std::string>(),   graph.value("edges", std::string()),
                    graph.value("vertices", std::string()), graph.value("allowed_lateness", Timestamp{0}),
                    graph.value("shard", std::string())};
    }
  } catch (const nlohmann::json::exception& error) {
    refuse(where, error.what());
  }
  return mark;
}

}  // namespace deltamatch::ingest
