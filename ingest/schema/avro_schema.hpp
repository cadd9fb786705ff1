// Avro schemas: what the writer of a record knew about its parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace deltamatch::ingest {

/// A type. It refers to others by their numbers in the schema.
struct AvroType {
  enum class Kind : std::uint8_t {
    null,
    boolean,
    int32,
    int64,
    float32,
    float64,
    bytes,
    string,
    fixed,
    enumeration,
    array,
    map,
    alternatives,  ///< a union
    record
  };
  /// What a logical type makes of it. Others change nothing: a uuid is its text.
  enum class Meaning : std::uint8_t { none, decimal, days, milliseconds, microseconds, nanoseconds };
  struct Field {
    std::string quoted;  ///< its name, as RecordText::quoted writes it
    std::uint32_t type = 0;
  };

  Kind kind = Kind::null;
  Meaning meaning = Meaning::none;
  std::uint32_t items = 0;                  ///< array, map: the type of an element
  std::uint32_t scale = 0;                  ///< decimal: digits behind the point
  std::uint64_t size = 0;                   ///< fixed: bytes
  std::vector<std::uint32_t> alternatives;  ///< union
  std::vector<std::string> symbols;         ///< enum
  std::vector<Field> fields;                ///< record
};

/// A schema that has been read. Types may refer to themselves. It never changes, so threads can share it.
class AvroSchema {
 public:
  /// How deep a schema may nest.
  static constexpr std::size_t deepest = 128;

  /// Reads a schema. `references` are schemas whose names it may use; each may use those before it. Returns what is wrong if it
  /// cannot be read: "the type Money is not known".
  ///
  /// Names are found by their full name, and without a namespace if that is not known. Defaults and aliases are not read: they
  /// concern readers. O(length of the texts).
  [[nodiscard]] static std::variant<AvroSchema, std::string> read(std::string_view text,
                                                                  std::span<const std::string> references = {});

  [[nodiscard]] const AvroType& type(std::uint32_t number) const noexcept { return types_[number]; }
  [[nodiscard]] std::uint32_t root() const noexcept { return root_; }

 private:
  friend class AvroSchemaReader;
  std::vector<AvroType> types_;
  std::uint32_t root_ = 0;
};

}  // namespace deltamatch::ingest
