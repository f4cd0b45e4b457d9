// While it lives, threads that this one starts will get no signals: those are for the program's own
// threads, which may be waiting for them in a system call. But for those of a thread's own faults,
// which the program may have a handler for; blocked, they end the process without a word.
#ifndef STEPSCOPE_COLLECTOR_SIGNALS_BLOCKED_H_
#define STEPSCOPE_COLLECTOR_SIGNALS_BLOCKED_H_

#include <pthread.h>
#include <signal.h>

namespace stepscope {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
      ::sigdelset(&all, fault);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_SIGNALS_BLOCKED_H_
