// A query as JSON: what REST shows and takes, and what the topic of queries keeps.
#pragma once

#include <string>

#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// The definition as one JSON object. It has every key that an entry of `queries` in the configuration may have, except those
/// that name files. What was left out is filled in, so it means the same under another configuration. Equal definitions have
/// equal bytes.
[[nodiscard]] std::string definition_of(const ServiceQuery& query);

/// The pattern as it was written, or one that means the same.
[[nodiscard]] std::string pattern_of(const ServiceQuery& query);

/// The fingerprint (query_fingerprint) under the options that hold.
[[nodiscard]] std::string fingerprint_of(const ServiceQuery& query);

/// A text that changes whenever the definition does: the fingerprint, and a hash of all else. In quotes, as HTTP has it.
[[nodiscard]] std::string entity_tag(const ServiceQuery& query);

}  // namespace deltamatch::ingest
