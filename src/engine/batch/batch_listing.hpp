// The matches that the standing queries list in a batch.
// The threads that find matches translate them. They are spooled by query and sign, then delivered by id once matching
// succeeded.
#pragma once

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

/// Holds the listed matches of one batch at a time. Every batch begins with `open` and ends with `clear`.
class BatchListing {
 public:
  void configure(const SpoolOptions& options) { spool_.configure(options); }

  /// Begins a batch and makes itself the taker of the tasks that list matches. `deliveries` holds the delivery of each task.
  /// - `differ`: a match that is listed under both signs counts under neither. A rebound vertex needs this: such a match is the
  ///   same before and after.
  /// - Without `keep`, matches are only digested, and `for_each` finds none.
  /// - The tasks must outlive the matching; graph, deliveries and watch must outlive the batch.
  /// - Once the watch says that the batch must stop, taking throws Stopped.
  void open(const graph::DataGraph& graph, std::span<match::QueryTask> tasks, std::span<const Delivery* const> deliveries,
            bool differ, bool keep, BatchWatch& watch);
  /// Lets a query list only the matches for which its counting conditions hold. Call it behind `open`. The batch must outlive
  /// the matching.
  void filter(std::size_t query, const match::CountedBatch& batch) { collectors_[query].filter(batch); }
  /// Lets a query list only matches that are final, and of these only such as were not decided earlier. None vanishes.
  void filter(std::size_t query, const match::FinalBatch& batch) { collectors_[query].filter(batch); }
  /// Lists matches of a query that were found as embeddings.
  void add(std::size_t query, match::Pass pass, const match::FoundMatches& found);
  /// Forgets all matches.
  void clear() noexcept;

  /// The digest of all matches that a query listed under a sign, including those that the other sign also lists.
  [[nodiscard]] const MatchDigest& digest(std::size_t query, match::Pass pass) const noexcept {
    return spool_.digest(list_of(query, pass));
  }
  /// The number of those matches.
  [[nodiscard]] std::uint64_t matches(std::size_t query, match::Pass pass) const noexcept {
    return spool_.matches(list_of(query, pass));
  }
  /// Calls visit(match) for up to `most` matches of a query and a sign, ordered by id. Throws Stopped once the batch must stop.
  template <class Visit>
  void for_each(std::size_t query, bool added, std::uint64_t most, Visit&& visit) const;
  /// The same for matches of the transient pass.
  template <class Visit>
  void for_each_transient(std::size_t query, Visit&& visit) const {
    for_each_in(list_of(query, match::Pass::transient), UINT64_MAX, visit);
  }
  /// Writes up to `most` matches of a query to a sink, ordered by id. Those of the transient pass come on their own. With
  /// `only`, ascending, others are left out.
  void deliver(std::size_t query, const Delivery::MatchContext& context, std::uint64_t most, MatchSink& sink,
               const std::vector<MatchId>* only = nullptr) const;

 private:
  /// Takes the records of one query.
  class Collector final : public match::RecordTaker {
   public:
    Collector(BatchListing& listing, std::size_t query, const Delivery& delivery, const match::QueryTask& task)
        : listing_(&listing), query_(query), delivery_(&delivery), task_(&task) {}
    void take(const match::Records& records, match::Pass pass) override;
    [[nodiscard]] const Delivery& delivery() const noexcept { return *delivery_; }
    void filter(const match::CountedBatch& batch) noexcept { counted_ = &batch; }
    void filter(const match::FinalBatch& batch) noexcept { final_ = &batch; }
    [[nodiscard]] bool is_final() const noexcept { return final_ != nullptr; }

   private:
    BatchListing* listing_;
    std::size_t query_;
    const Delivery* delivery_;
    const match::QueryTask* task_;
    const match::CountedBatch* counted_ = nullptr;  // if the query counts
    const match::FinalBatch* final_ = nullptr;      // if it says EMIT FINAL
  };

  static constexpr std::size_t lists = 3;  // of a query: one for each pass
  static std::size_t list_of(std::size_t query, match::Pass pass) noexcept {
    return lists * query + (pass == match::Pass::transient ? 2 : pass == match::Pass::added ? 1 : 0);
  }
  static std::size_t list_of(std::size_t query, bool added) noexcept {
    return list_of(query, added ? match::Pass::added : match::Pass::removed);
  }
  template <class Visit>
  void for_each_in(std::size_t list, std::uint64_t most, Visit&& visit) const;

  const graph::DataGraph* graph_ = nullptr;
  bool differ_ = false;
  BatchWatch* watch_ = nullptr;
  Spool spool_;
  std::vector<Collector> collectors_;  // by query
};

template <class Visit>
void BatchListing::for_each(std::size_t query, bool added, std::uint64_t most, Visit&& visit) const {
  std::uint64_t visited = 0;
  const bool is_final = collectors_[query].is_final();
  if (is_final && !added) return;
  if (differ_ || is_final) {
    for_each_beyond(spool_, list_of(query, added), list_of(query, !added), [&](const ListedMatch& match) {
      throw_if_stopped(watch_->stop(), visited);
      if (visited++ < most) visit(match);
    });
    return;
  }
  for_each_in(list_of(query, added), most, visit);
}

template <class Visit>
void BatchListing::for_each_in(std::size_t list, std::uint64_t most, Visit&& visit) const {
  std::uint64_t visited = 0;
  for (Spool::Reader reader = spool_.read(list); visited < most && reader.next(); ++visited) {
    throw_if_stopped(watch_->stop(), visited);
    visit(reader.match());
  }
}

}  // namespace deltamatch::engine
