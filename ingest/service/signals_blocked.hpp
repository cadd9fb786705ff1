// Threads that leave signals to other threads.
#pragma once

#include <csignal>

namespace deltamatch::ingest {

/// While it exists, the calling thread receives no signals. Threads started meanwhile never receive any. For these threads, a
/// closed pipe, or a file at its size limit, is an error of the call instead.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace deltamatch::ingest
