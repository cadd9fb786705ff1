// Records whose fields are separated by blanks, tabs or another character.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "ingest/codec/codec.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/text_head.hpp"
#include "ingest/codec/update_maker.hpp"
#include "ingest/source/line_source.hpp"

namespace deltamatch::ingest {

/// Makes the codec of snap, tsv or jlg.
[[nodiscard]] std::unique_ptr<Codec> make_delimited_codec(Format format, const CodecOptions& options);
[[nodiscard]] std::unique_ptr<Codec> make_csv_codec(const CodecOptions& options);
[[nodiscard]] std::unique_ptr<Codec> make_mtx_codec(const CodecOptions& options);

[[nodiscard]] std::unique_ptr<Codec> make_tve_codec(const CodecOptions& options);
[[nodiscard]] std::unique_ptr<Codec> make_jsonl_codec(const CodecOptions& options);
/// Whether the first line is a header of jlg, V,E,u|d[,name].
[[nodiscard]] bool begins_jlg(const TextHead& head);
/// Whether edges are directed, by the third field of a jlg file's header `V,E,u|d,name`.
[[nodiscard]] bool jlg_is_directed(LineSource& lines, const CodecOptions& options);
/// Whether most lines are records of t/v/e.
[[nodiscard]] bool begins_tve(const TextHead& head);
/// Why a message cannot be of t/v/e, though a record of a file may. Empty if it can.
[[nodiscard]] std::string_view tve_message_fault(std::string_view message) noexcept;
/// Whether the columns ("source=0,target=1") make a JSON array a row, and not an array of rows.
[[nodiscard]] bool reads_arrays_as_rows(const CodecOptions& options);

/// The separator of a CSV record: the most frequent of , ; and tab. A comma if there is none.
[[nodiscard]] char csv_separator(std::string_view record) noexcept;

/// A cell of a CSV line, without blanks around it. A quoted cell is returned without its quotes.
[[nodiscard]] std::string_view csv_cell(std::string_view text) noexcept;

/// Makes the UpdateMaker for snap, tsv, csv and jlg.
[[nodiscard]] UpdateMaker make_field_maker(Format format, const CodecOptions& options);
/// "3 fields instead of 2".
[[nodiscard]] std::string arity_text(std::size_t found, std::size_t expected);

}  // namespace deltamatch::ingest
