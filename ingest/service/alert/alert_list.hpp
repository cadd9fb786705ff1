// The alerts of one batch for one sink.
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

/// How far a list was read. One that was copied may be gone on from again.
struct AlertCursor {
  std::uint64_t alerts = 0;  ///< read so far
  std::uint64_t place = 0;   ///< the source's own
};

/// Takes an alert; false ends the reading before it.
using TakeAlert = std::function<bool(std::string_view alert)>;

/// Alerts that are too many for memory, and are read each time anew.
class AlertSource {
 public:
  virtual ~AlertSource() = default;
  /// Hands out the alerts from the cursor on, in order, and moves it behind each one that was taken. Any thread, several at
  /// once, each with a cursor of its own. Throws Error if they cannot be read.
  virtual void read(AlertCursor& cursor, const TakeAlert& take) const = 0;
};

/// Alerts in the order in which they are delivered: in memory, or streamed from a source. Several lists may share the memory of
/// their bytes: an alert that goes to three sinks is held once. A list that is complete may be read by several threads.
class AlertList {
 public:
  /// Empty, with memory of its own.
  AlertList() : AlertList(std::make_shared<std::string>()) {}
  /// Empty; its alerts lie in `text`.
  explicit AlertList(std::shared_ptr<std::string> text) : text_(std::move(text)) {}
  /// So many alerts that `source` hands out. Nothing can be added.
  AlertList(std::shared_ptr<const AlertSource> source, std::uint64_t size) : source_(std::move(source)), streamed_(size) {}

  /// Copies an alert's bytes behind those that are there.
  void add(std::string_view alert) {
    alerts_.push_back({text_->size(), alert.size()});
    text_->append(alert);
  }
  /// Takes in an alert that already lies in the text, at [at, at + length).
  void refer(std::size_t at, std::size_t length) { alerts_.push_back({at, length}); }
  /// Forgets all but the first `size` alerts. Their bytes stay in the text.
  void cut(std::size_t size) noexcept { alerts_.resize(size); }

  [[nodiscard]] bool streamed() const noexcept { return source_ != nullptr; }
  [[nodiscard]] std::uint64_t size() const noexcept { return streamed() ? streamed_ : alerts_.size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// Of a list in memory. alert_id tells its id.
  [[nodiscard]] std::string_view operator[](std::size_t index) const {
    const Place place = alerts_[index];
    return std::string_view(*text_).substr(place.at, place.length);
  }
  /// Of any list: as AlertSource::read does.
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
  /// The memory that the list keeps alive, that of lists it shares with included.
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
