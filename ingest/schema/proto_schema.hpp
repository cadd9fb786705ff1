// Protobuf schemas: the texts of .proto files, and the records of their messages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ingest/schema/record_text.hpp"

namespace deltamatch::ingest {

/// Whether this build reads Protobuf. If not, every schema is refused.
[[nodiscard]] bool reads_protobuf() noexcept;

/// A .proto file with those that it imports. It never changes, so threads can share it.
class ProtoSchema {
 public:
  struct Impl;
  /// A message of the schema. Valid as long as the schema; null: none.
  using Message = const void*;

  /// Reads a schema. `imports` are the other files, by the names that imports give. Those of google/protobuf are known. Returns
  /// what is wrong if it cannot be read: "line 3: expected a field". O(length of the texts).
  [[nodiscard]] static std::variant<std::shared_ptr<const ProtoSchema>, std::string> read(
      std::string_view text, std::span<const std::pair<std::string, std::string>> imports = {});

  explicit ProtoSchema(std::unique_ptr<Impl> impl);
  ~ProtoSchema();
  ProtoSchema(const ProtoSchema&) = delete;
  ProtoSchema& operator=(const ProtoSchema&) = delete;

  /// The message at a place: its number in the file, from 0, then that within the message, and so on. The entries of maps do
  /// not count.
  [[nodiscard]] Message at(std::span<const std::int64_t> place) const;
  /// The message of this name, with or without its package. An empty name is the file's only message, if it has one alone.
  [[nodiscard]] Message named(std::string_view name) const;
  /// The names of the file's outer messages, for messages to people: "Payment, Party".
  [[nodiscard]] std::string names() const;
  [[nodiscard]] const Impl& impl() const noexcept { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Reads records of messages.
///
/// - A field that is there, or whose absence cannot be told from its default (proto3 without `optional`), has its value.
/// - google.protobuf.Timestamp is a time. Wrappers and google.protobuf.Value are what they hold. confluent.type.Decimal is an
///   exact decimal. An enum is the name of its value, or its number if the schema has no name.
class ProtoRecord {
 public:
  ProtoRecord();
  ~ProtoRecord();

  /// Writes the record into `out`. Returns false if the bytes are no record of the message; fault() says why.
  bool read(const std::shared_ptr<const ProtoSchema>& schema, ProtoSchema::Message message, std::string_view bytes,
            RecordText& out);
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;  // of the last message, which is used again
  std::string fault_;
};

}  // namespace deltamatch::ingest
