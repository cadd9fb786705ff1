#include "gpu/mirror/pack.hpp"

#include <gtest/gtest.h>

#include <map>

#include "random_graph.hpp"

namespace deltamatch::gpu {
namespace {

// Lists by relation: ids, and tags if there are any.
using Lists = std::map<graph::RelationId, std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>>;

Lists unpack(const std::vector<std::uint32_t>& words, const BlockShape& shape) {
  Lists lists;
  std::uint32_t begin = 0;
  const std::size_t directory = std::size_t{2} << shape.directory_log();
  for (std::uint32_t s = 0; s < shape.slices; ++s) {
    const std::uint32_t end = words[2 * s + 1];
    auto& [ids, tags] = lists[words[2 * s]];
    ids.assign(&words[directory + begin], &words[directory + begin] + (end - begin));
    if (shape.tagged)
      tags.assign(&words[directory + shape.entries + begin], &words[directory + shape.entries + begin] + (end - begin));
    begin = end;
  }
  EXPECT_EQ(begin, shape.entries);
  return lists;
}

TEST(Pack, HoldsTheListsOfTheRelationsInUse) {
  for (const bool timed : {false, true}) {
    RandomGraph graph(true, timed, 5);
    graph.stage(1500, 100);
    graph.settle();
    graph.toggle_query_relation();
    ASSERT_NE(graph.graph().derived(), nullptr);
    for (const graph::Adjacency* store : {&graph.graph().base(), graph.graph().derived()}) {
      const bool tagged = store->column() == graph::Column::tag;
      for (const graph::RelationId skipped : {0U, 1U, 3U}) {
        RelationSet relations;
        for (graph::RelationId relation = 0; relation < store->figures().size(); ++relation) {
          if (relation != skipped) relations.insert(relation);
        }
        for (VertexId vertex = 0; vertex < store->vertices(); ++vertex) {
          Lists expected;
          store->for_each_list(vertex,
                               [&](graph::RelationId relation, std::span<const std::uint32_t> ids, const std::uint32_t* tags) {
                                 if (!relations.contains(relation)) return;
                                 expected[relation].first.assign(ids.begin(), ids.end());
                                 if (tagged) expected[relation].second.assign(tags, tags + ids.size());
                               });
          const BlockShape shape = packed_shape(*store, vertex, relations, empty_label);
          EXPECT_EQ(shape.tagged, tagged);
          ASSERT_EQ(shape.slices, expected.size());
          std::vector<std::uint32_t> words(shape.words() + 1, 0xabababab);
          pack(*store, vertex, relations, empty_label, shape, words.data());
          ASSERT_EQ(words.back(), 0xabababab);
          words.pop_back();
          ASSERT_EQ(unpack(words, shape), expected) << "vertex " << vertex;
        }
      }
    }
  }
}

}  // namespace
}  // namespace deltamatch::gpu
