// The vertices and edges of a snapshot. They are insertions in the packed form (encoding/updates.hpp):
//
//   vertices   the source is the external id. They ascend by dense number
//   edges      source and target are the dense numbers of tail and head. They ascend by rank; if they have slots, by slot. Then
//              each is followed by its ordinal, as a signed difference to the one before
//
// Labels and symbols are their numbers in the snapshot's sections. Version 2 had forms of its own, which are only read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.hpp"
#include "deltamatch/attribute.hpp"
#include "deltamatch/id.hpp"
#include "encoding/updates.hpp"
#include "engine/storage/section_file.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::engine {

/// What an element has is valid until the next one is read.
struct StoredVertex {
  Id id{};
  LabelId label = 0;
  bool declared = false;
  std::span<const AttributeValue> values{};  ///< empty if all are NULL
};

struct StoredEdge {
  std::int64_t tail = 0;  ///< when it is read, perhaps no number of a vertex
  std::int64_t head = 0;
  LabelId label = 0;
  std::optional<Timestamp> time{};
  std::optional<Id> key{};
  std::span<const AttributeValue> values{};  ///< empty if all are NULL
};

/// An insertion whose labels are numbers.
struct StoredUpdate {
  Id source{};
  Id target{};
  LabelId label = 0;
  std::optional<LabelId> source_label{};
  std::optional<LabelId> target_label{};
  std::optional<Timestamp> time{};
  const Properties* properties = nullptr;
};

/// Fields that the elements of a section have.
struct ElementFields {
  std::uint64_t always = 0;
  std::uint64_t sometimes = 0;
  [[nodiscard]] constexpr bool allow(std::uint64_t fields) const noexcept {
    return (fields & always) == always && (fields & ~(always | sometimes)) == 0;
  }
};
[[nodiscard]] ElementFields fields_of_vertices(const graph::DataGraph& graph) noexcept;
[[nodiscard]] ElementFields fields_of_edges(const graph::DataGraph& graph) noexcept;

/// Whether a row has a value that is not NULL.
[[nodiscard]] bool has_values(const graph::AttributeTable& table, std::size_t row) noexcept;
/// The values of a row, empty if all are NULL. `values` holds them.
[[nodiscard]] std::span<const AttributeValue> stored_values(const graph::AttributeTable& table, std::size_t row,
                                                            std::vector<AttributeValue>& values);

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

/// Symbols as PackedForm takes them. Their texts are those of the graph.
struct SymbolNumbers {
  const graph::SymbolTable* symbols = nullptr;

  template <class Out>
  void put(Out& out, std::string_view text) {
    out.number(*symbols->find(text));
  }
  template <class In>
  std::string_view take(In& in) {
    const std::uint64_t number = in.number(UINT32_MAX);
    if (number >= symbols->size() && number > 0) in.refuse("a symbol that does not exist");
    const std::string_view text = symbols->text(static_cast<std::uint32_t>(number));
    if (text.empty() && number > 0) in.refuse("a symbol that does not exist");
    return text;
  }
};

[[nodiscard]] constexpr encoding::Head head_of_vertex(bool text_id, bool declared, bool values) noexcept {
  namespace field = encoding::field;
  return {UpdateKind::insert_vertex, field::source_label | (text_id ? field::text_source : 0) |
                                         (declared ? 0 : field::implied) | (values ? field::attributes : 0)};
}

/// Writes a section's vertices or edges.
class ElementWriter {
 public:
  ElementWriter(SectionWriter& out, const graph::DataGraph& graph) : out_(&out), form_({}, {&graph.symbols}) {}

  void begin_run(const encoding::Head& head, std::uint64_t count) { put_run(*out_, encoding::Run{head_ = head, count}); }
  void put(const StoredVertex& vertex) {
    const Properties properties{std::nullopt, vertex.values};
    put(StoredUpdate{.source = vertex.id, .source_label = vertex.label, .properties = &properties});
  }
  void put(const StoredEdge& edge) {
    const Properties properties{edge.key, edge.values};
    put(StoredUpdate{
        .source = edge.tail, .target = edge.head, .label = edge.label, .time = edge.time, .properties = &properties});
  }

 private:
  /// Flattened: a call for each element makes saving vertices with texts some per cent slower.
  [[gnu::flatten]] void put(const StoredUpdate& update) { put_fields(*out_, form_, head_, update); }

  SectionWriter* out_;
  encoding::Head head_;
  encoding::PackedForm<LabelNumbers, SymbolNumbers> form_;
};

/// Writes elements in runs. `next` returns the number of the first element from a number on, or `end`. `head_of` returns its
/// head, and `put` writes it.
template <class Next, class HeadOf, class Put>
void write_runs(ElementWriter& writer, std::uint64_t end, Next&& next, HeadOf&& head_of, Put&& put) {
  for (std::uint64_t first = next(0); first < end;) {
    const encoding::Head head = head_of(first);
    std::uint64_t count = 0;
    std::uint64_t last = first;
    for (; last < end && head_of(last) == head; last = next(last + 1)) ++count;
    writer.begin_run(head, count);
    for (; first < last; first = next(first + 1)) put(first);
  }
}

/// Reads a section's vertices or edges, in the form of the file's version. The members refuse what no snapshot holds.
class ElementReader {
 public:
  /// The section has `count` elements, with these fields, whose labels are below `labels`.
  ElementReader(SectionReader& in, const graph::DataGraph& graph, std::uint64_t count, std::uint64_t labels,
                const ElementFields& fields)
      : in_(&in),
        schema_(&graph.schema()),
        packed_(in.version() >= 3),
        left_(count),
        labels_{labels},
        fields_(fields),
        form_(labels_, {&graph.symbols}) {}

  StoredVertex vertex() {
    if (!packed_) return older_vertex();
    const StoredUpdate update = next(UpdateKind::insert_vertex);
    return {update.source, *update.source_label, !head_->has(encoding::field::implied), values(update, schema_->vertices)};
  }
  StoredEdge edge() {
    if (!packed_) return older_edge();
    const StoredUpdate update = next(UpdateKind::insert_edge);
    const std::optional<Id> key = update.properties == nullptr ? std::nullopt : update.properties->key;
    return {update.source.number(), update.target.number(), update.label, update.time, key, values(update, schema_->edges)};
  }

 private:
  StoredUpdate next(UpdateKind kind) {
    if (left_in_run_ == 0) begin_run(kind);
    --left_in_run_;
    StoredUpdate update;
    take_fields(*in_, form_, *head_, update);
    return update;
  }
  std::span<const AttributeValue> values(const StoredUpdate& update, std::span<const Attribute> attributes) const {
    if (update.properties == nullptr) return {};
    const std::span<const AttributeValue> values = update.properties->attributes;
    if (find_misfit(attributes, values)) in_->refuse("a value does not fit its attribute");
    return values;
  }
  void begin_run(UpdateKind kind);
  StoredVertex older_vertex();
  StoredEdge older_edge();

  SectionReader* in_;
  const Schema* schema_;
  bool packed_;
  std::uint64_t left_;  // elements that are in no run so far
  std::uint64_t left_in_run_ = 0;
  std::optional<encoding::Head> head_;  // of the run
  LabelNumbers labels_;
  ElementFields fields_;
  encoding::PackedForm<LabelNumbers, SymbolNumbers> form_;
  StoredEdge last_;  // of version 2, as is the next
  std::int64_t last_id_ = 0;
};

}  // namespace deltamatch::engine
