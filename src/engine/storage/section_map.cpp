#include "engine/storage/section_map.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <system_error>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::engine {
namespace {

using encoding::get_fixed;

static_assert(std::endian::native == std::endian::little, "mapped arrays are little-endian");

std::uint32_t reversed(std::uint32_t value) { return __builtin_bswap32(value); }

}  // namespace

std::string_view section_name(Section section) noexcept {
  switch (section) {
    case Section::end:
      return "end";
    case Section::header:
    case Section::graph_header:
      return "header";
    case Section::vertex_labels:
      return "vertex labels";
    case Section::edge_labels:
      return "edge labels";
    case Section::numbers:
      return "numbers";
    case Section::vertices:
      return "vertices";
    case Section::edges:
      return "edges";
    case Section::schema:
      return "schema";
    case Section::symbols:
      return "symbols";
    case Section::order:
      return "order";
    case Section::deletions:
      return "deletions";
    case Section::memories:
      return "memories";
    case Section::slots:
      return "slots";
    case Section::digest:
      return "digest";
    case Section::annotation:
      return "annotation";
    case Section::vertex_label_ends:
      return "vertex label ends";
    case Section::label_parts:
      return "label parts";
    case Section::edge_label_ends:
      return "edge label ends";
    case Section::blocks:
      return "blocks";
    case Section::vertex_keys:
      return "vertex keys";
    case Section::edge_ends:
      return "edge ends";
    case Section::edge_times:
      return "edge times";
    case Section::vertex_label_texts:
      return "vertex label texts";
    case Section::edge_label_texts:
      return "edge label texts";
    case Section::vertex_flags:
      return "vertex flags";
    case Section::id_texts:
      return "id texts";
  }
  return "?";
}

SectionMap::SectionMap(std::filesystem::path path, const FileKind& kind) : kind_(kind), path_(std::move(path)) {
  map(kind);
  try {
    if (get_fixed(verify(Section::end, size_ - trailer_size, 8), 8) != size_) {
      refuse(Section::end, "the length of the file has changed");
    }
  } catch (...) {
    unmap();
    throw;
  }
}

SectionMap::~SectionMap() { unmap(); }

void SectionMap::unmap() noexcept {
  if (bytes_ != nullptr) ::munmap(const_cast<char*>(bytes_), size_);
}

void SectionMap::map(const FileKind& kind) {
  const std::string noun(kind.noun);
  const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    throw Error(path_.string(), "the " + noun + " cannot be opened: " + std::generic_category().message(errno),
                "check the path and its permissions");
  }
  if (!S_ISREG(status.st_mode)) throw Error(path_.string(), "it is not a regular file", "name a " + noun);
  size_ = static_cast<std::uint64_t>(status.st_size);
  std::array<char, preamble_size> preamble{};
  const ssize_t there = ::pread(file.get(), preamble.data(), preamble.size(), 0);
  const std::string_view magic(preamble.data(), static_cast<std::size_t>(std::clamp<ssize_t>(there, 0, 8)));
  if (!kind.magic.starts_with(magic)) {
    throw Error(path_.string(), "it is not a " + noun,
                "give a file of records a name that does not end in " + path_.extension().string());
  }
  if (there < 12 || size_ < preamble_size + trailer_size) refuse(Section::end, "the file is cut short");
  const auto version = static_cast<std::uint32_t>(get_fixed(preamble.data() + 8, 4));
  if (version != kind.version) {
    const bool foreign = reversed(version) == kind.version;
    throw Error(path_.string(),
                foreign ? "it is a " + noun + " whose numbers have another order of bytes"
                        : "it is a " + noun + " of version " + std::to_string(version) + ", while this program reads version " +
                              std::to_string(kind.version),
                kind.remedy);
  }
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) {
    throw Error(path_.string(), "the " + noun + " cannot be mapped: " + std::generic_category().message(errno),
                "check the limit on address space (ulimit -v)");
  }
  bytes_ = static_cast<const char*>(mapped);
}

bool SectionMap::recognises(const std::filesystem::path& path, const FileKind& kind) {
  // This test comes before opening: opening and closing a pipe takes it from its writer.
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  std::array<char, 8> magic{};
  return ::pread(file.get(), magic.data(), magic.size(), 0) == 8 && std::string_view(magic.data(), 8) == kind.magic;
}

void SectionMap::refuse(Section section, std::string_view what) const {
  throw Error(path_.string(),
              "the " + std::string(kind_.noun) + " is torn or damaged (section " + std::string(section_name(section)) +
                  "): " + std::string(what),
              kind_.remedy);
}

SectionMap::Place SectionMap::place(Section section, std::uint64_t size) {
  const std::uint64_t left = size_ - trailer_size - placed_;
  const std::uint64_t chunks = std::max<std::uint64_t>(1, size / kind_.chunk + (size % kind_.chunk != 0 ? 1 : 0));
  if (size > left || chunks > (left - size) / chunk_head_size) refuse(section, "it does not fit into the file");
  const Place place{section, size, placed_, verified_.size()};
  verified_.resize(verified_.size() + chunks);
  placed_ += size + chunks * chunk_head_size;
  return place;
}

void SectionMap::finish_placing() const {
  if (placed_ != size_ - trailer_size) refuse(Section::end, "the file has more sections than expected");
}

const char* SectionMap::verified(const Place& place, std::uint64_t chunk) {
  const std::uint64_t offset = place.offset + chunk * (kind_.chunk + chunk_head_size);
  if (verified_[place.first_chunk + chunk]) return bytes_ + offset + chunk_head_size;
  const char* bytes = verify(place.section, offset, std::min<std::uint64_t>(kind_.chunk, place.size - chunk * kind_.chunk));
  verified_[place.first_chunk + chunk] = true;
  return bytes;
}

const char* SectionMap::verify(Section section, std::uint64_t offset, std::uint64_t size) {
  const char* head = bytes_ + offset;
  const std::string_view stored(head + chunk_head_size, size);
  if (get_fixed(head, 4) != static_cast<std::uint32_t>(section) || get_fixed(head + 4, 4) != size ||
      get_fixed(head + 8, 4) != size) {
    refuse(section, "it is missing or out of place");
  }
  const auto sum = encoding::checksum({head, chunk_fields_size}, stored, offset);
  if (!std::equal(sum.begin(), sum.end(), head + chunk_fields_size)) {
    refuse(section, "a checksum does not match at byte " + std::to_string(offset));
  }
  bytes_read_ += chunk_head_size + size;
  return stored.data();
}

void SectionMap::text(const Place& place, std::uint64_t begin, std::uint64_t size, std::string& bytes) {
  bytes.clear();
  read(place, begin, size, [&](std::span<const char> part) { bytes.append(part.data(), part.size()); });
}

}  // namespace deltamatch::engine
