#include "ingest/service/loop/systemd.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>

#include "unit/ingest/support.hpp"

namespace deltamatch::ingest {
namespace {

/// The socket on which systemd would listen. A name that begins with a zero is abstract.
class Listener {
 public:
  explicit Listener(const std::string& name) : descriptor_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), address.sun_path);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    if (::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), length) != 0) throw Error(name, "cannot be bound");
  }
  ~Listener() { ::close(descriptor_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  std::string next() const {
    std::array<char, 512> bytes;
    const ssize_t got = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    return got < 0 ? "nothing" : std::string(bytes.data(), static_cast<std::size_t>(got));
  }

 private:
  int descriptor_;
};

TEST(SystemdTest, TellsHowTheServiceIs) {
  const testing::Folder folder;
  const Listener listener(folder.file("notify"));
  const Systemd systemd(folder.file("notify"), std::chrono::seconds(30));
  EXPECT_TRUE(systemd.present());
  EXPECT_TRUE(systemd.ready());
  EXPECT_EQ(listener.next(), "READY=1");
  EXPECT_TRUE(systemd.status("batch 17\nREADY=1"));
  EXPECT_EQ(listener.next(), "STATUS=batch 17 READY=1");
  EXPECT_TRUE(systemd.alive());
  EXPECT_EQ(listener.next(), "WATCHDOG=1");
  EXPECT_TRUE(systemd.stopping());
  EXPECT_EQ(listener.next(), "STOPPING=1");
  EXPECT_EQ(systemd.alive_every(), std::chrono::seconds(15));
}

TEST(SystemdTest, FindsAbstractSockets) {
  const std::string name = "deltamatch-test-" + std::to_string(::getpid());
  const Listener listener(std::string(1, '\0') + name);
  EXPECT_TRUE(Systemd('@' + name, {}).ready());
  EXPECT_EQ(listener.next(), "READY=1");
}

TEST(SystemdTest, WithoutASocketNothingHappens) {
  for (const std::string& socket : {std::string(), std::string("@"), std::string("relative"), std::string("/no/such/socket"),
                                    '/' + std::string(200, 'x'), std::string("vsock:2:1")}) {
    const Systemd systemd(socket, {});
    EXPECT_FALSE(systemd.ready()) << socket;
    EXPECT_FALSE(systemd.alive_every());
  }
  EXPECT_FALSE(Systemd().present());
}

TEST(SystemdTest, ReadsTheEnvironment) {
  const auto with = [](const char* socket, const char* time, const std::string& process) {
    ::setenv("NOTIFY_SOCKET", socket, 1);
    ::setenv("WATCHDOG_USEC", time, 1);
    ::setenv("WATCHDOG_PID", process.c_str(), 1);
    const Systemd systemd = Systemd::from_environment();
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
    return systemd;
  };
  const std::string self = std::to_string(::getpid());
  EXPECT_EQ(with("/run/notify", "3000000", self).alive_every(), std::chrono::milliseconds(1500));
  EXPECT_EQ(with("/run/notify", "3000000", "").alive_every(), std::chrono::milliseconds(1500));
  EXPECT_FALSE(with("/run/notify", "3000000", "1").alive_every());
  EXPECT_FALSE(with("/run/notify", "x", self).alive_every());
  EXPECT_FALSE(with("", "3000000", self).alive_every());
  EXPECT_FALSE(Systemd::from_environment().present());
}

}  // namespace
}  // namespace deltamatch::ingest
