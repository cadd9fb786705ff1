// The model and the declared attributes of a graph, as a snapshot holds them: the bytes of encoding/schema.hpp.
#pragma once

#include "deltamatch/attribute.hpp"
#include "engine/storage/section_file.hpp"

namespace deltamatch::engine {

void write_schema(SectionWriter& out, const Schema& schema);
/// Refuses declarations that break a rule (validate).
[[nodiscard]] Schema read_schema(SectionReader& in);

}  // namespace deltamatch::engine
