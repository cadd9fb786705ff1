// Threads that leave signals to others.
#pragma once

#include <csignal>

namespace deltamatch::ingest {

/// While it lives the calling thread takes no signals; nor do threads, ever, that it starts meanwhile. For them a closed pipe,
/// or a file at its limit, is an error of the call that meets it.
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
