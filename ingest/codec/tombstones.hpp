// Messages without a value.
#pragma once

#include <string>
#include <string_view>

#include "deltamatch/update.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/message_columns.hpp"
#include "ingest/codec/properties.hpp"

namespace deltamatch::ingest {

/// Reads tombstones, by what their keys (or headers) say.
///
/// - The role edge: it deletes the edge of that key.
/// - The role vertex: it deletes the vertex of that id.
/// - The roles source and target: it deletes the edge of these ends and of the label. It is refused if edges are more than
///   that. It is refused too if its label is not there, unless records have none (`label=`).
class TombstoneReader {
 public:
  TombstoneReader(Format format, const CodecOptions& options);

  /// Whether a tombstone means anything.
  [[nodiscard]] bool deletes() const noexcept { return deletes_; }
  Decoded decode(const MessageFrame& frame);

 private:
  [[nodiscard]] Scalar value(Role role) const;
  [[nodiscard]] bool take_id(Role role, Id& id);
  Decoded delete_by_ends();
  Decoded refuse(RejectReason reason, std::string message);

  ColumnSpec spec_;
  MessageColumns surroundings_;
  TimeReader times_;
  PropertyReader properties_;
  IdKind ids_;
  std::string edge_label_;
  bool vertex_ = false;
  bool ends_ = false;  // by ends and label
  EdgeModel model_ = EdgeModel::simple;
  bool deletes_ = false;
  Update update_;
  std::string message_;
};

}  // namespace deltamatch::ingest
