// The common base of the sinks that write matches to files.
#pragma once

#include <string>

#include "deltamatch/match.hpp"
#include "ingest/sink/output_file.hpp"

namespace deltamatch::ingest {

class FileSink : public MatchSink {
 public:
  explicit FileSink(const std::string& path) : file_(path) {}
  void begin(std::uint64_t) override {}
  void flush() override { file_.commit(); }
  void commit() override { file_.commit(); }
  void abort() noexcept override { file_.abort(); }

 protected:
  [[nodiscard]] std::string& text() noexcept { return file_.text(); }
  OutputFile file_;
};

}  // namespace deltamatch::ingest
