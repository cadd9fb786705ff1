// Updates of the data graph and the batches that hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/id.hpp"

namespace deltamatch {

enum class UpdateKind : std::uint8_t { insert_edge, delete_edge, insert_vertex, delete_vertex };

/// One update, as a record of a stream states it. The views point into memory that outlives the use of the update; an
/// UpdateBatch copies them. Absent labels: an edge without a label bears the empty label; a vertex label that is absent
/// (nullopt) says nothing, and a vertex first mentioned without one bears the empty label. An edge whose source is its target
/// says nothing of graph, labels or vertices: it is ignored (Ignored::self_loop).
struct Update {
  UpdateKind kind = UpdateKind::insert_edge;
  /// Whether it is of one record with the update before it in its batch. A record is applied or refused as a whole.
  bool continues = false;
  /// Its time lies far ahead of the stream's and does not move the watermark; the edge lives by it all the same.
  bool ahead = false;
  Id source;               ///< the vertex itself in vertex updates
  Id target;               ///< unused in vertex updates
  std::string_view label;  ///< edge label; unused in vertex updates
  std::optional<std::string_view> source_label;
  std::optional<std::string_view> target_label;
  std::optional<Timestamp> time;
};

/// Why a record was refused. Names (reject_name) are stable: they appear in counters and dead letters.
enum class RejectReason : std::uint8_t {
  malformed,       ///< not readable in the source's format
  wrong_arity,     ///< too few or too many fields
  bad_id,          ///< an id that is empty, too long, not a number where one is needed, or beyond 64 bits
  bad_time,        ///< a time that is not a number or beyond the range
  bad_operation,   ///< an operation sign or word that the format does not know
  too_long,        ///< a record beyond the length limit, or a label in it
  label_conflict,  ///< a vertex mentioned with a label other than the one it bears
  missing_time,    ///< no event time where a window needs one
  label_limit,     ///< a new label beyond the limit (Engine::limit_labels)
};
inline constexpr std::size_t reject_reason_count = 9;

[[nodiscard]] std::string_view reject_name(RejectReason reason) noexcept;

/// A refused record: the first of its updates that cannot be, by its position in the batch, and why.
struct Reject {
  std::size_t index;
  RejectReason reason;
};

/// The first update of the record that update `index` belongs to, and the one behind its last.
struct RecordBounds {
  std::size_t first;
  std::size_t last;
};
[[nodiscard]] RecordBounds record_around(std::span<const Update> updates, std::size_t index) noexcept;

/// A sequence of updates that is applied as a whole, in the order they were added. Owns copies of all text. Moving keeps
/// views valid; `clear` keeps the memory for the next batch.
class UpdateBatch {
 public:
  UpdateBatch();
  ~UpdateBatch();
  UpdateBatch(UpdateBatch&&) noexcept;
  UpdateBatch& operator=(UpdateBatch&&) noexcept;
  UpdateBatch(const UpdateBatch&) = delete;
  UpdateBatch& operator=(const UpdateBatch&) = delete;

  /// Copies the update's text. Amortised O(length of the text). Strong exception guarantee.
  void add(const Update& update);
  void clear() noexcept;

  /// The event time up to which the stream is complete behind this batch; it never goes back. Nothing: it is not complete up to
  /// any time yet. Sources whose parts run ahead of each other tell it; where it is not told it is the largest time of any
  /// update so far.
  void set_watermark(std::optional<Timestamp> watermark) noexcept {
    watermark_ = watermark;
    tells_watermark_ = true;
  }
  [[nodiscard]] std::optional<Timestamp> watermark() const noexcept { return watermark_; }
  [[nodiscard]] bool tells_watermark() const noexcept { return tells_watermark_; }

  /// Names what the batch holds: where two batches, or one at two times, bear the same number, the updates of the one are the
  /// first of the other's. Not 0. It moves along with the contents.
  [[nodiscard]] std::uint64_t edition() const noexcept { return edition_.number; }

  [[nodiscard]] std::span<const Update> updates() const noexcept { return updates_; }
  [[nodiscard]] std::size_t size() const noexcept { return updates_.size(); }
  [[nodiscard]] bool empty() const noexcept { return updates_.empty(); }

 private:
  class Text;
  struct Edition {
    Edition() noexcept;
    Edition(Edition&& other) noexcept : Edition() { std::swap(number, other.number); }
    Edition& operator=(Edition&& other) noexcept {
      number = std::exchange(other.number, Edition().number);
      return *this;
    }
    std::uint64_t number;
  };
  std::vector<Update> updates_;
  Edition edition_;
  std::optional<Timestamp> watermark_;
  bool tells_watermark_ = false;
  std::unique_ptr<Text> text_;
};

}  // namespace deltamatch
