#include "condition/constant.hpp"

#include <algorithm>

#include "condition/evaluate.hpp"
#include "condition/normal.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch::condition {
namespace {

bool reads(const Expression& node) {  // NOLINT(misc-no-recursion): find_flaw bounds the depth
  using enum Expression::Kind;
  if (node.operands.empty()) return node.kind != literal;
  return std::ranges::any_of(node.operands, reads);
}

/// The source of a program that reads nothing.
struct Nothing {
  [[nodiscard]] std::optional<std::int64_t> raw(std::uint32_t /*element*/, std::uint32_t /*slot*/) const { return {}; }
  [[nodiscard]] std::optional<Timestamp> time(std::uint32_t /*element*/) const { return {}; }
  [[nodiscard]] Id id(std::uint32_t /*element*/) const { return {}; }
  [[nodiscard]] std::int64_t symbol(std::uint32_t text) const { return text; }  // a program holds each text once
};

}  // namespace

std::optional<Truth> constant_truth(const Expression& node) {
  if (reads(node)) return std::nullopt;
  try {
    return evaluate(compile(normal_form(node, {}), {}, {}, ""), Nothing());
  } catch (const Error&) {  // whoever compiles the whole condition says what is wrong
    return std::nullopt;
  }
}

}  // namespace deltamatch::condition
