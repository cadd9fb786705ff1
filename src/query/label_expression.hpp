// Label expressions of a pattern, such as :Account&!(Closed|Frozen).
//
// A query holds their normal form, a LabelSet: alternatives, each of which is a term. A term joins labels that must all be
// there, and labels that must be absent (label_negation). Together with the empty label, a term has no other.
#pragma once

#include <string>
#include <string_view>

#include "deltamatch/query.hpp"
#include "query/tokens.hpp"

namespace deltamatch::query {

/// Parses labels from the present colon on, up to the token behind them. Without a colon, the result is empty: any label. An
/// edge has one label, so what needs two of them is refused. Throws Error(configuration).
[[nodiscard]] LabelSet parse_labels(Tokens& tokens, Element::Kind of);

/// The labels as a pattern writes them, with the colon. Empty for any label.
[[nodiscard]] std::string labels_text(const LabelSet& labels);

}  // namespace deltamatch::query
