#include "collector/crash_signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "collector/recorder.h"

namespace stepscope {
namespace {

constexpr int kMostSignals = 32;

// Written by threads, read and written by the handler: atomics without locks only.
std::atomic<WriterBell*> the_bell = nullptr;
std::atomic<int64_t> listening_process = 0;  // a forked child has our handlers, but no writer
std::atomic<int64_t> answering_thread = 0;
std::atomic<uint32_t> listening = 0;
std::atomic<uint32_t> heard = 0;
std::atomic<uint32_t> answered = 0;
std::atomic<int64_t> heard_by[kMostSignals] = {};
struct sigaction earlier[kMostSignals] = {};  // written before the handler is there

int64_t this_thread() { return ::syscall(SYS_gettid); }

// What would have happened without us.
void pass_on(int number, siginfo_t* info, void* context) {
  const struct sigaction& before = earlier[number];
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler == SIG_DFL) {
    ::sigaction(number, &before, nullptr);
    // A fault happens again by itself when the handler returns, and leaves the right core. What was
    // sent is sent again; it is blocked until then.
    const bool was_sent = info == nullptr || info->si_code <= 0;
    if (was_sent || number == SIGABRT) ::raise(number);
  } else if (before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  }
}

void on_signal(int number, siginfo_t* info, void* context) {
  const int error = errno;
  const uint32_t bit = 1u << number;
  const int64_t thread = this_thread();
  if (listening_process == ::getpid() && thread != answering_thread &&
      (answered.load() & bit) == 0) {
    heard_by[number] = thread;
    heard.fetch_or(bit);
    if (WriterBell* const bell = the_bell) bell->ring();
    for (int waited = 0; waited < kSignalPatienceMs && (answered.load() & bit) == 0; ++waited)
      ::poll(nullptr, 0, 1);
  }
  errno = error;
  pass_on(number, info, context);
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_signal;
}

}  // namespace

void listen_for_signals(uint32_t mask, WriterBell& bell) {
  heard = 0;
  answered = 0;
  answering_thread = 0;
  the_bell = &bell;
  listening_process = ::getpid();
  for (int number = 1; number < kMostSignals; ++number) {
    if ((mask >> number & 1) == 0 || number == SIGKILL || number == SIGSTOP) continue;
    struct sigaction before{};
    if (::sigaction(number, nullptr, &before) != 0) continue;
    if (is_ours(before)) {  // of an earlier watch, then behind a handler that has gone again
      listening.fetch_or(1u << number);
      continue;
    }
    earlier[number] = before;
    struct sigaction action{};
    action.sa_sigaction = on_signal;
    // On the stack that a program has for this, where it has one: it may be out of the other. What
    // else the program asked for stays as it was.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (before.sa_flags & SA_RESTART);
    action.sa_mask = before.sa_mask;
    if (::sigaction(number, &action, nullptr) == 0) listening.fetch_or(1u << number);
  }
}

void stop_listening_for_signals() {
  listening_process = 0;
  const uint32_t mask = listening.exchange(0);
  for (int number = 1; number < kMostSignals; ++number) {
    if ((mask >> number & 1) == 0) continue;
    struct sigaction now{};
    // Where another handler has come above ours it may call ours: that one only passes on now.
    if (::sigaction(number, nullptr, &now) == 0 && is_ours(now))
      ::sigaction(number, &earlier[number], nullptr);
  }
}

void answer_signals_here() { answering_thread = this_thread(); }

std::optional<HeardSignal> heard_signal() {
  const uint32_t open = heard.load() & ~answered.load();
  for (int number = 1; number < kMostSignals; ++number) {
    if ((open >> number & 1) != 0) return HeardSignal{number, heard_by[number]};
  }
  return std::nullopt;
}

void answer_signal(int number) { answered.fetch_or(1u << number); }

const char* signal_name(int number) {
  switch (number) {
    case SIGABRT:
      return "SIGABRT";
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "signal";
  }
}

}  // namespace stepscope
