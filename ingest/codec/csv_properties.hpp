// Finds the columns of keys and attributes in a CSV header.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/codec/codec.hpp"
#include "ingest/codec/columns.hpp"

namespace deltamatch::ingest {

/// The column of an attribute is called as the options say, or like the attribute in any case. A type behind a colon, as in
/// neo4j's `amount:double`, does not count.
class CsvProperties {
 public:
  CsvProperties(const CodecOptions& options, const ColumnSpec& spec);

  /// By column: 1 if it is that of an attribute of edges, or of vertices if the header has no ends of edges.
  [[nodiscard]] std::vector<char> claimed(std::span<const std::string_view> header) const;
  /// Adds key and attributes to a layout that has all else. Returns what is wrong with the header; empty if nothing is.
  [[nodiscard]] std::string find(std::span<const std::string_view> header, Layout& layout);
  /// Adds an entry for each attribute that has no column but a likely one to the option `columns`. Of a header of edges.
  [[nodiscard]] std::string complete(std::string columns, std::span<const std::string_view> header) const;
  /// What to do about the fault that find() has returned.
  [[nodiscard]] const std::string& remedy() const noexcept { return remedy_; }

 private:
  struct Wanted {
    Role role{};
    std::string name;       // of the attribute
    std::string column;     // as it is to be called; empty: there is none
    bool own_name = false;  // nobody has named the column
  };

  [[nodiscard]] static std::vector<Wanted> wanted(const std::vector<AttributeColumn>& attributes, const ColumnSpec& spec);
  [[nodiscard]] static std::vector<std::size_t> columns_of(const Wanted& wanted, std::span<const std::string_view> header);
  [[nodiscard]] std::string find_key(std::span<const std::string_view> header, Layout& layout);
  [[nodiscard]] std::string columns(const std::string& entry) const;

  std::string options_;  // the option columns
  OptionSpelling spelling_;
  bool keyed_;
  std::optional<std::string> key_;  // the name of its column, if one was given
  std::vector<Wanted> edges_;
  std::vector<Wanted> vertices_;
  std::string remedy_;
};

}  // namespace deltamatch::ingest
