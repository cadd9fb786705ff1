// Errors of the library. Expected outcomes (a duplicate edge, an unreadable record) are values; an Error ends the run.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace deltamatch {

/// The kind of an error, which decides the program's exit code: runtime 1, usage 2, record 65, configuration 78. A record error
/// means that one record stops a service.
enum class ErrorKind { runtime, usage, configuration, record };

/// What went wrong, where, and what to do about it. `what()` is "where: what; remedy".
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string_view where, std::string_view what, std::string_view remedy = {})
      : std::runtime_error(join(where, what, remedy)), kind_(kind) {}

  /// A runtime error.
  Error(std::string_view where, std::string_view what, std::string_view remedy = {})
      : Error(ErrorKind::runtime, where, what, remedy) {}

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  static std::string join(std::string_view where, std::string_view what, std::string_view remedy) {
    std::string text;
    if (!where.empty()) text.append(where).append(": ");
    text.append(what);
    if (!remedy.empty()) text.append("; ").append(remedy);
    return text;
  }

  ErrorKind kind_;
};

}  // namespace deltamatch
