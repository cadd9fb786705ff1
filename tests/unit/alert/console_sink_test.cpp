#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "ingest/service/alert/alert_sinks.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::alert_of;
using testing::alerts_of;
using testing::deliver;
using testing::error_of;
using ::testing::HasSubstr;

struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error("pipe", "cannot be made");
  }
  ~Pipe() {
    for (const int end : ends) ::close(end);
  }
  std::array<int, 2> ends{};
};

TEST(ConsoleSink, WritesALinePerAlertOnceTheBatchIsComplete) {
  Pipe pipe;
  const auto sink = make_console_sink("out", pipe.ends[1]);
  EXPECT_EQ(sink->recover("anything"), "");
  sink->begin(1);
  sink->write("", "aborted");
  sink->abort();
  EXPECT_EQ(deliver(*sink, 1, alerts_of(1, 2)), "");
  std::array<char, 4096> bytes;
  const ssize_t got = ::read(pipe.ends[0], bytes.data(), bytes.size());
  ASSERT_GT(got, 0);
  EXPECT_EQ(std::string(bytes.data(), static_cast<std::size_t>(got)), alert_of(1, 0) + '\n' + alert_of(1, 1) + '\n');
}

TEST(ConsoleSink, AReaderThatStandsStillDoesNotHoldACancelledSink) {
  Pipe pipe;
  const auto sink = make_console_sink("out", pipe.ends[1]);
  std::string error;
  std::thread writer([&] { error = error_of([&] { deliver(*sink, 1, alerts_of(1, 4000)); }); });
  std::this_thread::sleep_for(testing::milliseconds(20));
  sink->cancel();
  writer.join();
  EXPECT_THAT(error, HasSubstr("sink 'out': was cancelled"));
}

TEST(ConsoleSink, ALineThatWasBegunIsWholeWhenTheBatchComesAgain) {
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto let_grow_to = [&](rlim_t bytes) {
    const rlimit narrower{bytes, limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &narrower), 0);
  };
  const auto sink = make_console_sink("out", ::fileno(file));
  const std::string line(10'000, 'x');
  const auto write_batch = [&] {
    sink->begin(1);
    sink->write("", line);
    sink->write("", line);
    static_cast<void>(sink->commit());
  };
  for (const rlim_t full : {12'000, 15'000}) {  // within the second line, and within the text that completes it
    let_grow_to(full);
    EXPECT_THAT(error_of(write_batch), HasSubstr("File too large"));
    sink->abort();
  }
  let_grow_to(limit.rlim_cur);
  write_batch();
  std::string seen(100'000, '\0');
  std::rewind(file);
  seen.resize(std::fread(seen.data(), 1, seen.size(), file));
  const std::string whole = line + '\n';
  EXPECT_TRUE(seen == whole + whole + whole + whole) << seen.size();
  std::fclose(file);
  static_cast<void>(std::signal(SIGXFSZ, handler));
}

TEST(ConsoleSink, AReaderThatIsGoneIsAnError) {
  const auto handler = std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  ::close(std::exchange(pipe.ends[0], -1));
  const auto sink = make_console_sink("out", pipe.ends[1]);
  EXPECT_THAT(error_of([&] { deliver(*sink, 1, alerts_of(1, 1)); }), HasSubstr("Broken pipe; check what reads it"));
  static_cast<void>(std::signal(SIGPIPE, handler));
}

}  // namespace
}  // namespace deltamatch::ingest
