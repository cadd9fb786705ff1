#include "cli/config/node.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::cli {
namespace {

std::size_t line_of(const YAML::Mark& mark) { return static_cast<std::size_t>(std::max(mark.line, 0)) + 1; }

[[noreturn]] void fail_at(const YAML::Mark& mark, std::string_view what, const Problems& problems) {
  throw Error(
      ErrorKind::configuration,
      fmt::format("{}:{}:{}", problems.file(), line_of(mark), static_cast<std::size_t>(std::max(mark.column, 0)) + 1),
      fmt::format("this is not YAML: {}", what),
      "check indentation and brackets, and put values that hold signs of YAML (: # { } [ ] , & * ! | > % @ `) in quotes");
}

/// Builds the tree from the parser's events.
class Builder final : public YAML::EventHandler {
 public:
  Builder(std::string_view source, Problems& problems) : source_(source), problems_(problems) {}

  [[nodiscard]] Node take() { return std::move(root_); }
  /// The place of the innermost open list or map.
  [[nodiscard]] std::optional<YAML::Mark> open() const {
    return open_.empty() ? std::nullopt : std::optional(open_.back().mark);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ == 0) return;
    throw Error(ErrorKind::configuration, problems_.where(line_of(mark), ""), "a second document begins",
                "keep the configuration in one, and check that this line is indented like those before it");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse(mark, "", anchor);
    put(mark, {});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    problems_.add(line_of(mark), path(), "aliases (*) are not supported", "write the value out");
    put(mark, {});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    refuse(mark, tag, anchor);
    if (tag == "!") check_quotes(mark);
    Node node;
    node.kind = Node::Kind::text;
    node.text = node.written = value;
    put(mark, std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(Node::Kind::list, mark, tag, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    begin(Node::Kind::map, mark, tag, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapEnd() override { end(); }

 private:
  struct Open {
    Node node;
    YAML::Mark mark;
    std::optional<std::pair<std::string, std::size_t>> key;  // of a map, until its value comes; with its line
  };

  [[nodiscard]] std::string path() const {
    std::string path;
    for (const Open& open : open_) {
      if (open.node.kind == Node::Kind::list) path = join_path(path, open.node.items.size());
      if (open.key) path = join_path(path, open.key->first);
    }
    return path;
  }

  void refuse(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) problems_.add(line_of(mark), path(), "anchors (&) are not supported", "leave it out");
    if (!tag.empty() && tag != "?" && tag != "!") {
      problems_.add(line_of(mark), path(), "tags (!) are not supported",
                    "leave it out, or put a value that begins with ! in quotes");
    }
  }

  /// Refuses a quote that is never closed. The parser lets it end with the file.
  void check_quotes(const YAML::Mark& mark) const {
    std::size_t at = 0;
    for (int line = 0; line < mark.line && at != std::string_view::npos; ++line) at = source_.find('\n', at) + 1;
    at += static_cast<std::size_t>(mark.column);
    const char quote = at < source_.size() ? source_[at] : '\0';
    if (quote != '"' && quote != '\'') return;  // a block, which begins with | or >
    for (++at; at < source_.size(); ++at) {
      const bool escapes = quote == '"' ? source_[at] == '\\' : source_.substr(at, 2) == "''";
      if (!escapes && source_[at] == quote) return;
      if (escapes) ++at;
    }
    fail_at(mark, "a quote is opened here and never closed", problems_);
  }

  void begin(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    refuse(mark, tag, anchor);
    Open open;
    open.node.kind = kind;
    open.node.line = line_of(mark);
    open.mark = mark;
    open_.push_back(std::move(open));
  }

  void end() {
    Open open = std::move(open_.back());
    open_.pop_back();
    put(open.mark, std::move(open.node));
  }

  void put(const YAML::Mark& mark, Node node) {
    node.line = line_of(mark);
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      take_key(parent, std::move(node));
    } else {
      node.line = parent.key->second;
      add_entry(parent, std::move(node));
    }
  }

  void take_key(Open& map, Node key) {
    if (key.text.empty()) {
      problems_.add(key.line, path(), "the key is not a text", "write key: value");
    }
    map.key.emplace(std::move(key.text), key.line);
  }

  void add_entry(Open& map, Node value) {
    const std::string full_path = path();
    const std::string key = map.key->first;
    map.key.reset();
    if (const Node* first = map.node.find(key)) {
      problems_.add(value.line, full_path, fmt::format("the key is given twice, first in line {}", first->line),
                    "leave one of them out");
    } else if (key == "<<") {
      problems_.add(value.line, full_path, "merge keys (<<) are not supported", "write the keys out");
    } else if (!key.empty()) {
      map.node.entries.push_back({key, std::move(value)});
    }
  }

  std::string_view source_;
  Problems& problems_;
  Node root_;
  std::vector<Open> open_;
  int documents_ = 0;
};

/// The number, from 1, of the first line up to `last` that a tab indents. 0 if there is none.
std::size_t tab_indented_line(const std::string& text, std::size_t last) {
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; number <= last && std::getline(lines, line); ++number) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first != std::string::npos && line[first] != '#' && line.find('\t') < first) return number;
  }
  return 0;
}

[[noreturn]] void fail(const std::string& text, const YAML::Exception& error, const Builder& builder,
                       const Problems& problems) {
  // At the end of the text the parser knows no place. What was left open is to blame.
  const YAML::Mark mark = error.mark.pos <= 0 && builder.open() ? *builder.open() : error.mark;
  if (const std::size_t line = tab_indented_line(text, line_of(mark))) {
    throw Error(ErrorKind::configuration, fmt::format("{}:{}", problems.file(), line), "the indentation has a tab",
                "indent with blanks");
  }
  fail_at(mark, error.msg, problems);
}

}  // namespace

const Node* Node::find(std::string_view key) const noexcept {
  const auto found = std::find_if(entries.begin(), entries.end(), [key](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

Node parse_yaml(const std::string& text, Problems& problems) {
  Builder builder(text, problems);
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    fail(text, error, builder, problems);
  }
  return builder.take();
}

std::string join_path(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string join_path(std::string_view path, std::size_t index) { return fmt::format("{}[{}]", path, index); }

}  // namespace deltamatch::cli
