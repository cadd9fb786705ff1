// A single value of a record, as its format has it.
#pragma once

#include <cstdint>
#include <string_view>

namespace deltamatch::ingest {

struct Scalar {
  enum class Kind : std::uint8_t {
    absent,
    string,    ///< of JSON
    number,    ///< of JSON
    boolean,   ///< of JSON
    null,      ///< of JSON, where it means something else than a field that is absent
    text,      ///< a field whose format has no kinds of values
    scaled,    ///< an object {"scale":…,"value":…}: the text is base64, `number` the scale
    instant,   ///< a time; `number` has its microseconds
    composed,  ///< an object or an array, or what the text calls it, which is not read
  };
  Kind kind = Kind::absent;
  std::string_view text{};
  std::int64_t number = 0;
};

}  // namespace deltamatch::ingest
