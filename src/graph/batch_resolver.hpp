// Turns a batch of updates, as the stream states them, into a net batch of the data graph.
//
// Updates are read in order: ids become dense numbers, labels are checked, vertices come and go. Then the last state of each
// edge counts. A record of which one update is refused is taken back. A vertex that takes another label (its first one, or one
// after it was deleted or has lost its edges) while settled edges know it by the one before continues under a fresh dense
// number: so before and after the batch each dense vertex has one label. All changes (dictionary, window) can be undone until
// `commit`. Labels get their numbers when they are first read; those of a record or batch that does not happen are freed as if
// it had never come, those that nothing bears any more when the batch is committed.
//
// What the dictionary says of a batch is looked up first; between resolve and commit or undo of the batch ahead that may be
// done for the next one (`anticipate`). It is out of date for the vertices that the batch ahead gives up when it ends, which
// are noted.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/stop.hpp"
#include "deltamatch/engine.hpp"
#include "graph/batch_look_up.hpp"
#include "graph/batch_netting.hpp"
#include "graph/data_graph.hpp"
#include "graph/window.hpp"

namespace deltamatch::graph {

/// When a record may give a vertex another label than the one it bears; one without a label may be given its first at any time.
enum class Relabelling : std::uint8_t {
  without_edges,  ///< once it has no edges
  undeclared,     ///< nor a label by a record that declared it: a graph that is told twice is told alike
};

class BatchResolver {
 public:
  /// All outlive the resolver; `window` may be null.
  BatchResolver(DataGraph& graph, Window* window, Workers& workers)
      : graph_(&graph), window_(window), workers_(&workers), netting_(graph, window, workers) {}

  /// How many different labels vertices may bear from the next batch on, and how many edges, the empty one aside.
  void limit_labels(std::uint64_t most) noexcept { label_limit_ = most; }

  /// Resolves against the settled graph. `watermark` is the one before the batch. Strong guarantee. Valid until the next call.
  /// Throws Stopped soon once `stop`, which may be null, is set.
  const ResolvedBatch& resolve(const UpdateBatch& batch, OnReject on_reject, std::optional<Timestamp> watermark,
                               Relabelling relabelling = Relabelling::without_edges, const StopFlag* stop = nullptr);
  /// The graph has settled the net batch: times are refreshed, vertices forgotten.
  void commit() noexcept;
  /// The batch does not happen.
  void undo() noexcept;

  /// Looks the ids of the next batch up, between resolve and commit or undo of this one; any thread. What is left undone when
  /// it is to stop, or throws, resolve does. No bearing on what any batch does, whichever comes next.
  void anticipate(const UpdateBatch& next, const std::stop_token& stop) { look_up_.run(*graph_, next, stop); }

 private:
  struct Mention {  // what a record says of a vertex
    Id id;
    VertexId vertex = invalid_vertex;
    std::string_view label;  // empty where none is stated
    bool fresh = false;      // it is not there, or bears another label
    bool conflict = false;
  };
  struct Undo {
    enum class Kind : std::uint8_t { created, rebound, labelled, declared, undeclared, deleted, revived } kind;
    VertexId vertex;
    std::uint32_t other;  // the fresh vertex, or the label before
  };
  struct Checkpoint {  // where a record begins
    std::size_t entries;
    std::size_t unknown_deletes;
    std::size_t undo;
    std::uint64_t absent_deletes;
    std::uint64_t self_loops;
    std::size_t vertex_labels;
    std::size_t edge_labels;
    bool rebound;
  };

  bool read_all(const UpdateBatch& batch, OnReject on_reject, std::optional<Timestamp> watermark);
  std::optional<Reject> read_record(std::size_t first, std::size_t last);
  void take_back(const Checkpoint& to);
  void see_times(std::span<const Update> record);
  void revert(const Undo& done) noexcept;
  std::optional<RejectReason> read(const Update& update, std::uint32_t index);
  std::optional<RejectReason> read_edge(const Update& update, std::uint32_t index);
  std::optional<RejectReason> read_vertex(const Update& update, std::uint32_t index);
  void read_retired(bool looked_up_ahead);
  [[nodiscard]] VertexId find(const Id& id, std::uint32_t hash, VertexId looked_up) const;
  Mention mention(const Id& id, VertexId vertex, const std::optional<std::string_view>& label);
  [[nodiscard]] bool settle(Mention& mention);
  VertexId become(const Mention& mention, LabelId label);
  VertexId earlier_self(VertexId fresh, LabelId label);
  void set_declared(VertexId vertex, bool declared);
  [[nodiscard]] std::optional<LabelId> known_label(std::string_view text);
  [[nodiscard]] std::optional<LabelId> intern(LabelTable& table, std::string_view text, std::vector<LabelId>& fresh) const;
  [[nodiscard]] std::optional<LabelId> edge_label(const Update& update, LabelId looked_up);
  void take_labels_back(std::size_t vertex_labels, std::size_t edge_labels) noexcept;
  void list_edge_labels();
  void give_back_labels() noexcept;
  void delete_vertex(VertexId vertex, std::uint32_t index);
  bool keeps_label(VertexId vertex);
  bool has_live_edges(VertexId vertex);
  std::vector<EdgeUpdate> states_of(VertexId vertex);
  const std::vector<std::uint32_t>& entries_of(VertexId vertex);
  [[nodiscard]] VertexId origin(VertexId vertex) const;
  [[nodiscard]] Edge origin(const Edge& edge) const;
  void list_forgettable();
  void reset() noexcept;
  [[nodiscard]] bool inserts(std::uint32_t index) const noexcept { return updates_[index].kind == UpdateKind::insert_edge; }

  DataGraph* graph_;
  Window* window_;
  Workers* workers_;
  std::span<const Update> updates_;
  Relabelling relabelling_ = Relabelling::without_edges;
  const StopFlag* stop_ = nullptr;
  ResolvedBatch result_;
  BatchLookUp look_up_;
  BatchNetting netting_;
  std::vector<VertexId> retiring_;               // what find led to before the batch ended, and does no more
  boost::unordered_flat_set<VertexId> retired_;  // as of the batch before, where this one was looked up ahead of its end
  std::vector<EdgeUpdate> entries_;
  std::vector<std::uint32_t> unknown_deletes_;
  std::vector<Undo> undo_;
  std::vector<VertexId> doomed_;       // released on commit
  std::vector<VertexId> forgettable_;  // released on commit where they have no edges
  bool irrevocable_ = false;           // what the record being read has done cannot be taken back alone
  boost::unordered_flat_set<VertexId> deleted_;
  BatchNetting::Origins origins_;
  boost::unordered_flat_map<VertexId, std::vector<std::uint32_t>> index_;  // entries by origin, built when first needed
  std::size_t indexed_ = 0;
  LabelId last_label_ = empty_label;  // of a vertex, that was looked up
  bool labels_hold_ = false;          // what was looked up of the labels of edges
  // That had no number before the batch, in the order in which they got one.
  std::vector<LabelId> fresh_vertex_labels_;
  std::vector<LabelId> fresh_edge_labels_;
  std::vector<LabelId> leaving_;  // labels of edges that are removed
  std::vector<bool> listed_;      // by label, whether it is in leaving_
  std::uint64_t label_limit_ = UINT64_MAX;
};

}  // namespace deltamatch::graph
