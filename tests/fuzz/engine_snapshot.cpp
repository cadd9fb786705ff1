// Snapshots that are broken or forged. They load, or an Error says why not. What loads is written and read back alike.
// If the first byte of an input is odd, the rest is the file. If it is even, the rest is cut at byte 0xfe into the sections,
// under valid checksums. If the next bit of that byte is set, the version is the one before the present one.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "deltamatch/error.hpp"
#include "engine/storage/section_file.hpp"
#include "engine/storage/snapshot.hpp"

namespace {

using namespace deltamatch;

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void forge(const std::filesystem::path& path, std::string_view bytes, std::uint32_t version) {
  using engine::Section;
  engine::FileKind kind = engine::snapshot_file;
  kind.version = version;
  engine::SectionWriter out(path, kind);
  for (const Section section : {Section::header, Section::annotation, Section::vertex_labels, Section::edge_labels,
                                Section::numbers, Section::vertices, Section::edges}) {
    out.begin(section, section != Section::numbers);
    const std::string_view contents = bytes.substr(0, bytes.find('\xfe'));
    out.raw(contents);
    bytes.remove_prefix(contents.size() == bytes.size() ? bytes.size() : contents.size() + 1);
  }
  out.commit();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("deltamatch-fuzz-" + std::to_string(::getpid()) + ".dms");
  static Workers workers(1);
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((data[0] & 1) != 0) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  } else {
    forge(path, bytes, engine::snapshot_file.version - (data[0] >> 1 & 1U));
  }
  try {
    const engine::SnapshotHeader header = engine::read_snapshot_header(path);
    graph::DataGraph graph(header.directed, header.window > 0);
    engine::read_snapshot(path, graph, workers);
    engine::write_snapshot(path, header, graph);
    const std::string once = read(path);
    graph::DataGraph again(header.directed, header.window > 0);
    engine::read_snapshot(path, again, workers);
    engine::write_snapshot(path, header, again);
    if (read(path) != once) std::abort();
  } catch (const Error&) {
    // Not a sound snapshot.
  }
  std::filesystem::remove(path);
  return 0;
}
