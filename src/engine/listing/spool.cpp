#include "engine/listing/spool.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace deltamatch::engine {
namespace {

// Layout of a match in the file: id, vertices, edges.
constexpr std::size_t id_words = sizeof(MatchId) / sizeof(std::uint32_t);
using IdWords = std::array<std::uint32_t, id_words>;
constexpr std::size_t edge_words = sizeof(graph::Edge) / sizeof(std::uint32_t);
static_assert(edge_words * sizeof(std::uint32_t) == sizeof(graph::Edge));

constexpr std::size_t write_words = std::size_t{1} << 16;
constexpr std::size_t most_read_bytes = std::size_t{1} << 18;  // read at once from one run

std::size_t words_of(const Spool::Shape& shape) noexcept { return id_words + shape.vertices + edge_words * shape.edges; }

/// Bytes that the run has allocated, whether filled or not.
std::uint64_t bytes_of(const Delivery::Batch& run) noexcept {
  const auto taken = []<class T>(const std::vector<T>& of) { return of.capacity() * sizeof(T); };
  return sizeof run + taken(run.ids) + taken(run.order) + taken(run.vertices) + taken(run.edges);
}

}  // namespace

void Spool::configure(const SpoolOptions& options) { options_ = options; }

void Spool::open(std::span<const Shape> shapes, bool keep, const StopFlag* stop) {
  clear();
  keep_ = keep;
  stop_ = stop;
  for (const Shape& shape : shapes) lists_.emplace_back().shape = shape;
}

void Spool::clear() noexcept {
  lists_.clear();
  held_ = 0;
  file_.reset();
}

void Spool::add(std::size_t list, Delivery::Batch&& run) {
  if (run.ids.empty()) return;
  const std::scoped_lock turn(mutex_);
  throw_if_stopped(stop_);
  List& into = lists_[list];
  into.matches += run.ids.size();
  into.digest.add({run.digest.high, run.digest.low});
  if (!keep_) return;
  held_ += bytes_of(run);
  into.runs.push_back(std::move(run));
  if (held_ > options_.memory) spill();
}

/// Merges the runs in memory into one run in the file, for each list.
void Spool::spill() {
  if (!file_) file_ = std::make_unique<TemporaryFile>(options_.folder);
  std::vector<std::uint32_t> words;
  const auto flush = [&] {
    file_->append(std::as_bytes(std::span(words)));
    words.clear();
  };
  for (List& list : lists_) {
    if (list.runs.empty()) continue;
    FileRun written{file_->size(), 0};
    Reader reader(list.shape, nullptr);
    for (const Delivery::Batch& run : list.runs) reader.sources_.emplace_back().run = &run;
    words.reserve(write_words + words_of(list.shape));
    while (reader.next()) {
      const ListedMatch& match = reader.match();
      const std::size_t at = words.size();
      words.resize(at + words_of(list.shape));
      std::uint32_t* to = words.data() + at;
      std::ranges::copy(std::bit_cast<IdWords>(match.id), to);
      std::ranges::copy(match.vertices, to + id_words);
      if (!match.edges.empty())  // an empty span may have no address
        std::memcpy(to + id_words + list.shape.vertices, match.edges.data(), match.edges.size_bytes());
      throw_if_stopped(stop_, written.matches++);
      if (words.size() >= write_words) flush();
    }
    flush();
    list.file_runs.push_back(written);
    list.runs.clear();
  }
  held_ = 0;
}

Spool::Reader Spool::read(std::size_t list, std::size_t beside) const {
  const List& from = lists_[list];
  Reader reader(from.shape, file_.get());
  const std::size_t bytes = words_of(from.shape) * sizeof(std::uint32_t);
  // All buffers together stay within the memory bound, except that each holds at least one match.
  const std::uint64_t share = options_.memory / (beside * std::max<std::size_t>(from.file_runs.size(), 1));
  reader.buffered_ = std::max<std::size_t>(1, std::min<std::uint64_t>(share, most_read_bytes) / bytes);
  for (const Delivery::Batch& run : from.runs) reader.sources_.emplace_back().run = &run;
  for (const FileRun& run : from.file_runs) {
    Reader::Source& source = reader.sources_.emplace_back();
    source.offset = run.offset;
    source.left = run.matches;
  }
  return reader;
}

/// Goes to the source's next match. Returns false after its last.
bool Spool::Reader::advance(Source& source) const {
  if (source.run != nullptr) {
    if (source.at == source.run->ids.size()) return false;
    source.match = source.run->match(source.at++, shape_.vertices, shape_.edges);
    return true;
  }
  const std::size_t words = words_of(shape_);
  if (source.at == source.buffer.size()) {
    if (source.left == 0) return false;
    const auto matches = static_cast<std::size_t>(std::min<std::uint64_t>(source.left, buffered_));
    source.buffer.resize(matches * words);
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(source.buffer));
    file_->read(source.offset, bytes);
    source.offset += bytes.size();
    source.left -= matches;
    source.at = 0;
  }
  const std::uint32_t* from = source.buffer.data() + source.at;
  source.at += words;
  IdWords id;
  std::copy_n(from, id_words, id.begin());
  source.match.id = std::bit_cast<MatchId>(id);
  source.match.vertices = {from + id_words, shape_.vertices};
  source.edges.resize(shape_.edges);
  if (shape_.edges > 0) std::memcpy(source.edges.data(), from + id_words + shape_.vertices, shape_.edges * sizeof(graph::Edge));
  source.match.edges = source.edges;
  return true;
}

/// Sifts down the source at the heap's position `at`.
void Spool::Reader::place(std::size_t at) {
  const auto id = [&](std::size_t place) -> const MatchId& { return sources_[heap_[place]].match.id; };
  for (;;) {
    std::size_t least = at;
    for (const std::size_t child : {2 * at + 1, 2 * at + 2}) {
      if (child < heap_.size() && id(child) < id(least)) least = child;
    }
    if (least == at) return;
    std::swap(heap_[at], heap_[least]);
    at = least;
  }
}

bool Spool::Reader::next() {
  if (!begun_) {
    begun_ = true;
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      if (advance(sources_[s])) heap_.push_back(s);
    }
    for (std::size_t at = heap_.size() / 2; at-- > 0;) place(at);
    return !heap_.empty();
  }
  if (heap_.empty()) return false;
  if (!advance(sources_[heap_.front()])) {
    heap_.front() = heap_.back();
    heap_.pop_back();
  }
  place(0);
  return !heap_.empty();
}

}  // namespace deltamatch::engine
