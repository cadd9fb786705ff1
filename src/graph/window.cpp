#include "graph/window.hpp"

#include <algorithm>
#include <functional>

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

void Window::note(const Edge& edge, Timestamp time) {
  const Timestamp bucket = bucket_of(time);
  if (bucket <= front_) {
    reserve_for(1);
    heap_.push_back({time, edge});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
  } else {
    if (last_ == nullptr || bucket != last_bucket_) {
      last_ = &buckets_[bucket];
      last_bucket_ = bucket;
    }
    last_->push_back({time, edge});
  }
}

void Window::reserve_for(std::size_t more) {
  const std::size_t wanted = heap_.size() + taken_.size() + more;
  if (wanted > heap_.capacity()) heap_.reserve(2 * wanted);
}

void Window::collect(const DataGraph& graph, Timestamp watermark, std::vector<Expired>& expired) {
  Timestamp edge = 0;
  if (__builtin_sub_overflow(watermark, span_, &edge)) return;
  const std::size_t first = expired.size();
  const auto take = [&](const Entry& entry) {
    const auto time = graph.time(entry.edge);
    if (time && *time <= edge) {
      expired.push_back({entry.edge, *time});
      taken_.push_back(entry);
    } else if (time) {
      note(entry.edge, *time);  // refreshed since
    }
  };
  front_ = std::max(front_, bucket_of(edge));
  if (last_bucket_ <= front_) last_ = nullptr;
  for (auto at = buckets_.begin(); at != buckets_.end() && at->first <= front_; at = buckets_.erase(at)) {
    reserve_for(at->second.size());
    if (at->first < front_) {  // all have to be checked, so they need no order
      std::ranges::for_each(at->second, take);
    } else {
      heap_.insert(heap_.end(), at->second.begin(), at->second.end());
      std::make_heap(heap_.begin(), heap_.end(), std::greater<>{});
    }
  }
  while (!heap_.empty() && heap_.front().time <= edge) {
    const Entry entry = heap_.front();
    take(entry);
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
    heap_.pop_back();
  }
  std::sort(expired.begin() + static_cast<std::ptrdiff_t>(first), expired.end());
  expired.erase(std::unique(expired.begin() + static_cast<std::ptrdiff_t>(first), expired.end()), expired.end());
}

void Window::undo() noexcept {
  // There is room: reserve_for has counted them.
  for (const Entry& entry : taken_) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
  }
  taken_.clear();
}

std::size_t Window::bytes() const noexcept {
  std::size_t entries = heap_.capacity() + taken_.capacity();
  for (const auto& [bucket, waiting] : buckets_) entries += waiting.capacity();
  return entries * sizeof(Entry);
}

}  // namespace deltamatch::graph
