#include "ingest/service/loop/reading.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

namespace deltamatch::ingest {
namespace {

TEST(InputFingerprint, EveryOptionThatChangesUpdatesChangesIt) {
  InputOptions options;
  options.topics = {{"a", Format::jsonl, {}}, {"b", Format::csv, {}}};
  const std::vector<std::function<void(InputOptions&)>> changes = {
      [](auto& input) { std::swap(input.topics[0], input.topics[1]); },
      [](auto& input) { input.topics[0].name = "c"; },
      [](auto& input) { input.topics[0].format = Format::tsv; },
      [](auto& input) { input.topics[0].codec.columns = "source,target"; },
      [](auto& input) { input.topics[1].codec.columns = "source,target"; },
      [](auto& input) { input.topics[0].codec.envelope = Envelope::debezium; },
      [](auto& input) { input.topics[1].codec.separator = ';'; },
      [](auto& input) { input.topics[1].codec.header = false; },
      [](auto& input) { input.topics[0].codec.ids = IdKind::string; },
      [](auto& input) { input.topics[0].codec.time_unit = TimeUnit::seconds; },
      [](auto& input) { input.topics[0].codec.time_format = "%Y"; },
      [](auto& input) { input.topics[0].codec.decimal = Decimal::point; },
      [](auto& input) { input.topics[0].codec.decimal = Decimal::comma; },
      [](auto& input) { input.topics[0].codec.negative_ids = true; },
      [](auto& input) { input.topics[0].codec.edge_label = "\xff"; },
      [](auto& input) { input.topics[0].codec.vertices = true; },
      [](auto& input) { input.topics[0].codec.op_values = "x=-"; },
      [](auto& input) { input.topics[0].codec.edges = EdgeModel::keyed; },
      [](auto& input) { input.topics[0].codec.edges = EdgeModel::events; },
      [](auto& input) {
        input.topics[0].codec.edges = EdgeModel::events;
        input.topics[0].codec.attributes = {{{"n", {AttributeType::Kind::integer, 0}}, {}, false}};
      },
      [](auto& input) {
        input.topics[0].codec.edges = EdgeModel::events;
        input.topics[0].codec.attributes = {{{"n", {AttributeType::Kind::integer, 0}}, "m", false}};
      },
      [](auto& input) { input.topics[0].codec.vertex_attributes = {{{"n", {AttributeType::Kind::real, 0}}, {}, false}}; },
      [](auto& input) { input.max_record /= 2; },
      [](auto& input) { input.max_ahead /= 2; },
      [](auto& input) { input.max_labels /= 2; },
      [](auto& input) { input.topics.pop_back(); }};
  std::set<std::string> seen{reading_fingerprint(options)};
  for (const auto& change : changes) {
    InputOptions other = options;
    change(other);
    EXPECT_TRUE(seen.insert(reading_fingerprint(other)).second) << seen.size();
  }
  EXPECT_EQ(seen.begin()->size(), 32U);
}

TEST(InputFingerprint, WhatChangesNoUpdateDoesNot) {
  InputOptions options;
  options.topics = {{"a", Format::jsonl, {}}};
  InputOptions other = options;
  other.on_error = OnError::skip;
  other.queue_bytes = 1;
  other.refresh_every = std::chrono::milliseconds(7);
  other.start.kind = StartAt::Kind::latest;
  EXPECT_EQ(reading_fingerprint(options), reading_fingerprint(other));
}

}  // namespace
}  // namespace deltamatch::ingest
