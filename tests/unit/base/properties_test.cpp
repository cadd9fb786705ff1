// Properties of updates: a batch owns copies of them.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "deltamatch/update.hpp"

namespace deltamatch {
namespace {

using namespace std::string_view_literals;

TEST(Properties, ABatchCopiesThem) {
  UpdateBatch batch;
  for (int i = 0; i < 3000; ++i) {  // several chunks of text, at any alignment
    std::string key = "tx-" + std::to_string(i);
    std::string channel(static_cast<std::size_t>(i % 7), 'c');
    std::array<AttributeValue, 4> values{AttributeValue{std::int64_t{i}}, AttributeValue{},
                                         AttributeValue{std::string_view(channel)}, AttributeValue{0.5 * i}};
    Properties properties{Id(key), values};
    Update update{.source = Id(channel), .target = Id(i)};
    update.properties = &properties;
    batch.add(update);
    key.assign(key.size(), '#');
    channel.assign(channel.size(), '#');
    values = {};
    properties = {};
  }
  UpdateBatch moved = std::move(batch);
  for (int i = 0; i < 3000; ++i) {
    const Update& update = moved.updates()[static_cast<std::size_t>(i)];
    ASSERT_NE(update.properties, nullptr);
    EXPECT_EQ(update.key(), Id("tx-" + std::to_string(i)));
    ASSERT_EQ(update.properties->attributes.size(), 4U);
    EXPECT_EQ(update.properties->attributes[0], AttributeValue(std::int64_t{i}));
    EXPECT_EQ(update.properties->attributes[1], AttributeValue());
    EXPECT_EQ(update.properties->attributes[2],
              AttributeValue(std::string_view("ccccccc"sv.substr(0, static_cast<std::size_t>(i % 7)))));
    EXPECT_EQ(update.properties->attributes[3], AttributeValue(0.5 * i));
  }
}

TEST(Properties, MayBeOfTheBatchItself) {
  UpdateBatch batch;
  const std::array<AttributeValue, 1> values{AttributeValue{"web"sv}};
  const Properties properties{Id(7), values};
  Update update{.source = 1, .target = 2};
  update.properties = &properties;
  batch.add(update);
  for (int i = 0; i < 100; ++i) batch.add(batch.updates().back());
  EXPECT_EQ(batch.updates().back().key(), Id(7));
  EXPECT_EQ(batch.updates().back().properties->attributes[0], AttributeValue("web"sv));
}

TEST(Properties, AreNoneByDefault) {
  UpdateBatch batch;
  batch.add({.source = 1, .target = 2});
  EXPECT_EQ(batch.updates()[0].properties, nullptr);
  EXPECT_FALSE(batch.updates()[0].key());
}

}  // namespace
}  // namespace deltamatch
