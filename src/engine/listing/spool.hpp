// The listed matches of a batch until it has succeeded: in memory up to a bound, beyond that in a temporary file.
//
// Matches come in runs that are sorted by id. Where they outgrow the bound, those in memory are merged into one run for each
// list and appended to the file; so the file holds few and long runs, however small those that come. Reading merges all runs of
// a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/stop.hpp"
#include "deltamatch/engine.hpp"
#include "engine/listing/delivery.hpp"
#include "engine/listing/temporary_file.hpp"

namespace deltamatch::engine {

/// Numbered lists of matches of one batch, kept within SpoolOptions::memory, give or take the run that is being added and what
/// writing and reading the file buffer. Filled by several threads, then read by one. Owns its file, which is made when it is
/// first needed; every batch begins with `open` and ends with `clear`.
class Spool {
 public:
  /// How many vertices and edges the matches of a list have.
  struct Shape {
    std::size_t vertices;
    std::size_t edges;
  };
  /// The matches of a list, ascending by id. Holds while the spool is neither added to nor cleared.
  class Reader;

  void configure(const SpoolOptions& options);
  /// Begins a batch of so many lists, all of them empty. Without `keep` matches are only counted and digested, not kept. Once
  /// `stop`, which may be null and outlives the batch, is set, `add` throws Stopped.
  void open(std::span<const Shape> shapes, bool keep = true, const StopFlag* stop = nullptr);
  /// Any thread; several at once take turns, also while one of them writes. Throws Error where the file cannot be written.
  void add(std::size_t list, Delivery::Batch&& run);
  /// Forgets all lists and gives memory and file back.
  void clear() noexcept;

  [[nodiscard]] std::uint64_t matches(std::size_t list) const noexcept { return lists_[list].matches; }
  [[nodiscard]] const MatchDigest& digest(std::size_t list) const noexcept { return lists_[list].digest; }
  [[nodiscard]] Reader read(std::size_t list) const;

 private:
  struct FileRun {
    std::uint64_t offset;
    std::uint64_t matches;
  };
  struct List {
    Shape shape;
    std::uint64_t matches = 0;
    MatchDigest digest;
    std::vector<Delivery::Batch> runs;
    std::vector<FileRun> file_runs;
  };

  void spill();

  SpoolOptions options_;
  bool keep_ = true;
  const StopFlag* stop_ = nullptr;
  std::mutex mutex_;
  std::vector<List> lists_;
  std::uint64_t held_ = 0;  // bytes of the runs in memory
  std::unique_ptr<TemporaryFile> file_;
};

class Spool::Reader {
 public:
  /// Goes to the next match, the first at first; false behind the last. Throws Error where the file cannot be read. O(log
  /// runs).
  bool next();
  /// The match that next went to; holds until next is called again.
  [[nodiscard]] const ListedMatch& match() const noexcept { return sources_[heap_.front()].match; }

 private:
  friend class Spool;
  struct Source {                          // a run, and the match in it that is next
    const Delivery::Batch* run = nullptr;  // or one of the file:
    std::uint64_t offset = 0;
    std::uint64_t left = 0;
    std::vector<std::uint32_t> buffer;
    std::size_t at = 0;  // in the run, or in the buffer
    std::vector<graph::Edge> edges;
    ListedMatch match;
  };

  Reader(const Shape& shape, const TemporaryFile* file) : shape_(shape), file_(file) {}
  bool advance(Source& source) const;
  void place(std::size_t source);

  Shape shape_;
  const TemporaryFile* file_;
  std::size_t buffered_ = 1;  // matches of a run of the file that are read at once
  std::vector<Source> sources_;
  std::vector<std::size_t> heap_;  // of sources, the one with the least id first
  bool begun_ = false;
};

/// Calls visit(match) for all matches of `list` whose ids `other` lacks, by id.
template <class Visit>
void for_each_beyond(const Spool& spool, std::size_t list, std::size_t other, Visit&& visit) {
  Spool::Reader own = spool.read(list);
  Spool::Reader theirs = spool.read(other);
  bool more = theirs.next();
  while (own.next()) {
    while (more && theirs.match().id < own.match().id) more = theirs.next();
    if (!more || theirs.match().id != own.match().id) visit(own.match());
  }
}

}  // namespace deltamatch::engine
