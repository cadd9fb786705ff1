#include "ingest/sink/sinks.hpp"

#include <utility>

#include "ingest/sink/json_text.hpp"
#include "ingest/sink/output_file.hpp"

namespace deltamatch::ingest {
namespace {

void append_hex(std::string& out, std::uint64_t bits) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) out += digits[(bits >> shift) & 15];
}

void append_match_id(std::string& out, const MatchId& id) {
  append_hex(out, id.high);
  append_hex(out, id.low);
}

void append_bindings(std::string& out, const Match& match) {
  out += '{';
  for (std::size_t i = 0; i < match.vertices.size(); ++i) {
    if (i != 0) out += ',';
    append_json_string(out, match.names[i]);
    out += ':';
    append_json_id(out, match.vertices[i]);
  }
  out += '}';
}

void append_edges(std::string& out, const Match& match) {
  out += '[';
  for (std::size_t i = 0; i < match.edges.size(); ++i) {
    out += i == 0 ? "[" : ",[";
    append_json_id(out, match.edges[i].source);
    out += ',';
    append_json_string(out, match.edges[i].label);
    out += ',';
    append_json_id(out, match.edges[i].target);
    out += ']';
  }
  out += ']';
}

void append_cause(std::string& out, const Match& match) {
  out += '[';
  for (std::size_t i = 0; i < match.cause.size(); ++i) {
    if (i != 0) out += ',';
    append_number(out, std::uint64_t{match.cause[i]});
  }
  out += ']';
}

void append_json_line(std::string& out, const Match& match) {
  out += R"({"v":1,"id":")";
  append_match_id(out, match.id);
  out += R"(","query":)";
  append_json_string(out, match.query);
  out += match.added ? R"(,"sign":"+","batch":)" : R"(,"sign":"-","batch":)";
  append_number(out, match.batch);
  out += R"(,"time":)";
  if (match.time) {
    append_number(out, *match.time);
  } else {
    out += "null";
  }
  out += R"(,"bindings":)";
  append_bindings(out, match);
  out += R"(,"edges":)";
  append_edges(out, match);
  out += R"(,"cause":)";
  append_cause(out, match);
  out += "}\n";
}

/// A CSV cell, quoted where it has to be.
void append_cell(std::string& out, std::string_view text) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

class FileSink : public MatchSink {
 public:
  explicit FileSink(const std::string& path) : file_(path) {}
  void begin(std::uint64_t) override {}
  void commit() override { file_.commit(); }
  void abort() noexcept override { file_.abort(); }

 protected:
  [[nodiscard]] std::string& text() noexcept { return file_.text(); }
  OutputFile file_;
};

class JsonlSink final : public FileSink {
 public:
  using FileSink::FileSink;
  void write(const Match& match) override {
    append_json_line(text(), match);
    file_.spill_if_large();
  }
};

class CsvSink final : public FileSink {
 public:
  explicit CsvSink(const std::string& path) : FileSink(path) {
    text() += "v,id,query,sign,batch,time,bindings,edges,cause\r\n";
    file_.commit();
  }

  void write(const Match& match) override {
    std::string& out = text();
    out += "1,";
    append_match_id(out, match.id);
    out += ',';
    append_cell(out, match.query);
    out += match.added ? ",+," : ",-,";
    append_number(out, match.batch);
    out += ',';
    if (match.time) append_number(out, *match.time);
    for (const auto append : {&append_bindings, &append_edges, &append_cause}) {
      cell_.clear();
      append(cell_, match);
      out += ',';
      append_cell(out, cell_);
    }
    out += "\r\n";
    file_.spill_if_large();
  }

 private:
  std::string cell_;
};

}  // namespace

std::unique_ptr<MatchSink> make_jsonl_sink(const std::string& path) { return std::make_unique<JsonlSink>(path); }
std::unique_ptr<MatchSink> make_csv_sink(const std::string& path) { return std::make_unique<CsvSink>(path); }

}  // namespace deltamatch::ingest
