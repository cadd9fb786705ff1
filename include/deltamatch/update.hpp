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

#include "deltamatch/attribute.hpp"
#include "deltamatch/id.hpp"

namespace deltamatch {

enum class UpdateKind : std::uint8_t { insert_edge, delete_edge, insert_vertex, delete_vertex };

/// One update of a stream's record. The views point into memory that must outlive the use of the update; an UpdateBatch copies
/// it. Labels may be absent:
/// - An edge without a label has the empty label.
/// - An absent vertex label (nullopt) leaves the labels of a known vertex as they are. A new vertex gets none.
///
/// A vertex label may be several labels (deltamatch/labels.hpp). An update of a vertex sets the vertex's labels. That of an
/// edge states them: a part of them is enough.
///
/// An insertion makes the vertices that it names, if they do not exist. A vertex lives until it is deleted, with edges or
/// without. Under a window it is forgotten with its last edge, unless an update of the vertex itself has named it.
///
/// Unless the graph keeps self-loops, an edge from a vertex to itself is ignored (Ignored::self_loop). It then changes neither
/// the graph nor labels nor vertices.
struct Update {
  UpdateKind kind = UpdateKind::insert_edge;
  /// Whether this update belongs to the same record as the update before it. A record is applied or refused as a whole.
  bool continues = false;
  /// The time lies far ahead of the stream's, so it does not move the watermark. The window still uses it for this edge.
  /// Without this, one wrong time far ahead moves the watermark there for good. All edges of before expire, or are too old for
  /// WITHIN, and the records that follow with right times are late. The engine does not judge times, so whoever makes updates
  /// sets this.
  bool ahead = false;
  /// A deletion that names its edge by its key alone (EdgeModel::keyed). Source, target and all labels say nothing then.
  bool by_key = false;
  Id source{};               ///< in a vertex update, the vertex itself
  Id target{};               ///< unused in vertex updates
  std::string_view label{};  ///< edge label; with insert_vertex, labels to add
  std::optional<std::string_view> source_label{};
  std::optional<std::string_view> target_label{};  ///< with insert_vertex, labels to remove
  std::optional<Timestamp> time{};
  /// Key and attributes, or null for none. Of an edge, or with insert_vertex the vertex's attributes. They must live until
  /// UpdateBatch::add returns, which copies them.
  const Properties* properties = nullptr;

  /// Whether an insertion of a vertex adds or removes labels, after it has set those of `source_label`, if any.
  [[nodiscard]] bool changes_labels() const noexcept { return !label.empty() || target_label.has_value(); }
  [[nodiscard]] std::optional<Id> key() const { return properties == nullptr ? std::nullopt : properties->key; }
};

/// Why a record was refused. Names (reject_name) are stable: they appear in counters and dead letters. Codecs refuse what they
/// cannot read. The engine refuses for the reasons marked with (E): it checks neither the lengths of ids and labels nor times.
enum class RejectReason : std::uint8_t {
  malformed,       ///< not readable in the source's format
  wrong_arity,     ///< too few or too many fields
  bad_id,          ///< an id that is empty, too long, beyond 64 bits, or not a number although one is needed
  bad_time,        ///< a time that is not a number or is out of range
  bad_operation,   ///< an operation sign or word that the format does not define; (E) no UpdateKind
  too_long,        ///< a record or a label in it exceeds the length limit
  label_conflict,  ///< (E) a vertex has another label than the one given
  missing_time,    ///< (E) no event time although the window needs one
  label_limit,     ///< (E) a new label would exceed the limit (Engine::limit_labels)
  missing_key,     ///< (E) no key although the edges have keys (EdgeModel::keyed)
  bad_value,       ///< (E) a value that does not fit the type of its attribute, or a symbol of more than 1,024 bytes
};
inline constexpr std::size_t reject_reason_count = 11;

[[nodiscard]] std::string_view reject_name(RejectReason reason) noexcept;

/// A refused record. `index` is the position in the batch of its first update that cannot be applied.
struct Reject {
  std::size_t index{};
  RejectReason reason{};
};

/// The range of updates that form one record: `first` is included, `last` is one past the end.
struct RecordBounds {
  std::size_t first{};
  std::size_t last{};
};
[[nodiscard]] RecordBounds record_around(std::span<const Update> updates, std::size_t index) noexcept;

/// A rise of the running watermark: with the record of update `first`, the stream is complete up to `time`.
struct WatermarkStep {
  std::size_t first{};
  Timestamp time{};
  friend bool operator==(const WatermarkStep&, const WatermarkStep&) = default;
};

/// A sequence of updates that is applied as a whole, in the order in which they were added. Owns copies of all text. Moving a
/// batch keeps its views valid. `clear` keeps the memory for the next batch.
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
  /// Drops the first `count` updates. What follows keeps its watermark and its steps. O(steps). The text stays until `clear`.
  void drop_first(std::size_t count) noexcept;

  /// Sets the event time up to which the stream is complete after this batch. It never goes back. Nullopt: no such time is
  /// known yet. Sources set it if their parts run ahead of each other. If it is not set, it is the largest time of any update
  /// so far.
  void set_watermark(std::optional<Timestamp> watermark) noexcept {
    watermark_ = watermark;
    sets_watermark_ = true;
  }
  [[nodiscard]] std::optional<Timestamp> watermark() const noexcept { return watermark_; }
  [[nodiscard]] bool sets_watermark() const noexcept { return sets_watermark_; }
  /// Says how the watermark rises within the batch, for sources that set it. Steps ascend in both members, up to the batch's
  /// watermark. Patterns with WITHIN heed them. If they are not set, the watermark rises with the times of the records.
  void set_steps(std::vector<WatermarkStep> steps);
  [[nodiscard]] std::optional<std::span<const WatermarkStep>> steps() const noexcept;

  /// A number for the batch's contents, never 0. If two batches have the same number, one begins with all updates of the other.
  /// The same holds for one batch at two times. The number moves along with the contents.
  [[nodiscard]] std::uint64_t edition() const noexcept { return edition_.number; }

  [[nodiscard]] std::span<const Update> updates() const noexcept { return std::span(updates_).subspan(dropped_.count); }
  [[nodiscard]] std::size_t size() const noexcept { return updates_.size() - dropped_.count; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

 private:
  class Text;  // and the steps, so that batches without them stay small
  struct Edition {
    Edition() noexcept;
    Edition(Edition&& other) noexcept : Edition() { std::swap(number, other.number); }
    Edition& operator=(Edition&& other) noexcept {
      number = std::exchange(other.number, Edition().number);
      return *this;
    }
    std::uint64_t number;
  };
  struct Dropped {
    Dropped() noexcept = default;
    Dropped(Dropped&& other) noexcept : count(std::exchange(other.count, 0)) {}
    Dropped& operator=(Dropped&& other) noexcept {
      count = std::exchange(other.count, 0);
      return *this;
    }
    std::size_t count = 0;
  };
  std::vector<Update> updates_;
  Dropped dropped_;
  Edition edition_;
  std::optional<Timestamp> watermark_;
  bool sets_watermark_ = false;
  std::unique_ptr<Text> text_;
};

}  // namespace deltamatch
