// A sink that hands on the matches of one sign.
#include <cstdint>
#include <string>
#include <utility>

#include "ingest/sink/sinks.hpp"

namespace deltamatch::ingest {
namespace {

class SignFilter final : public MatchSink {
 public:
  SignFilter(std::unique_ptr<MatchSink> sink, Signs signs) : sink_(std::move(sink)), signs_(signs) {}

  void begin(std::uint64_t batch) override {
    written_ = 0;
    sink_->begin(batch);
  }
  void write(const Match& match) override {
    if (!wants(signs_, match.added)) return;
    if (match.query != query_) {  // matches come grouped by query
      query_ = match.query;
      written_ = 0;
    }
    ++written_;
    sink_->write(match);
  }
  void flush() override { sink_->flush(); }
  void end(const ListingEnd& end) override {
    ListingEnd handed = end;
    if (end.batch != 0) handed.matches = end.query == query_ ? written_ : 0;
    sink_->end(handed);
  }
  void commit() override { sink_->commit(); }
  void abort() noexcept override { sink_->abort(); }

 private:
  std::unique_ptr<MatchSink> sink_;
  Signs signs_;
  std::string query_;          // of the latest match
  std::uint64_t written_ = 0;  // of that query, in this batch
};

}  // namespace

std::unique_ptr<MatchSink> make_sign_filter(std::unique_ptr<MatchSink> sink, Signs signs) {
  return std::make_unique<SignFilter>(std::move(sink), signs);
}

}  // namespace deltamatch::ingest
