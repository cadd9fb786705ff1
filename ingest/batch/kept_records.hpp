// The bytes of the records of a batch, for dead letters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deltamatch::ingest {

/// Key and value of each update's record. A record is held once, however many updates it makes. Records of files have no keys.
class KeptRecords {
 public:
  /// Adds the record of the next update.
  void add(std::string_view key, std::string_view value) {
    const std::size_t begin = bytes_.size();
    bytes_.append(key).append(value);
    kept_.push_back({begin, begin + key.size(), bytes_.size()});
  }
  /// The next update is of the same record as the one before.
  void repeat() { kept_.push_back(kept_.back()); }
  /// Adds the records of other updates behind these.
  void append(const KeptRecords& other) {
    const std::size_t shift = bytes_.size();
    bytes_ += other.bytes_;
    for (const Kept& kept : other.kept_) kept_.push_back({kept.begin + shift, kept.key_end + shift, kept.end + shift});
  }
  /// The records of the updates from `first` on.
  [[nodiscard]] KeptRecords from(std::size_t first) const {
    KeptRecords rest;
    if (kept_.empty()) return rest;
    rest.bytes_ = bytes_;
    rest.kept_.assign(kept_.begin() + static_cast<std::ptrdiff_t>(first), kept_.end());
    return rest;
  }
  /// Keeps the memory.
  void clear() noexcept {
    bytes_.clear();
    kept_.clear();
  }

  /// Empty if no records are kept.
  [[nodiscard]] std::string_view key(std::size_t update) const {
    return kept_.empty() ? std::string_view() : between(kept_.at(update).begin, kept_.at(update).key_end);
  }
  [[nodiscard]] std::string_view value(std::size_t update) const {
    return kept_.empty() ? std::string_view() : between(kept_.at(update).key_end, kept_.at(update).end);
  }

 private:
  struct Kept {
    std::size_t begin;
    std::size_t key_end;
    std::size_t end;
  };
  [[nodiscard]] std::string_view between(std::size_t begin, std::size_t end) const {
    return std::string_view(bytes_).substr(begin, end - begin);
  }

  std::string bytes_;
  std::vector<Kept> kept_;  // by update
};

}  // namespace deltamatch::ingest
