#include "match/candidate_space.hpp"

#include <algorithm>
#include <new>

#include "plan/estimates.hpp"

namespace deltamatch::match {

namespace {

// A space is built again, with more effort, each time the steps have grown by this factor.
constexpr std::uint64_t more_steps = 8;
// Spaces that save nothing may cost the steps divided by this number.
constexpr std::uint64_t share_of_steps = 32;
// The most entries that a plan's account may hold.
constexpr std::int64_t most_credit = std::int64_t{1} << 30;
// The most plans that accounts are kept for.
constexpr std::size_t most_accounts = 1024;
// A look-up of a list costs as much as reading this many entries.
constexpr std::uint64_t look_up = 2;

// Calls visit(id) for the entries until it returns true. Returns how many entries were read, including the cost of the look-up.
template <class Visit>
std::uint64_t any_entry(const ListView& view, Visit&& visit) {
  std::uint32_t m = 0;
  for (std::uint32_t i = 0; i < view.count; ++i) {
    if (m < view.minus_count && view.minus[m] == view.ids[i] && (!view.parallel || view.minus_tags[m] == view.tags[i])) {
      ++m;
    } else if (visit(view.ids[i])) {
      return look_up + i + 1;
    }
  }
  for (std::uint32_t i = 0; i < view.plus_count; ++i) {
    if (visit(view.plus[i])) return look_up + view.count + i + 1;
  }
  return look_up + view.count + view.plus_count;
}

}  // namespace

void CandidateSpace::clear() noexcept {
  for (std::vector<VertexId>& images : images_) {
    for (const VertexId image : images) masks_[image] = 0;
    images.clear();
  }
  order_.clear();
  held_ = 0;
  built_ = false;
}

void CandidateSpace::open(const plan::BoundQuery& query, const plan::Plan& plan, std::size_t vertices) noexcept {
  settle_account();
  if (built_) clear();
  query_ = &query;
  plan_ = &plan;
  vertices_ = vertices;
  next_ = limits_.steps;
}

// Adds to the plan's account what its space has saved. Each skipped candidate would have taken a step at least.
void CandidateSpace::settle_account() noexcept {
  if (passed_over_ == 0) return;
  if (const auto account = accounts_.find(plan_); account != accounts_.end()) {
    const std::uint64_t gain = limits_.entries * std::min<std::uint64_t>(passed_over_, most_credit);
    account->second = std::min(most_credit, account->second + static_cast<std::int64_t>(gain));
  }
  passed_over_ = 0;
}

std::size_t CandidateSpace::build(Partial& partial, bool ordered, std::size_t levels, const StepBudget& step_budget) {
  const std::uint64_t steps = step_budget.spent();
  next_ = more_steps * std::max<std::uint64_t>(next_, 1);
  try {
    settle_account();
    if (accounts_.size() >= most_accounts) accounts_.clear();
    std::int64_t& account = accounts_.try_emplace(plan_, limits_.credit).first->second;
    const std::uint64_t taken = limits_.entries * steps;
    account = std::min(most_credit, account + static_cast<std::int64_t>(taken / share_of_steps));
    if (account <= 0) return none;
    effort_ = std::min(taken, static_cast<std::uint64_t>(account));
    clear();
    masks_.resize(std::max(masks_.size(), vertices_));
    list_links(ordered);
    const std::uint64_t before = entries_;
    if (spread(partial)) thin(partial);
    built_ = true;
    const bool barren = std::ranges::any_of(order_, [&](std::uint32_t vertex) { return images_[vertex].empty(); });
    if (barren) {  // that result is worth its cost
      clear();
      built_ = true;
      open_ = 0;
      return 0;
    }
    account -= static_cast<std::int64_t>(entries_ - before);
  } catch (const std::bad_alloc&) {
    clear();
    return none;
  }
  for (std::size_t l = 0; l < levels; ++l) {
    const std::uint32_t vertex = plan_->levels[l].vertex;
    if (!admits(vertex, partial.at(static_cast<plan::Position>(l + 2)))) return l;
  }
  return none;
}

void CandidateSpace::list_links(bool ordered) {
  for (auto& links : links_) links.clear();
  for (std::uint32_t e = 0; e < query_->edges.size(); ++e) {
    const plan::BoundEdge& edge = query_->edges[e];
    const bool at_anchor = (edge.source == plan_->tail && edge.target == plan_->head) ||
                           (edge.source == plan_->head && edge.target == plan_->tail);
    if (at_anchor) continue;  // checked before anything else is matched
    const bool inclusive = plan::is_inclusive(*query_, e, plan_->anchor.edge);
    links_[edge.source].push_back({edge.target, edge.query_relation[0], inclusive});
    links_[edge.target].push_back({edge.source, edge.query_relation[1], inclusive});
  }
  bounds_ = {};
  for (const plan::Level& level : plan_->levels) {
    if (!ordered) break;
    for (const plan::Position p : level.candidates.above) {
      if (p < 2) bounds_[p][0] |= Mask{1} << level.vertex;
    }
    for (const plan::Position p : level.candidates.below) {
      if (p < 2) bounds_[p][1] |= Mask{1} << level.vertex;
    }
  }
}

void CandidateSpace::hold(std::uint32_t vertex) {
  order_.push_back(vertex);
  held_ |= Mask{1} << vertex;
  open_ &= ~(Mask{1} << vertex);
}

// Gives candidates to query vertices, from the anchor on, until the effort is spent. Returns false if some vertex has none.
bool CandidateSpace::spread(Partial& partial) {
  const std::uint32_t vertices = query_->vertices();
  open_ = vertices == 32 ? ~Mask{0} : (Mask{1} << vertices) - 1;
  most_entries_ = entries_ + effort_;
  for (const auto& [vertex, position] : {std::pair{plan_->tail, plan::Position{0}}, {plan_->head, plan::Position{1}}}) {
    images_[vertex].push_back(partial.at(position));
    masks_[partial.at(position)] |= Mask{1} << vertex;
    hold(vertex);
  }
  while (open_ != 0) {
    const Link* next = nullptr;
    std::uint32_t from = 0;
    for (const std::uint32_t vertex : order_) {
      for (const Link& link : links_[vertex]) {
        if (held(link.to) || (next != nullptr && images_[from].size() <= images_[vertex].size())) continue;
        next = &link;
        from = vertex;
      }
    }
    if (next == nullptr) return true;
    const std::uint32_t vertex = next->to;
    if (!reach(partial, from, *next)) {  // too many candidates
      for (const VertexId image : images_[vertex]) masks_[image] &= ~(Mask{1} << vertex);
      images_[vertex].clear();
      return true;
    }
    hold(vertex);
    const auto links = std::ranges::count_if(links_[vertex], [&](const Link& link) { return held(link.to); });
    if (links > 1 && entries_ < most_entries_) (void)keep_supported(partial, vertex);
    if (images_[vertex].empty()) return false;
  }
  return true;
}

// Collects the vertices that the candidates of `from` lead to. Returns false if there are too many.
bool CandidateSpace::reach(Partial& partial, std::uint32_t from, const Link& link) {
  const Mask bit = Mask{1} << link.to;
  const bool apart = query_->mode == MatchMode::isomorphism;
  std::vector<VertexId>& images = images_[link.to];
  for (const VertexId vertex : images_[from]) {
    if (entries_ >= most_entries_) return false;
    const ScratchScope scope(partial.scratch());
    entries_ +=
        any_entry(partial.lists().view(link.query_relation, vertex, link.inclusive, partial.scratch()), [&](VertexId image) {
          if ((masks_[image] & bit) != 0 || (apart && (image == partial.at(0) || image == partial.at(1)))) return false;
          if (!in_order(partial, link.to, image)) return false;
          images.push_back(image);  // before its mask is set, because this may throw
          masks_[image] |= bit;
          return false;
        });
  }
  return true;
}

bool CandidateSpace::in_order(const Partial& partial, std::uint32_t vertex, VertexId image) const noexcept {
  for (plan::Position p = 0; p < 2; ++p) {
    if ((bounds_[p][0] >> vertex & 1u) != 0 && image <= partial.at(p)) return false;
    if ((bounds_[p][1] >> vertex & 1u) != 0 && image >= partial.at(p)) return false;
  }
  return true;
}

// Drops candidates without support. Goes from where the two sides met back to the anchor, then forward, and so on.
void CandidateSpace::thin(Partial& partial) {
  Mask stale = held_;
  most_entries_ = entries_ + effort_;
  for (bool back = true; stale != 0; back = !back) {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::uint32_t vertex = order_[back ? order_.size() - 1 - i : i];
      if ((stale >> vertex & 1u) == 0) continue;
      if (entries_ >= most_entries_) return;
      stale &= ~(Mask{1} << vertex);
      if (!keep_supported(partial, vertex)) continue;
      if (images_[vertex].empty()) return;
      for (const Link& link : links_[vertex]) stale |= held_ & Mask{1} << link.to;
    }
  }
}

// Keeps the supported candidates. Returns whether some candidate was dropped.
bool CandidateSpace::keep_supported(Partial& partial, std::uint32_t vertex) {
  std::vector<VertexId>& images = images_[vertex];
  const std::size_t before = images.size();
  std::erase_if(images, [&](VertexId image) {
    if (entries_ >= most_entries_ || supported(partial, vertex, image)) return false;
    masks_[image] &= ~(Mask{1} << vertex);
    return true;
  });
  return images.size() < before;
}

// Whether each query edge leads to a candidate. If vertices must be distinct, no two neighbours may share their only candidate.
bool CandidateSpace::supported(Partial& partial, std::uint32_t vertex, VertexId image) {
  const bool apart = query_->mode == MatchMode::isomorphism;
  std::array<std::pair<std::uint32_t, VertexId>, max_query_vertices> single;  // neighbours with exactly one candidate here
  std::size_t singles = 0;
  for (const Link& link : links_[vertex]) {
    if (!held(link.to)) continue;
    const Mask bit = Mask{1} << link.to;
    std::size_t found = 0;
    VertexId first = 0;
    const ScratchScope scope(partial.scratch());
    entries_ +=
        any_entry(partial.lists().view(link.query_relation, image, link.inclusive, partial.scratch()), [&](VertexId other) {
          if ((masks_[other] & bit) == 0 || (found > 0 && other == first)) return false;
          first = found == 0 ? other : first;
          return ++found == (apart ? 2 : 1);
        });
    if (found == 0) return false;
    if (found > 1 || !apart) continue;
    for (std::size_t i = 0; i < singles; ++i) {
      if (single[i].second == first && single[i].first != link.to) return false;
    }
    if (singles < single.size()) single[singles++] = {link.to, first};
  }
  return true;
}

std::size_t CandidateSpace::bytes() const noexcept {
  std::size_t sum = masks_.capacity() * sizeof(Mask) + order_.capacity() * sizeof(std::uint32_t);
  for (const auto& images : images_) sum += images.capacity() * sizeof(VertexId);
  for (const auto& links : links_) sum += links.capacity() * sizeof(Link);
  return sum;
}

}  // namespace deltamatch::match
