// Checks the beginning of a file for what single records do not show: why it cannot be read as it is, and what is doubtful.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ingest/codec/codec.hpp"
#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// Throws Error, with the command that converts the file, if its text has 16 bits a character. `head` holds the first lines.
/// Call it before the format is known.
void refuse_wide_text(std::string_view head, const std::string& name);

/// Throws Error, with the command that converts the file, if its lines end in CR alone. `head` holds the first lines. Call it
/// before the format is known.
void refuse_lone_returns(std::string_view head, const std::string& name);

/// Throws Error, with the command that unpacks it, if the data is an archive. `head` holds the first bytes, unpacked once.
void refuse_archive(std::string_view head, const std::string& name);

/// Throws Error, with the command that converts the file, if its lines are edges in a notation that would be misread. These are
/// `1 -> 2`, `(1, 2)`, DIMACS (`p edge 3 2`, `e 1 2`), METIS and
/// triples of RDF. `format`: nothing if it is to be recognised.
void refuse_notation(std::string_view head, const std::string& name, std::optional<Format> format);

/// Which options read lines whose format is not recognised: edges between names, or vertices and their labels. Or which command
/// converts them. It follows the fault behind a semicolon. Empty if there is none.
[[nodiscard]] std::string advice_on_names(std::string_view head, const OptionSpelling& spelling, bool vertices);

/// Throws Error if other lines stand above the header of a CSV file: a title, comments, or Excel's `sep=;`.
void refuse_lines_above_header(std::string_view head, const std::string& name, const CodecOptions& options);

/// Reports comments that contradict how edges are read. Some say that edges have no direction (SNAP's `# Undirected graph`,
/// KONECT's `% sym`); with `stated` this is no doubt. Others say that edges join two sets (`% bip`).
void doubt_comments(std::string_view head, bool stated, Doubts& doubts);

/// Reports that the third column is a weight, if the comment at the beginning is KONECT's and nobody has named the columns.
void doubt_weights(std::string_view head, const CodecOptions& options, Doubts& doubts);

/// Looks for sizes in the first record, which `doubts` then holds against the records that follow. `comments`: the format has
/// comments.
void doubt_sizes(std::string_view head, bool comments, Doubts& doubts);

/// Reports a first record of words above records of numbers: it may be a header.
void doubt_first_record(std::string_view head, Format format, const CodecOptions& options, Doubts& doubts);

}  // namespace deltamatch::ingest
