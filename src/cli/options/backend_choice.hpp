// The backends that a user can name, and the choice among them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/options/backend_options.hpp"
#include "deltamatch/engine.hpp"

namespace deltamatch::cli {

/// What the options are called where they were given, for messages. Also says where warnings go.
struct BackendWords {
  std::string backend = "--backend ";  ///< followed by its value
  std::string devices = "--devices";
  std::function<void(const std::string&)> warn{};
};

/// The words of a service's configuration.
[[nodiscard]] BackendWords configuration_words(std::function<void(const std::string&)> warn);

/// A backend that a user can name.
struct BackendEntry {
  std::string_view name;  ///< as Backend::name
  bool automatic;         ///< whether `auto` takes it if it can be made
  /// Makes it. Returns null for CPU cores. Throws Error if it cannot be made and the options insist on it; else it may warn and
  /// returns null.
  std::function<std::shared_ptr<Backend>(const BackendOptions&, const BackendWords&)> make;
};

/// All backends of this build, and those that it could have. Those that `auto` prefers come first.
[[nodiscard]] std::span<const BackendEntry> backend_table();

/// The words that name a backend, each with itself: `auto`, then those of the table by name.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>> backend_names(
    std::span<const BackendEntry> table = backend_table());

/// Makes the backend that the options name. Null: CPU cores match. Throws what BackendEntry::make throws. `options` must have
/// no objection, and its name must be in the table.
[[nodiscard]] std::shared_ptr<Backend> choose_backend(const BackendOptions& options, const BackendWords& words,
                                                      std::span<const BackendEntry> table = backend_table());

}  // namespace deltamatch::cli
