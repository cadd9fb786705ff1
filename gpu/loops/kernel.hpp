// The matching kernel: what the host prepares for a launch, and what it reads afterwards. Internal to gpu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/cuda/host_device.hpp"
#include "gpu/loops/anchors.hpp"
#include "gpu/mirror/layout.hpp"

struct CUstream_st;

namespace deltamatch::gpu {

// --- Programs (plan::Program, flattened; indices are absolute) ---

struct Probe {
  std::uint16_t query_relation;
  std::uint8_t position;
  std::uint8_t inclusive;
};

/// A condition of induced matching: exactly `edges` data edges lead from the vertex at a position to the candidate. Their label
/// and direction do not matter. Programs with sums have no such conditions, since sums cannot see absent edges.
struct Joined {
  std::uint16_t query_relation;
  std::uint8_t position;
  std::uint8_t edges;
};

/// Depths are those of frames: 0 for the anchors, 1 for the loops right below them.
struct Node {
  std::uint32_t first_probe;
  std::uint32_t first_joined;
  std::uint32_t first_position;  ///< into positions: vertices to differ from, then to exceed, then to stay below
  std::uint8_t probes;
  std::uint8_t distinct;
  std::uint8_t above;
  std::uint8_t below;
  std::uint8_t joined;
  // For loops that read a set again which a loop above has found (gpu/program/set_plan.hpp):
  std::uint8_t base;        ///< depth whose set stands for the last probes; 0: none
  std::uint8_t rest;        ///< probes before those
  std::uint8_t uncut;       ///< its set is kept without the cuts of its order constraints
  std::uint8_t unmixed;     ///< it reads only lists of the base store, each with an id once: they may lie in the DemandRing
  std::uint32_t parent;     ///< node of the loop above
  std::uint32_t sets_read;  ///< bits of the depths whose sets this node or one below it reads
  std::uint32_t choose;
  std::uint32_t first_step;
  std::uint32_t end_step;

  /// Whether a loop reads the set of this node again. `depth` is the node's depth.
  DELTAMATCH_HOST_DEVICE bool keeps_set(std::uint32_t depth) const { return (sets_read >> depth & 1U) != 0; }
};

enum class StepKind : std::uint8_t { term, count, loop, edges, add, emit };

struct Step {
  StepKind kind;
  std::uint8_t tail;
  std::uint16_t unused;
  std::uint32_t node;
  std::int64_t coefficient;
};

/// A query edge, for listing matches and for counting parallel data edges.
struct QueryEdge {
  std::uint8_t source;  ///< positions
  std::uint8_t target;
  std::uint8_t inclusive;
  std::uint8_t unused;
  std::uint32_t query_relation;  ///< from source to target
};

struct Program {
  std::uint32_t first_step;
  std::uint32_t end_step;
  std::uint32_t first_closing;  ///< into probes
  std::uint32_t first_joined;   ///< for the anchor's head
  std::uint32_t first_edge;     ///< into edges
  std::uint32_t first_vertex;   ///< into positions: the position of each query vertex
  std::uint8_t closing;
  std::uint8_t vertices;
  std::uint8_t edges;
  std::uint8_t anchor_edge;
  std::uint8_t anchor_reversed;  ///< directed data only
  std::uint8_t anchor_above;
  std::uint8_t anchor_below;
  std::uint8_t ordered;
  std::uint8_t weighted;
  std::uint8_t plain;
  std::uint8_t distinct_edges;  ///< false only for homomorphism
  std::uint8_t pass;            ///< match::Pass
  std::uint8_t joined;
  std::uint8_t unmixed;  ///< so are the lists of its closing probes; see Node::unmixed
  std::uint8_t unused[2];
};

/// Anchors that a warp takes together.
struct Chunk {
  std::uint32_t program;
  std::uint32_t first;
  std::uint32_t count;  ///< 1 to 32
};

// --- Work that busy warps give to idle ones ---

inline constexpr std::uint32_t max_positions = 32;

/// One partial match with work that is left. The work is a range of its children under a node, or a range of steps.
struct Item {
  static constexpr std::uint32_t whole = 0xffffffffU;  ///< in place of a node: the range is of steps
  static constexpr std::uint32_t all = 0xffffffffU;    ///< as the end: its children have not been looked up yet
  std::uint32_t program;
  std::uint32_t node;
  std::uint32_t depth;  ///< of the partial match, which has depth + 2 positions
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t label;  ///< of the anchor
  std::uint32_t sets;   ///< bits of the depths with kept sets that the numbers of the children depend on
  long long weight;
  std::uint32_t vertices[max_positions];
};

/// Tickets for work. A warp without work takes a ticket and waits for the item of that number. Each item that is given gets the
/// next number.
///
/// So warps do not contend for an item, and `popped` - `pushed` warps wait for more. Once all warps wait, all work is done.
/// Each counter has a cache line of its own, since thousands of warps read them.
struct Queue {
  alignas(128) unsigned long long pushed;
  alignas(128) unsigned long long popped;
  alignas(128) unsigned int next_chunk;
  unsigned int unused;
  alignas(128) unsigned int stop;  ///< set by the host; in device memory, since thousands of reading warps would jam the bus
};

// --- Listed matches: pages in registered host memory, drained while the kernel runs ---

inline constexpr std::uint32_t page_words = 4096;  ///< the first two: program, words used

struct Pages {
  std::uint32_t* memory;             ///< page_words each; registered host memory
  volatile std::uint32_t* full;      ///< host memory: by ticket modulo pages, 1 + page
  volatile std::uint32_t* free;      ///< host memory: by ticket modulo pages, free_page of the ticket's lap
  unsigned long long* full_tickets;  ///< device memory
  unsigned long long* free_tickets;  ///< device memory
  std::uint32_t pages;
};

/// Encodes a free page for the tickets of one lap; never 0. The lap is the ticket divided by the number of pages.
///
/// If a warp is held up, another may wait at the same slot one lap later. It is never two laps later, since there are more
/// pages than warps. So one bit of the lap says which of the two may take the page.
[[nodiscard]] DELTAMATCH_HOST_DEVICE inline std::uint32_t free_page(std::uint32_t page, unsigned long long lap) {
  return (page + 1) << 1 | static_cast<std::uint32_t>(lap & 1);
}

/// What both kernels are given, this one and the one that counts with tables (gpu/tables/table_sums.hpp).
struct CommonLaunch {
  GraphView graph;
  const Probe* probes;
  const std::uint8_t* positions;
  const Anchor* anchors;
  Total* totals;  ///< by program
  Queue* queue;
  Counters* counters;
  std::uint32_t* accesses[stores];  ///< for measuring: look-ups by store and vertex; else null
};

struct Launch : CommonLaunch {
  const Program* programs;
  const Node* nodes;
  const Step* steps;
  const Joined* joined;
  const QueryEdge* edges;
  const Chunk* chunks;
  std::uint32_t chunk_count;
  std::uint32_t warps;
  std::uint32_t share_interval;  ///< clocks after which a busy warp looks for idle ones again
  std::uint32_t idle_least;      ///< work is given away only while more warps than this wait
  Item* items;                   ///< by ticket modulo their number
  std::uint32_t* item_sequence;  ///< by item: twice the number of times it was read, plus one while it waits to be read
  std::uint32_t item_capacity;   ///< a power of two, several times the number of warps
  Pages pages;
  std::uint32_t* frames;       ///< device memory for the warps' frames; null: they lie in shared memory
  std::uint32_t* sets;         ///< device memory for sets that loops read again; see WarpLayout::sets
  std::uint32_t set_capacity;  ///< ids that the sets of one depth may hold in a warp
};

/// What the largest nodes of a depth need.
struct DepthNeeds {
  std::uint32_t probes = 0;
  std::uint32_t distinct = 0;
  std::uint32_t joined = 0;
  bool loops = false;  ///< partial matches are kept
  bool sums = false;   ///< results are summed by partial match of the depth above
  bool sets = false;   ///< deeper loops read its sets again
};

/// Memory that each warp needs, in words, and the offsets of its parts by depth.
struct WarpLayout {
  std::uint32_t words;     ///< in all
  std::uint32_t depths;    ///< loops and counts on the longest path, and the anchors
  std::uint32_t weighted;  ///< lists may hold an id several times, so weights are stored
  std::uint32_t sets;      ///< depths that keep sets, in device memory; each has two pieces of Launch::set_capacity ids
  std::uint16_t frame[max_positions];
  std::uint16_t partials[max_positions];
  std::uint16_t products[max_positions];
  std::uint16_t weights[max_positions];
  std::uint16_t sums[max_positions];
  std::uint8_t set[max_positions];  ///< number of a depth among those

  [[nodiscard]] std::size_t set_words(std::uint32_t capacity) const { return std::size_t{2} * sets * capacity; }
};

/// Makes the layout from the needs by depth: 0 for the anchors, 1 for the nodes right below. Returns nothing if a warp would
/// need more words than can be addressed.
[[nodiscard]] std::optional<WarpLayout> make_layout(const std::vector<DepthNeeds>& needs, bool sums, bool weighted);

/// Which parts of the kernel a launch needs.
struct KernelKind {
  bool sums;   ///< programs have weights; otherwise every match counts once
  bool fills;  ///< the graph has a DemandRing
};

/// A launch on the current device for which all warps run at once.
struct Grid {
  unsigned blocks;
  unsigned threads;
  std::size_t shared_bytes;
  std::size_t frame_words;  ///< words of device memory for all warps' frames; 0: they fit into shared memory
  [[nodiscard]] unsigned warps() const { return blocks * threads / 32; }
};
[[nodiscard]] Grid fit_grid(const WarpLayout& layout, KernelKind kind);

/// Queues the kernel and does not wait.
void launch(const Launch& work, const WarpLayout& layout, const Grid& grid, KernelKind kind, CUstream_st* stream);

}  // namespace deltamatch::gpu
