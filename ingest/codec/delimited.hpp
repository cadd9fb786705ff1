// Records whose fields are separated by blanks, tabs or another character.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "ingest/codec/codec.hpp"
#include "ingest/codec/columns.hpp"

namespace deltamatch::ingest {

/// snap, tsv and jlg.
[[nodiscard]] std::unique_ptr<Codec> make_delimited_codec(Format format, const CodecOptions& options);
[[nodiscard]] std::unique_ptr<Codec> make_csv_codec(const CodecOptions& options);
[[nodiscard]] std::unique_ptr<Codec> make_mtx_codec(const CodecOptions& options);

[[nodiscard]] std::unique_ptr<Codec> make_tve_codec(const CodecOptions& options);
[[nodiscard]] std::unique_ptr<Codec> make_jsonl_codec(const CodecOptions& options);
/// Whether a JSON array is a row by the columns, "source=0,target=1", and not an array of rows.
[[nodiscard]] bool reads_arrays_as_rows(const CodecOptions& options);

/// The separator of a CSV record: the one of , ; and tab that it holds most often; a comma where it holds none.
[[nodiscard]] char csv_separator(std::string_view record) noexcept;

/// A cell of a CSV line that is not quoted, less blanks at its ends; a quoted one, less the quotes and blanks around them.
[[nodiscard]] std::string_view csv_cell(std::string_view text) noexcept;

/// Makes updates of the fields of snap, tsv, csv and jlg.
[[nodiscard]] UpdateMaker make_field_maker(Format format, const CodecOptions& options);
/// "3 fields where there are 2".
[[nodiscard]] std::string arity_text(std::size_t found, std::size_t expected);

}  // namespace deltamatch::ingest
