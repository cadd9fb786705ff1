#include "ingest/service/workers/leader_protocol.hpp"

#include <algorithm>
#include <utility>

namespace deltamatch::ingest::workers {

std::optional<LeaderStep> LeaderProtocol::next() {
  switch (phase_) {
    case Phase::begun:
      phase_ = Phase::initialising;
      return LeaderStep{.kind = LeaderStep::Kind::initialise, .cut = {}};
    case Phase::initialised:
      phase_ = Phase::reading;
      return LeaderStep{.kind = LeaderStep::Kind::read_cuts, .cut = {}};
    case Phase::ready:
      if (!pending_) return std::nullopt;
      phase_ = Phase::committing;
      return LeaderStep{.kind = LeaderStep::Kind::commit, .cut = pending_};
    case Phase::ended:
      return LeaderStep{.kind = LeaderStep::Kind::exit, .cut = {}};
    default:
      return std::nullopt;
  }
}

void LeaderProtocol::propose(Cut cut) { pending_ = std::move(cut); }

void LeaderProtocol::cut(const Cut& cut) {
  heard_ = std::max(heard_, cut.batch());
  if (phase_ == Phase::ready && cut.batch() > last_batch() && pending_ != cut) phase_ = Phase::ended;
}

void LeaderProtocol::initialised() { phase_ = Phase::initialised; }

void LeaderProtocol::cuts_read(std::optional<Cut> last) {
  // If there is a newer cut, the transaction that got no answer was committed, or another leader was faster. Else it is
  // committed once more, with the same contents.
  if (last != last_) pending_.reset();
  last_ = std::move(last);
  go_on();
}

void LeaderProtocol::committed() {
  last_ = std::exchange(pending_, std::nullopt);
  go_on();
}

/// The worker may have read a cut of another leader while this one waited for an answer.
void LeaderProtocol::go_on() { phase_ = heard_ > last_batch() ? Phase::ended : Phase::ready; }

void LeaderProtocol::uncertain() { phase_ = Phase::begun; }

void LeaderProtocol::fenced() { phase_ = Phase::ended; }

}  // namespace deltamatch::ingest::workers
