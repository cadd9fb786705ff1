#include "ingest/batch/read_ahead.hpp"

#include <exception>
#include <utility>

namespace deltamatch::ingest {

ReadAhead::ReadAhead(Batcher& batcher, RecordSource& source, std::size_t depth)
    : batcher_(batcher), source_(source), queue_(depth), thread_([this] { run(); }) {}

ReadAhead::~ReadAhead() {
  queue_.abandon();
  source_.cancel();
  thread_.join();
}

void ReadAhead::run() {
  std::exception_ptr failure;
  try {
    while (queue_.wait_for_room()) {
      PositionedBatch batch = queue_.memory();
      if (!batcher_.fill(batch)) break;
      queue_.push(std::move(batch));
    }
  } catch (...) {
    failure = std::current_exception();
  }
  queue_.end(std::move(failure));
}

}  // namespace deltamatch::ingest
