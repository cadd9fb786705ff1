// Compacted topics: whatever compaction has removed, the messages that remain lead to the same graph and the same matches.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/schema_text.hpp"
#include "property/draw.hpp"

namespace deltamatch::property {
namespace {

/// A message of a compacted topic. Without a value it deletes what its key names.
struct Message {
  std::string key;
  std::optional<std::string> value;
};

/// A topic, and how its messages are read.
struct Topic {
  ingest::CodecOptions codec;
  Schema schema;
  std::vector<Message> messages;
};

int below(int limit) { return *rc::gen::inRange(0, limit); }

/// Edges under keys. A later value of a key may have other ends, another label and another amount.
Topic keyed_topic() {
  Topic topic;
  topic.codec.edges = topic.schema.model = EdgeModel::keyed;
  topic.codec.attributes = ingest::parse_attributes("amount:int", ingest::AttributesOf::edges, "");
  topic.schema.edges = {topic.codec.attributes[0].attribute};
  topic.codec.columns = "edge=kafka:key";
  const int size = below(80);
  for (int i = 0; i < size; ++i) {
    Message message{fmt::format("k{}", below(12)), std::nullopt};
    if (below(4) != 0) {
      message.value = fmt::format(R"({{"source":{},"target":{},"label":"{}","amount":{}}})", below(6), below(6),
                                  below(2) == 0 ? "A" : "B", below(5));
    }
    topic.messages.push_back(std::move(message));
  }
  return topic;
}

/// Edges whose keys are their ends and their label.
Topic topic_of_ends() {
  Topic topic;
  topic.codec.columns = "source=kafka:key.from,target=kafka:key.to,label=kafka:key.kind";
  const int size = below(80);
  for (int i = 0; i < size; ++i) {
    Message message{fmt::format(R"({{"from":{},"to":{},"kind":"{}"}})", below(5), below(5), below(2) == 0 ? "A" : "B"),
                    std::nullopt};
    if (below(3) != 0) message.value = "{}";
    topic.messages.push_back(std::move(message));
  }
  return topic;
}

/// What may remain after compaction up to some place: of each key at least its last message there. A tombstone that is last may
/// be gone too, if all messages of its key before it are.
std::vector<Message> compacted(const std::vector<Message>& messages) {
  const auto end = static_cast<std::size_t>(below(static_cast<int>(messages.size()) + 1));
  std::map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < end; ++i) last[messages[i].key] = i;
  std::map<std::string, bool> kept;  // whether a message of the key remains so far
  std::vector<Message> remaining;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    bool keeps = true;
    if (i < end && last[message.key] != i) keeps = below(2) == 0;
    if (i < end && last[message.key] == i && !message.value && !kept[message.key]) keeps = below(2) == 0;
    if (!keeps) continue;
    kept[message.key] = true;
    remaining.push_back(message);
  }
  return remaining;
}

/// The graph after the messages, as far as queries can tell: how many matches each has, and their digest.
struct Answer {
  std::vector<std::string> texts;
  std::uint64_t edges = 0;
  friend bool operator==(const Answer&, const Answer&) = default;
};

std::vector<Query> queries(const Schema& schema) {
  std::vector<std::string> texts = {"(a)-->(b)", "(a)-[:A]->(b)", "(a)-[:B]->(b)-->(c)", "(a)-->(b)-->(c)-->(a)"};
  if (!schema.edges.empty()) texts.emplace_back("(a)-[e]->(b)-[f]->(c) WHERE e.amount < f.amount");
  std::vector<Query> all;
  for (std::size_t i = 0; i < texts.size(); ++i) all.push_back(parse_pattern(texts[i], fmt::format("q{}", i)));
  return all;
}

Answer run(const Topic& topic, const std::vector<Message>& messages) {
  EngineOptions options;
  options.threads = 1;
  options.schema = topic.schema;
  Engine engine(options);
  std::vector<Count> standing(queries(topic.schema).size());
  for (const Query& query : queries(topic.schema)) static_cast<void>(engine.add_query(query));
  const std::unique_ptr<ingest::Codec> codec = ingest::make_message_codec(ingest::Format::jsonl, topic.codec);
  UpdateBatch batch;
  const auto process = [&] {
    const BatchResult result = engine.process(batch, OnReject::skip);
    RC_ASSERT(result.rejects.empty());
    for (std::size_t i = 0; i < standing.size(); ++i) standing[i] += result.queries[i].added - result.queries[i].removed;
    batch.clear();
  };
  for (const Message& message : messages) {
    const ingest::MessageFrame frame{.key = message.key, .headers = {}, .time = {}};
    const ingest::Decoded decoded = codec->decode_message(message.value, frame);
    RC_ASSERT(!decoded.refused);
    for (const Update& update : decoded.updates) batch.add(update);
    if (below(5) == 0) process();
  }
  process();
  Answer answer;
  answer.edges = engine.graph().edges;
  const std::vector<Query> all = queries(topic.schema);
  for (std::size_t i = 0; i < all.size(); ++i) {
    StaticOptions how;
    how.query.list = true;
    const StaticResult found = engine.match(all[i], how);
    RC_ASSERT(found.matches == standing[i]);
    answer.texts.push_back(fmt::format("{} {:016x}{:016x}", all[i].name, found.digest.high, found.digest.low));
  }
  return answer;
}

void hold_on(Topic (*draw)()) {
  hold(100, [draw] {
    const Topic topic = draw();
    const Answer whole = run(topic, topic.messages);
    RC_ASSERT(run(topic, compacted(topic.messages)) == whole);
  });
}

TEST(Compaction, OfKeyedEdgesChangesNothingInTheEnd) { hold_on(keyed_topic); }
TEST(Compaction, OfEdgesNamedByTheirEndsChangesNothingInTheEnd) { hold_on(topic_of_ends); }

}  // namespace
}  // namespace deltamatch::property
