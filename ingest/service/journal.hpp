// The interface by which parts of the service report events to its operator.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

enum class Level : unsigned char { trace, debug, info, warn, error };

struct Field {
  std::string_view key;
  std::string value;
};

/// Takes events. Any thread may call it. Events must not contain secrets.
class Journal {
 public:
  virtual ~Journal() = default;
  virtual void tell(Level level, std::string_view event, std::initializer_list<Field> fields = {}) noexcept = 0;
};

}  // namespace deltamatch::ingest
