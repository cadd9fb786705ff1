// Engines that share the slots report together what one engine reports that owns all: each match once, and nothing else.
#pragma once

#include <cstddef>
#include <functional>

#include "property/follow.hpp"
#include "property/scenario.hpp"

namespace deltamatch::property {

struct SharedRun {
  bool by_record = false;
  bool moves = false;  ///< slots are taken anew now and then
};

/// Makes the engine of the share with a number, from 0.
using MakePart = std::function<Subject(const Scenario&, std::size_t)>;

/// Follows a scenario with one engine on one thread, and with one to four engines that share random slots among them. After
/// every batch their counts, digests and matches together must be those of the one. So must each running digest.
void hold_shares(const Scenario& scenario, const SharedRun& run, const MakePart& make);

}  // namespace deltamatch::property
