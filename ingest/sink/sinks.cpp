#include "ingest/sink/sinks.hpp"

#include <utility>

#include "ingest/sink/file_sink.hpp"
#include "ingest/sink/match_text.hpp"
#include "ingest/text/csv_text.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

class JsonlSink final : public FileSink {
 public:
  using FileSink::FileSink;
  void write(const Match& match) override {
    append_match_json(text(), match);
    text() += '\n';
    file_.spill_if_large();
  }
  void end(const ListingEnd& end) override {
    if (end.shortfall == Shortfall::none) return;
    std::string& out = text();
    out += R"({"v":1,"query":)";
    append_json_string(out, end.query);
    if (end.batch != 0) {
      out += R"(,"batch":)";
      append_number(out, end.batch);
    }
    out += R"(,"partial":")";
    out += shortfall_name(end.shortfall);
    out += R"(","matches":)";
    append_number(out, end.matches);
    out += "}\n";
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
    append_csv_cell(out, match.query);
    out += match.added ? ",+," : ",-,";
    append_number(out, match.batch);
    out += ',';
    if (match.time) append_number(out, *match.time);
    for (const auto append : {&append_bindings, &append_edges, &append_cause}) {
      cell_.clear();
      append(cell_, match);
      out += ',';
      append_csv_cell(out, cell_);
    }
    out += "\r\n";
    file_.spill_if_large();
  }
  void end(const ListingEnd& end) override {
    if (end.shortfall == Shortfall::none) return;
    std::string& out = text();
    out += "1,,";
    append_csv_cell(out, end.query);
    out += ",partial:";
    out += shortfall_name(end.shortfall);
    out += ',';
    append_number(out, end.batch);
    out += ",,,,\r\n";
  }

 private:
  std::string cell_;
};

}  // namespace

std::unique_ptr<MatchSink> make_jsonl_sink(const std::string& path) { return std::make_unique<JsonlSink>(path); }
std::unique_ptr<MatchSink> make_csv_sink(const std::string& path) { return std::make_unique<CsvSink>(path); }

}  // namespace deltamatch::ingest
