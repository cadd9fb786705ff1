// Reads values of attributes. Every format reads them here, so a value means the same in all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "deltamatch/attribute.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/codec/scalar.hpp"

namespace deltamatch::ingest {

/// What is wrong with a value: "has a comma; write …". The texts follow the value in a message.
struct ValueFault {
  std::string what;
  std::string remedy;
};

/// Reads the values of one attribute. Decimals are exact. What could mean two things is refused.
class ValueReader {
 public:
  /// `times` reads the attributes of type time. `decimal` is how texts write numbers. `spelling` is that of remedies.
  ValueReader(AttributeType type, bool base64, TimeReader times, Decimal decimal = Decimal::strict,
              OptionSpelling spelling = {});

  /// Sets `value`, and returns nothing. If the value does not fit the type, returns why. A symbol is a view of the text.
  [[nodiscard]] std::optional<ValueFault> read(const Scalar& scalar, AttributeValue& value) const;

  /// Whether a text that is taken as a symbol may stand for a missing value. Only fields without kinds may.
  [[nodiscard]] static bool may_be_missing(const Scalar& scalar, const AttributeValue& value) noexcept;

 private:
  [[nodiscard]] std::optional<ValueFault> read_number(std::string_view text, const Scalar& scalar, AttributeValue& value) const;
  [[nodiscard]] std::optional<ValueFault> read_text(std::string_view text, const Scalar& scalar, AttributeValue& value) const;
  [[nodiscard]] std::optional<ValueFault> read_exact(std::string_view text, bool exponents, AttributeValue& value) const;
  [[nodiscard]] std::optional<ValueFault> read_bytes(const Scalar& scalar, std::int64_t scale, AttributeValue& value) const;

  AttributeType type_;
  bool base64_;
  TimeReader times_;
  Decimal decimal_;
  OptionSpelling spelling_;
};

/// The bytes that a text in base64 stands for. Nothing if it is no such text.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace deltamatch::ingest
