// The work of a pass, cut into pieces that threads take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "match/enumerator.hpp"
#include "match/plan_index.hpp"

namespace deltamatch::match {

/// A share of an anchor or root on a plan.
struct Piece {
  std::uint32_t anchor;
  PlanRef plan;
  Share share;
  std::uint32_t rest = 0;  ///< for work that a walk gave away: the index of its first vertices plus one; else 0
};

/// The work that a walk of a piece gave away.
struct DonatedWork {
  Piece piece;
  std::vector<Enumerator::Rest> rests;
};

/// The first vertices of the pieces that walks gave away.
class DonatedPieces {
 public:
  void clear() noexcept { firsts_.clear(); }
  [[nodiscard]] std::span<const VertexId> first(const Piece& piece) const noexcept {
    return piece.rest == 0 ? std::span<const VertexId>{} : std::span<const VertexId>(firsts_[piece.rest - 1]);
  }
  /// Makes pieces for `threads` threads of the work that was given away. The candidates of each level are split into several
  /// shares. Call `next` once the previous pieces are done with.
  void add(DonatedWork& donated, unsigned threads, std::vector<Piece>& pieces) {
    constexpr std::size_t shares_of_thread = 4;
    constexpr std::uint32_t most_stride = 1U << 20;  // beyond it, few candidates are left
    for (Enumerator::Rest& rest : donated.rests) {
      const Share share = rest.share;
      const std::size_t most = share.of > most_stride ? 1 : shares_of_thread * threads;
      const auto of = static_cast<std::uint32_t>(std::min(most, rest.candidates));
      next_.push_back(std::move(rest.first));
      Piece piece = donated.piece;
      piece.rest = static_cast<std::uint32_t>(next_.size());
      for (std::uint32_t s = 0; s < of; ++s) {
        piece.share = {share.index + s * share.of, of * share.of};
        pieces.push_back(piece);
      }
    }
  }
  void next() {
    firsts_ = std::move(next_);
    next_.clear();
  }

 private:
  std::vector<std::vector<VertexId>> firsts_;
  std::vector<std::vector<VertexId>> next_;
};

}  // namespace deltamatch::match
