// Parts of rows in JSON: their operation, their properties, and whether the first one is a header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "deltamatch/update.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/json_fields.hpp"
#include "ingest/codec/operations.hpp"
#include "ingest/codec/properties.hpp"

namespace deltamatch::ingest {

/// A row of a record, for the reader of properties.
class Row final : public PropertySource {
 public:
  Row(const JsonFields& fields, Part part) : fields_(fields), part_(part) {}
  [[nodiscard]] Scalar value(Role role) const override { return fields_.of(part_, role); }
  [[nodiscard]] std::string name(Role role) const override { return fields_.name(part_, role); }

 private:
  const JsonFields& fields_;
  Part part_;
};

/// Reads the operation of a row.
class JsonOperation {
 public:
  /// `flag`: the column of the operation is a deletion flag.
  JsonOperation(const CodecOptions& options, bool flag)
      : operations_(options.op_values, spelling_of(options), options.columns), op_is_flag_(flag) {}

  /// Returns false and sets the message if a value is unknown, or if the two fields contradict each other. An empty flag means
  /// nothing.
  bool take(const JsonFields& fields, bool& inserts, std::string& message) const;

 private:
  Operations operations_;
  bool op_is_flag_;
};

/// Whether the values of a row are names of a header.
[[nodiscard]] bool is_json_header(const JsonFields& fields);

/// What is wrong with a record that is an array whose first element, of this type, is no object. `columns` is the option as
/// given; `vertices`: records state vertices.
[[nodiscard]] std::string no_row(ondemand::json_type type, const std::string& columns, bool vertices,
                                 const OptionSpelling& spelling);

/// Reports a first row of words above two rows of numbers: it may be a header.
class FirstRows {
 public:
  void look(Doubts& doubts, const Update& update, std::string_view record);

 private:
  static constexpr std::size_t that_tell = 3;
  std::size_t seen_ = 0;  // that may be a header and numbers; more than that_tell: they are not
  Position at_;
  std::string text_;
};

}  // namespace deltamatch::ingest
