// A sink that hands matches on to several others.
#include <cstdint>
#include <utility>

#include "ingest/sink/sinks.hpp"

namespace deltamatch::ingest {
namespace {

class Tee final : public MatchSink {
 public:
  explicit Tee(std::vector<std::unique_ptr<MatchSink>> sinks) : sinks_(std::move(sinks)) {}

  void begin(std::uint64_t batch) override {
    for (const auto& sink : sinks_) sink->begin(batch);
  }
  void write(const Match& match) override {
    for (const auto& sink : sinks_) sink->write(match);
  }
  void flush() override {
    for (const auto& sink : sinks_) sink->flush();
  }
  void end(const ListingEnd& end) override {
    for (const auto& sink : sinks_) sink->end(end);
  }
  void commit() override {
    for (const auto& sink : sinks_) sink->commit();
  }
  void abort() noexcept override {
    for (const auto& sink : sinks_) sink->abort();
  }

 private:
  std::vector<std::unique_ptr<MatchSink>> sinks_;
};

}  // namespace

std::unique_ptr<MatchSink> make_tee(std::vector<std::unique_ptr<MatchSink>> sinks) {
  if (sinks.size() == 1) return std::move(sinks.front());
  return std::make_unique<Tee>(std::move(sinks));
}

}  // namespace deltamatch::ingest
