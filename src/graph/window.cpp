#include "graph/window.hpp"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <functional>

namespace deltamatch::graph {

namespace {

constexpr Timestamp buckets_per_window = 64;

constexpr auto by_rank = [](const Expired& a, const Expired& b) noexcept {
  __extension__ using Key = unsigned __int128;
  const auto key = [](const Edge& edge) {
    return static_cast<Key>(std::uint64_t{edge.tail} << 32 | edge.head) << 32 | edge.which;
  };
  const Key first = key(a.edge);
  const Key second = key(b.edge);
  return first != second ? first < second : a.time < b.time;
};

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
  boost::sort::pdqsort_branchless(fresh_.begin(), fresh_.end(), [](const Entry& a, const Entry& b) { return a.time < b.time; });
  std::ranges::for_each(fresh_, [&](const Entry& entry) { place(entry); });
  fresh_.clear();
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

void Window::collect(const DataGraph& graph, Timestamp watermark, std::vector<Expired>& expired) {
  Timestamp edge = 0;
  if (__builtin_sub_overflow(watermark, span_, &edge)) return;
  place_fresh();
  const std::size_t first = expired.size();
  const auto take = [&](const Entry& entry) {
    const auto time = graph.time(entry.edge);
    const bool dead = time && *time <= edge;
    if (dead) {
      expired.push_back({entry.edge, *time});
    } else if (time) {
      note(entry.edge, *time);  // refreshed since
    }
    return dead;
  };
  const auto take_waiting = [&](const Entry& entry) {
    if (take(entry)) taken_.push_back(entry);
  };
  const auto next = [&](std::size_t at) { return at < queue_.size() && queue_[at].time <= edge ? &queue_[at].edge : nullptr; };
  for (std::size_t lead = DataGraph::prefetch_lead; lead > 0; --lead) graph.prefetch_ahead(next, next_ - lead);
  for (; next_ < queue_.size() && queue_[next_].time <= edge; ++next_) {
    graph.prefetch_ahead(next, next_);
    take(queue_[next_]);
  }
  front_ = std::max(front_, bucket_of(edge));
  if (last_bucket_ <= front_) last_ = nullptr;
  for (auto at = buckets_.begin(); at != buckets_.end() && at->first <= front_; at = buckets_.erase(at)) {
    reserve_for(at->second.size());
    if (at->first < front_) {  // all have to be checked, so they need no order
      std::ranges::for_each(at->second, take_waiting);
    } else {
      heap_.insert(heap_.end(), at->second.begin(), at->second.end());
      std::make_heap(heap_.begin(), heap_.end(), std::greater<>{});
    }
  }
  while (!heap_.empty() && heap_.front().time <= edge) {
    const Entry entry = heap_.front();
    take_waiting(entry);
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
    heap_.pop_back();
  }
  boost::sort::pdqsort_branchless(expired.begin() + static_cast<std::ptrdiff_t>(first), expired.end(), by_rank);
  expired.erase(std::unique(expired.begin() + static_cast<std::ptrdiff_t>(first), expired.end()), expired.end());
}

void Window::commit() noexcept {
  taken_.clear();
  committed_ = next_;
  if (2 * committed_ < queue_.size()) return;
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(committed_));
  next_ = committed_ = 0;
}

void Window::undo() noexcept {
  next_ = committed_;
  // There is room: reserve_for has counted them.
  for (const Entry& entry : taken_) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
  }
  taken_.clear();
}

std::size_t Window::bytes() const noexcept {
  std::size_t entries = fresh_.capacity() + queue_.capacity() + heap_.capacity() + taken_.capacity();
  for (const auto& [bucket, waiting] : buckets_) entries += waiting.capacity();
  return entries * sizeof(Entry);
}

}  // namespace deltamatch::graph
