// Snapshots that are broken or forged. They load, or an Error says why not. What loads is written and read back alike.
// If the first byte of an input is odd, the rest is the file. If it is even, the rest is cut at byte 0xfe into the sections,
// under valid checksums. The next bits of that byte say which. Bit 1: version 2, else 3. Bit 2: version 4. Bit 3: of version 4,
// whether edges have slots.
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

void forge(const std::filesystem::path& path, std::string_view bytes, unsigned bits) {
  using engine::Section;
  engine::FileKind kind = engine::snapshot_file;
  const bool has_schema = (bits & 4U) != 0;
  const bool has_slots = has_schema && (bits & 8U) != 0;
  kind.version = has_schema ? 4 : (bits & 2U) != 0 ? 2 : 3;
  engine::SectionWriter out(path, kind);
  for (const Section section :
       {Section::header, Section::annotation, Section::schema, Section::vertex_labels, Section::edge_labels, Section::symbols,
        Section::numbers, Section::vertices, Section::slots, Section::edges}) {
    if (!has_schema && (section == Section::schema || section == Section::symbols)) continue;
    if (!has_slots && section == Section::slots) continue;
    out.begin(section, section != Section::numbers && section != Section::slots);
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
    forge(path, bytes, data[0]);
  }
  try {
    const engine::SnapshotHeader header = engine::read_snapshot_header(path);
    graph::DataGraph graph(header.directed, header.window > 0, graph::heap_slabs(), header.schema);
    engine::read_snapshot(path, graph, workers);
    engine::write_snapshot(path, header, graph);
    const std::string once = read(path);
    graph::DataGraph again(header.directed, header.window > 0, graph::heap_slabs(), header.schema);
    engine::read_snapshot(path, again, workers);
    engine::write_snapshot(path, header, again);
    if (read(path) != once) std::abort();
  } catch (const Error&) {
    // Not a sound snapshot.
  }
  std::filesystem::remove(path);
  return 0;
}
