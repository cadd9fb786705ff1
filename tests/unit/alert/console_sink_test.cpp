#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "ingest/alert/alert_sinks.hpp"
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
