// Turns a batch of updates of a stream into a net batch of the data graph.
//
// Updates are read in order: ids become dense numbers, labels are checked, vertices are created and deleted. Then the last
// state of each edge counts. If an update of a record is refused, the whole record is undone.
//
// A label here is what the dictionary has for a vertex: one number for all of the vertex's labels (deltamatch/labels.hpp). A
// record of a vertex may give it another one at any time, as may a record that states the first one. If settled edges know it
// by the label before, it continues under a fresh dense number. So each dense vertex has one label before and after the batch.
//
// All changes to the dictionary and the window can be undone until `commit`. Labels get their numbers when they are first read.
// If a record or batch is undone, its new labels are freed without a trace. When a batch is committed, labels that are not used
// any more are freed.
//
// The batch is first looked up in the dictionary. `anticipate` may do that for the next batch between resolve and commit or
// undo of the current one. The look-up is then out of date for vertices that the current batch releases when it ends. These are
// recorded.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/stop.hpp"
#include "deltamatch/batch.hpp"
#include "deltamatch/digest.hpp"
#include "deltamatch/id.hpp"
#include "deltamatch/update.hpp"
#include "graph/batch_look_up.hpp"
#include "graph/batch_netting.hpp"
#include "graph/data_graph.hpp"
#include "graph/deletions.hpp"
#include "graph/vertex_changes.hpp"
#include "graph/window.hpp"

namespace deltamatch::graph {

/// When a record may give a vertex another label than the one it has. A vertex without a label may get its first one at any
/// time. What states a part of a vertex's labels gives it no other label, unless it is the record of a vertex in a stream.
enum class Relabelling : std::uint8_t {
  stream,  ///< the record of a vertex at any time, that of an edge if the vertex has no edges
  /// Neither, if the vertex has edges or was declared by a record, so that giving a graph twice has the same effect as once. A
  /// record of a vertex may add to what edges have stated, and say which labels to add or to remove.
  whole_graph,
};

class BatchResolver {
 public:
  /// All arguments must outlive the resolver; `window` may be null.
  BatchResolver(DataGraph& graph, Window* window, Workers& workers)
      : graph_(&graph), window_(window), workers_(&workers), netting_(graph, window, workers) {}

  /// Limits the distinct vertex labels, and the distinct edge labels, from the next batch on. The empty label does not count.
  void limit_labels(std::uint64_t most) noexcept { label_limit_ = most; }

  /// Sets the window from the next batch on; null: none. It must outlive its use. `retains`: edges are kept for conditions.
  /// They then expire at the watermark before the batch, and an edge is late if it has expired at its own running watermark.
  void set_window(Window* window, bool retains) noexcept {
    window_ = window;
    retains_ = retains;
    netting_.set_window(window);
  }
  /// Says whether resolved batches have marks, from the next batch on.
  void mark_changes(bool marked) noexcept { marks_ = marked; }
  /// From now on, counts the insertions whose time lies below the running watermark by more than this. Nullopt: counts none. It
  /// needs marks.
  void count_late(std::optional<Timestamp> allowed) noexcept { allowed_lateness_ = allowed; }
  /// Says whether a batch expires edges as batches of one record each do, from the next batch on. An edge is then late if it
  /// has expired at its own running watermark. The batch is cut (ResolvedBatch::cut) before the first record
  /// - at which an edge expires that the batch inserts,
  /// - that inserts an edge anew which has expired in the batch, or
  /// - that names a vertex anew which has lost its last edge, and its label with it, in the batch.
  /// Only windows need it.
  void go_by_record(bool by_record) noexcept { by_record_ = by_record; }
  /// From now on, a batch is cut where the watermark would rise by more than this. The first record of the batch may move it by
  /// any time. 0: it is not cut for this.
  void limit_rise(Timestamp longest) noexcept { longest_rise_ = longest; }

  /// Lets records of edges take their place by time, from the next batch on; null: in the order in which they come. It must
  /// outlive its use. A record loses against a newer one of its edge. It is counted as superseded, and its edge stays as it is.
  void order_by_time(Deletions* deletions) noexcept { deletions_ = deletions; }

  /// Says whether matches depend on attributes of vertices, from the next batch on. If they do, a vertex whose attributes
  /// change continues under a fresh number, as one whose label changes does.
  void watch_vertex_attributes(bool watched) noexcept { watches_vertices_ = watched; }

  /// Resolves a batch against the settled graph. `watermark` is the one before the batch. Strong guarantee. The result is valid
  /// until the next call. Throws Stopped soon after `stop` is set (it may be null).
  const ResolvedBatch& resolve(const UpdateBatch& batch, OnReject on_reject, std::optional<Timestamp> watermark,
                               Relabelling relabelling = Relabelling::stream, const StopFlag* stop = nullptr);
  /// The vertices that the resolved batch creates, gives up or changes. Call it once the batch is staged. Vertices that are
  /// given up only because edges were kept long enough for conditions are left out. Valid until the batch is committed or
  /// undone. O(what the batch does to vertices).
  [[nodiscard]] VertexChanges vertex_changes() const;
  /// Call this after the graph has settled the net batch. Refreshes times and releases vertices.
  void commit() noexcept;
  /// The same. Returns the running digest after this batch, which has a number (batch_digest.cpp).
  Hash128 commit(const Hash128& before, std::uint64_t batch) noexcept;
  /// Undoes the batch.
  void undo() noexcept;

  /// Looks up the ids of the next batch. May be called by any thread between resolve and commit or undo of the current batch.
  /// If it stops or throws, resolve does the rest. It never changes results, whichever batch comes next.
  void anticipate(const UpdateBatch& next, const std::stop_token& stop) { look_up_.run(*graph_, next, stop); }

 private:
  struct Mention {  // a vertex as a record mentions it
    Id id;
    VertexId vertex = invalid_vertex;
    std::string_view label;  // empty if the record states none
    bool fresh = false;      // the vertex does not exist or has another label
    bool conflict = false;
  };
  struct EdgeHash {
    std::size_t operator()(const Edge& edge) const noexcept {
      const std::uint64_t ends = std::uint64_t{edge.tail} << 32 | edge.head;
      return (ends ^ std::uint64_t{edge.which} << 17) * 0x9e3779b97f4a7c15U;
    }
  };
  struct Undo {
    enum class Kind : std::uint8_t { created, rebound, labelled, declared, undeclared, deleted, revived, valued } kind;
    VertexId vertex;
    std::uint32_t other;  // the fresh vertex, the old label, or an index into old_values_
  };
  /// In the model `events`: the settled edges among which a deletion chooses, found before it is read.
  struct Candidates {
    Edge like{invalid_vertex, invalid_vertex, 0};  // ends and label; no edge is like the default
    std::span<const std::uint32_t> tags;
  };
  struct Checkpoint {  // the state where a record begins
    std::size_t entries;
    std::size_t unknown_deletes;
    std::size_t undo;
    std::uint64_t absent_deletes;
    std::uint64_t self_loops;
    std::uint64_t superseded;
    std::size_t vertex_labels;
    std::size_t edge_labels;
    EdgeTable::Mark edges;
    std::size_t deletions;
    bool rebound;
  };

  [[nodiscard]] Expiry expiry(std::optional<Timestamp> before) const noexcept {
    if (retains_) return {before, running_};
    return {result_.watermark, by_record_ ? std::span<const Timestamp>(running_) : std::span<const Timestamp>()};
  }
  struct Cut {
    std::size_t at;
    Timestamp mark;  // the running watermark before it
  };
  void cut_at(const Cut& cut);
  [[nodiscard]] Cut first_expiry(const UpdateBatch& batch, std::optional<Timestamp> watermark) const;
  [[nodiscard]] Cut first_rise(const UpdateBatch& batch, std::optional<Timestamp> watermark) const;
  template <class Ends>
  [[nodiscard]] static Cut first_cut(const UpdateBatch& batch, std::optional<Timestamp> watermark, Ends&& ends);
  [[nodiscard]] std::size_t conflict() const;
  [[nodiscard]] std::size_t named_after_death() const;
  /// What a thread found about a portion of the batch, with the records that begin in it.
  struct Portion {
    std::vector<std::uint32_t> others;  ///< where records begin that are not foreseen
    std::uint64_t loops = 0;            ///< foreseen updates of self-loops that the graph does not keep
    std::optional<Timestamp> newest;    ///< time of an update that is foreseen and does not run ahead
    bool deletes_vertex = false;
  };
  /// Where a reading of the whole batch stands.
  struct Reading {
    OnReject on_reject;
    bool marks;  ///< running watermarks are wanted
    bool sets_watermark;
    std::optional<std::span<const WatermarkStep>> steps;
    std::optional<Timestamp> risen;  ///< the running watermark
    std::size_t step = 0;            ///< the next of `steps`
    std::size_t passed = 0;          ///< number of rejects passed
    std::size_t records = 0;         ///< number of records visited
  };
  enum class Next : std::uint8_t { go_on, stop, again };
  void foresee();
  [[nodiscard]] bool is_foreseen(const Update& update, const BatchLookUp::Ends& ends) const;
  void forget_foreseen() noexcept;
  void fetch_edges(std::size_t begin, std::size_t end);
  void fetch_keyed(std::size_t step);
  void fetch_events(std::size_t step);
  [[nodiscard]] Next visit(std::size_t first, std::size_t last, Reading& reading);
  void note_running(std::size_t last, bool refused, Reading& reading);
  bool read_all(const UpdateBatch& batch, OnReject on_reject, std::optional<Timestamp> watermark);
  std::optional<Reject> read_record(std::size_t first, std::size_t last);
  void take_back(const Checkpoint& to);
  void see_times(std::span<const Update> record);
  void see_lateness(std::span<const Update> record);
  void revert(const Undo& done) noexcept;
  std::optional<RejectReason> read(const Update& update, std::uint32_t index);
  std::optional<RejectReason> read_edge(const Update& update, std::uint32_t index);
  std::optional<RejectReason> read_vertex(const Update& update, std::uint32_t index);
  [[nodiscard]] static bool may_be_one(const Update& update);
  void read_simple(const Update& update, std::uint32_t index, const Edge& like);
  void read_event(const Update& update, std::uint32_t index, const Edge& like);
  [[nodiscard]] std::optional<Edge> newest_event(const Edge& like, std::optional<Timestamp> time, std::uint32_t index);
  void read_keyed(const Update& update, std::uint32_t index, const Edge& like);
  std::optional<RejectReason> delete_keyed(const Update& update, std::uint32_t index);
  /// Whether a record takes its place by its time. It does not if its time lies far ahead, because then it may be wrong.
  [[nodiscard]] bool timely(const Update& update) const noexcept {
    return deletions_ != nullptr && update.time && !update.ahead;
  }
  [[nodiscard]] std::optional<Timestamp> live_time(const Edge& edge);
  void forget_live_times() noexcept;
  [[nodiscard]] bool passed(Timestamp time) const noexcept;
  [[nodiscard]] bool loses_to(Slot live, const Update& update) const;
  void net_keys();
  void mark_net();
  void mark_simple();
  Slot create_slot(const Update& update, const Edge& like);
  void drop_slot(const Edge& edge, std::uint32_t index);
  void index_events();
  void forget_events() noexcept;
  [[nodiscard]] Edge edge_of(Slot slot) const noexcept;
  void set_attributes(VertexId& vertex, std::span<const AttributeValue> values);
  void replace_values(VertexId vertex, std::span<const Word> words);
  VertexId rebind(VertexId vertex, LabelId label, bool deleted);
  void list_former(std::span<const VertexId> created, std::vector<VertexChanges::Former>& former) const;
  [[nodiscard]] std::vector<VertexId> ends_of_deleted() const;
  [[nodiscard]] std::uint32_t edges_after(VertexId vertex) const;
  void delete_unknown(std::uint32_t index);
  void read_retired(bool looked_up_ahead);
  [[nodiscard]] VertexId find(const Id& id, std::uint32_t hash, VertexId looked_up) const;
  Mention mention(const Id& id, VertexId vertex, const std::optional<std::string_view>& label, bool declares = false);
  [[nodiscard]] bool restates(Mention& mention, bool declares);
  std::optional<RejectReason> declare(const Update& update, VertexId known);
  [[nodiscard]] bool settle(Mention& mention);
  VertexId become(const Mention& mention, LabelId label);
  VertexId earlier_self(VertexId fresh, LabelId label, std::span<const Word> words);
  void set_declared(VertexId vertex, bool declared);
  [[nodiscard]] std::optional<LabelId> known_label(std::string_view text);
  [[nodiscard]] std::string_view label_text(VertexId vertex) const {
    return graph_->vertex_labels.text(graph_->dictionary.label(vertex));
  }
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
  [[nodiscard]] bool inserts(const EdgeUpdate& update) const noexcept {
    if (!graph_->edge_table) return updates_[update.index].kind == UpdateKind::insert_edge;
    return graph_->edge_table->is_created(update.edge.which) && !graph_->edge_table->is_dropped(update.edge.which);
  }

  DataGraph* graph_;
  Window* window_;
  Deletions* deletions_ = nullptr;
  Workers* workers_;
  std::span<const Update> updates_;
  std::optional<Timestamp> watermark_;  // before the batch
  Relabelling relabelling_ = Relabelling::stream;
  const StopFlag* stop_ = nullptr;
  ResolvedBatch result_;
  BatchLookUp look_up_;
  BatchNetting netting_;
  std::vector<VertexId> retiring_;               // vertices that find stops returning when this batch ends
  boost::unordered_flat_set<VertexId> retired_;  // retiring_ of the batch before, if this look-up began before its end
  std::vector<std::uint8_t> foreseen_;           // by update; these have no entries
  std::vector<Portion> portions_;
  bool foresees_ = false;   // some updates may be foreseen
  bool surprised_ = false;  // a record has done, or asked for, what foreseen updates rely on or would tell
  EdgeUpdates entries_;
  std::vector<std::uint32_t> unknown_deletes_;
  std::vector<Undo> undo_;
  std::vector<VertexId> doomed_;       // released on commit
  std::vector<VertexId> forgettable_;  // released on commit if they have no edges, as are those that lose their last one
  bool irrevocable_ = false;           // the record being read has made changes that cannot be undone alone
  boost::unordered_flat_set<VertexId> deleted_;
  BatchNetting::Origins origins_;
  boost::unordered_flat_map<VertexId, std::vector<std::uint32_t>> index_;  // entries by origin, built when first needed
  std::size_t indexed_ = 0;
  // In the model `simple`, by time: the edges that the batch has touched, by origin. Nullopt: it has no time, or does not live.
  boost::unordered_flat_map<Edge, std::optional<Timestamp>, EdgeHash> live_times_;
  std::size_t timed_entries_ = 0;  // that live_times_ covers
  // In the model `events`: edges that the batch has created, by ends (by origin) and label.
  boost::unordered_flat_map<Edge, std::vector<Slot>, EdgeHash> live_events_;
  bool events_indexed_ = false;
  std::array<Candidates, 16> candidates_;      // of the next updates, by the last bits of their index
  std::vector<std::uint32_t> key_hashes_;      // in the model `keyed`, by update
  std::vector<Word> words_;                    // work memory
  std::vector<std::vector<Word>> old_values_;  // of vertices, as undo_ names them
  bool watches_vertices_ = false;
  bool retains_ = false;
  std::optional<Timestamp> allowed_lateness_;
  bool marks_ = false;
  bool by_record_ = false;
  Timestamp longest_rise_ = 0;
  std::optional<Timestamp> cut_mark_;  // the watermark of a batch that is cut
  std::vector<Timestamp>
      running_;  // by update, the watermark after its record; if marks are wanted, edges expire, or time orders them
  LabelId last_label_ = empty_label;  // the vertex label that was looked up last
  bool labels_hold_ = false;          // looked-up numbers of edge labels are still valid
  // Labels that had no number before the batch, in the order in which they got one.
  std::vector<LabelId> fresh_vertex_labels_;
  std::vector<LabelId> fresh_edge_labels_;
  std::vector<LabelId> leaving_;  // labels of edges that are removed
  std::vector<bool> listed_;      // by label, whether it is in leaving_
  std::uint64_t label_limit_ = UINT64_MAX;
};

}  // namespace deltamatch::graph
