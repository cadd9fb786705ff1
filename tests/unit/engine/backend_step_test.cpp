// What a backend's profilers get to know about the steps that the engine takes itself.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "unit/engine/idle_backend.hpp"

namespace deltamatch {
namespace {

class ListeningBackend final : public test::IdleBackend {
 public:
  void begin_step(const char* name) noexcept override { heard.emplace_back(name); }
  void end_step() noexcept override { heard.emplace_back("/"); }
  std::vector<std::string> heard;
};

UpdateBatch edge(std::int64_t source, std::int64_t target) {
  Update update;
  update.source = source;
  update.target = target;
  UpdateBatch batch;
  batch.add(update);
  return batch;
}

TEST(BackendStep, ApplyAndSettleAreTold) {
  const auto backend = std::make_shared<ListeningBackend>();
  Engine engine({.backend = backend});
  engine.add_query(parse_pattern("(a)-->(b)", "edge"));
  engine.process(edge(1, 2));
  EXPECT_EQ(backend->heard, (std::vector<std::string>{"apply", "/", "settle", "/"}));
}

// A sink that fails makes the batch be undone.
TEST(BackendStep, WhatBeginsEndsWhereABatchFails) {
  class Failing final : public MatchSink {
    void begin(std::uint64_t) override { throw Error("sink", "is full"); }
    void write(const Match&) override {}
    void commit() override {}
    void abort() noexcept override {}
  } sink;
  const auto backend = std::make_shared<ListeningBackend>();
  Engine engine({.backend = backend});
  engine.add_query(parse_pattern("(a)-->(b)", "edge"), {.list = true});
  EXPECT_THROW(engine.process(edge(1, 2), OnReject::stop, &sink), Error);
  EXPECT_EQ(backend->heard, (std::vector<std::string>{"apply", "/"}));
}

}  // namespace
}  // namespace deltamatch
