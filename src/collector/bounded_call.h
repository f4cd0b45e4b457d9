// Calls into a vendor's library that may hang when its device does: the program must not hang with
// them.
#ifndef STEPSCOPE_COLLECTOR_BOUNDED_CALL_H_
#define STEPSCOPE_COLLECTOR_BOUNDED_CALL_H_

#include <cstdint>
#include <functional>

namespace stepscope {

// Runs `work` on a thread of its own and waits for it, at most so long. False when the time was up:
// the thread then goes on alone, so everything that `work` uses must live as long as it does. Costs
// a thread. `work` must not throw. Throws std::system_error when there can be no more threads.
bool call_within(int64_t most_ms, std::function<void()> work);

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_BOUNDED_CALL_H_
