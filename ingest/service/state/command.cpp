#include "ingest/service/state/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/service/state/files.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_output = std::size_t{8} << 20;
constexpr std::size_t shown_error = 300;  // the last bytes of standard error
constexpr auto grace = 2s;                // between SIGTERM and SIGKILL
constexpr auto tick = 20ms;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error("pipe", std::generic_category().message(errno));
    read = FileDescriptor(ends[0]);
    write = FileDescriptor(ends[1]);
    ::fcntl(read.get(), F_SETFL, O_NONBLOCK);
  }
  FileDescriptor read;
  FileDescriptor write;
};

/// Appends what there is to read. Returns false once the pipe has ended.
bool drain(const FileDescriptor& pipe, std::string& text) {
  std::array<char, 16384> bytes{};
  for (;;) {
    const ssize_t count = ::read(pipe.get(), bytes.data(), bytes.size());
    if (count > 0) {
      text.append(bytes.data(), static_cast<std::size_t>(count));
    } else if (count == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
}

/// The last line or lines, with blanks for whatever is not printable.
std::string tail_of(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.size() > shown_error) text = "…" + text.substr(text.size() - shown_error);
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return text;
}

class Child {
 public:
  Child(std::span<const std::string> command, std::string_view where) {
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output.write.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, error.write.get(), STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    const int code = ::posix_spawnp(&id, arguments[0], &actions, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (code != 0) {
      throw Error(where, fmt::format("'{}' cannot be started: {}", command[0], std::generic_category().message(code)),
                  "install the program, or name it with its path");
    }
    output.write = FileDescriptor();
    error.write = FileDescriptor();
  }
  ~Child() {
    for (const int signal : {SIGTERM, SIGKILL}) {
      if (ended) break;
      ::kill(-id, signal);
      for (const auto end = Clock::now() + grace; !has_ended() && Clock::now() < end;) std::this_thread::sleep_for(tick);
    }
    ::kill(-id, SIGKILL);  // what it left behind in its group
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool has_ended() {
    if (!ended && ::waitpid(id, &status, WNOHANG) == id) ended = true;
    return ended;
  }

  Pipe output;
  Pipe error;
  pid_t id = -1;
  int status = 0;
  bool ended = false;
};

}  // namespace

std::string run_command(std::span<const std::string> command, std::chrono::milliseconds timeout, std::string_view where,
                        const std::stop_token& stop) {
  const auto deadline = Clock::now() + timeout;
  Child child(command, where);
  std::string output;
  std::string error;
  const auto fail = [&](const std::string& what, std::string_view remedy) {
    const std::string tail = tail_of(error);
    throw Error(where, fmt::format("'{}' {}{}{}", command[0], what, tail.empty() ? "" : ": ", tail), remedy);
  };
  std::array<pollfd, 2> pipes{{{child.output.read.get(), POLLIN, 0}, {child.error.read.get(), POLLIN, 0}}};
  for (bool last = false; !last;) {
    last = child.has_ended();  // what it wrote before is in the pipes
    if (!last) ::poll(pipes.data(), pipes.size(), static_cast<int>(std::chrono::milliseconds(tick).count()));
    if (!drain(child.output.read, output)) pipes[0].fd = -1;
    if (!drain(child.error.read, error)) pipes[1].fd = -1;
    if (pipes[0].fd < 0 && pipes[1].fd < 0 && !last) std::this_thread::sleep_for(tick);
    if (error.size() > 2 * most_output) error.erase(0, most_output);
    if (output.size() > most_output) fail("writes more than 8 MiB", "let it print names only");
    if (last) break;
    if (stop.stop_requested()) fail("was ended, because the service stops", "");
    if (Clock::now() >= deadline) {
      fail(fmt::format("took longer than {} ms, and was ended", timeout.count()),
           "raise state.share.timeout, or mend the store");
    }
  }
  if (WIFSIGNALED(child.status)) fail(fmt::format("was ended by signal {}", WTERMSIG(child.status)), "");
  if (WEXITSTATUS(child.status) != 0) fail(fmt::format("exited with {}", WEXITSTATUS(child.status)), "");
  return output;
}

}  // namespace deltamatch::ingest
