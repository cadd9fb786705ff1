// A fingerprint of how the input is read.
#pragma once

#include <string>

#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// Returns 32 hexadecimal digits that identify everything that decides which updates the records become. These are the topics
/// in their order, the format and codec of each, max_record, max_ahead and max_labels. Commit records contain the fingerprint.
/// Prevents rebuilding a batch from records that would decode differently.
[[nodiscard]] std::string reading_fingerprint(const InputOptions& input);

}  // namespace deltamatch::ingest
