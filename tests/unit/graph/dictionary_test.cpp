// The dictionary against a plain map.
#include "graph/dictionary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"

namespace deltamatch::graph {
namespace {

using namespace std::string_view_literals;

TEST(Dictionary, IntegersAndStrings) {
  Dictionary dictionary;
  EXPECT_EQ(dictionary.find(1), invalid_vertex);
  EXPECT_EQ(dictionary.find("1"sv), invalid_vertex);
  const VertexId number = dictionary.create(1, 10);
  const VertexId text = dictionary.create("1"sv, 20);
  const VertexId empty = dictionary.create(""sv, 30);
  EXPECT_NE(number, text);
  EXPECT_EQ(dictionary.find(1), number);
  EXPECT_EQ(dictionary.find("1"sv), text);
  EXPECT_EQ(dictionary.find(""sv), empty);
  EXPECT_EQ(dictionary.external(number), Id(1));
  EXPECT_EQ(dictionary.external(text), Id("1"));
  EXPECT_EQ(dictionary.external(empty), Id(""));
  EXPECT_EQ(dictionary.label(number), 10U);
  EXPECT_EQ(dictionary.label(text), 20U);
  EXPECT_EQ(dictionary.size(), 3U);
  EXPECT_EQ(dictionary.capacity(), 3U);
}

TEST(Dictionary, TheExtremesOfIntegers) {
  Dictionary dictionary;
  for (const std::int64_t id : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                                std::int64_t{-1}, std::int64_t{0}}) {
    const VertexId vertex = dictionary.create(id, 0);
    EXPECT_EQ(dictionary.find(id), vertex);
    EXPECT_EQ(dictionary.external(vertex), Id(id));
  }
}

TEST(Dictionary, AStringIdMayHoldTheBytesOfAnInteger) {
  Dictionary dictionary;
  dictionary.create(0x6161616161616161, 0);
  EXPECT_EQ(dictionary.find("aaaaaaaa"sv), invalid_vertex);
  const std::string zeros("a\0b", 3);
  const VertexId a = dictionary.create("a"sv, 0);
  const VertexId with_zero = dictionary.create(std::string_view(zeros), 0);
  EXPECT_EQ(dictionary.find("a"sv), a);
  EXPECT_EQ(dictionary.find(std::string_view(zeros)), with_zero);
}

TEST(Dictionary, LabelsAndDeclarations) {
  Dictionary dictionary;
  const VertexId vertex = dictionary.create(5, 1);
  EXPECT_FALSE(dictionary.declared(vertex));
  dictionary.set_declared(vertex, true);
  EXPECT_TRUE(dictionary.declared(vertex));
  EXPECT_TRUE(dictionary.alive(vertex));
  dictionary.expect(9);
  dictionary.set_label(vertex, 9);
  EXPECT_EQ(dictionary.label(vertex), 9U);
  ASSERT_EQ(dictionary.labels().size(), 1U);
  EXPECT_EQ(dictionary.labels()[vertex], 9U);
  dictionary.set_declared(vertex, false);
  EXPECT_FALSE(dictionary.declared(vertex));
  EXPECT_TRUE(dictionary.alive(vertex));
  dictionary.set_declared(vertex, true);
  dictionary.release(vertex);
  EXPECT_EQ(dictionary.create(6, 0), vertex);
  EXPECT_FALSE(dictionary.declared(vertex)) << "a flag outlived its vertex";
}

TEST(Dictionary, NumbersAreUsedAgain) {
  Dictionary dictionary;
  for (std::int64_t i = 0; i < 10; ++i) dictionary.create(i, 0);
  dictionary.release(3);
  dictionary.release(7);
  EXPECT_EQ(dictionary.find(3), invalid_vertex);
  EXPECT_FALSE(dictionary.alive(3));
  EXPECT_EQ(dictionary.size(), 8U);
  EXPECT_EQ(dictionary.create(100, 0), 3U);
  EXPECT_EQ(dictionary.create("x"sv, 0), 7U);
  EXPECT_EQ(dictionary.create(101, 0), 10U);
  EXPECT_EQ(dictionary.capacity(), 11U);
}

TEST(Dictionary, ARebornVertexTakesOverItsId) {
  for (const Id id : {Id(42), Id("forty-two, in words that do not fit into any small buffer")}) {
    Dictionary dictionary;
    const VertexId old = dictionary.create(id, 1);
    dictionary.set_declared(old, true);
    const VertexId fresh = dictionary.rebind(old, 2);
    EXPECT_NE(fresh, old);
    EXPECT_EQ(dictionary.find(id), fresh);
    EXPECT_EQ(dictionary.external(fresh), id);
    EXPECT_FALSE(dictionary.declared(fresh));
    EXPECT_EQ(dictionary.label(fresh), 2U);
    EXPECT_TRUE(dictionary.alive(old)) << "readable until it is released";
    EXPECT_EQ(dictionary.external(old), id);
    EXPECT_EQ(dictionary.label(old), 1U);
    EXPECT_TRUE(dictionary.declared(old));
    EXPECT_EQ(dictionary.size(), 2U);

    dictionary.release(old);
    EXPECT_EQ(dictionary.find(id), fresh) << "releasing the old vertex must leave the id with the fresh one";
    EXPECT_EQ(dictionary.external(fresh), id);
    dictionary.release(fresh);
    EXPECT_EQ(dictionary.find(id), invalid_vertex);
    EXPECT_EQ(dictionary.size(), 0U);
  }
}

TEST(Dictionary, RebindIsTakenBack) {
  for (const Id id : {Id(-7), Id("minus seven")}) {
    Dictionary dictionary;
    const VertexId first = dictionary.create(id, 1);
    const VertexId second = dictionary.rebind(first, 2);
    const VertexId third = dictionary.rebind(second, 3);
    EXPECT_EQ(dictionary.find(id), third);
    dictionary.undo_rebind(second, third);
    EXPECT_EQ(dictionary.find(id), second);
    EXPECT_FALSE(dictionary.alive(third));
    dictionary.undo_rebind(first, second);
    EXPECT_EQ(dictionary.find(id), first);
    EXPECT_EQ(dictionary.external(first), id);
    EXPECT_EQ(dictionary.size(), 1U);
  }
}

TEST(Dictionary, ReboundVerticesAreReleasedInAnyOrder) {
  std::vector<int> order{0, 1, 2};
  do {
    Dictionary dictionary;
    const VertexId first = dictionary.create("name"sv, 1);
    const VertexId second = dictionary.rebind(first, 2);
    const VertexId third = dictionary.rebind(second, 3);
    const std::vector<VertexId> vertices{first, second, third};
    bool owner_released = false;
    for (const int i : order) {
      dictionary.release(vertices[static_cast<std::size_t>(i)]);
      owner_released = owner_released || i == 2;
      EXPECT_EQ(dictionary.find("name"sv), owner_released ? invalid_vertex : third);
    }
    EXPECT_EQ(dictionary.size(), 0U);
  } while (std::next_permutation(order.begin(), order.end()));
}

/// The expected contents of the dictionary.
struct Model {
  struct Entry {
    VertexId vertex;
    LabelId label;
    bool declared;
  };
  std::map<std::string, Entry> texts;
  std::map<std::int64_t, Entry> numbers;
};

void expect_same(const Dictionary& dictionary, const Model& model) {
  const auto expect_entry = [&](Id id, const Model::Entry& entry) {
    ASSERT_EQ(dictionary.find(id), entry.vertex);
    ASSERT_TRUE(dictionary.alive(entry.vertex));
    ASSERT_EQ(dictionary.external(entry.vertex), id);
    ASSERT_EQ(dictionary.label(entry.vertex), entry.label);
    ASSERT_EQ(dictionary.declared(entry.vertex), entry.declared);
  };
  for (const auto& [text, entry] : model.texts) expect_entry(Id(std::string_view(text)), entry);
  for (const auto& [number, entry] : model.numbers) expect_entry(number, entry);
  std::size_t alive = 0;
  for (VertexId vertex = 0; vertex < dictionary.capacity(); ++vertex) alive += dictionary.alive(vertex) ? 1 : 0;
  EXPECT_EQ(alive, dictionary.size());
  EXPECT_EQ(alive, model.texts.size() + model.numbers.size());
}

Dictionary copy_by_restore(const Dictionary& dictionary, std::mt19937_64& random) {
  std::vector<VertexId> order;
  for (VertexId vertex = 0; vertex < dictionary.capacity(); ++vertex) {
    if (dictionary.alive(vertex)) order.push_back(vertex);
  }
  std::shuffle(order.begin(), order.end(), random);
  Dictionary copy;
  for (const VertexId vertex : order) {
    copy.restore(vertex, dictionary.external(vertex), dictionary.label(vertex), dictionary.declared(vertex));
  }
  copy.finish_restore();
  return copy;
}

template <class Map, class Key>
void step(Dictionary& dictionary, Map& known, const Key& key, Id id, std::mt19937_64& random) {
  const auto label = static_cast<LabelId>(random() % 100);
  const auto entry = known.find(key);
  if (entry == known.end()) {
    ASSERT_EQ(dictionary.find(id), invalid_vertex);
    known.emplace(key, Model::Entry{dictionary.create(id, label), label, false});
    return;
  }
  Model::Entry& present = entry->second;
  switch (random() % 5) {
    case 0:
      dictionary.set_label(present.vertex, label);
      present.label = label;
      break;
    case 1: {
      const VertexId fresh = dictionary.rebind(present.vertex, label);
      if (random() % 2 == 0) {
        dictionary.undo_rebind(present.vertex, fresh);
      } else {
        dictionary.release(present.vertex);
        present = {fresh, label, false};
      }
      break;
    }
    case 2:
      present.declared = !present.declared;
      dictionary.set_declared(present.vertex, present.declared);
      break;
    default:
      dictionary.release(present.vertex);
      known.erase(entry);
  }
}

TEST(Dictionary, AgreesWithAMapOverRandomOperations) {
  std::mt19937_64 random(17);
  Dictionary dictionary;
  Model model;
  for (int i = 0; i < 40000; ++i) {
    const auto key = static_cast<std::int64_t>(random() % 700) - 350;
    if (random() % 2 == 0) {
      step(dictionary, model.numbers, key, key, random);
    } else {
      const std::string text = std::to_string(key) + std::string(static_cast<std::size_t>(key + 350), '.');
      step(dictionary, model.texts, text, Id(std::string_view(text)), random);
    }
    if (HasFatalFailure()) return;
    if (i % 1000 == 0) expect_same(dictionary, model);
    if (i % 9000 == 8999) dictionary = copy_by_restore(dictionary, random);
  }
  expect_same(dictionary, model);
  EXPECT_LE(dictionary.capacity(), 1402U) << "freed numbers were not used again";
}

TEST(Dictionary, RestoreKeepsTheNumbers) {
  Dictionary dictionary;
  dictionary.restore(5, "five"sv, 50, true);
  dictionary.restore(2, 22, 20, false);
  dictionary.finish_restore();
  EXPECT_EQ(dictionary.capacity(), 6U);
  EXPECT_EQ(dictionary.size(), 2U);
  EXPECT_EQ(dictionary.find("five"sv), 5U);
  EXPECT_TRUE(dictionary.declared(5));
  EXPECT_EQ(dictionary.label(2), 20U);
  EXPECT_FALSE(dictionary.declared(2));
  std::vector<VertexId> next;
  for (std::int64_t i = 100; i < 105; ++i) next.push_back(dictionary.create(i, 0));
  EXPECT_EQ(next, (std::vector<VertexId>{0, 1, 3, 4, 6})) << "free numbers come first, the least of them before the others";
}

// What a new vertex gets must not depend on how the numbers in use came about.
TEST(Dictionary, GivesTheLeastFreeNumber) {
  std::mt19937_64 random(5);
  Dictionary dictionary;
  std::set<VertexId> used;
  std::int64_t next = 0;
  for (int i = 0; i < 20000; ++i) {
    if (used.empty() || random() % 100 < 52) {
      VertexId least = 0;
      while (used.contains(least)) ++least;
      ASSERT_EQ(dictionary.create(next++, 0), least) << i;
      used.insert(least);
    } else {
      const auto any = std::next(used.begin(), static_cast<std::ptrdiff_t>(random() % used.size()));
      dictionary.release(*any);
      used.erase(any);
    }
    if (i % 3000 != 2999) continue;
    Dictionary restored;
    for (const VertexId vertex : used) restored.restore(vertex, dictionary.external(vertex), 0, false);
    restored.finish_restore();
    dictionary = std::move(restored);
  }
}

TEST(Dictionary, RestoreRefusesWhatCannotBe) {
  Dictionary dictionary(1000);
  dictionary.restore(5, "five"sv, 0, false);
  EXPECT_THROW(dictionary.restore(5, "six"sv, 0, false), Error);
  EXPECT_THROW(dictionary.restore(6, "five"sv, 0, false), Error);
  EXPECT_THROW(dictionary.restore(1000, "far"sv, 0, false), Error);
  EXPECT_THROW(dictionary.restore(invalid_vertex, "none"sv, 0, false), Error);
  dictionary.restore(999, "last"sv, 0, false);
  dictionary.finish_restore();
  EXPECT_EQ(dictionary.size(), 2U);
  EXPECT_EQ(dictionary.find("six"sv), invalid_vertex);
}

TEST(Dictionary, RefusesMoreVerticesThanThereAreNumbers) {
  Dictionary dictionary(3);
  const VertexId first = dictionary.create(1, 0);
  dictionary.create(2, 0);
  dictionary.reserve(100, 0);
  dictionary.create("three"sv, 0);
  EXPECT_THROW(dictionary.create(4, 0), Error);
  EXPECT_THROW(dictionary.rebind(first, 0), Error);
  EXPECT_EQ(dictionary.find(4), invalid_vertex);
  EXPECT_EQ(dictionary.find(1), first);
  EXPECT_EQ(dictionary.size(), 3U);
  dictionary.release(first);
  EXPECT_EQ(dictionary.create(4, 0), first);
}

TEST(Dictionary, ReservedRoomHoldsWhateverComesBetween) {
  std::mt19937_64 random(23);
  Dictionary dictionary;
  std::vector<VertexId> vertices;
  std::int64_t next = 0;
  for (int batch = 0; batch < 200; ++batch) {
    const std::size_t extra = random() % 200;
    dictionary.reserve(extra, 20 * extra);
    const std::size_t bytes = dictionary.bytes();
    for (std::size_t i = 0; i < extra; ++i) {
      if (!vertices.empty() && random() % 3 == 0) {
        std::swap(vertices[random() % vertices.size()], vertices.back());
        const VertexId fresh = dictionary.rebind(vertices.back(), 0);
        dictionary.release(vertices.back());
        vertices.back() = fresh;
      } else if (random() % 2 == 0) {
        vertices.push_back(dictionary.create(next++, 0));
      } else {
        vertices.push_back(dictionary.create(std::string_view(std::to_string(next++)), 0));
      }
      if (random() % 3 == 0) {
        std::swap(vertices[random() % vertices.size()], vertices.back());
        dictionary.release(vertices.back());
        vertices.pop_back();
      }
    }
    ASSERT_EQ(dictionary.bytes(), bytes) << "memory was allocated within the reservation";
  }
}

TEST(Dictionary, AWindowOfEverNewIdsDoesNotLeak) {
  Dictionary dictionary;
  std::vector<VertexId> window(2000, invalid_vertex);
  std::size_t settled = 0;
  for (std::size_t i = 0; i < 400000; ++i) {
    if (i % 100 == 0) dictionary.reserve(100, 2000);
    VertexId& slot = window[i % window.size()];
    if (slot != invalid_vertex) dictionary.release(slot);
    slot = i % 2 == 0 ? dictionary.create(static_cast<std::int64_t>(i), 0)
                      : dictionary.create(std::string_view("id-" + std::to_string(i)), 0);
    if (i == 50000) settled = dictionary.bytes();
  }
  EXPECT_LE(dictionary.bytes(), settled + settled / 4);
  EXPECT_LE(dictionary.capacity(), 2001U);
}

TEST(Dictionary, MemoryPerIntegerIdStaysNearThirtyBytes) {
  Dictionary dictionary;
  double sum = 0;
  double most = 0;
  int samples = 0;
  for (std::int64_t i = 1; i <= 400000; ++i) {
    dictionary.create(i * 1000003, 0);
    if (i < 50000 || i % 1000 != 0) continue;
    const double each = static_cast<double>(dictionary.bytes()) / static_cast<double>(i);
    sum += each;
    most = std::max(most, each);
    ++samples;
  }
  EXPECT_LT(sum / samples, 36);
  EXPECT_LT(most, 43);
}

TEST(Dictionary, MovesKeepEverything) {
  Dictionary first;
  const VertexId vertex = first.create("kept"sv, 3);
  Dictionary second(std::move(first));
  EXPECT_EQ(second.find("kept"sv), vertex);
  first = std::move(second);
  EXPECT_EQ(first.find("kept"sv), vertex);
  EXPECT_EQ(first.label(vertex), 3U);
}

}  // namespace
}  // namespace deltamatch::graph
