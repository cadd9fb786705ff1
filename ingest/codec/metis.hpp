// Recognises graphs of METIS, which are not read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// If the text is a graph of METIS, the command that makes a list of its edges. It has a line `VERTICES EDGES [FORMAT]`, and
/// then a line for each vertex, with its neighbours. Such a file may pass for a list of edges if each vertex has two or three.
/// `head` holds whole lines, of the whole file or its beginning.
[[nodiscard]] std::optional<std::string> metis_command(std::string_view head);

}  // namespace deltamatch::ingest
