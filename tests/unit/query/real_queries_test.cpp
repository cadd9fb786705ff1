// The query graphs of the field's papers, read from their archives if those are there.
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <source_dir.hpp>

#include "deltamatch/error.hpp"
#include "ingest/source/bytes.hpp"
#include "query/automorphism.hpp"
#include "unit/query/graphs.hpp"

namespace deltamatch {
namespace {

std::filesystem::path data_folder() {
  const char* folder = std::getenv("DELTAMATCH_DATA");
  return folder != nullptr ? std::filesystem::path(folder) : std::filesystem::path(DELTAMATCH_SOURCE_DIR) / "../shared/data";
}

std::string unpacked(const std::filesystem::path& path) {
  const auto source = ingest::unpacked(ingest::open_file(path.string()));
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (const std::size_t length = source->read(buffer)) text.append(buffer.data(), length);
  return text;
}

/// Calls visit(name, content) for every regular file of a tar archive: blocks of 512 bytes, a header before each file.
template <typename Visit>
void for_each_file(std::string_view tar, Visit visit) {
  constexpr std::size_t block = 512;
  for (std::size_t at = 0; at + block <= tar.size() && tar[at] != '\0';) {
    const std::string name(tar.substr(at, 100).data());
    const std::size_t size = std::stoul(std::string(tar.substr(at + 124, 12)), nullptr, 8);
    const char type = tar[at + 156];
    if (type == '0' || type == '\0') visit(name, tar.substr(at + block, size));
    at += block + (size + block - 1) / block * block;
  }
}

class RealQueries : public testing::TestWithParam<std::pair<const char*, std::size_t>> {};

TEST_P(RealQueries, AllParseAndHaveAGroup) {
  const auto path = data_folder() / "labelled-tve" / (std::string(GetParam().first) + ".query_graph.tar.xz");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there: set DELTAMATCH_DATA to the folder of data sets";
  std::size_t queries = 0;
  std::size_t symmetric = 0;
  for_each_file(unpacked(path), [&](const std::string& name, std::string_view content) {
    if (!name.ends_with(".graph")) return;
    ++queries;
    const Query query = parse_query_graph(content, name, false, name);
    // dense_8_17: the vertices are in the name.
    const std::string stem = name.substr(name.rfind("query_") + 6);
    EXPECT_EQ(query.vertices.size(), std::stoul(stem.substr(stem.find('_') + 1))) << name;
    EXPECT_EQ(parse_pattern(to_pattern(query), name), query);
    const query::Group group(query);
    for (const query::Permutation& g : group.generators()) EXPECT_TRUE(query::is_automorphism(query, g)) << name;
    if (group.order() > 1) ++symmetric;
  });
  EXPECT_EQ(queries, GetParam().second);
  EXPECT_GT(symmetric, 0U);
}

INSTANTIATE_TEST_SUITE_P(LabelledTve, RealQueries,
                         testing::Values(std::pair{"hprd", 1800U}, std::pair{"human", 1200U}, std::pair{"wordnet", 1800U},
                                         std::pair{"yeast", 1800U}),
                         [](const auto& each) { return std::string(each.param.first); });

}  // namespace
}  // namespace deltamatch
