// Records whose fields are separated by blanks, tabs or another character.
#pragma once

#include <memory>
#include <string_view>

#include "ingest/codec/codec.hpp"

namespace deltamatch::ingest {

/// snap, tsv, csv and jlg.
[[nodiscard]] std::unique_ptr<Codec> make_delimited_codec(Format format, const CodecOptions& options);

[[nodiscard]] std::unique_ptr<Codec> make_tve_codec(const CodecOptions& options);
[[nodiscard]] std::unique_ptr<Codec> make_jsonl_codec(const CodecOptions& options);

/// The separator of a CSV record: the one of , ; and tab that it holds most often; a comma where it holds none.
[[nodiscard]] char csv_separator(std::string_view record) noexcept;

}  // namespace deltamatch::ingest
