// One pass over what a batch changed, before it is committed, and over what it set free, after. Arrays are hashed as they lie
// in memory. All else goes through a small buffer, word by word. Nothing is allocated, so it cannot fail.
#include "graph/batch_digest.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "graph/batch_resolver.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace deltamatch::graph {
namespace {

static_assert(std::endian::native == std::endian::little, "digests hash arrays as little-endian bytes");
static_assert(sizeof(Edge) == 3 * sizeof(std::uint32_t) && std::is_trivially_copyable_v<Edge>);

class Hasher {
 public:
  Hasher() noexcept { XXH3_128bits_reset(&state_); }

  void number(std::uint64_t value) noexcept {
    if (used_ == buffer_.size()) flush();
    buffer_[used_++] = value;
  }
  void text(std::string_view text) noexcept {
    number(text.size());
    std::size_t at = 0;
    for (; at + sizeof(std::uint64_t) <= text.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + at, sizeof word);
      number(word);
    }
    if (at == text.size()) return;
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, text.size() - at);
    number(word);
  }
  void id(const Id& id) noexcept {
    number(id.is_text() ? 1 : 0);
    id.is_text() ? text(id.text()) : number(static_cast<std::uint64_t>(id.number()));
  }
  void time(const std::optional<Timestamp>& time) noexcept {
    number(time ? 1 : 0);
    number(static_cast<std::uint64_t>(time.value_or(0)));
  }
  void edge(const Edge& edge) noexcept {
    number(std::uint64_t{edge.tail} << 32 | edge.head);
    number(edge.which);
  }
  template <class T>
  void array(const std::vector<T>& values) noexcept {
    number(values.size());
    flush();
    if (!values.empty()) XXH3_128bits_update(&state_, values.data(), values.size() * sizeof(T));
  }
  [[nodiscard]] Hash128 hash() noexcept {
    flush();
    const XXH128_hash_t sum = XXH3_128bits_digest(&state_);
    return {sum.high64, sum.low64};
  }

 private:
  void flush() noexcept {
    if (used_ > 0) XXH3_128bits_update(&state_, buffer_.data(), used_ * sizeof(std::uint64_t));
    used_ = 0;
  }

  XXH3_state_t state_;
  std::array<std::uint64_t, 512> buffer_;
  std::size_t used_ = 0;
};

/// The values of a row: which there are, then each. A symbol is its number and its text.
void put_values(Hasher& out, const AttributeTable& table, std::span<const Attribute> attributes, const SymbolTable& symbols,
                std::size_t row) noexcept {
  std::uint64_t known = 0;
  for (std::size_t a = 0; a < attributes.size(); ++a) {
    known = known << 1 | (table.word(row, a) ? 1 : 0);
    if (a % 64 == 63 || a + 1 == attributes.size()) out.number(std::exchange(known, 0));
  }
  for (std::size_t a = 0; a < attributes.size(); ++a) {
    const Word word = table.word(row, a);
    if (!word) continue;
    out.number(static_cast<std::uint64_t>(*word));
    if (attributes[a].type.kind == AttributeType::Kind::symbol) out.text(symbols.text(static_cast<std::uint32_t>(*word)));
  }
}

void put_slot(Hasher& out, const DataGraph& graph, Slot slot) noexcept {
  const EdgeTable& table = *graph.edge_table;
  out.number(std::uint64_t{slot} << 32 | table.label(slot));
  out.number(table.ordinal(slot));
  out.number(static_cast<std::uint64_t>(table.time(slot).value_or(INT64_MIN)));  // no edge has this time
  if (table.keyed()) out.id(table.external_key(slot));
  put_values(out, table.values(), graph.schema().edges, graph.symbols, slot);
}

void put_labels(Hasher& out, const LabelTable& labels) noexcept {
  out.number(labels.size());
  for (LabelId label = 1; label < labels.size(); ++label) out.text(labels.text(label));
}

}  // namespace

Hash128 BatchResolver::commit(const Hash128& before, std::uint64_t batch) noexcept {
  const DataGraph& graph = *graph_;
  Hasher out;
  out.number(before.high);
  out.number(before.low);
  out.number(batch);
  out.time(result_.watermark);
  out.array(result_.net.removed);
  out.array(result_.net.inserted);
  out.array(result_.net.inserted_times);
  const std::span<const Refresh> refreshes = netting_.refreshes();
  out.number(refreshes.size());
  for (const Refresh& refresh : refreshes) {
    out.edge(refresh.edge);
    out.number(static_cast<std::uint64_t>(refresh.time));
  }
  const auto put_fresh = [&](const LabelTable& labels, std::span<const LabelId> fresh) {
    out.number(fresh.size());
    for (const LabelId label : fresh) {
      out.number(label);
      out.text(labels.text(label));
    }
  };
  put_fresh(graph.vertex_labels, fresh_vertex_labels_);
  put_fresh(graph.edge_labels, fresh_edge_labels_);
  out.number(undo_.size());
  for (const Undo& done : undo_) {
    const bool fresh = done.kind == Undo::Kind::created || done.kind == Undo::Kind::rebound;
    out.number(std::uint64_t{static_cast<std::uint8_t>(done.kind)} << 32 | done.vertex);
    const VertexId vertex = fresh ? done.other : done.vertex;
    if (fresh || done.kind == Undo::Kind::labelled) out.number(std::uint64_t{vertex} << 32 | graph.dictionary.label(vertex));
    if (done.kind == Undo::Kind::created) out.id(graph.dictionary.external(vertex));
    if (done.kind == Undo::Kind::valued) put_values(out, graph.vertex_values, graph.schema().vertices, graph.symbols, vertex);
  }
  if (graph.edge_table) {
    const std::span<const Slot> created = graph.edge_table->created();
    out.number(created.size());
    for (const Slot slot : created) put_slot(out, graph, slot);
  }
  if (deletions_ != nullptr) {
    deletions_->for_each_change(window_, result_.watermark, [&](std::string_view name, std::span<const Timestamp> times) {
      out.text(name);
      out.number(times.size());
      for (const Timestamp time : times) out.number(static_cast<std::uint64_t>(time));
    });
  }
  commit();
  // The order in which vertices are released depends on refused records, so a sum stands for their set.
  std::uint64_t released = 0;
  for (const VertexId vertex : retiring_) released += XXH3_64bits(&vertex, sizeof vertex);
  out.number(retiring_.size());
  out.number(released);
  for (const std::size_t count :
       {graph.dictionary.size(), graph.vertex_labels.size(), graph.vertex_labels.count(), graph.edge_labels.size(),
        graph.edge_labels.count(), graph.symbols.size(), graph.symbols.count(), static_cast<std::size_t>(graph.edges())}) {
    out.number(count);
  }
  if (graph.edge_table) out.number(graph.edge_table->last_ordinal());
  return out.hash();
}

Hash128 numbering_hash(const DataGraph& graph) noexcept {
  Hasher out;
  put_labels(out, graph.vertex_labels);
  put_labels(out, graph.edge_labels);
  out.number(graph.symbols.size());
  for (std::uint32_t symbol = 1; symbol < graph.symbols.size(); ++symbol) out.text(graph.symbols.text(symbol));
  const Dictionary& dictionary = graph.dictionary;
  out.number(dictionary.size());
  for (VertexId vertex = 0; vertex < dictionary.capacity(); ++vertex) {
    if (!dictionary.alive(vertex)) continue;
    out.number(vertex);
    out.id(dictionary.external(vertex));
    out.number(std::uint64_t{dictionary.label(vertex)} << 1 | (dictionary.declared(vertex) ? 1 : 0));
    put_values(out, graph.vertex_values, graph.schema().vertices, graph.symbols, vertex);
  }
  out.number(graph.edges());
  if (!graph.edge_table) return out.hash();
  const EdgeTable& table = *graph.edge_table;
  out.number(table.last_ordinal());
  for (std::size_t number = 0; number < table.slots(); ++number) {
    const auto slot = static_cast<Slot>(number);
    if (!table.live(slot)) continue;
    out.edge({table.tail(slot), table.head(slot), slot});
    put_slot(out, graph, slot);
  }
  return out.hash();
}

}  // namespace deltamatch::graph
