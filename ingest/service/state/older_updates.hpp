// The updates of logs of versions 1 and 2, which are only read.
#pragma once

#include <cstdint>
#include <functional>

#include "deltamatch/update.hpp"
#include "encoding/numbers.hpp"

namespace deltamatch::ingest::log_format {

/// Passes `count` updates to take(update). Their views point into what is read. Returns false if the bytes are malformed.
[[nodiscard]] bool read_older_updates(encoding::ByteReader& in, std::uint64_t count,
                                      const std::function<void(const Update&)>& take);

}  // namespace deltamatch::ingest::log_format
