// Holds listed matches until all are found: in memory up to a bound, beyond that in a temporary file.
//
// Matches come in runs that are sorted by id. Once the runs in memory outgrow the bound, they are merged into one run per list
// and appended to the file. So the file holds few long runs, even if small ones come in. Reading merges all runs of a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/stop.hpp"
#include "deltamatch/engine.hpp"
#include "engine/listing/delivery.hpp"
#include "engine/listing/temporary_file.hpp"

namespace deltamatch::engine {

/// Numbered lists of the matches of one batch. Memory stays within SpoolOptions::memory, plus the run that is being added and
/// the buffers of the file. Several threads fill it, then one thread reads. It owns its file, which is made when first needed.
/// Every batch begins with `open` and ends with `clear`.
class Spool {
 public:
  /// How many vertices and edges each match of a list has.
  struct Shape {
    std::size_t vertices;
    std::size_t edges;
  };
  /// Reads the matches of a list, ascending by id. Valid until the spool is added to or cleared.
  class Reader;

  void configure(const SpoolOptions& options);
  [[nodiscard]] const SpoolOptions& options() const noexcept { return options_; }
  /// Begins a batch with one empty list per shape. Without `keep`, matches are only counted and digested. `stop` may be null
  /// and must outlive the batch; once it is set, `add` throws Stopped.
  void open(std::span<const Shape> shapes, bool keep = true, const StopFlag* stop = nullptr);
  /// Adds a run to a list. Any thread may call it; calls wait for each other, also while one writes the file. Throws Error if
  /// the file cannot be written.
  void add(std::size_t list, Delivery::Batch&& run);
  /// Drops all lists and releases memory and file.
  void clear() noexcept;

  [[nodiscard]] std::uint64_t matches(std::size_t list) const noexcept { return lists_[list].matches; }
  [[nodiscard]] const MatchDigest& digest(std::size_t list) const noexcept { return lists_[list].digest; }
  /// `beside`: the number of lists that are read at the same time. They share the bound on memory.
  [[nodiscard]] Reader read(std::size_t list, std::size_t beside = 1) const;

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
  /// Goes to the next match; the first call goes to the first match. Returns false after the last. Throws Error if the file
  /// cannot be read. O(log runs).
  bool next();
  /// The match that `next` went to. Valid until the next call of `next`.
  [[nodiscard]] const ListedMatch& match() const noexcept { return sources_[heap_.front()].match; }

 private:
  friend class Spool;
  struct Source {                          // a run and its next match
    const Delivery::Batch* run = nullptr;  // null: the run is in the file, as described below
    std::uint64_t offset = 0;
    std::uint64_t left = 0;
    std::vector<std::uint32_t> buffer;
    std::size_t at = 0;  // index into the run or into the buffer
    std::vector<graph::Edge> edges;
    ListedMatch match;
  };

  Reader(const Shape& shape, const TemporaryFile* file) : shape_(shape), file_(file) {}
  bool advance(Source& source) const;
  void place(std::size_t source);

  Shape shape_;
  const TemporaryFile* file_;
  std::size_t buffered_ = 1;  // matches that are read at once from a run of the file
  std::vector<Source> sources_;
  std::vector<std::size_t> heap_;  // indices of sources; the one with the least id is first
  bool begun_ = false;
};

/// Reads the matches of a list whose ids are not in another one, ascending by id.
class ListReader {
 public:
  /// Without `other`, reads all of them. `beside`: see Spool::read.
  ListReader(const Spool& spool, std::size_t list, std::optional<std::size_t> other, std::size_t beside = 1)
      : own_(spool.read(list, beside)) {
    if (!other) return;
    theirs_.emplace(spool.read(*other, beside));
    more_ = theirs_->next();
  }
  /// As Spool::Reader.
  bool next() {
    while (own_.next()) {
      while (more_ && theirs_->match().id < own_.match().id) more_ = theirs_->next();
      if (!more_ || theirs_->match().id != own_.match().id) return true;
    }
    return false;
  }
  [[nodiscard]] const ListedMatch& match() const noexcept { return own_.match(); }

 private:
  Spool::Reader own_;
  std::optional<Spool::Reader> theirs_;
  bool more_ = false;  // theirs_ has a match
};

/// Calls visit(match) for each match of `list` whose id is not in `other`, ordered by id.
template <class Visit>
void for_each_beyond(const Spool& spool, std::size_t list, std::size_t other, Visit&& visit) {
  for (ListReader reader(spool, list, other); reader.next();) visit(reader.match());
}

}  // namespace deltamatch::engine
