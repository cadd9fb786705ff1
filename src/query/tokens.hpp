// The tokens of a pattern as its parsers see them: the present one, and errors that point at it.
#pragma once

#include <string_view>

#include "query/lexer.hpp"
#include "query/source_text.hpp"

namespace deltamatch::query {

class Tokens {
 public:
  /// Starts at the first token. The SourceText must outlive it.
  explicit Tokens(const SourceText& source) : source_(source), lexer_(source) { advance(); }

  [[nodiscard]] const Token& now() const noexcept { return token_; }
  [[nodiscard]] bool is(TokenKind kind) const noexcept { return token_.kind == kind; }
  /// Whether the present token is this keyword, in any case. `keyword` is in capitals.
  [[nodiscard]] bool is_keyword(std::string_view keyword) const noexcept;

  void advance() { token_ = lexer_.next(); }
  /// Takes the present token and goes on to the next.
  [[nodiscard]] Token take();
  /// Goes on to the next token. From it on, the text is a condition.
  void enter_condition();
  /// After the present token, the text is labels, until end_labels.
  void enter_labels() noexcept { lexer_.set_in_labels(true); }
  void end_labels() noexcept { lexer_.set_in_labels(false); }
  /// After the present token, the text is a path again.
  void end_condition() noexcept { lexer_.set_in_condition(false); }

  /// Throws Error(configuration) that points at the present token, or at an offset. See SourceText::fail.
  [[noreturn]] void fail(std::string_view what, std::string_view remedy) const { source_.fail(token_.offset, what, remedy); }
  [[noreturn]] void fail_at(std::size_t offset, std::string_view what, std::string_view remedy) const {
    source_.fail(offset, what, remedy);
  }
  /// The same, with "expected `what`, but found ..." as the fault. If the token looks like a keyword in `what`, asks whether
  /// that was meant.
  [[noreturn]] void fail_expected(std::string_view what, std::string_view remedy) const;
  /// Goes on if the present token is of this kind, else fails as fail_expected does.
  void expect(TokenKind kind, std::string_view what, std::string_view remedy);

  [[nodiscard]] const SourceText& source() const noexcept { return source_; }

 private:
  const SourceText& source_;
  Lexer lexer_;
  Token token_;
};

}  // namespace deltamatch::query
