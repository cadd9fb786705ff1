// Applies ALERT ONCE to what a batch lists of one standing query, of all its variants together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "deltamatch/query.hpp"
#include "deltamatch/result.hpp"
#include "engine/batch/batch_listing.hpp"
#include "engine/batch/once_memory.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::engine {

/// What tells matches apart for ALERT ONCE: the images of the vertices that it names.
class OnceBinding {
 public:
  /// Throws Error(configuration) if a vertex can change places with one that is not named. A match does not say then which of
  /// its vertices is meant.
  OnceBinding(const plan::BoundQuery& query, const AlertOnce& once);
  [[nodiscard]] Hash128 of(const graph::DataGraph& graph, std::span<const VertexId> vertices) const;

 private:
  std::vector<std::vector<std::uint32_t>> parts_;  // vertices that can change places are one part, in no order
};

/// A batch as ALERT ONCE sees it.
struct OnceBatch {
  const graph::DataGraph& graph;
  const BatchListing& listing;
  BatchListing::Tasks tasks{};              ///< of the query: one for each variant
  std::span<const graph::Edge> inserted{};  ///< ascending
  std::optional<Timestamp> watermark_before{};
  std::optional<Timestamp> watermark{};     ///< after it
  std::uint64_t most_removed = UINT64_MAX;  ///< only the first of those listed, by id
  std::uint64_t most_added = UINT64_MAX;
  bool transient = false;                              ///< whether there are transient matches
  Timestamp report_span = 0;                           ///< how long after its newest edge a match may vanish; 0: for ever
  std::vector<const match::FinalRule*> final_rules{};  ///< by variant; null unless the query says EMIT FINAL
};

/// The matches that are reported, by id.
struct LetThrough {
  std::vector<MatchId> removed;
  std::vector<MatchId> added;
  std::vector<MatchId> transient;
  std::uint64_t suppressed = 0;  ///< new matches that are not reported
};

class OnceRule {
 public:
  OnceRule(const AlertOnce& once, Timestamp lateness) : once_(once), memory_(once.every.microseconds, lateness) {}

  /// Adds the next variant of the query. Throws Error(configuration) as OnceBinding does.
  void add_variant(const plan::BoundQuery& variant) { bindings_.emplace_back(variant, once_); }

  /// Decides on a batch. Its memory must settle or undo afterwards.
  [[nodiscard]] LetThrough decide(const OnceBatch& batch);
  /// What tells the matches of a variant apart.
  [[nodiscard]] const OnceBinding& binding(std::size_t variant) const noexcept { return bindings_[variant]; }
  [[nodiscard]] OnceMemory& memory() noexcept { return memory_; }
  [[nodiscard]] const OnceMemory& memory() const noexcept { return memory_; }

 private:
  [[nodiscard]] OnceCandidate candidate(const OnceBatch& batch, std::size_t task, const ListedMatch& match) const;

  AlertOnce once_;
  std::vector<OnceBinding> bindings_;  // by variant
  OnceMemory memory_;
};

/// Sets what is reported of a query: the counts, and the digests if it `lists`.
void apply(const LetThrough& let_through, bool lists, bool transients_vanish, QueryDelta& delta);

}  // namespace deltamatch::engine
