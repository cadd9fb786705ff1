// The alerts of one batch for one sink, in memory or streamed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deltamatch::ingest {

/// How far a list was read. A copy can be used to continue from the same place again.
struct AlertCursor {
  std::uint64_t alerts = 0;  ///< read so far
  std::uint64_t place = 0;   ///< for use by the source
};

/// Accepts an alert. If it returns false, reading ends before that alert.
using TakeAlert = std::function<bool(std::string_view alert)>;

/// Alerts that are too many for memory, so they are read again each time.
class AlertSource {
 public:
  virtual ~AlertSource() = default;
  /// Hands out the alerts from the cursor on, in order. Moves the cursor behind each alert that was accepted. Any number of
  /// threads may read at the same time, each with its own cursor. Throws Error if the alerts cannot be read.
  virtual void read(AlertCursor& cursor, const TakeAlert& take) const = 0;
};

/// Alerts in the order of delivery, in memory or streamed from a source. Several lists may share the memory of their bytes, so
/// an alert for three sinks is held once. Several threads may read a complete list.
class AlertList {
 public:
  /// An empty list with its own memory.
  AlertList() : AlertList(std::make_shared<std::string>()) {}
  /// An empty list. Its alerts will lie in `text`.
  explicit AlertList(std::shared_ptr<std::string> text) : text_(std::move(text)) {}
  /// A list of `size` alerts from `source`. Nothing can be added.
  AlertList(std::shared_ptr<const AlertSource> source, std::uint64_t size) : source_(std::move(source)), streamed_(size) {}

  /// Appends a copy of an alert's bytes to the text.
  void add(std::string_view alert) {
    alerts_.push_back({text_->size(), alert.size()});
    text_->append(alert);
  }
  /// Adds an alert that is already in the text, at [at, at + length).
  void refer(std::size_t at, std::size_t length) { alerts_.push_back({at, length}); }
  /// Drops all but the first `size` alerts. Their bytes stay in the text.
  void cut(std::size_t size) noexcept { alerts_.resize(size); }

  [[nodiscard]] bool streamed() const noexcept { return source_ != nullptr; }
  [[nodiscard]] std::uint64_t size() const noexcept { return streamed() ? streamed_ : alerts_.size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// An alert of a list in memory. alert_id returns its id.
  [[nodiscard]] std::string_view operator[](std::size_t index) const {
    const Place place = alerts_[index];
    return std::string_view(*text_).substr(place.at, place.length);
  }
  /// Reads any list, as AlertSource::read does.
  void read(AlertCursor& cursor, const TakeAlert& take) const {
    if (streamed()) return source_->read(cursor, take);
    for (; cursor.alerts < alerts_.size() && take((*this)[cursor.alerts]); ++cursor.alerts) {
    }
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    AlertCursor cursor;
    read(cursor, [&](std::string_view alert) {
      visit(alert);
      return true;
    });
  }
  /// The memory that the list keeps alive, including that of lists that share its text.
  [[nodiscard]] std::size_t bytes() const noexcept { return streamed() ? 0 : text_->size() + alerts_.size() * sizeof(Place); }

 private:
  struct Place {
    std::size_t at;
    std::size_t length;
  };
  std::shared_ptr<std::string> text_;
  std::vector<Place> alerts_;
  std::shared_ptr<const AlertSource> source_;
  std::uint64_t streamed_ = 0;
};

}  // namespace deltamatch::ingest
