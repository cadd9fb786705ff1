#include "ingest/sink/sinks.hpp"

#include <cstdint>
#include <utility>

#include "ingest/sink/file_sink.hpp"
#include "ingest/sink/match_text.hpp"
#include "ingest/sink/value_text.hpp"
#include "ingest/text/csv_text.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

class JsonlSink final : public FileSink {
 public:
  JsonlSink(const std::string& path, MatchForm form) : FileSink(path), form_(std::move(form)) {}

  void write(const Match& match) override {
    append_match_json(text(), match, form_);
    text() += '\n';
    file_.spill_if_large();
  }
  void end(const ListingEnd& end) override {
    if (end.shortfall == Shortfall::none) return;
    std::string& out = text();
    append_version(out, form_.version());
    out += R"("query":)";
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

 private:
  MatchForm form_;
};

class CsvSink final : public FileSink {
 public:
  CsvSink(const std::string& path, MatchForm form) : FileSink(path), form_(std::move(form)) {
    text() += "v,id,query,sign,batch,time,bindings,edges,cause\r\n";
    file_.commit();
  }

  void write(const Match& match) override {
    std::string& out = text();
    append_number(out, std::int64_t{form_.version()});
    out += ',';
    append_match_id(out, match.id);
    out += ',';
    append_csv_cell(out, match.query);
    out += match.added ? ",+," : ",-,";
    append_number(out, match.batch);
    out += ',';
    if (const auto time = written_time(match, form_)) append_time_text(out, *time, form_.times);
    append_cell([&] { append_bindings(cell_, match); });
    append_cell([&] { append_edges(cell_, match, form_); });
    append_cell([&] { append_cause(cell_, match); });
    out += "\r\n";
    file_.spill_if_large();
  }
  void end(const ListingEnd& end) override {
    if (end.shortfall == Shortfall::none) return;
    std::string& out = text();
    append_number(out, std::int64_t{form_.version()});
    out += ",,";
    append_csv_cell(out, end.query);
    out += ",partial:";
    out += shortfall_name(end.shortfall);
    out += ',';
    append_number(out, end.batch);
    out += ",,,,\r\n";
  }

 private:
  template <class Append>
  void append_cell(const Append& append) {
    cell_.clear();
    append();
    text() += ',';
    append_csv_cell(text(), cell_);
  }

  MatchForm form_;
  std::string cell_;
};

}  // namespace

std::unique_ptr<MatchSink> make_jsonl_sink(const std::string& path, const MatchForm& form) {
  return std::make_unique<JsonlSink>(path, form);
}
std::unique_ptr<MatchSink> make_csv_sink(const std::string& path, const MatchForm& form) {
  return std::make_unique<CsvSink>(path, form);
}

}  // namespace deltamatch::ingest
