#include "graph/window.hpp"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <functional>
#include <iterator>

namespace deltamatch::graph {

namespace {

constexpr Timestamp buckets_per_window = 64;

}  // namespace

Window::Window(Timestamp span) : span_(span), bucket_span_(std::max<Timestamp>(1, span / buckets_per_window)) {}

bool Window::dead(Timestamp time, Timestamp watermark) const noexcept {
  Timestamp edge = 0;
  return !__builtin_sub_overflow(watermark, span_, &edge) && time <= edge;
}

Timestamp Window::bucket_of(Timestamp time) const noexcept {
  return time >= 0 ? time / bucket_span_ : -((-(time + 1)) / bucket_span_) - 1;
}

void Window::note(const Edge& edge, Timestamp time) { fresh_.push_back({time, edge}); }

void Window::place_fresh() {
  if (!std::ranges::is_sorted(fresh_, {}, &Entry::time))
    boost::sort::pdqsort_branchless(fresh_.begin(), fresh_.end(),
                                    [](const Entry& a, const Entry& b) { return a.time < b.time; });
  for (std::vector<Entry>* const noted : {&fresh_, &later_}) {
    std::size_t placed = 0;
    try {
      for (; placed < noted->size(); ++placed) place((*noted)[placed]);
    } catch (...) {  // those that are placed must not come again
      noted->erase(noted->begin(), noted->begin() + static_cast<std::ptrdiff_t>(placed));
      throw;
    }
    noted->clear();
  }
}

void Window::place(const Entry& entry) {
  if (queue_.empty() || entry.time >= queue_.back().time) {
    queue_.push_back(entry);
    return;
  }
  const Timestamp bucket = bucket_of(entry.time);
  if (bucket <= front_) {
    reserve_for(1);
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
  } else {
    if (last_ == nullptr || bucket != last_bucket_) {
      last_ = &buckets_[bucket];
      last_bucket_ = bucket;
    }
    last_->push_back(entry);
  }
}

void Window::reserve_for(std::size_t more) {
  const std::size_t wanted = heap_.size() + taken_.size() + more;
  if (wanted > heap_.capacity()) heap_.reserve(2 * wanted);
}

void Window::take(const DataGraph& graph, std::span<const Entry> due, Timestamp expired) {
  graph.find_edges(
      due.size(), [&](std::size_t i) -> const Edge& { return due[i].edge; },
      [&](std::size_t i, std::optional<Timestamp> time) {
        if (!time) return;
        if (*time <= expired) {
          found_.push_back({due[i].edge, *time});
        } else {
          later_.push_back({*time, due[i].edge});
        }
      });
}

void Window::collect(const DataGraph& graph, Timestamp watermark, std::vector<Expired>& expired) {
  Timestamp edge = 0;
  if (__builtin_sub_overflow(watermark, span_, &edge)) return;
  place_fresh();
  found_.clear();
  const std::span<const Entry> queued = std::span(queue_).subspan(next_);
  const auto end = std::ranges::upper_bound(queued, edge, {}, &Entry::time);
  const std::span<const Entry> due(queued.begin(), end);
  next_ += due.size();  // before what can fail: undo() then forgets what was put off so far
  take(graph, due, edge);
  front_ = std::max(front_, bucket_of(edge));
  if (last_bucket_ <= front_) last_ = nullptr;
  const std::size_t taken = taken_.size();
  for (auto at = buckets_.begin(); at != buckets_.end() && at->first <= front_; at = buckets_.erase(at)) {
    reserve_for(at->second.size());
    if (at->first < front_) {  // all have to be checked, so they need no order
      taken_.insert(taken_.end(), at->second.begin(), at->second.end());
    } else {
      heap_.insert(heap_.end(), at->second.begin(), at->second.end());
      std::make_heap(heap_.begin(), heap_.end(), std::greater<>{});
    }
  }
  while (!heap_.empty() && heap_.front().time <= edge) {
    taken_.push_back(heap_.front());
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
    heap_.pop_back();
  }
  take(graph, std::span(taken_).subspan(taken), edge);
  Workers alone(1);
  sort_.run(found_, graph.dictionary.capacity(), alone);
  std::ranges::unique_copy(found_, std::back_inserter(expired), {}, &Expired::edge);
}

void Window::commit() noexcept {
  taken_.clear();
  committed_ = next_;
  if (2 * committed_ < queue_.size()) return;
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(committed_));
  next_ = committed_ = 0;
}

void Window::undo() noexcept {
  // Entries that the undone collect put off wait where they were. They must not wait twice, because that would double them for
  // each batch that is cut. If nothing was taken since the last commit, they are those of the batch before, and stay.
  if (next_ != committed_ || !taken_.empty()) later_.clear();
  next_ = committed_;
  // There is room: reserve_for has counted them.
  for (const Entry& entry : taken_) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
  }
  taken_.clear();
}

std::size_t Window::size() const noexcept {
  std::size_t entries = fresh_.size() + later_.size() + queue_.size() - next_ + heap_.size();
  for (const auto& [bucket, waiting] : buckets_) entries += waiting.size();
  return entries;
}

std::size_t Window::bytes() const noexcept {
  std::size_t entries = fresh_.capacity() + later_.capacity() + queue_.capacity() + heap_.capacity() + taken_.capacity();
  for (const auto& [bucket, waiting] : buckets_) entries += waiting.capacity();
  return entries * sizeof(Entry) + found_.capacity() * sizeof(Expired) + sort_.bytes();
}

}  // namespace deltamatch::graph
