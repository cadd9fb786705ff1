#include "ingest/service/alert/alert_template.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/alert/alert_view.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t deepest = 16;

bool is_empty(const Json* value) {
  if (value == nullptr || value->is_null()) return true;
  if (value->is_boolean()) return !value->get<bool>();
  return value->is_string() ? value->get_ref<const std::string&>().empty() : value->empty();
}

void append_percent(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~') {
      out += c;
    } else {
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
}

void append_xml(std::string& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (text.substr(at).starts_with("\xef\xbf\xbe") || text.substr(at).starts_with("\xef\xbf\xbf")) {
      out += "\xef\xbf\xbd";  // XML has no way to write U+FFFE and U+FFFF; this is the character for such ones
      at += 2;
      continue;
    }
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        // XML has no way to write other control characters.
        out += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' && c != '\r' ? ' ' : c;
    }
  }
}

void append(std::string& out, std::string_view text, Escape escape) {
  switch (escape) {
    case Escape::json: {
      std::string quoted;
      append_json_string(quoted, text);
      out.append(quoted, 1, quoted.size() - 2);
      return;
    }
    case Escape::percent:
      return append_percent(out, text);
    case Escape::xml:
      return append_xml(out, text);
    case Escape::none:
      out += text;
  }
}

/// The type without parameters, in small letters.
std::string media_type(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  std::ranges::transform(type, type.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type;
}

}  // namespace

bool is_json(std::string_view content_type) {
  const std::string type = media_type(content_type);
  return type == "application/json" || type == "text/json" || type.ends_with("+json");
}

bool is_json_lines(std::string_view content_type) {
  constexpr std::array types{"application/x-ndjson",    "application/ndjson",    "application/jsonl",
                             "application/x-jsonlines", "application/jsonlines", "application/json-lines",
                             "application/json-seq"};
  return std::ranges::find(types, media_type(content_type)) != types.end();
}

Escape escape_for(std::string_view content_type) {
  const std::string type = media_type(content_type);
  if (is_json(type) || is_json_lines(type)) return Escape::json;
  if (type == "application/x-www-form-urlencoded") return Escape::percent;
  if (type == "application/xml" || type == "text/xml" || type == "text/html" || type.ends_with("+xml")) return Escape::xml;
  return Escape::none;
}

bool is_unescaped(std::string_view content_type) {
  return escape_for(content_type) == Escape::none && media_type(content_type) != "text/plain";
}

class AlertTemplate::Parser {
 public:
  Parser(std::string_view text, std::vector<Tag>& tags) : text_(text), tags_(tags) {}

  std::vector<Node> run() {
    std::vector<Node> nodes;
    parse(nodes, nullptr, 0);
    return nodes;
  }

 private:
  [[nodiscard]] std::string place(std::size_t at) const {
    const std::string_view before = text_.substr(0, at);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return "line " + std::to_string(line) + ", column " + std::to_string(at - begin + 1);
  }
  [[noreturn]] void refuse(std::size_t at, const std::string& what, const std::string& remedy) const {
    throw Error(ErrorKind::configuration, place(at), what, remedy);
  }

  /// Parses up to the end of the section that `open` begins, or to the end of the text.
  void parse(std::vector<Node>& nodes, const Tag* open, std::size_t depth) {
    const std::size_t begin = at_;
    for (;;) {
      const std::size_t next = std::min(text_.find("{{", at_), text_.size());
      if (next > at_) nodes.emplace_back().text = text_.substr(at_, next - at_);
      at_ = next;
      if (at_ == text_.size()) {
        if (open == nullptr) return;
        refuse(begin, "the section " + open->name + " is not closed", "end it with {{/" + open->name + "}}");
      }
      if (parse_tag(nodes, open, depth)) return;
    }
  }

  /// Returns whether the tag ends the section.
  bool parse_tag(std::vector<Node>& nodes, const Tag* open, std::size_t depth) {
    const std::size_t at = at_;
    const bool raw = text_.substr(at).starts_with("{{{");
    const std::string_view closing = raw ? "}}}" : "}}";
    const std::size_t inner = at + closing.size();
    const std::size_t end = text_.find(closing, inner);
    if (end == std::string_view::npos) refuse(at, "the tag is not closed", "end it with " + std::string(closing));
    std::string_view name = text_.substr(inner, end - inner);
    at_ = end + closing.size();
    const char sign = raw || name.empty() ? '\0' : name.front();
    if (sign == '!') return false;
    if (sign == '&' || sign == '>' || sign == '=' || sign == '{')
      refuse(at, "{{" + std::string(1, sign) + " is not a part of this language", "write {{name}}, or {{{name}}} for JSON");
    if (sign == '#' || sign == '^' || sign == '/') name.remove_prefix(1);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (sign == '/') {
      if (open == nullptr) refuse(at, "no section is open here", "remove {{/" + std::string(name) + "}}");
      if (open->name != name)
        refuse(at, "the section " + open->name + " is open here, not " + std::string(name), "close the inner section first");
      return true;
    }
    Node node;
    node.path = path_of(name, at);
    node.kind = raw           ? Node::Kind::json
                : sign == '#' ? Node::Kind::section
                : sign == '^' ? Node::Kind::inverted
                              : Node::Kind::value;
    node.tag = tags_.size();
    const bool section = sign == '#' || sign == '^';
    tags_.push_back({std::string(name), place(at), section});
    if (section) {
      if (depth == deepest) refuse(at, "sections are nested more than 16 deep", "take some of them out");
      const Tag own = tags_.back();
      parse(node.children, &own, depth + 1);
    }
    nodes.push_back(std::move(node));
    return false;
  }

  [[nodiscard]] std::vector<std::string> path_of(std::string_view name, std::size_t at) const {
    std::vector<std::string> path;
    if (name.empty()) refuse(at, "the tag has no name", "write e.g. {{query}}");
    for (std::size_t begin = 0; begin <= name.size();) {
      const std::size_t end = std::min(name.find('.', begin), name.size());
      const std::string_view part = name.substr(begin, end - begin);
      if (part.empty() || part.find_first_of(" \t\r\n{}\"'") != std::string_view::npos)
        refuse(at, "'" + std::string(name) + "' is not a name", "write e.g. {{query}} or {{bindings.a}}");
      path.emplace_back(part);
      begin = end + 1;
    }
    return path;
  }

  std::string_view text_;
  std::vector<Tag>& tags_;
  std::size_t at_ = 0;
};

class AlertTemplate::Renderer {
 public:
  Renderer(std::string& out, Escape escape, std::span<const Json* const> scopes, TemplateCoverage* coverage)
      : out_(out), escape_(escape), scopes_(scopes.begin(), scopes.end()), coverage_(coverage) {}

  void run(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      if (node.kind == Node::Kind::text) {
        out_ += node.text;
        continue;
      }
      const Json* const value = find(node);
      switch (node.kind) {
        case Node::Kind::value:
          if (value != nullptr) append(out_, value_text(*value), escape_);
          break;
        case Node::Kind::json:
          // In JSON it is a value. Elsewhere its text must not end what surrounds it.
          append(out_, value == nullptr ? "null" : to_text(*value), escape_ == Escape::json ? Escape::none : escape_);
          break;
        case Node::Kind::section:
          if (!is_empty(value)) repeat(node.children, *value);
          break;
        default:
          if (is_empty(value)) run(node.children);
      }
    }
  }

 private:
  const Json* find(const Node& node) {
    const Json* found = nullptr;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend() && found == nullptr; ++scope) {
      const auto entry = (*scope)->find(node.path.front());
      if (entry != (*scope)->end()) found = &*entry;
    }
    for (std::size_t i = 1; i < node.path.size() && found != nullptr; ++i) found = part_of(*found, node.path[i]);
    if (coverage_ != nullptr) {
      coverage_->asked[node.tag] = true;
      if (found != nullptr) coverage_->found[node.tag] = true;
    }
    return found;
  }

  static const Json* part_of(const Json& value, const std::string& name) {
    if (value.is_object()) {
      const auto entry = value.find(name);
      return entry == value.end() ? nullptr : &*entry;
    }
    const bool digits = name.size() <= 6 && std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; });
    if (!value.is_array() || !digits) return nullptr;
    const std::size_t index = std::stoul(name);
    return index < value.size() ? &value[index] : nullptr;
  }

  void repeat(const std::vector<Node>& children, const Json& value) {
    if (!value.is_structured()) return run(children);
    std::size_t index = 0;
    for (const auto& [name, item] : value.items()) {
      Json entry = Json::object();
      if (value.is_object()) {
        entry["name"] = name;
        entry["value"] = item;
      } else if (!item.is_object()) {
        entry["value"] = item;
      }
      entry["index"] = index;
      entry["first"] = index == 0;
      entry["last"] = ++index == value.size();
      const std::size_t before = scopes_.size();
      if (value.is_array() && item.is_object()) scopes_.push_back(&item);
      scopes_.push_back(&entry);
      run(children);
      scopes_.resize(before);
    }
  }

  std::string& out_;
  Escape escape_;
  std::vector<const Json*> scopes_;
  TemplateCoverage* coverage_;
};

AlertTemplate::AlertTemplate(std::string_view text, Escape escape) : escape_(escape), nodes_(Parser(text, tags_).run()) {}

void AlertTemplate::render(std::string& out, std::span<const Json* const> scopes, TemplateCoverage* coverage) const {
  if (coverage != nullptr) {
    coverage->asked.resize(tags_.size());
    coverage->found.resize(tags_.size());
  }
  Renderer(out, escape_, scopes, coverage).run(nodes_);
}

}  // namespace deltamatch::ingest
