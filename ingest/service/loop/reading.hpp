// How the input is read, as one name.
#pragma once

#include <string>

#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// 32 hexadecimal digits that name all that decides which updates the records of the input become: the topics in their order,
/// format and codec of each, max_record, max_ahead and max_labels. Commit records bear it, so that no batch is made anew from
/// records that would now become other updates.
[[nodiscard]] std::string reading_fingerprint(const InputOptions& input);

}  // namespace deltamatch::ingest
