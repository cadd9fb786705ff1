// Makes updates of text fields.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/codec/message_columns.hpp"
#include "ingest/codec/operations.hpp"
#include "ingest/codec/properties.hpp"

namespace deltamatch::ingest {

/// Makes updates of fields, for every format whose records have fields.
class UpdateMaker {
 public:
  /// `quotes`: a quoted field is a name, even if it is a word for a missing id.
  UpdateMaker(IdKind ids, TimeReader times, std::string edge_label, Operations operations = Operations(),
              Doubts* doubts = nullptr, OptionSpelling spelling = {}, bool quotes = false);

  /// Reads keys, attributes and what surrounds messages, from here on.
  void read_properties(const CodecOptions& options);
  /// Names the columns of the layout as the data does, for messages. Without it their names are those of the roles.
  void name_columns(std::vector<std::string> names) { column_names_ = std::move(names); }
  /// States what surrounds the next record. It must stay valid until that has been made.
  void surround(const MessageFrame* frame) noexcept { frame_ = frame; }

  /// Names the columns of the operation as the data does. Messages use the names, and flags have values of their own.
  void name_operations(std::string op, std::string deleted);
  /// Says which of the roles label (of a vertex), source_label and target_label are lists of labels.
  void list_labels(bool vertex, bool source, bool target) noexcept {
    lists_labels_ = vertex;
    lists_ends_ = {source, target};
  }

  /// Returns the update that `fields` state. There must be a field for each column of the layout. `sign` goes before an op
  /// column. Views are valid until the next call.
  Decoded make(const Layout& layout, std::span<const std::string_view> fields, std::optional<bool> sign = std::nullopt);
  /// Reports text ids that look missing or quoted, from here on. Call it if nobody has stated what ids are.
  void doubt_names() noexcept { doubts_names_ = doubts_ != nullptr; }
  /// Whether the last record has a word that may stand for a missing id or label. Then it matters whether it is quoted.
  [[nodiscard]] bool lacks_id() const noexcept { return lacks_id_; }
  /// Takes such words as names in the columns whose entry is not 0. Holds until the next call.
  void take_as_names(std::span<const char> columns) noexcept { names_ = columns; }
  Decoded refuse(RejectReason reason, std::string message);

 private:
  class Fields;
  /// What is read beside ends, labels and times.
  struct Extras {
    explicit Extras(const CodecOptions& options, const TimeReader& times)
        : spec(parse_columns(options)), properties(options, times), surroundings(spec) {}
    ColumnSpec spec;
    PropertyReader properties;
    MessageColumns surroundings;
    Layout layout;                         // with what surrounds the message behind the columns
    std::vector<std::string_view> fields;  // the same
    std::size_t columns = 0;               // of the record
  };

  Decoded make_fields(const Layout& layout, std::span<const std::string_view> fields, std::optional<bool> sign);
  bool take_ends(const Layout& layout, std::span<const std::string_view> fields, bool vertex, bool inserts);
  [[nodiscard]] std::string read_list(std::string_view cell) const;
  void take_labels(const Layout& layout, std::span<const std::string_view> fields, bool inserts);
  bool take_time(const Layout& layout, std::span<const std::string_view> fields);
  bool take_id(const Layout& layout, std::span<const std::string_view> fields, Role role, Id& id);
  void doubt_name(std::string_view field, std::size_t column, Role role, bool other);
  void look_at_label(std::string_view label, const Layout& layout, Role role);
  bool take_operation(const Layout& layout, std::span<const std::string_view> fields, bool& inserts);

  IdKind ids_;
  TimeReader times_;
  std::string edge_label_;
  Operations operations_;
  Doubts* doubts_ = nullptr;
  OptionSpelling spelling_;
  bool quotes_ = false;
  bool doubts_names_ = false;
  bool lacks_id_ = false;
  std::span<const char> names_;
  std::string op_name_ = "op";
  std::string deleted_name_ = "deleted";
  bool op_is_flag_ = false;
  bool lists_labels_ = false;         // the label of a vertex is a list
  std::array<bool, 2> lists_ends_{};  // the labels of an edge's source, and of its target
  std::array<std::string, label_lists.size()> labels_;
  std::array<std::string, 2> labels_of_ends_;
  Update update_;
  std::string message_;
  std::unique_ptr<Extras> extras_;  // null: there are none
  const MessageFrame* frame_ = nullptr;
  std::vector<std::string> column_names_;
};

}  // namespace deltamatch::ingest
