// Messages without a value.
#pragma once

#include <string>

#include "deltamatch/update.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/message_columns.hpp"
#include "ingest/codec/properties.hpp"

namespace deltamatch::ingest {

/// Reads tombstones. If the role edge is `kafka:key`, one deletes the edge of that key. If the role vertex is, it deletes the
/// vertex of that id.
class TombstoneReader {
 public:
  TombstoneReader(Format format, const CodecOptions& options);

  /// Whether a tombstone means anything.
  [[nodiscard]] bool deletes() const noexcept { return deletes_; }
  Decoded decode(const MessageFrame& frame);

 private:
  [[nodiscard]] Scalar value(Role role) const;
  Decoded refuse(RejectReason reason, std::string message);

  ColumnSpec spec_;
  MessageColumns surroundings_;
  TimeReader times_;
  PropertyReader properties_;
  IdKind ids_;
  bool vertex_ = false;
  bool deletes_ = false;
  Update update_;
  std::string message_;
};

}  // namespace deltamatch::ingest
