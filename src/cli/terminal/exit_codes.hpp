// The program's exit codes. Scripts depend on them.
#pragma once

#include "deltamatch/error.hpp"

namespace deltamatch::cli {

inline constexpr int exit_ok = 0;
inline constexpr int exit_runtime = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_record = 65;  // EX_DATAERR of sysexits.h: a record stops a service
inline constexpr int exit_configuration = 78;
inline constexpr int exit_by_signal = 128;  // plus the signal's number

[[nodiscard]] constexpr int exit_code(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::usage:
      return exit_usage;
    case ErrorKind::configuration:
      return exit_configuration;
    case ErrorKind::record:
      return exit_record;
    case ErrorKind::runtime:
      break;
  }
  return exit_runtime;
}

}  // namespace deltamatch::cli
