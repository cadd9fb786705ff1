// Graph files that are broken or forged. They load, or an Error says why not. What loads is written and read back alike.
// If the first byte of an input is odd, the rest is the file. If it is even, the rest becomes the sections, each behind its
// length (2 bytes), under valid checksums and a header that fits.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/error.hpp"
#include "engine/storage/graph_file.hpp"
#include "engine/storage/graph_file_layout.hpp"

namespace {

using namespace deltamatch;
using engine::Section;

constexpr std::size_t sections = 11;

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void forge(const std::filesystem::path& path, std::string_view bytes, std::uint32_t flags) {
  std::vector<std::string_view> contents(sections);
  for (std::string_view& section : contents) {
    if (bytes.size() < 2) break;
    const std::size_t size = encoding::get_fixed(bytes.data(), 2);
    section = bytes.substr(2, size);
    bytes.remove_prefix(std::min(bytes.size(), 2 + size));
  }
  // Whole elements only; arrays that are parallel to each other are as long.
  const auto cut = [&](std::size_t at, std::size_t element, std::size_t most) {
    const std::size_t count = std::min(contents[at].size() / element, most);
    contents[at] = contents[at].substr(0, count * element);
    return count;
  };
  const std::size_t labels = std::min(contents[0].size() / 8, contents[1].size() / 16);
  const std::size_t vertices = std::min(contents[4].size() / 8, contents[9].size());
  engine::graph_file_layout::Header header{};
  header.flags = flags & 7;
  std::size_t edges = contents[5].size() / 8;
  if ((flags & engine::graph_file_layout::timed_flag) != 0) {
    edges = cut(6, 8, edges);
  } else {
    contents[6] = {};
  }
  header.vertex_labels = cut(0, 8, labels);
  cut(1, 16, labels);
  header.edge_labels = cut(2, 8, contents[2].size());
  header.blocks = cut(3, 16, contents[3].size());
  header.vertices = cut(4, 8, vertices);
  header.edges = cut(5, 8, edges);
  header.vertex_label_bytes = contents[7].size();
  header.edge_label_bytes = contents[8].size();
  cut(9, 1, vertices);
  header.id_bytes = contents[10].size();
  engine::SectionWriter out(path, engine::graph_file);
  out.begin(Section::graph_header, false);
  out.raw({reinterpret_cast<const char*>(&header), sizeof header});
  for (std::size_t i = 0; i < sections; ++i) {
    out.begin(static_cast<Section>(static_cast<std::uint32_t>(Section::graph_header) + 1 + i), false);
    out.raw(contents[i]);
  }
  out.commit();
}

void load(const std::filesystem::path& path, const engine::EdgeDemand* demand, Workers& workers) {
  engine::GraphFile file(path);
  graph::DataGraph graph(file.directed(), false);
  const engine::LoadedShare share = file.load(demand, graph, workers);
  if (share.edges != graph.edges() || share.vertices != graph.dictionary.size()) std::abort();
  if (share.edges > share.all_edges || share.vertices > share.all_vertices) std::abort();
  engine::write_graph_file(path, graph, file.watermark());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("deltamatch-fuzz-" + std::to_string(::getpid()) + ".dmg");
  static Workers workers(1);
  static const engine::EdgeDemand demand = [] {
    engine::EdgeDemand wanted;
    wanted.add(parse_pattern("(a:A)-[:x]->(b:A|B)--(c:C)", "q"), false);
    return wanted;
  }();
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto write = [&] {
    if ((data[0] & 1) != 0) {
      std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    } else {
      forge(path, bytes, data[0] >> 1);
    }
  };
  for (const engine::EdgeDemand* wanted : {static_cast<const engine::EdgeDemand*>(nullptr), &demand}) {
    try {
      write();
      load(path, wanted, workers);
    } catch (const Error&) {
      continue;  // not a sound file
    }
    const std::string once = read(path);
    load(path, nullptr, workers);
    if (read(path) != once) std::abort();
  }
  try {
    write();
    UpdateBatch batch;  // copies what it is told of
    engine::GraphFile(path).for_each([&](const Update& update) { batch.add(update); });
  } catch (const Error&) {
    // as above
  }
  std::filesystem::remove(path);
  return 0;
}
