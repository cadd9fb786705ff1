// How little can an update cost on one thread? A sketch of a store that does what an update needs and nothing else.
//
// It takes integer ids, undirected edges with a label, vertices with a label, and the three models of edges. It leaves out
// string ids, windows, order by time, attributes, deleted and relabelled vertices, undoing, threads and queries. A batch passes
// the steps of the engine:
//
// - look up: ids become dense numbers, and each end gets its relation, the pair of edge label and neighbour's label.
// - resolve: the last state of each edge counts. What is left is a list of changes, and edges with identity have slots.
// - stage: changes are grouped by vertex and relation, in order. Matchers would read this beside the lists of before.
// - settle: the lists change.
//
// Loops ask for memory some updates ahead, in a stage of their own for each step of the way there.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/hash_index.hpp"
#include "base/prefetch.hpp"
#include "base/types.hpp"
#include "deltamatch/attribute.hpp"
#include "deltamatch/update.hpp"
#include "update_floor_lists.hpp"

namespace deltamatch::update_floor {

using Slot = std::uint32_t;
inline constexpr std::uint32_t none = 0xffffffff;

inline std::uint64_t mix(std::uint64_t key) noexcept {
  key *= 0x9e3779b97f4a7c15U;
  return key ^ key >> 32;
}

/// Calls the steps for each index below `size`, each step some indexes behind the one before.
template <class... Steps>
void in_turn(std::size_t size, Steps&&... steps) {
  constexpr std::size_t distance = 8;
  for (std::size_t i = 0; i < size + distance * (sizeof...(steps) - 1); ++i) {
    std::size_t at = i;
    const auto call = [&](auto& step) {
      if (at < size) step(at);
      at -= distance;  // wraps before the first one, and is not below the size then
    };
    (call(steps), ...);
  }
}

/// Numbers and labels of vertices by id. Both stand beside the id, so that an id costs one cache line.
class Ids {
 public:
  struct Vertex {
    VertexId number = none;
    std::uint32_t label = 0;
  };

  void fetch(std::int64_t id) const noexcept { fetch_line(&places_[home(id)]); }
  [[nodiscard]] Vertex find(std::int64_t id) const noexcept { return places_[place_of(id)].vertex; }
  /// The vertex with this id, a new one if needed. Room must have been reserved.
  Vertex find_or_add(std::int64_t id, std::uint32_t label) noexcept {
    Place& place = places_[place_of(id)];
    if (place.vertex.number == none) place = {id, {size_++, label}};
    return place.vertex;
  }
  void reserve(std::size_t more) {
    if (4 * (size_ + more) <= 3 * places_.size()) return;
    std::vector<Place> old(std::bit_ceil(2 * (size_ + more)));
    old.swap(places_);
    for (const Place& place : old) {
      if (place.vertex.number != none) places_[place_of(place.id)] = place;
    }
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

 private:
  struct Place {
    std::int64_t id = 0;
    Vertex vertex;
  };
  [[nodiscard]] std::size_t home(std::int64_t id) const noexcept {
    return mix(static_cast<std::uint64_t>(id)) & (places_.size() - 1);
  }
  [[nodiscard]] std::size_t place_of(std::int64_t id) const noexcept {
    std::size_t place = home(id);
    while (places_[place].vertex.number != none && places_[place].id != id) place = (place + 1) & (places_.size() - 1);
    return place;
  }
  std::vector<Place> places_ = std::vector<Place>(16);
  std::uint32_t size_ = 0;
};

/// The numbers of texts. That of the empty one is 0.
class Labels {
 public:
  explicit Labels(std::size_t most) : most_(most) {}
  [[nodiscard]] std::uint32_t number(std::string_view text) {
    if (text == texts_[last_]) return last_;
    const auto at = std::ranges::find(texts_, text);
    last_ = static_cast<std::uint32_t>(at - texts_.begin());
    if (at == texts_.end()) texts_.emplace_back(text);
    if (texts_.size() > most_) throw std::length_error("this sketch of a store takes fewer labels");
    return last_;
  }

 private:
  std::size_t most_;
  std::vector<std::string> texts_ = {""};
  std::uint32_t last_ = 0;
};

/// The free slots as a tree of bits, 64 children a node. Each level takes one step to the least of them.
class FreeSlots {
 public:
  /// Makes sure that so many are free. Returns the number of all slots.
  std::size_t reserve(std::size_t wanted) {
    while (free_ < wanted) {
      const std::size_t first = slots_;
      slots_ = std::max<std::size_t>(64, 2 * slots_);
      for (std::size_t level = 0, words = slots_ / 64; words > 0; ++level, words = words == 1 ? 0 : (words + 63) / 64) {
        if (level == levels_.size()) levels_.emplace_back(1, level > 0 && levels_[level - 1][0] != 0 ? 1U : 0U);
        levels_[level].resize(words);
      }
      for (std::size_t slot = first; slot < slots_; ++slot) give_back(static_cast<Slot>(slot));
    }
    return slots_;
  }
  [[nodiscard]] Slot take() noexcept {
    std::size_t slot = 0;
    for (std::size_t k = levels_.size(); k-- > 0;)
      slot = 64 * slot + static_cast<std::size_t>(std::countr_zero(levels_[k][slot]));
    std::size_t at = slot;
    for (auto& level : levels_) {
      level[at / 64] &= ~(std::uint64_t{1} << at % 64);
      if (level[at / 64] != 0) break;
      at /= 64;
    }
    --free_;
    return static_cast<Slot>(slot);
  }
  void give_back(Slot slot) noexcept {
    std::size_t at = slot;
    for (auto& level : levels_) {
      const bool known = level[at / 64] != 0;
      level[at / 64] |= std::uint64_t{1} << at % 64;
      if (known) break;
      at /= 64;
    }
    ++free_;
  }

 private:
  std::vector<std::vector<std::uint64_t>> levels_;
  std::size_t slots_ = 0;
  std::size_t free_ = 0;
};

template <EdgeModel model>
class Store {
 public:
  static constexpr bool tagged = model != EdgeModel::simple;
  using Entry = std::conditional_t<tagged, std::uint64_t, std::uint32_t>;

  explicit Store(Limits limits = {}) : lists_(limits) {}

  /// The steps of a batch, in order.
  void look_up(std::span<const Update> updates);
  void resolve();
  void stage();
  void settle();

  [[nodiscard]] std::size_t edges() const noexcept { return edge_count_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return lists_.bytes() + edges_.size() * sizeof(Edge); }

  /// For the check: a list as it is after the batch, settled or not.
  [[nodiscard]] std::vector<Entry> list(VertexId vertex, Relation relation) const;
  [[nodiscard]] Ids::Vertex find(std::int64_t id) const noexcept { return ids_.find(id); }
  /// The key or time of an edge.
  [[nodiscard]] std::int64_t mark(Slot slot) const noexcept { return edges_[slot].mark; }

 private:
  /// The ends of an edge, the smaller number first, and the relation that the edge has in the list of each.
  struct Ends {
    VertexId tail, head;
    std::uint16_t tail_relation, head_relation;
    bool operator==(const Ends&) const = default;
  };
  struct Mention {  // by an update
    Ends ends;
    bool insert;
    std::int64_t mark;  // key or time
  };
  struct Edge {  // by slot
    Ends ends;
    std::int64_t mark;
    std::uint64_t ordinal;  // among all insertions, from 1; 0: deleted
  };
  struct Change {
    Ends ends;
    bool insert;
    Slot slot;
  };
  struct State {  // of an edge of the model `simple`
    Ends ends;
    bool before, after;
  };
  struct Version {  // of an edge with a key
    Mention last;
    Slot before, after;
  };
  struct Pending {  // an event that the batch inserts
    Mention mention;
    std::uint64_t ordinal;
    std::uint32_t previous;  // of the same ends
    bool alive;
  };
  struct Newest {  // of the pending events with these ends
    Ends ends;
    std::uint32_t pending;
  };
  struct Touched {  // a vertex
    VertexId vertex;
    std::uint32_t halves;     // their number, then where they end
    std::uint32_t first_run;  // up to that of the next vertex
  };
  struct Half {
    std::uint32_t list;  // relation, then whether it is inserted
    Entry entry;
    bool operator<(const Half& other) const noexcept { return list != other.list ? list < other.list : entry < other.entry; }
  };
  struct Run {  // of entries that a list gains or loses
    std::uint32_t list;
    std::uint32_t begin;  // up to that of the next run
  };

  [[nodiscard]] static Entry entry_of(VertexId neighbour, Slot slot) noexcept {
    if constexpr (tagged) return std::uint64_t{neighbour} << 32 | slot;
    return neighbour;
  }
  [[nodiscard]] static std::uint64_t hash_of(const Ends& ends) noexcept {
    return mix((std::uint64_t{ends.tail} << 32 | ends.head) + (std::uint64_t{ends.tail_relation} << 50));
  }
  [[nodiscard]] static std::uint32_t hash_of(std::int64_t key) noexcept {
    return static_cast<std::uint32_t>(mix(mix(static_cast<std::uint64_t>(key))) >> 32);
  }

  void mention(const Update& update);
  void resolve_simple();
  void resolve_keyed();
  void resolve_events();
  void delete_event(const Mention& mention);
  void settle_keys();

  /// The number of the item for these ends among `items`, or that of the next item, which must then be added.
  template <class Item>
  [[nodiscard]] std::uint32_t number_of(const std::vector<Item>& items, const Ends& ends) noexcept {
    std::size_t place = hash_of(ends) & (numbers_.size() - 1);
    for (; numbers_[place] != none; place = (place + 1) & (numbers_.size() - 1)) {
      if (items[numbers_[place]].ends == ends) return numbers_[place];
    }
    return numbers_[place] = static_cast<std::uint32_t>(items.size());
  }
  void clear_numbers() { numbers_.assign(std::bit_ceil(2 * mentions_.size() + 1), none); }

  /// Where an edge is searched: at the end with the smaller block.
  struct Search {
    VertexId vertex;
    Relation relation;
    VertexId neighbour;
  };
  [[nodiscard]] Search search_of(const Ends& ends) const noexcept {
    const auto size = [&](VertexId vertex) { return unsigned{lists_.row(vertex).tall} << 6 | lists_.row(vertex).size_class; };
    if (size(ends.tail) <= size(ends.head)) return {ends.tail, ends.tail_relation, ends.head};
    return {ends.head, ends.head_relation, ends.tail};
  }
  /// Calls resolve(number) for each mention. If searches(mention), what the search reads has been asked for.
  template <class Searches, class Resolve>
  void resolve_each(Searches&& searches, Resolve&& resolve) {
    const auto if_searched = [&](auto&& ask) {
      return [&, ask](std::size_t i) {
        if (searches(mentions_[i])) ask(mentions_[i].ends);
      };
    };
    in_turn(mentions_.size(), if_searched([&](const Ends& ends) {
              lists_.fetch_row(ends.tail);
              lists_.fetch_row(ends.head);
            }),
            if_searched([&](const Ends& ends) { lists_.fetch_block(search_of(ends).vertex); }),
            if_searched([&](const Ends& ends) {
              const Search search = search_of(ends);
              lists_.fetch_list(search.vertex, search.relation, entry_of(search.neighbour, 0), false);
            }),
            resolve);
  }
  void insert_edge(const Mention& mention, std::uint64_t ordinal, Slot slot) {
    edges_[slot] = {mention.ends, mention.mark, ordinal};
    changes_.push_back({mention.ends, true, slot});
  }
  void remove_edge(Slot slot) {
    changes_.push_back({edges_[slot].ends, false, slot});
    edges_[slot].ordinal = 0;
    freed_.push_back(slot);
  }

  Ids ids_;
  Labels vertex_labels_{256};
  Labels edge_labels_{127};
  Lists<Entry> lists_;
  HashIndex keys_;  // by key, the slot; while a batch is resolved also in_batch and the number of a version
  static constexpr std::uint32_t in_batch = 1U << 31;
  std::vector<Edge> edges_;
  FreeSlots free_slots_;
  std::uint64_t last_ordinal_ = 0;
  std::size_t edge_count_ = 0;
  // Of the batch:
  std::vector<Mention> mentions_;
  bool deletes_ = false;
  std::vector<std::uint32_t> numbers_;  // a hash table of what the batch names
  std::vector<State> states_;
  std::vector<Version> versions_;
  std::vector<Pending> pending_;
  std::vector<Newest> newest_;
  std::vector<Slot> freed_;
  std::vector<Change> changes_;
  std::vector<Touched> touched_;
  std::vector<Half> halves_;
  std::vector<Run> runs_;
  std::vector<Entry> entries_;  // of all runs
};

template <EdgeModel model>
void Store<model>::look_up(std::span<const Update> updates) {
  mentions_.clear();
  deletes_ = false;
  ids_.reserve(2 * updates.size());
  in_turn(
      updates.size(),
      [&](std::size_t i) {
        ids_.fetch(updates[i].source.number());
        ids_.fetch(updates[i].target.number());
      },
      [&](std::size_t i) { mention(updates[i]); });
  lists_.resize(ids_.size());
}

template <EdgeModel model>
void Store<model>::mention(const Update& update) {
  if (update.kind == UpdateKind::insert_vertex) {
    ids_.find_or_add(update.source.number(), vertex_labels_.number(update.source_label.value_or("")));
    return;
  }
  const bool loop = update.source.number() == update.target.number();
  const bool insert = update.kind == UpdateKind::insert_edge && !loop;
  std::int64_t mark = update.time.value_or(std::numeric_limits<std::int64_t>::min());
  if constexpr (model == EdgeModel::keyed) {
    mark = update.properties->key->number();
    if (!insert) mentions_.push_back({{}, false, mark});  // the key alone says which edge
    if (!insert) return;
  }
  if (loop) return;
  Ids::Vertex tail = insert ? ids_.find_or_add(update.source.number(), 0) : ids_.find(update.source.number());
  Ids::Vertex head = insert ? ids_.find_or_add(update.target.number(), 0) : ids_.find(update.target.number());
  if (tail.number == none || head.number == none) return;
  if (tail.number > head.number) std::swap(tail, head);
  const std::uint32_t label = edge_labels_.number(update.label) << 8;
  const auto relation = [label](Ids::Vertex neighbour) { return static_cast<std::uint16_t>(label | neighbour.label); };
  mentions_.push_back({{tail.number, head.number, relation(head), relation(tail)}, insert, mark});
  deletes_ = deletes_ || !insert;
}

template <EdgeModel model>
void Store<model>::resolve() {
  changes_.clear();
  if constexpr (tagged) edges_.resize(free_slots_.reserve(mentions_.size()));
  if constexpr (model == EdgeModel::simple) resolve_simple();
  if constexpr (model == EdgeModel::keyed) resolve_keyed();
  if constexpr (model == EdgeModel::events) resolve_events();
}

template <EdgeModel model>
void Store<model>::resolve_simple() {
  clear_numbers();
  states_.clear();
  const auto exists = [&](const Search& search) {
    bool found = false;
    lists_.visit(search.vertex, search.relation, search.neighbour, [&](Entry entry) {
      found = entry == search.neighbour;
      return false;
    });
    return found;
  };
  resolve_each([](const Mention&) { return true; },
               [&](std::size_t i) {
                 const Mention& mention = mentions_[i];
                 const std::uint32_t at = number_of(states_, mention.ends);
                 if (at == states_.size()) states_.push_back({mention.ends, exists(search_of(mention.ends)), false});
                 states_[at].after = mention.insert;
               });
  for (const State& state : states_) {
    if (state.before != state.after) changes_.push_back({state.ends, state.after, 0});
  }
}

/// From the first record of a key on, its entry leads to the versions before and after the batch.
template <EdgeModel model>
void Store<model>::resolve_keyed() {
  versions_.clear();
  keys_.reserve(edge_count_ + mentions_.size());
  const auto has_key = [&](std::uint32_t number, std::int64_t key) {
    return key == ((number & in_batch) != 0 ? versions_[number ^ in_batch].last.mark : edges_[number].mark);
  };
  const auto resolve = [&](std::size_t i) {
    const Mention& mention = mentions_[i];
    const std::uint32_t hash = hash_of(mention.mark);
    std::uint32_t* const known = keys_.locate(hash, [&](std::uint32_t number) { return has_key(number, mention.mark); });
    if (known != nullptr && (*known & in_batch) != 0) {
      versions_[*known ^ in_batch].last = mention;
      return;
    }
    if (known == nullptr && !mention.insert) return;
    const auto number = in_batch | static_cast<std::uint32_t>(versions_.size());
    versions_.push_back({mention, known == nullptr ? none : *known, none});
    if (known == nullptr) {
      keys_.insert(hash, number);
    } else {
      *known = number;
    }
  };
  in_turn(
      mentions_.size(), [&](std::size_t i) { keys_.prefetch(hash_of(mentions_[i].mark)); },
      [&](std::size_t i) {
        const std::uint32_t number = keys_.peek(hash_of(mentions_[i].mark));
        if (number < edges_.size()) fetch_line(&edges_[number]);
      },
      resolve);
  for (Version& version : versions_) {
    const bool stays = version.before != none && version.last.insert && edges_[version.before].ends == version.last.ends;
    version.after = stays ? version.before : none;
    if (stays) continue;
    if (version.before != none) remove_edge(version.before);
    if (version.last.insert) insert_edge(version.last, ++last_ordinal_, version.after = free_slots_.take());
  }
}

template <EdgeModel model>
void Store<model>::resolve_events() {
  pending_.clear();
  newest_.clear();
  if (deletes_) clear_numbers();
  resolve_each([](const Mention& mention) { return !mention.insert; },
               [&](std::size_t i) {
                 const Mention& mention = mentions_[i];
                 if (!mention.insert) return delete_event(mention);
                 pending_.push_back({mention, ++last_ordinal_, none, true});
                 if (!deletes_) return;
                 const std::uint32_t at = number_of(newest_, mention.ends);
                 if (at == newest_.size()) newest_.push_back({mention.ends, none});
                 pending_.back().previous = std::exchange(newest_[at].pending, static_cast<std::uint32_t>(pending_.size() - 1));
               });
  for (const Pending& event : pending_) {
    if (event.alive) insert_edge(event.mention, event.ordinal, free_slots_.take());
  }
}

/// Takes the newest event of these ends that lives at this point of the batch: by time, then by ordinal.
template <EdgeModel model>
void Store<model>::delete_event(const Mention& mention) {
  std::pair<std::int64_t, std::uint64_t> newest{std::numeric_limits<std::int64_t>::min(), 0};
  Slot slot = none;
  const Search search = search_of(mention.ends);
  lists_.visit(search.vertex, search.relation, entry_of(search.neighbour, 0), [&](std::uint64_t entry) {
    if (entry >> 32 != search.neighbour) return false;
    const Edge& edge = edges_[static_cast<Slot>(entry)];
    if (edge.ordinal == 0 || std::pair(edge.mark, edge.ordinal) < newest) return true;
    newest = {edge.mark, edge.ordinal};
    slot = static_cast<Slot>(entry);
    return true;
  });
  Pending* pending = nullptr;
  const std::uint32_t at = number_of(newest_, mention.ends);
  if (at == newest_.size()) newest_.push_back({mention.ends, none});
  for (std::uint32_t p = newest_[at].pending; p != none; p = pending_[p].previous) {
    if (!pending_[p].alive || std::pair(pending_[p].mention.mark, pending_[p].ordinal) < newest) continue;
    newest = {pending_[p].mention.mark, pending_[p].ordinal};
    pending = &pending_[p];
  }
  if (pending != nullptr) {
    pending->alive = false;
  } else if (slot != none) {
    remove_edge(slot);
  }
}

template <EdgeModel model>
void Store<model>::stage() {
  touched_.clear();
  runs_.clear();
  const auto count = [&](VertexId vertex) {
    auto& row = lists_.row(vertex);
    if (row.staged == 0) {
      touched_.push_back({vertex, 0, 0});
      row.staged = static_cast<std::uint32_t>(touched_.size()) & 0x1ffffff;
    }
    ++touched_[row.staged - 1].halves;
  };
  in_turn(
      changes_.size(),
      [&](std::size_t i) {
        lists_.fetch_row(changes_[i].ends.tail);
        lists_.fetch_row(changes_[i].ends.head);
      },
      [&](std::size_t i) {
        count(changes_[i].ends.tail);
        count(changes_[i].ends.head);
      });
  std::uint32_t sum = 0;
  for (Touched& touched : touched_) sum += std::exchange(touched.halves, sum);
  halves_.resize(sum);
  entries_.resize(sum);
  const auto put = [&](VertexId vertex, Relation relation, VertexId neighbour, const Change& change) {
    Touched& touched = touched_[lists_.row(vertex).staged - 1];
    halves_[touched.halves++] = {relation << 1 | (change.insert ? 1U : 0U), entry_of(neighbour, change.slot)};
  };
  for (const Change& change : changes_) {
    put(change.ends.tail, change.ends.tail_relation, change.ends.head, change);
    put(change.ends.head, change.ends.head_relation, change.ends.tail, change);
  }
  std::uint32_t at = 0;
  for (Touched& touched : touched_) {
    touched.first_run = static_cast<std::uint32_t>(runs_.size());
    if (touched.halves - at > 1) std::sort(halves_.data() + at, halves_.data() + touched.halves);
    std::uint32_t list = none;
    for (; at < touched.halves; ++at) {
      entries_[at] = halves_[at].entry;
      if (halves_[at].list != list) runs_.push_back({list = halves_[at].list, at});
    }
  }
  touched_.push_back({none, sum, static_cast<std::uint32_t>(runs_.size())});
  runs_.push_back({none, sum});
}

template <EdgeModel model>
void Store<model>::settle() {
  const auto for_each_entry = [&](std::size_t i, auto&& take) {  // until it returns false
    for (std::uint32_t r = touched_[i].first_run; r < touched_[i + 1].first_run; ++r) {
      for (std::uint32_t e = runs_[r].begin; e < runs_[r + 1].begin; ++e) {
        if (!take(touched_[i].vertex, runs_[r].list, entries_[e])) return;
      }
    }
  };
  in_turn(
      touched_.size() - 1, [&](std::size_t i) { lists_.fetch_row(touched_[i].vertex); },
      [&](std::size_t i) { lists_.fetch_block(touched_[i].vertex); },
      [&](std::size_t i) {
        for_each_entry(i, [&](VertexId vertex, std::uint32_t list, Entry entry) {
          lists_.fetch_list(vertex, list >> 1, entry, true);
          return lists_.row(vertex).tall != 0;  // in a flat block it has asked for what follows, too
        });
      },
      [&](std::size_t i) {
        lists_.row(touched_[i].vertex).staged = 0;
        for_each_entry(i, [&](VertexId vertex, std::uint32_t list, Entry entry) {
          if (list % 2 != 0) {
            lists_.insert(vertex, list >> 1, entry);
          } else {
            lists_.erase(vertex, list >> 1, entry);
          }
          return true;
        });
      });
  for (const Change& change : changes_) edge_count_ = change.insert ? edge_count_ + 1 : edge_count_ - 1;
  for (const Slot slot : freed_) free_slots_.give_back(slot);
  freed_.clear();
  if constexpr (model == EdgeModel::keyed) settle_keys();
}

template <EdgeModel model>
void Store<model>::settle_keys() {
  for (std::uint32_t v = 0; v < versions_.size(); ++v) {
    const std::uint32_t hash = hash_of(versions_[v].last.mark);
    if (versions_[v].after == none) {
      keys_.erase(hash, in_batch | v);
    } else {
      *keys_.locate(hash, [v](std::uint32_t number) { return number == (in_batch | v); }) = versions_[v].after;
    }
  }
}

template <EdgeModel model>
auto Store<model>::list(VertexId vertex, Relation relation) const -> std::vector<Entry> {
  std::vector<Entry> list;
  lists_.visit(vertex, relation, 0, [&](Entry entry) {
    list.push_back(entry);
    return true;
  });
  if (lists_.row(vertex).staged == 0) return list;
  const Touched* const touched = &touched_[lists_.row(vertex).staged - 1];
  for (std::uint32_t r = touched[0].first_run; r < touched[1].first_run; ++r) {
    if (runs_[r].list >> 1 != relation) continue;
    const std::span run(entries_.data() + runs_[r].begin, entries_.data() + runs_[r + 1].begin);
    std::vector<Entry> merged;
    if (runs_[r].list % 2 != 0) {
      std::ranges::set_union(list, run, std::back_inserter(merged));
    } else {
      std::ranges::set_difference(list, run, std::back_inserter(merged));
    }
    list = std::move(merged);
  }
  return list;
}

}  // namespace deltamatch::update_floor
