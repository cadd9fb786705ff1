// Texts with places for the fields of an alert, in a strict subset of Mustache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deltamatch::ingest {

/// How the text of a field is written, so that it cannot end what surrounds it.
enum class Escape : std::uint8_t {
  json,     ///< inside a JSON string
  percent,  ///< as a part of a URL or of a form
  xml,      ///< inside an element or a quoted attribute
  none,
};

/// The escape for bodies of a content type. Other types than JSON, lines of JSON, forms, XML and HTML have none.
[[nodiscard]] Escape escape_for(std::string_view content_type);
[[nodiscard]] bool is_json(std::string_view content_type);
/// Whether fields stand in such a body as they are, although it may be more than plain text.
[[nodiscard]] bool is_unescaped(std::string_view content_type);
/// Whether each line of a body is a JSON value.
[[nodiscard]] bool is_json_lines(std::string_view content_type);

/// Which names of a template were asked for while it was rendered, and which were found. Both by number of the tag.
struct TemplateCoverage {
  std::vector<bool> asked;
  std::vector<bool> found;
};

/// A template has text and tags. In {{name}} the field stands as text, escaped; a list is joined by ", ", and null is empty. In
/// {{{name}}} it stands as JSON, escaped unless the escape is that of JSON. {{#name}}...{{/name}} is rendered once for each
/// entry of a list or an object, and once for another value. It is left out for what is absent, null, false or empty, and
/// {{^name}}...{{/name}} is rendered only then.
/// {{! comment }} is nothing.
///
/// A name is a path: bindings.a, edges.0.amount. Its first part is looked up from the inside out. In a section over a list,
/// `first`, `last` and `index` (from 0) tell the entry's place. `value` is an entry that is no object. In a section over an
/// object, `name` and `value` are the entry. A name that is not found is empty. Const members may be called by several threads.
class AlertTemplate {
 public:
  /// Throws Error(configuration) with line and column if the text is malformed.
  AlertTemplate(std::string_view text, Escape escape);

  /// Appends the text. Names are looked up in the last scope first; scopes are objects. O(output + names * depth).
  void render(std::string& out, std::span<const nlohmann::ordered_json* const> scopes,
              TemplateCoverage* coverage = nullptr) const;

  /// The number of tags with a name.
  [[nodiscard]] std::size_t tags() const noexcept { return tags_.size(); }
  /// The name of a tag, and whether it begins a section.
  struct Tag {
    std::string name;
    std::string where;  ///< "line 2, column 5"
    bool section = false;
  };
  [[nodiscard]] const Tag& tag(std::size_t number) const { return tags_[number]; }

 private:
  struct Node {
    enum class Kind : std::uint8_t { text, value, json, section, inverted } kind = Kind::text;
    std::string text;               // of a text
    std::vector<std::string> path;  // of a tag
    std::size_t tag = 0;
    std::vector<Node> children;
  };
  class Parser;
  class Renderer;

  Escape escape_;
  std::vector<Tag> tags_;  // filled while nodes_ is made
  std::vector<Node> nodes_;
};

}  // namespace deltamatch::ingest
