// The vertices in most matches: exact while memory allows it, and within known bounds beyond.
#include "cli/report/top_vertices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace deltamatch::cli {
namespace {

TEST(BoundedCounts, AreExactUpToTheirCapacity) {
  BoundedCounts counts(100);
  for (int i = 0; i < 100; ++i) counts.add("v" + std::to_string(i), static_cast<std::uint64_t>(i) + 1);
  EXPECT_EQ(counts.missing(), 0U);
  const auto top = counts.top(3);
  ASSERT_EQ(top.size(), 3U);
  EXPECT_EQ(top[0].text, "v99");
  EXPECT_EQ(top[0].count, 100U);
  EXPECT_EQ(counts.top(1000).size(), 100U);
}

TEST(BoundedCounts, OrderEqualCountsByText) {
  BoundedCounts counts(10);
  for (const char* text : {"c", "a", "d", "b"}) counts.add(text, 7);
  std::string order;
  for (const auto& entry : counts.top(3)) order += entry.text;
  EXPECT_EQ(order, "abc");
}

/// Counts of a skewed stream, whole or in parts that are added up, lie within what `missing` says.
TEST(BoundedCounts, LieWithinTheirBoundsBeyondTheCapacity) {
  for (const bool in_parts : {false, true}) {
    for (const std::size_t capacity : {std::size_t{1}, std::size_t{2}, std::size_t{16}, std::size_t{100}}) {
      BoundedCounts counts(capacity);
      BoundedCounts part(capacity);
      std::map<std::string, std::uint64_t> truth;
      std::mt19937 random(7);
      std::uint64_t all = 0;
      for (int i = 0; i < 20'000; ++i) {
        const double skewed = std::uniform_real_distribution<double>(0, 1)(random);
        const std::string text = std::to_string(static_cast<int>(400 * skewed * skewed * skewed));
        ++truth[text];
        ++all;
        (in_parts ? part : counts).add(text);
        if (in_parts && i % 300 == 299) {
          counts.add_all(part);
          part.clear();
        }
      }
      counts.add_all(part);
      EXPECT_LE(counts.missing(), 2 * all / capacity + 1) << capacity;
      std::map<std::string, std::uint64_t> found;
      for (const auto& entry : counts.top(capacity)) found[std::string(entry.text)] = entry.count;
      EXPECT_LE(found.size(), capacity);
      for (const auto& [text, count] : truth) {
        const std::uint64_t told = found.contains(text) ? found[text] : 0;
        EXPECT_LE(told, count) << text;
        EXPECT_GE(told + counts.missing(), count) << text << " with room for " << capacity;
      }
      if (capacity == 100) {
        EXPECT_EQ(found.begin()->first, "0") << "the most frequent text is lost";
      }
    }
  }
}

/// Calls what a sink gets.
void write(MatchSink& sink, const std::vector<Id>& vertices, bool added = true) {
  static const std::vector<std::string> names{"a", "b"};
  Match match;
  match.query = "q";
  match.added = added;
  match.names = names;
  match.vertices = vertices;
  sink.write(match);
}

TEST(TopVertices, CountsNewMatchesOfBatchesThatAreCommitted) {
  TopVertices top(nullptr);
  top.begin(1);
  write(top, {Id("x"), Id(5)});
  write(top, {Id("x"), Id("5")});
  write(top, {Id("x"), Id(-5)}, false);
  top.commit();
  top.begin(2);
  for (int i = 0; i < 9; ++i) write(top, {Id("y"), Id(5)});
  top.abort();
  const TopOfQuery found = top.top("q", 10);
  EXPECT_EQ(found.missing, 0U);
  std::string text;
  for (const TopVertex& vertex : found.vertices)
    text += vertex.name + ' ' + (vertex.is_text ? "'" : "") + vertex.id + ' ' + std::to_string(vertex.matches) + '\n';
  EXPECT_EQ(text, "a 'x 2\nb 5 1\nb '5 1\n");
  EXPECT_TRUE(top.top("other", 10).vertices.empty());
}

TEST(TopVertices, IdsComeBackAsTheyWere) {
  TopVertices top(nullptr);
  top.begin(1);
  const std::vector<std::int64_t> numbers{INT64_MIN, -1, 0, 1, INT64_MAX};
  for (const std::int64_t number : numbers) write(top, {Id(number), Id("")});
  top.commit();
  std::vector<std::string> found;
  for (const TopVertex& vertex : top.top("q", 10).vertices) found.push_back(vertex.id);
  EXPECT_EQ(found, (std::vector<std::string>{"", "-9223372036854775808", "-1", "0", "1", "9223372036854775807"}));
}

}  // namespace
}  // namespace deltamatch::cli
