// Counts which vertices are in most matches of each query.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/id.hpp"
#include "deltamatch/match.hpp"

namespace deltamatch::cli {

/// How often each of many texts came, in bounded memory. Exact until more than `capacity` texts have come. Then the rarer half
/// is dropped (Misra and Gries). So counts may be too small by `missing()`, which is at most 2 / capacity of all that came.
class BoundedCounts {
 public:
  explicit BoundedCounts(std::size_t capacity) : capacity_(capacity) {}

  void add(std::string_view text, std::uint64_t times = 1);
  void add_all(const BoundedCounts& other);
  void clear() noexcept;
  /// By how much each count may be too small. A text without a count may have come as often.
  [[nodiscard]] std::uint64_t missing() const noexcept { return missing_; }

  struct Entry {
    std::string_view text;
    std::uint64_t count;
  };
  /// The `most` texts with the largest counts; among equals the lesser text. O(capacity). Valid until the next change.
  [[nodiscard]] std::vector<Entry> top(std::size_t most) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
  };
  void drop_half();

  std::size_t capacity_;
  std::uint64_t missing_ = 0;
  boost::unordered_flat_map<std::string, std::uint64_t, Hash, std::equal_to<>> counts_;
};

/// A vertex that many matches have.
struct TopVertex {
  std::string name;  ///< of the query vertex
  std::string id;    ///< as text
  bool is_text = false;
  std::uint64_t matches = 0;
};
struct TopOfQuery {
  std::vector<TopVertex> vertices;  ///< most matches first; among equals by the order of the query's vertices, then by id
  std::uint64_t missing = 0;        ///< each may have up to this many matches more; 0: all is exact
};

/// Counts the vertices of new matches, and hands all matches on. Vertices inside paths have no name and are not counted.
class TopVertices final : public MatchSink {
 public:
  static constexpr std::size_t default_capacity = std::size_t{1} << 20;

  /// `next` may be null. `capacity`: the most vertices that are counted for each query, each under its name.
  explicit TopVertices(MatchSink* next, std::size_t capacity = default_capacity) : next_(next), capacity_(capacity) {}

  void begin(std::uint64_t batch) override;
  void write(const Match& match) override;
  void flush() override;
  void end(const ListingEnd& end) override;
  void commit() override;
  void abort() noexcept override;

  [[nodiscard]] TopOfQuery top(std::string_view query, std::size_t most) const;

 private:
  struct Counts {
    explicit Counts(std::size_t capacity) : kept(capacity), batch(capacity) {}
    std::vector<std::string> names;  // of the query's vertices
    BoundedCounts kept;
    BoundedCounts batch;  // of the batch at hand, which may be undone
  };
  Counts& of(std::string_view query);

  MatchSink* next_;
  std::size_t capacity_;
  std::map<std::string, Counts, std::less<>> queries_;
  std::string key_;
};

}  // namespace deltamatch::cli
