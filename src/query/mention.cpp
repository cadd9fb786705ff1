#include "query/mention.hpp"

#include <fmt/format.h>

namespace deltamatch::query {

void check_use(const Mention& mention, const Query& query, const Element& element, const std::optional<Element>& inside,
               const SourceText& source) {
  using Use = Mention::Use;
  const std::string name = shown(mention.name);
  const bool of_path = mention.use == Use::path || mention.use == Use::previous;
  if (element.kind == Element::Kind::vertex) {
    if (!of_path) return;
    source.fail(mention.offset, fmt::format("'{}' is a vertex, not a path", name), "name a path: -[t:TRANSFER]->{1,4}");
  }
  if (mention.use == Use::vertex) {
    source.fail(mention.offset, fmt::format("id() of the edge '{}'", name), "id() takes a vertex");
  }
  const bool path = element.index < query.edges.size() && query.edges[element.index].quantifier;
  const bool outside = inside != element;
  if (path && outside && mention.use == Use::attribute) {
    source.fail(mention.offset, fmt::format("'{}' is a path, so it has no single value", name),
                "write first(t).amount, last(t).amount, sum(t.amount), min(t.amount) or max(t.amount), or put the "
                "condition on each step into the element: -[t WHERE t.amount > 5]->{1,4}");
  }
  if (path && outside && mention.use == Use::previous) {
    source.fail(mention.offset, fmt::format("prev() outside of the path '{}'", name),
                "put the condition into the element: -[t WHERE t.time > prev(t).time]->{1,4}");
  }
  if (!path && of_path) {
    source.fail(mention.offset, fmt::format("'{}' is one edge, not a path", name),
                "write t.amount, or give the edge a quantifier: -[t:TRANSFER]->{1,4}");
  }
}

void refuse_unknown(const Mention& mention, const SourceText& source) {
  source.fail(mention.offset, fmt::format("no vertex or edge is named '{}'", shown(mention.name)),
              "name it in the path: (a:Account) or -[t:TRANSFER]->");
}

}  // namespace deltamatch::query
