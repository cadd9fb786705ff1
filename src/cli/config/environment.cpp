// Replaces environment variables in the values of a configuration.
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

#include "cli/config/node.hpp"

namespace deltamatch::cli {
namespace {

bool is_name(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  }
  return true;
}

class Expander {
 public:
  Expander(const Environment& environment, Problems& problems) : environment_(environment), problems_(problems) {}

  void expand(Node& node, const std::string& path) {
    for (Entry& entry : node.entries) expand(entry.value, join_path(path, entry.key));
    for (std::size_t i = 0; i < node.items.size(); ++i) expand(node.items[i], join_path(path, i));
    if (node.kind == Node::Kind::text) expand_text(node, path);
  }

 private:
  void expand_text(Node& node, const std::string& path) {
    const std::string_view from = node.written;
    std::string text;
    for (std::size_t at = 0; at < from.size();) {
      const std::size_t dollar = std::min(from.find('$', at), from.size());
      text += from.substr(at, dollar - at);
      at = dollar;
      if (at == from.size()) break;
      if (from.substr(at, 2) == "$$") {
        text += '$';
        at += 2;
      } else if (from.substr(at, 2) == "${") {
        const std::size_t end = from.find('}', at);
        const std::string_view inside = from.substr(at + 2, end == std::string_view::npos ? end : end - at - 2);
        if (end == std::string_view::npos || !add_variable(inside, text, node, path)) {
          if (end == std::string_view::npos) refuse(node, path, "a ${ has no }");
          return;
        }
        at = end + 1;
      } else {
        text += '$';
        ++at;
      }
    }
    node.text = std::move(text);
  }

  bool add_variable(std::string_view inside, std::string& text, Node& node, const std::string& path) {
    const std::size_t colon = inside.find(":-");
    const std::string name(inside.substr(0, colon));
    if (!is_name(name)) {
      refuse(node, path, "the text in ${} is not the name of a variable");
      return false;
    }
    const std::optional<std::string> value = environment_(name);
    if (colon != std::string_view::npos) {
      text += value && !value->empty() ? *value : std::string(inside.substr(colon + 2));
    } else if (value) {
      text += *value;
    } else {
      node.faulty = true;
      problems_.add(node.line, path, fmt::format("the variable {} is not set in the environment", name),
                    fmt::format("set it, or give a default: ${{{}:-default}}", name));
      return false;
    }
    return true;
  }

  void refuse(Node& node, const std::string& path, std::string_view what) {
    node.faulty = true;
    problems_.add(node.line, path, what, "write ${NAME} or ${NAME:-default}, and $$ for a $ as such");
  }

  const Environment& environment_;
  Problems& problems_;
};

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nothing sets variables
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

void expand(Node& node, const Environment& environment, Problems& problems, const std::string& path) {
  Expander(environment, problems).expand(node, path);
}

}  // namespace deltamatch::cli
