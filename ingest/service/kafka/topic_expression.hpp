// Regular expressions that name input topics.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace deltamatch::ingest::kafka {

/// An RE2 expression. Matching takes time linear in the length of the topic's name, for every expression.
class TopicExpression {
 public:
  /// Whether an entry of input.topics is an expression, not the name of a topic.
  [[nodiscard]] static bool is_one(std::string_view name) noexcept { return name.starts_with('^'); }

  struct Fault {
    std::string what;
    std::string remedy;
  };
  /// The fault of the expression, if it has one. Faults are bad syntax, a size of more than 8 MiB, and features that RE2 lacks
  /// (back references, look-around).
  [[nodiscard]] static std::optional<Fault> fault_of(std::string_view text);

  /// If the expression has a fault, throws Error(configuration) that names it as the place.
  explicit TopicExpression(std::string_view text);
  ~TopicExpression();
  TopicExpression(TopicExpression&&) noexcept;
  TopicExpression& operator=(TopicExpression&&) noexcept;

  /// Whether the whole name matches.
  [[nodiscard]] bool matches(std::string_view topic) const;

 private:
  struct Compiled;
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace deltamatch::ingest::kafka
