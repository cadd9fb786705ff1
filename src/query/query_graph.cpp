// Parses query graphs in the t/v/e format. There is one record per line, and blanks separate fields. Empty lines and lines that
// begin with # or % are comments.
// - Edges come after their vertices.
// - A `t` record comes first, if there is one. Two spellings are in use: `t VERTICES EDGES` and `t 0 VERTICES` (0 numbers the
//   graph). Both must agree with what follows.
// - gSpan's `t # NUMBER` does not describe the graph. `t # -1` ends the file.
// - A degree of -1 is ignored.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <vector>

#include "query/flaw.hpp"
#include "query/source_text.hpp"

namespace deltamatch {
namespace query {
namespace {

struct Field {
  std::string_view text;
  std::size_t offset;
};

class QueryGraphParser {
 public:
  QueryGraphParser(const SourceText& source, std::string_view name, bool directed) : source_(source), directed_(directed) {
    query_.name = name;
  }

  Query parse() {
    const std::string_view text = source_.text();
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      record(begin, end);
      begin = end + 1;
    }
    if (query_.vertices.empty()) source_.fail(text.size(), "the query graph has no vertices", "list vertices as 'v ID LABEL'");
    check_header();
    refuse_flaws(query_, places_, source_);
    return std::move(query_);
  }

 private:
  void record(std::size_t begin, std::size_t end) {
    split(begin, end);
    if (fields_.empty() || fields_[0].text[0] == '#' || fields_[0].text[0] == '%') return;
    if (fields_[0].text == "t") return fields_.size() > 1 && fields_[1].text == "#" ? numbered_header() : header();
    if (ended_)
      source_.fail(fields_[0].offset, "this record stands behind 't # -1', which ends the file", "leave it or that line out");
    if (fields_[0].text == "v") return vertex();
    if (fields_[0].text == "e") return edge();
    source_.fail(fields_[0].offset, fmt::format("the kind of record '{}' is unknown", shown(fields_[0].text)),
                 "write records as 't VERTICES EDGES', 'v ID LABEL' or 'e ID ID [LABEL]'");
  }

  void split(std::size_t begin, std::size_t end) {
    constexpr std::string_view blanks = " \t\r\f\v";
    const std::string_view text = source_.text().substr(0, end);
    fields_.clear();
    while ((begin = text.find_first_not_of(blanks, begin)) != std::string_view::npos) {
      const std::size_t next = std::min(text.find_first_of(blanks, begin), text.size());
      fields_.push_back({text.substr(begin, next - begin), begin});
      begin = next;
    }
  }

  void expect_fields(std::size_t least, std::size_t most, std::string_view form) const {
    if (fields_.size() >= least && fields_.size() <= most) return;
    source_.fail(fields_.size() > most ? fields_[most].offset : fields_[0].offset,
                 fmt::format("the record has {} fields", fields_.size()), fmt::format("write it as '{}'", form));
  }

  [[nodiscard]] std::uint64_t number(const Field& field, std::string_view what) const {
    std::uint64_t value = 0;
    const std::string_view text = field.text;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && stop == text.data() + text.size()) return value;
    source_.fail(field.offset, fmt::format("the {} '{}' is not a number", what, shown(field.text)),
                 "write an integer from 0 to 18446744073709551615");
  }

  void header() {
    expect_fields(3, 3, "t VERTICES EDGES");
    expect_first();
    header_ = Header{fields_[0].offset, number(fields_[1], "first count"), number(fields_[2], "second count")};
  }

  void expect_first() {
    if (!begun_ && query_.vertices.empty()) {
      begun_ = true;
      return;
    }
    source_.fail(fields_[0].offset, "a second query graph begins at this 't' record",
                 "split the file: it holds one query graph");
  }

  /// Parses gSpan's `t # NUMBER`. Further fields, for instance `* SUPPORT`, do not describe the graph and are ignored.
  void numbered_header() {
    expect_fields(3, 5, "t # NUMBER");
    if (fields_[2].text == "-1") {
      ended_ = true;
      return;
    }
    static_cast<void>(number(fields_[2], "graph's number"));
    if (ended_)
      source_.fail(fields_[0].offset, "this record stands behind 't # -1', which ends the file", "leave it or that line out");
    expect_first();
  }

  void check_header() const {
    if (!header_) return;
    const std::uint64_t vertices = query_.vertices.size();
    const std::uint64_t edges = query_.edges.size();
    if ((header_->first == vertices && header_->second == edges) || (header_->first == 0 && header_->second == vertices))
      return;
    source_.fail(
        header_->offset,
        fmt::format("'t {} {}' does not match {} vertices and {} edges", header_->first, header_->second, vertices, edges),
        "check whether the file is truncated, and write the record as 't VERTICES EDGES'");
  }

  void vertex() {
    expect_fields(2, 4, "v ID [LABEL [DEGREE]]");
    const std::uint64_t id = number(fields_[1], "vertex id");
    if (fields_.size() > 3 && fields_[3].text != "-1") static_cast<void>(number(fields_[3], "degree"));
    if (!indices_.emplace(id, static_cast<std::uint32_t>(query_.vertices.size())).second) {
      source_.fail(fields_[1].offset, fmt::format("vertex {} occurs twice", id), "list each vertex once");
    }
    query_.vertices.push_back({fmt::format("{}", id), label(2)});
    places_.vertices.push_back(fields_[0].offset);
  }

  void edge() {
    expect_fields(3, 4, "e ID ID [LABEL]");
    const std::uint32_t source = end(fields_[1]);
    const std::uint32_t target = end(fields_[2]);
    LabelSet labels = label(3);
    // If edges have no labels, data graphs of this format omit the label or write 0. Query graphs for either kind write 0.
    if (labels == LabelSet{"0"}) labels.insert(labels.begin(), std::string());
    query_.edges.push_back({source, target, std::move(labels), directed_});
    places_.edges.push_back(fields_[0].offset);
  }

  [[nodiscard]] std::uint32_t end(const Field& field) const {
    const std::uint64_t id = number(field, "vertex id");
    const auto found = indices_.find(id);
    if (found != indices_.end()) return found->second;
    source_.fail(field.offset, fmt::format("vertex {} is not listed before this edge", id),
                 "list it as 'v ID LABEL' before its edges");
  }

  [[nodiscard]] LabelSet label(std::size_t field) const {
    if (field >= fields_.size() || fields_[field].text == "*") return {};
    return {std::string(fields_[field].text)};
  }

  struct Header {
    std::size_t offset;
    std::uint64_t first;
    std::uint64_t second;
  };

  const SourceText& source_;
  bool directed_;
  Query query_;
  std::vector<Field> fields_;  // of the current record
  std::optional<Header> header_;
  bool begun_ = false;  // by a t record
  bool ended_ = false;  // by t # -1
  std::unordered_map<std::uint64_t, std::uint32_t> indices_;
  TextPositions places_;
};

}  // namespace
}  // namespace query

Query parse_query_graph(std::string_view text, std::string_view name, bool directed, std::string_view where) {
  const query::SourceText source(text, where);
  return query::QueryGraphParser(source, name, directed).parse();
}

}  // namespace deltamatch
