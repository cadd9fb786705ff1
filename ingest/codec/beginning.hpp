// What the beginning of a file shows that its records do not: that it cannot be read as it is, and what is doubtful about it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ingest/codec/codec.hpp"
#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// Throws Error where text is of 16 bits a character, with what makes it readable. `head`: the first lines, of no known format.
void refuse_wide_text(std::string_view head, const std::string& name);

/// Throws Error where other lines stand above the header of a CSV file: a title, comments, or Excel's `sep=;`.
void refuse_lines_above_header(std::string_view head, const std::string& name, const CodecOptions& options);

/// Tells of comments that say how edges are meant: that they have no direction (SNAP's `# Undirected graph`, KONECT's `% sym`),
/// unless it is `stated` how they are, or that they join two sets (`% bip`).
void doubt_comments(std::string_view head, bool stated, Doubts& doubts);

/// Tells of a first record of words above records of numbers: it may be a header.
void doubt_first_record(std::string_view head, Format format, const CodecOptions& options, Doubts& doubts);

}  // namespace deltamatch::ingest
