// The vertices and edges of a snapshot. They are insertions in the packed form (encoding/updates.hpp):
//
//   vertices   the source is the external id. They ascend by dense number
//   edges      source and target are the dense numbers of tail and head. They ascend by rank
//
// A label is its number in the snapshot's section of labels. Version 2 had forms of its own, which are only read.
#pragma once

#include <cstdint>
#include <optional>

#include "base/types.hpp"
#include "deltamatch/id.hpp"
#include "encoding/updates.hpp"
#include "engine/storage/section_file.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::engine {

struct StoredVertex {
  Id id{};  ///< when it is read, valid until the next one is
  LabelId label = 0;
  bool declared = false;
};

struct StoredEdge {
  std::int64_t tail = 0;  ///< when it is read, perhaps no number of a vertex
  std::int64_t head = 0;
  LabelId label = 0;
  Timestamp time = 0;
};

/// An insertion whose labels are numbers.
struct StoredUpdate {
  Id source{};
  Id target{};
  LabelId label = 0;
  std::optional<LabelId> source_label{};
  std::optional<LabelId> target_label{};
  std::optional<Timestamp> time{};
};

/// Labels as PackedForm takes them.
struct LabelNumbers {
  std::uint64_t count = 0;  ///< for a reader: a number must be below

  template <class Out>
  void put(Out& out, LabelId label) {
    out.number(label);
  }
  template <class In>
  LabelId take(In& in) {
    return static_cast<LabelId>(in.number(count - 1));
  }
};

/// The head of all edges of a snapshot.
[[nodiscard]] constexpr encoding::Head head_of_edges(bool timed) noexcept {
  return {UpdateKind::insert_edge, encoding::field::label | (timed ? encoding::field::time : 0)};
}
[[nodiscard]] constexpr encoding::Head head_of_vertex(bool text_id, bool declared) noexcept {
  namespace field = encoding::field;
  return {UpdateKind::insert_vertex,
          field::source_label | (text_id ? field::text_source : 0) | (declared ? 0 : field::implied)};
}

/// Writes a section's vertices or edges.
class ElementWriter {
 public:
  explicit ElementWriter(SectionWriter& out) : out_(&out) {}

  void begin_run(const encoding::Head& head, std::uint64_t count) { put_run(*out_, encoding::Run{head_ = head, count}); }
  void put(const StoredVertex& vertex) { put(StoredUpdate{.source = vertex.id, .source_label = vertex.label}); }
  void put(const StoredEdge& edge) {
    put(StoredUpdate{.source = edge.tail, .target = edge.head, .label = edge.label, .time = edge.time});
  }

 private:
  /// Flattened: a call for each element makes saving vertices with texts some per cent slower.
  [[gnu::flatten]] void put(const StoredUpdate& update) { put_fields(*out_, form_, head_, update); }

  SectionWriter* out_;
  encoding::Head head_;
  encoding::PackedForm<LabelNumbers> form_;
};

/// Reads a section's vertices or edges, in the form of the file's version. The members refuse what no snapshot holds.
class ElementReader {
 public:
  /// The section has `count` elements, whose labels are below `labels`.
  ElementReader(SectionReader& in, std::uint64_t count, std::uint64_t labels)
      : in_(&in), packed_(in.version() >= 3), left_(count), labels_{labels}, form_(labels_) {}

  StoredVertex vertex() {
    if (!packed_) return older_vertex();
    const StoredUpdate update = next(UpdateKind::insert_vertex);
    return {update.source, *update.source_label, !head_->has(encoding::field::implied)};
  }
  StoredEdge edge(bool timed) {
    if (!packed_) return older_edge(timed);
    const StoredUpdate update = next(UpdateKind::insert_edge);
    if (*head_ != head_of_edges(timed)) in_->refuse("an edge with fields that it cannot have");
    return {update.source.number(), update.target.number(), update.label, update.time.value_or(0)};
  }

 private:
  StoredUpdate next(UpdateKind kind) {
    if (left_in_run_ == 0) begin_run(kind);
    --left_in_run_;
    StoredUpdate update;
    take_fields(*in_, form_, *head_, update);
    return update;
  }
  void begin_run(UpdateKind kind);
  StoredVertex older_vertex();
  StoredEdge older_edge(bool timed);

  SectionReader* in_;
  bool packed_;
  std::uint64_t left_;  // elements that are in no run so far
  std::uint64_t left_in_run_ = 0;
  std::optional<encoding::Head> head_;  // of the run
  LabelNumbers labels_;
  encoding::PackedForm<LabelNumbers> form_;
  StoredEdge last_;  // of version 2, as is the next
  std::int64_t last_id_ = 0;
};

}  // namespace deltamatch::engine
