// Regular expressions that name input topics.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace deltamatch::ingest::kafka {

/// Of RE2: it matches in time linear in the topic's name, whatever the expression.
class TopicExpression {
 public:
  /// Whether the name of an entry of input.topics is an expression, as opposed to a topic's name.
  [[nodiscard]] static bool is_one(std::string_view name) noexcept { return name.starts_with('^'); }

  struct Fault {
    std::string what;
    std::string remedy;
  };
  /// Why it is none: its syntax, what RE2 leaves out (back references, look-around), or that it takes more than 8 MiB.
  [[nodiscard]] static std::optional<Fault> fault_of(std::string_view text);

  /// Throws Error(configuration), with the expression as its place, where it has a fault.
  explicit TopicExpression(std::string_view text);
  ~TopicExpression();
  TopicExpression(TopicExpression&&) noexcept;
  TopicExpression& operator=(TopicExpression&&) noexcept;

  /// Whether all of the name matches.
  [[nodiscard]] bool matches(std::string_view topic) const;

 private:
  struct Compiled;
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace deltamatch::ingest::kafka
