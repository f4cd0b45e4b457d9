// Signals that end programs, heard before they do: the handler wakes the writer thread, waits a
// bounded time for it to write what is kept, and then does what would have been done without us.
//
// The handler does nothing but atomics, sem_post(), poll() and sigaction(). It never hides a crash:
// earlier handlers are called, the default is restored and happens. What is kept here is the
// process's: signals are, too.
#ifndef STEPSCOPE_COLLECTOR_CRASH_SIGNALS_H_
#define STEPSCOPE_COLLECTOR_CRASH_SIGNALS_H_

#include <cstdint>
#include <optional>

namespace stepscope {

class WriterBell;

inline constexpr int kSignalPatienceMs = 3000;  // for the writer, in the handler

// Listens for the signals of the mask (bit n: signal n; those that cannot be caught are left out).
// Each is told once. `bell` must live as long as the process.
void listen_for_signals(uint32_t mask, WriterBell& bell);
// Earlier handlers come back, where nobody has put another in our place.
void stop_listening_for_signals();
// The calling thread is the one that answers: a fault of its own is not waited for.
void answer_signals_here();

struct HeardSignal {
  int number = 0;
  int64_t thread = 0;  // that it was delivered to
};
// One that has come and is not answered.
std::optional<HeardSignal> heard_signal();
// Everything is written: its handler may go on.
void answer_signal(int number);
const char* signal_name(int number);

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_CRASH_SIGNALS_H_
