// Reads JSON as the tree of a configuration. Variables are not replaced in it: what comes over HTTP must not read the
// environment.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/config/node.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch::cli {
namespace {

constexpr std::size_t deepest = 32;

/// Builds the tree from the events of the parser.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(Problems& problems) : problems_(problems) { open_.push_back(&root_); }

  bool null() override { return put(Node::Kind::null, ""); }
  bool boolean(bool value) override { return put(Node::Kind::text, value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return put(Node::Kind::text, std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return put(Node::Kind::text, std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return put(Node::Kind::text, text); }
  bool string(string_t& text) override { return put(Node::Kind::text, text); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return begin(Node::Kind::map); }
  bool start_array(std::size_t) override { return begin(Node::Kind::list); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool key(string_t& name) override {
    if (open_.back()->find(name) != nullptr)
      problems_.add(1, join_path(names_.back(), name), "the key is there twice", "leave one of them out");
    key_ = name;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) override {
    const std::string text = error.what();
    const std::size_t at = text.find("at line ");  // "[json.exception.parse_error.101] parse error at line 1, column 3: …"
    failure_ = "this is no JSON: " + (at == std::string::npos ? text : text.substr(at));
    return false;
  }

  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  [[nodiscard]] Node& root() noexcept { return root_; }

 private:
  /// The node for the value that comes next.
  Node& place() {
    Node& in = *open_.back();
    if (&in == &root_ && open_.size() == 1) return root_;
    if (in.kind == Node::Kind::map) return in.entries.emplace_back(Entry{key_, {}}).value;
    return in.items.emplace_back();
  }

  bool put(Node::Kind kind, std::string text) {
    Node& node = place();
    node.kind = kind;
    node.written = text;
    node.text = std::move(text);
    return true;
  }

  bool begin(Node::Kind kind) {
    if (open_.size() > deepest) {
      failure_ = fmt::format("this is nested more than {} levels deep", deepest);
      return false;
    }
    Node& node = place();
    node.kind = kind;
    const Node& in = *open_.back();
    const bool item = open_.size() > 1 && in.kind == Node::Kind::list;
    names_.push_back(open_.size() == 1 ? ""
                     : item            ? join_path(names_.back(), in.items.size() - 1)
                                       : join_path(names_.back(), key_));
    open_.push_back(&node);
    return true;
  }

  bool end() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }

  Problems& problems_;
  Node root_;
  std::vector<Node*> open_;  // the root, then the maps and lists that are not closed; none of their siblings moves meanwhile
  std::vector<std::string> names_;  // their paths; none for the root
  std::string key_;
  std::string failure_;
};

}  // namespace

Node parse_json(std::string_view text, Problems& problems) {
  Builder builder(problems);
  if (!nlohmann::json::sax_parse(text, &builder))
    throw Error(ErrorKind::configuration, "", builder.failure().empty() ? "this is no JSON" : builder.failure(), "");
  return std::move(builder.root());
}

}  // namespace deltamatch::cli
