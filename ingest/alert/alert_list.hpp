// The alerts of one batch for one sink.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deltamatch::ingest {

/// Alerts in the order in which they are delivered. Several lists may share the memory of their bytes: an alert that goes to
/// three sinks is held once. A list that is complete may be read by several threads.
class AlertList {
 public:
  /// Empty, with memory of its own.
  AlertList() : AlertList(std::make_shared<std::string>()) {}
  /// Empty; its alerts lie in `text`.
  explicit AlertList(std::shared_ptr<std::string> text) : text_(std::move(text)) {}

  /// Copies an alert's bytes behind those that are there.
  void add(std::string_view alert) {
    alerts_.push_back({text_->size(), alert.size()});
    text_->append(alert);
  }
  /// Takes in an alert that already lies in the text, at [at, at + length).
  void refer(std::size_t at, std::size_t length) { alerts_.push_back({at, length}); }
  /// Forgets all but the first `size` alerts. Their bytes stay in the text.
  void cut(std::size_t size) noexcept { alerts_.resize(size); }

  [[nodiscard]] std::size_t size() const noexcept { return alerts_.size(); }
  [[nodiscard]] bool empty() const noexcept { return alerts_.empty(); }
  /// alert_id tells its id.
  [[nodiscard]] std::string_view operator[](std::size_t index) const {
    const Place place = alerts_[index];
    return std::string_view(*text_).substr(place.at, place.length);
  }
  /// The memory that the list keeps alive, that of lists it shares with included.
  [[nodiscard]] std::size_t bytes() const noexcept { return text_->size() + alerts_.size() * sizeof(Place); }

 private:
  struct Place {
    std::size_t at;
    std::size_t length;
  };
  std::shared_ptr<std::string> text_;
  std::vector<Place> alerts_;
};

}  // namespace deltamatch::ingest
