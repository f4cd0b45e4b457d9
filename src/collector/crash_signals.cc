#include "collector/crash_signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>

#include "collector/recorder.h"

namespace stepscope {
namespace {

constexpr int kMostSignals = 32;
// A program may put a handler of its own above ours, which calls ours. A watch that comes later
// then needs another one above that, or the two would call each other for ever.
constexpr int kMostHandlers = 4;

// Written by threads, read and written by the handler: atomics without locks only.
std::atomic<WriterBell*> the_bell = nullptr;
std::atomic<int64_t> listening_process = 0;  // a forked child has our handlers, but no writer
std::atomic<int64_t> answering_thread = 0;
std::atomic<uint32_t> heard = 0;
std::atomic<uint32_t> answered = 0;
std::atomic<int64_t> heard_by[kMostSignals] = {};

// What would have happened without a handler of ours, by handler and signal. Written before the
// handler is there. A handler that is in use for a signal may be called from above at any time.
struct sigaction earlier[kMostHandlers][kMostSignals] = {};
uint32_t in_use[kMostHandlers] = {};  // bit n: signal n; of whoever starts and stops

int64_t this_thread() { return ::syscall(SYS_gettid); }

// Happens again by itself when the handler returns, and leaves the right core.
bool is_fault(int number, const siginfo_t* info) {
  const bool by_instruction =
      number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
  return by_instruction && info != nullptr && info->si_code > 0;
}

void pass_on(const struct sigaction& before, int number, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_RESETHAND) != 0) ::signal(number, SIG_DFL);  // as the program asked
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler == SIG_DFL) {
    ::sigaction(number, &before, nullptr);
    // What was sent, by a process, the kernel or a terminal, is sent again; it is blocked until we
    // return.
    if (!is_fault(number, info)) ::raise(number);
  } else if (before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  }
}

void hear(int number) {
  const uint32_t bit = 1u << number;
  const int64_t thread = this_thread();
  if (listening_process != ::getpid() || thread == answering_thread || (answered.load() & bit) != 0)
    return;
  heard_by[number] = thread;
  heard.fetch_or(bit);
  if (WriterBell* const bell = the_bell) bell->ring();
  for (int waited = 0; waited < kSignalPatienceMs && (answered.load() & bit) == 0; ++waited)
    ::poll(nullptr, 0, 1);
}

template <int kHandler>
void on_signal(int number, siginfo_t* info, void* context) {
  const int error = errno;
  hear(number);
  errno = error;
  pass_on(earlier[kHandler][number], number, info, context);
}

using Handler = void (*)(int, siginfo_t*, void*);
constexpr Handler kHandlers[kMostHandlers] = {on_signal<0>, on_signal<1>, on_signal<2>,
                                              on_signal<3>};

bool is(const struct sigaction& action, Handler handler) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == handler;
}

bool is_ours(const struct sigaction& action) {
  return std::any_of(std::begin(kHandlers), std::end(kHandlers),
                     [&](Handler handler) { return is(action, handler); });
}

void listen_for(int number) {
  struct sigaction before{};
  if (::sigaction(number, nullptr, &before) != 0) return;
  // Of an earlier watch, behind a handler that has gone again.
  if (is_ours(before)) return;
  // It ends nothing; and programs that this one starts are to ignore it, too.
  const bool ignored = (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN;
  if (ignored) return;
  const uint32_t bit = 1u << number;
  int free = 0;
  while (free < kMostHandlers && (in_use[free] & bit) != 0) ++free;
  if (free == kMostHandlers) return;  // one of them hears, if those above pass on
  earlier[free][number] = before;
  struct sigaction action{};
  action.sa_sigaction = kHandlers[free];
  // On the stack that a program has for this, where it has one: it may be out of the other. What
  // else the program asked for stays as it was.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | (before.sa_flags & SA_RESTART);
  action.sa_mask = before.sa_mask;
  if (::sigaction(number, &action, nullptr) == 0) in_use[free] |= bit;
}

}  // namespace

void listen_for_signals(uint32_t mask, WriterBell& bell) {
  heard = 0;
  answered = 0;
  answering_thread = 0;
  the_bell = &bell;
  listening_process = ::getpid();
  for (int number = 1; number < kMostSignals; ++number) {
    if ((mask >> number & 1) != 0 && number != SIGKILL && number != SIGSTOP) listen_for(number);
  }
}

void stop_listening_for_signals() {
  listening_process = 0;
  for (int number = 1; number < kMostSignals; ++number) {
    struct sigaction now{};
    if (::sigaction(number, nullptr, &now) != 0) continue;
    // Where another handler has come above ours it may call ours: that one only passes on now.
    for (int handler = 0; handler < kMostHandlers; ++handler) {
      if (!is(now, kHandlers[handler])) continue;
      ::sigaction(number, &earlier[handler][number], nullptr);
      in_use[handler] &= ~(1u << number);
    }
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
