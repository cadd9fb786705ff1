// Columns that stand around the value of a message: its key, its headers and its time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/codec/codec.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/scalar.hpp"

namespace deltamatch::ingest {

/// Reads `kafka:key`, `kafka:key.PATH` (of a key that is a JSON object), `kafka:header.NAME` and `kafka:timestamp`.
class MessageColumns {
 public:
  /// Throws Error(usage) for a name that begins with kafka: and is none of these.
  explicit MessageColumns(const ColumnSpec& spec);

  [[nodiscard]] bool empty() const noexcept { return columns_.empty(); }
  /// The roles that have such a column.
  [[nodiscard]] std::size_t size() const noexcept { return columns_.size(); }
  [[nodiscard]] Role role(std::size_t column) const noexcept { return columns_[column].role; }
  [[nodiscard]] bool has(Role role) const noexcept;
  /// Its name: "kafka:key".
  [[nodiscard]] const std::string& name(std::size_t column) const noexcept { return columns_[column].name; }

  /// Takes the values of a message. They are valid until the next call, and as long as the frame. Without a frame, all are
  /// absent. Returns what is wrong; empty if nothing is.
  [[nodiscard]] std::string take(const MessageFrame* frame);
  [[nodiscard]] const Scalar& value(std::size_t column) const noexcept { return columns_[column].value; }

 private:
  enum class Kind : std::uint8_t { key, header, timestamp };
  struct Column {
    Role role{};
    Kind kind = Kind::key;
    std::string name;
    std::vector<std::string> path;  // in a key, or the name of a header
    Scalar value;
    std::string text;  // of a value that is a part of a key
  };

  static std::string take_key(Column& column, std::string_view key);

  std::vector<Column> columns_;
};

/// The names between the dots of a path. A dot within a name is `\.`, a backslash `\\`. Throws Error(usage).
[[nodiscard]] std::vector<std::string> split_path(std::string_view path, std::string_view whole);

}  // namespace deltamatch::ingest
