// The table of formats: the only list of their names, traits and functions. The enumeration Format only numbers them. What
// offers, reads or tests formats walks the table.
//
// A text is of the format that claims it by `begins`. Several may claim the same text: a file that begins with `[` may go on
// with lines of t/v/e. Then the format of the lowest `claim_rank` wins. The formats csv, tsv and snap claim nothing, because
// the same line can be read as each of them. So detect_format weighs the lines of a text that no entry claims for these three
// together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "ingest/codec/codec.hpp"
#include "ingest/codec/text_head.hpp"
#include "ingest/source/byte_buffer.hpp"
#include "ingest/source/line_source.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// How the columns of a record are known.
enum class ColumnForm : std::uint8_t {
  fixed,      ///< the format fixes them
  positions,  ///< by position
  header,     ///< by the names of a header, or by position without one
  names       ///< by the names of fields
};

/// What a message of a queue may hold.
enum class MessageForm : std::uint8_t {
  none,   ///< no message is of this format: records mean something only below a header
  line,   ///< one line
  lines,  ///< a text that may have line ends
  bytes   ///< bytes; no line end is removed
};

/// A format. Functions that are null stand for the usual case.
struct FormatTraits {
  /// Opens a file that is no text. Null: the file is text.
  using OpenBytes = std::unique_ptr<RecordSource> (*)(ByteBuffer bytes, const CodecOptions& options, std::size_t max_record);
  /// Opens a text file. Null: each line is a record.
  using OpenText = std::unique_ptr<RecordSource> (*)(std::unique_ptr<LineSource> lines, const CodecOptions& options,
                                                     std::size_t max_record);

  Format format{};
  std::string_view name{};           ///< what --format takes, and what messages and fingerprints of the input say
  std::string_view alias{};          ///< a second name that is also taken; empty: none
  bool configured_by_alias = false;  ///< the service's configuration, its messages and summary say the alias
  ColumnForm columns = ColumnForm::fixed;
  MessageForm message = MessageForm::none;
  bool has_envelope = false;        ///< a record may be a change event
  bool has_schema = false;          ///< only a schema explains a record
  bool has_files = true;            ///< files are read, not messages alone
  bool has_separator = false;       ///< the separator of fields can be chosen
  bool tells_kinds = false;         ///< a record distinguishes the number 7 from the text "7"
  bool has_names_as_ids = false;    ///< fields are texts, so 007 and 7.0 are names, and not the number 7
  bool assumes_undirected = false;  ///< files never say whether edges have a direction, and by custom they have none
  std::string_view magic{};         ///< the first bytes of any file that is no text
  OpenBytes open_bytes = nullptr;
  OpenText open_text = nullptr;
  /// Whether a text claims to be of this format. Null: no text does by its beginning.
  bool (*begins)(const TextHead& head) = nullptr;
  /// If several formats claim a text, the one of the lowest rank wins. From 1, and each rank once. 0: there is no `begins`.
  std::uint8_t claim_rank = 0;
  /// Completes options from the beginning of a file. Null: there is nothing to complete.
  void (*complete)(CodecOptions& options, std::string_view head) = nullptr;
  /// Whether edges are directed, by the beginning of a file. Null: they are, unless assumes_undirected.
  bool (*directed)(LineSource& lines, const CodecOptions& options) = nullptr;
  /// What is wrong with a message that would be a record in a file. Empty if nothing is. Null: nothing ever is.
  std::string_view (*message_fault)(std::string_view message) = nullptr;
  /// Throws Error(usage) if options contradict each other or the format.
  std::unique_ptr<Codec> (*make)(const CodecOptions& options) = nullptr;

  [[nodiscard]] bool is_text() const noexcept { return open_bytes == nullptr; }
  /// Whether columns may be given by position.
  [[nodiscard]] bool has_positions() const noexcept {
    return columns == ColumnForm::positions || columns == ColumnForm::header;
  }
  /// Whether columns may be given by name.
  [[nodiscard]] bool has_names() const noexcept { return columns == ColumnForm::header || columns == ColumnForm::names; }
  /// Its name in the configuration of the service.
  [[nodiscard]] std::string_view configured_name() const noexcept { return configured_by_alias ? alias : name; }
};

/// All formats, in the order of Format. Lists that people read have the same order.
[[nodiscard]] std::span<const FormatTraits> formats() noexcept;
[[nodiscard]] const FormatTraits& traits_of(Format format) noexcept;
/// The format of the lowest rank that claims a text. Nothing if none does: then it is csv, tsv or snap, or not recognised.
[[nodiscard]] std::optional<Format> claiming_format(const TextHead& head);

}  // namespace deltamatch::ingest
