// What lies in the log and has still to be delivered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ingest/alert/deliverer.hpp"
#include "ingest/state/directory.hpp"

namespace deltamatch::ingest {

/// Batches of [from, up_to] with alerts for the sink, ascending: as many as fit into `bytes`, but at least one if there is any.
/// The batches are committed. Throws Error where the log is damaged. O(the log from there on).
[[nodiscard]] std::vector<Delivery> read_back(const StateDirectory& directory, std::string_view sink, std::uint64_t from,
                                              std::uint64_t up_to, std::size_t bytes);

}  // namespace deltamatch::ingest
