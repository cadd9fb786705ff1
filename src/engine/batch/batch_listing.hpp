// The matches that the standing queries list in a batch.
// The threads that find matches translate them. They are spooled by query and sign, then delivered by id once matching
// succeeded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/batch/batch_watch.hpp"
#include "engine/listing/delivery.hpp"
#include "engine/listing/spool.hpp"
#include "match/counted_changes.hpp"
#include "match/final_matches.hpp"
#include "match/matcher.hpp"

namespace deltamatch::engine {

class OwnMatches;

/// Holds the listed matches of one batch at a time. Every batch begins with `open` and ends with `clear`.
class BatchListing {
 public:
  /// The tasks of one query, which follow each other. A query has one task for each variant.
  struct Tasks {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  void configure(const SpoolOptions& options) { spool_.configure(options); }
  [[nodiscard]] const SpoolOptions& spooling() const noexcept { return spool_.options(); }

  /// Begins a batch and makes itself the taker of the tasks that list matches. `deliveries` holds the delivery of each task.
  /// - `differ`: a match that is listed under both signs counts under neither. A rebound vertex needs this: such a match is the
  ///   same before and after.
  /// - Without `keep`, matches are only digested, and `for_each` finds none.
  /// - The tasks must outlive the matching; graph, deliveries and watch must outlive the batch.
  /// - Once the watch says that the batch must stop, taking throws Stopped.
  void open(const graph::DataGraph& graph, std::span<match::QueryTask> tasks, std::span<const Delivery* const> deliveries,
            bool differ, bool keep, BatchWatch& watch);
  /// Lets a task list only the matches for which the counting conditions of its query hold. Call it behind `open`. The batch
  /// must outlive the matching.
  void filter(std::size_t task, const match::CountedBatch& batch) { collectors_[task].filter(batch); }
  /// Lets a task list only matches that are final, and of these only such as were not decided earlier. None vanishes.
  void filter(std::size_t task, const match::FinalBatch& batch) { collectors_[task].filter(batch); }
  /// Lets a task list only matches of its own. `by_anchor`: those with an anchor are; only matches from `add` are asked. `own`
  /// must outlive the matching.
  void keep_own(std::size_t task, const OwnMatches& own, bool by_anchor) { collectors_[task].keep_own(own, by_anchor); }
  /// Lists matches of a task that were found as embeddings.
  void add(std::size_t task, match::Pass pass, const match::FoundMatches& found);
  /// Forgets all matches.
  void clear() noexcept;

  /// The digest of all matches that a task listed under a sign, including those that the other sign also lists.
  [[nodiscard]] const MatchDigest& digest(std::size_t task, match::Pass pass) const noexcept {
    return spool_.digest(list_of(task, pass));
  }
  /// The number of those matches.
  [[nodiscard]] std::uint64_t matches(std::size_t task, match::Pass pass) const noexcept {
    return spool_.matches(list_of(task, pass));
  }
  /// Calls visit(task, match) for up to `most` matches of a query and a sign, ordered by id. Throws Stopped once the batch must
  /// stop.
  template <class Visit>
  void for_each(const Tasks& tasks, bool added, std::uint64_t most, Visit&& visit) const {
    std::vector<ListReader> readers = read(tasks, added ? match::Pass::added : match::Pass::removed);
    visit_in_order(tasks, readers, most, visit);
  }
  /// The same for all matches of the transient pass.
  template <class Visit>
  void for_each_transient(const Tasks& tasks, Visit&& visit) const {
    std::vector<ListReader> readers = read(tasks, match::Pass::transient);
    visit_in_order(tasks, readers, UINT64_MAX, visit);
  }
  /// Writes up to `most` matches of a query to a sink, ordered by id. Those of the transient pass come on their own. With
  /// `only`, ascending, others are left out. `slots`, if there is any, holds the rule of each task of the batch.
  void deliver(const Tasks& tasks, const Delivery::MatchContext& context, std::uint64_t most, MatchSink& sink,
               const std::vector<MatchId>* only = nullptr, std::span<const SlotRule* const> slots = {}) const;

 private:
  /// Takes the records of one task.
  class Collector final : public match::RecordTaker {
   public:
    Collector(BatchListing& listing, std::size_t number, const Delivery& delivery, const match::QueryTask& task)
        : listing_(&listing), number_(number), delivery_(&delivery), task_(&task) {}
    void take(const match::Records& records, match::Pass pass) override;
    [[nodiscard]] const Delivery& delivery() const noexcept { return *delivery_; }
    [[nodiscard]] const match::QueryTask& task() const noexcept { return *task_; }
    void filter(const match::CountedBatch& batch) noexcept { counted_ = &batch; }
    void filter(const match::FinalBatch& batch) noexcept { final_ = &batch; }
    [[nodiscard]] bool is_final() const noexcept { return final_ != nullptr; }
    void keep_own(const OwnMatches& own, bool by_anchor) noexcept {
      own_ = &own;
      by_anchor_ = by_anchor;
    }
    /// Translated matches of the task, without those of others. `anchored`: they have anchors.
    [[nodiscard]] Delivery::Batch own(Delivery::Batch&& matches, bool anchored) const;

   private:
    BatchListing* listing_;
    std::size_t number_;  // of the task
    const Delivery* delivery_;
    const match::QueryTask* task_;
    const match::CountedBatch* counted_ = nullptr;  // if the query counts
    const match::FinalBatch* final_ = nullptr;      // if it says EMIT FINAL
    const OwnMatches* own_ = nullptr;               // if other engines report matches of the query, too
    bool by_anchor_ = false;
  };

  static constexpr std::size_t lists = 3;  // of a task: one for each pass
  static std::size_t list_of(std::size_t task, match::Pass pass) noexcept {
    return lists * task + (pass == match::Pass::transient ? 2 : pass == match::Pass::added ? 1 : 0);
  }
  [[nodiscard]] std::vector<ListReader> read(const Tasks& tasks, match::Pass pass) const;
  template <class Visit>
  void visit_in_order(const Tasks& tasks, std::vector<ListReader>& readers, std::uint64_t most, Visit&& visit) const;

  const graph::DataGraph* graph_ = nullptr;
  bool differ_ = false;
  BatchWatch* watch_ = nullptr;
  Spool spool_;
  std::vector<Collector> collectors_;  // by task
};

template <class Visit>
void BatchListing::visit_in_order(const Tasks& tasks, std::vector<ListReader>& readers, std::uint64_t most,
                                  Visit&& visit) const {
  std::vector<std::size_t> left;  // readers that have a match
  for (std::size_t r = 0; r < readers.size(); ++r) {
    if (readers[r].next()) left.push_back(r);
  }
  // A query has few tasks, so the least id is looked for among all.
  for (std::uint64_t visited = 0; visited < most && !left.empty(); ++visited) {
    throw_if_stopped(watch_->stop(), visited);
    const auto least = std::ranges::min_element(left, {}, [&](std::size_t r) { return readers[r].match().id; });
    visit(tasks.first + *least, readers[*least].match());
    if (!readers[*least].next()) left.erase(least);
  }
}

}  // namespace deltamatch::engine
