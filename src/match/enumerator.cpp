#include "match/enumerator.hpp"

#include <algorithm>
#include <limits>

#include "match/induced.hpp"
#include "match/programs.hpp"
#include "plan/condition_steps.hpp"

namespace deltamatch::match {

namespace {

// The work of a run before it gives the rest away, in lists and last vertices. So threads spend more time on matching than on
// sharing.
constexpr std::uint64_t least_done = 1 << 13;

}  // namespace

std::uint64_t Enumerator::run(Share share, FoundSink* sink, std::span<const VertexId> first) {
  const ScratchScope scope(partial_->scratch());
  sink_ = sink;
  first_ = first;
  share_ = share;
  done_ = 0;
  parting_ = false;
  back_to_ = CandidateSpace::none;
  rests_.clear();
  if (!begin()) return 0;
  if (!partial_->plan().levels.empty()) {
    descend(0);
  } else if (share.index == 0) {
    leaf();
  }
  return count_;
}

// Whether the anchor meets the conditions on its own ends.
bool Enumerator::begin() {
  const plan::Plan& plan = partial_->plan();
  count_ = 0;
  const VertexId tail = partial_->at(0);
  const VertexId head = partial_->at(1);
  if (ordered_ && ((plan.anchor_above && head < tail) || (plan.anchor_below && head > tail))) return false;
  for (const plan::Probe& probe : plan.closing) {
    if (multiplicity(partial_->view(probe), head) == 0) return false;
  }
  if (!plan.anchor_joined.empty() && partial_->keep_joined({&head, 1}, plan.anchor_joined).empty()) return false;
  vertices_.resize(query_->vertices());
  tags_.resize(query_->edges.size());
  edges_.resize(query_->edges.size());
  options_.resize(query_->edges.size());
  vertices_[plan.tail] = tail;
  vertices_[plan.head] = head;
  spanning_ = query_->induced && query_->mode != MatchMode::isomorphism;
  plain_ = !spanning_ && transient_ == nullptr && is_plain(*query_, plan, partial_->lists().resolved());
  for (std::uint32_t e = 0; e < query_->edges.size(); ++e) {
    const graph::Resolved& where = partial_->lists().resolved(query_->edges[e].query_relation[0]);
    tags_[e] = graph::entry_tag(where.edge_label, where.incoming);
  }
  const graph::Edge& anchor = partial_->lists().anchor();
  const bool reversed = plan.anchor.reversed && query_->graph().directed();
  tags_[plan.anchor.edge] = graph::entry_tag(anchor.which, reversed);
  edges_[plan.anchor.edge] = anchor;
  crowds_ =
      query_->mode == MatchMode::edge_distinct || (query_->mode == MatchMode::isomorphism && query_->edges_may_coincide());
  if (!crowds_) return true;
  parallel_ = reads_parallels(*query_, partial_->lists().resolved());
  positions_.assign(query_->vertices(), std::numeric_limits<plan::Position>::max());
  positions_[plan.tail] = 0;
  positions_[plan.head] = 1;
  for (std::size_t l = 0; l < plan.levels.size(); ++l) positions_[plan.levels[l].vertex] = static_cast<plan::Position>(l + 2);
  return edges_fit(1);
}

// The candidates of a level. Vertices that are already matched are still among them.
std::span<const std::uint32_t> Enumerator::candidates(std::size_t level, Share share) {
  const plan::Level& next = partial_->plan().levels[level];
  auto set = partial_->extend(level, ordered_);
  if (!next.joined.empty()) set = partial_->keep_joined(set, next.joined);
  return partial_->part(set, share);
}

bool Enumerator::parts() const noexcept {
  return busy_threads_ != nullptr && done_ >= least_done && busy_threads_->idle() &&
         (step_budget_ == nullptr || step_budget_->endless());
}

// Gives away the rest of the share's candidates at this level.
void Enumerator::leave(std::size_t level, Share share, std::size_t candidates, std::size_t done) {
  if (done == candidates) return;
  Rest rest;
  for (std::size_t l = 0; l < level; ++l) rest.first.push_back(partial_->at(static_cast<plan::Position>(l + 2)));
  rest.share = {share.index + static_cast<std::uint32_t>(done) * share.of, share.of};
  rest.candidates = candidates - done;
  rests_.push_back(std::move(rest));
}

void Enumerator::descend(std::size_t level) {
  if (step_budget_ != nullptr && !step_budget_->take()) return;
  if (space_ != nullptr && space_->due(*step_budget_)) {
    back_to_ = space_->build(*partial_, ordered_, level, *step_budget_);
    if (back_to_ < level) return;
  }
  const plan::Level& next = partial_->plan().levels[level];
  const ScratchScope scope(partial_->scratch());
  const Share share = share_at(level);
  auto set = candidates(level, share);
  if (level < first_.size()) set = first_.subspan(level, 1);  // only the given vertex
  const auto position = static_cast<plan::Position>(level + 2);
  const bool last = level + 1 == partial_->plan().levels.size();
  done_ += last ? set.size() + 1 : 1;
  if (last && plain_ && sink_ == nullptr) {
    std::uint64_t found = set.size();
    for (const plan::Position other : next.candidates.distinct) {
      found -= contains(set.data(), set.size(), partial_->at(other)) ? 1 : 0;
    }
    count_ += found;
    tally_.add(found);
    return;
  }
  for (std::size_t i = 0; i < set.size(); ++i) {
    const VertexId vertex = set[i];
    if (!last) partial_->lists().prefetch_ahead({}, set, i);
    if (!partial_->differs(vertex, next.candidates.distinct)) continue;
    if (space_ != nullptr && !space_->admits(next.vertex, vertex)) continue;
    partial_->put(position, vertex);
    vertices_[next.vertex] = vertex;
    // Without parallel edges there is at most one choice at the last level, and it is quickly tried.
    if (!crowds_ || (last && !parallel_) || edges_fit(position)) {
      if (last) {
        leaf();
      } else {
        descend(level + 1);
        if (back_to_ < level) return;
        back_to_ = CandidateSpace::none;
        parting_ = parting_ || parts();
      }
    }
    if (over()) return;
    if (parting_) {
      if (level >= first_.size()) leave(level, share, set.size(), i + 1);
      return;
    }
  }
}

double Enumerator::walk_vertices(Chooser& chooser) {
  const ScratchScope scope(partial_->scratch());
  if (!begin()) return 0;
  double weight = 1;
  const auto& levels = partial_->plan().levels;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    auto set = candidates(level, {});
    const auto& distinct = levels[level].candidates.distinct;
    if (std::any_of(distinct.begin(), distinct.end(),
                    [&](plan::Position other) { return contains(set.data(), set.size(), partial_->at(other)); })) {
      std::uint32_t* kept = partial_->scratch().words(set.size());
      const auto end = std::copy_if(set.begin(), set.end(), kept, [&](VertexId v) { return partial_->differs(v, distinct); });
      set = {kept, static_cast<std::size_t>(end - kept)};
    }
    chooser.arrived(level, set.size());
    if (set.empty()) return 0;
    weight *= static_cast<double>(set.size());
    if (plain_ && level + 1 == levels.size()) return weight;
    const VertexId vertex = set[chooser.below(set.size())];
    partial_->put(static_cast<plan::Position>(level + 2), vertex);
    vertices_[levels[level].vertex] = vertex;
  }
  return weight;
}

double Enumerator::walk(Chooser& chooser) {
  double weight = walk_vertices(chooser);
  if (weight == 0 || plain_) return weight;
  if (spanning_ && !joined_as_induced()) return 0;
  const std::uint32_t anchor = partial_->plan().anchor.edge;
  for (std::uint32_t edge = 0; edge < query_->edges.size(); ++edge) {
    if (edge == anchor) continue;
    collect_options(edge);
    std::vector<std::uint32_t>& tags = options_[edge];
    std::erase_if(tags, [&](std::uint32_t tag) { return taken(image_of(edge, tag), edge); });
    if (tags.empty()) return 0;
    weight *= static_cast<double>(tags.size());
    tags_[edge] = tags[chooser.below(tags.size())];
    edges_[edge] = image_of(edge, tags_[edge]);
  }
  if (query_->conditional() && !plan::satisfies(*query_, vertices_, edges_)) return 0;
  return spanning_ && !spans_no_other_edge() ? 0 : weight;
}

void Enumerator::count_match() {
  if (transient_ != nullptr && !transient_->admits(edges_)) return;
  ++count_;
  tally_.add(1);
  if (sink_ == nullptr) return;
  if (step_budget_ != nullptr) step_budget_->lift();
  sink_->found({vertices_, tags_});
}

void Enumerator::leaf() {
  if (plain_) {
    count_match();
    return;
  }
  if (spanning_ && !joined_as_induced()) return;
  choose_edge(0);
}

// Counts the data edges between the matched vertices. Returns false if the query has fewer edges than there are.
bool Enumerator::joined_as_induced() {
  const auto spanned = count_spanned(*partial_, *query_, vertices_);
  spanned_ = spanned.value_or(0);
  return spanned.has_value();
}

bool Enumerator::spans_no_other_edge() { return count_distinct(edges_) == spanned_; }

bool Enumerator::taken(const graph::Edge& edge, std::uint32_t before) const noexcept {
  if (query_->mode == MatchMode::homomorphism) return false;
  if (edges_[partial_->plan().anchor.edge] == edge) return true;
  for (std::uint32_t e = 0; e < before; ++e) {
    if (edges_[e] == edge) return true;
  }
  return false;
}

// Maps the query edges from `edge` on to data edges between their ends, in all ways. Edges that must be distinct stay distinct.
void Enumerator::choose_edge(std::uint32_t edge) {
  if (over()) return;
  if (edge == query_->edges.size()) {
    if (spanning_ && !spans_no_other_edge()) return;
    count_match();
    return;
  }
  const plan::Plan& plan = partial_->plan();
  if (edge == plan.anchor.edge) {
    choose_edge(edge + 1);
    return;
  }
  collect_options(edge);
  for (const std::uint32_t tag : options_[edge]) {
    const graph::Edge image = image_of(edge, tag);
    if (taken(image, edge)) continue;
    tags_[edge] = tag;
    edges_[edge] = image;
    choose_edge(edge + 1);
  }
}

// Collects the tags of the data edges that a query edge can be mapped to, once its ends are mapped. Not for the anchor's edge.
void Enumerator::collect_options(std::uint32_t edge) {
  const plan::BoundEdge& bound = query_->edges[edge];
  Lists& lists = partial_->lists();
  const graph::Resolved& where = lists.resolved(bound.query_relation[0]);
  const bool inclusive = query_->mode == MatchMode::homomorphism && edge > partial_->plan().anchor.edge;
  options_[edge].clear();
  const ScratchScope scope(partial_->scratch());
  collect_tags(lists.view(bound.query_relation[0], vertices_[bound.source], inclusive, partial_->scratch()),
               vertices_[bound.target], graph::entry_tag(where.edge_label, where.incoming), options_[edge]);
}

graph::Edge Enumerator::image_of(std::uint32_t edge, std::uint32_t tag) const {
  const plan::BoundEdge& bound = query_->edges[edge];
  return partial_->lists().edge_of(vertices_[bound.source], vertices_[bound.target], tag >> 1, (tag & 1u) != 0);
}

// Checks the query edges whose later end is at this position. Each of them, and all earlier ones between the same two data
// vertices, needs a data edge of its own. The edges are chosen last. But if there are too few of them, nothing else needs
// matching first.
bool Enumerator::edges_fit(plan::Position position) {
  const auto ends = [&](std::uint32_t edge) {
    const plan::BoundEdge& bound = query_->edges[edge];
    return std::minmax(vertices_[bound.source], vertices_[bound.target]);
  };
  const auto later_end = [&](std::uint32_t edge) {
    const plan::BoundEdge& bound = query_->edges[edge];
    return std::max(positions_[bound.source], positions_[bound.target]);
  };
  for (std::uint32_t e = 0; e < query_->edges.size(); ++e) {
    if (later_end(e) != position) continue;
    crowd_.clear();
    for (std::uint32_t other = 0; other < query_->edges.size(); ++other) {
      if (later_end(other) <= position && ends(other) == ends(e)) crowd_.push_back(other);
    }
    const bool first = std::none_of(crowd_.begin(), crowd_.end(),
                                    [&](std::uint32_t other) { return other < e && later_end(other) == position; });
    if (first && crowd_.size() > 1 && !can_differ()) return false;
  }
  return true;
}

// Whether the query edges of the crowd can be mapped to distinct data edges. Finds a matching by augmenting paths.
bool Enumerator::can_differ() {
  const std::uint32_t anchor = partial_->plan().anchor.edge;
  bool plenty = true;
  for (const std::uint32_t edge : crowd_) {
    if (edge == anchor) continue;
    collect_options(edge);
    plenty = plenty && options_[edge].size() >= crowd_.size();
  }
  if (plenty) return true;
  images_.clear();
  for (std::size_t member = 0; member < crowd_.size(); ++member) {
    for (Image& image : images_) image.tried = false;
    if (!take_image(member)) return false;
  }
  return true;
}

// Finds a data edge for a member of the crowd, and others for the members that must make room.
bool Enumerator::take_image(std::size_t member) {
  const std::uint32_t edge = crowd_[member];
  const auto take = [&](const graph::Edge& wanted) {
    auto image = std::find_if(images_.begin(), images_.end(), [&](const Image& known) { return known.edge == wanted; });
    if (image == images_.end()) image = images_.insert(images_.end(), {wanted, none, false});
    if (image->tried) return false;
    image->tried = true;
    const auto at = static_cast<std::size_t>(image - images_.begin());
    if (image->owner != none && !take_image(image->owner)) return false;
    images_[at].owner = member;
    return true;
  };
  if (edge == partial_->plan().anchor.edge) return take(edges_[edge]);
  return std::any_of(options_[edge].begin(), options_[edge].end(),
                     [&](std::uint32_t tag) { return take(image_of(edge, tag)); });
}

}  // namespace deltamatch::match
