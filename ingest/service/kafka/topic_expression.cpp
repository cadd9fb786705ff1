#include "ingest/service/kafka/topic_expression.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest::kafka {

struct TopicExpression::Compiled {
  explicit Compiled(std::string_view text) : expression(re2::StringPiece(text.data(), text.size()), options()) {}

  static RE2::Options options() {
    RE2::Options options;
    options.set_log_errors(false);
    return options;
  }

  [[nodiscard]] std::optional<Fault> fault() const;

  RE2 expression;
};

std::optional<TopicExpression::Fault> TopicExpression::Compiled::fault() const {
  if (expression.ok()) return std::nullopt;
  const bool left_out = expression.error_code() == RE2::ErrorBadPerlOp || expression.error_code() == RE2::ErrorBadEscape ||
                        expression.error_code() == RE2::ErrorRepeatOp;
  return Fault{fmt::format("RE2 does not accept this regular expression: {}", expression.error()),
               left_out ? "write it without back references, look-around and possessive repeats, or write a topic's name"
                        : "correct it, or write a topic's name"};
}

std::optional<TopicExpression::Fault> TopicExpression::fault_of(std::string_view text) { return Compiled(text).fault(); }

TopicExpression::TopicExpression(std::string_view text) : compiled_(std::make_unique<const Compiled>(text)) {
  if (const auto fault = compiled_->fault()) {
    throw Error(ErrorKind::configuration, fmt::format("\"{}\"", text), fault->what, fault->remedy);
  }
}

TopicExpression::~TopicExpression() = default;
TopicExpression::TopicExpression(TopicExpression&&) noexcept = default;
TopicExpression& TopicExpression::operator=(TopicExpression&&) noexcept = default;

bool TopicExpression::matches(std::string_view topic) const {
  return RE2::FullMatch(re2::StringPiece(topic.data(), topic.size()), compiled_->expression);
}

}  // namespace deltamatch::ingest::kafka
