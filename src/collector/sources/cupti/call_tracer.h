// CUPTI's callbacks: calls of the runtime and the driver as records of our own, and the way out.
//
// CUPTI can write records of calls itself, but its bookkeeping for them costs the launching thread
// more than the kernels' records do; a callback and 32 bytes in the thread's ring cost a fraction
// of that (docs/performance.md).
//
// CUPTI has one subscriber in a process, and ours stays it for as long as CUPTI is there: behind
// one that left, torch.profiler failed with an assertion of its own. The price: a torch.profiler
// that is first used while CUPTI stays behind a recording of ours records no GPU, and says so.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_CUPTI_CALL_TRACER_H_
#define STEPSCOPE_COLLECTOR_SOURCES_CUPTI_CALL_TRACER_H_

#include "collector/sources/cupti/cupti_library.h"

namespace stepscope::cupti {

// Since an earlier recording, if not this one: whoever finalizes CUPTI ends the subscription too.
bool is_subscribed(const CuptiLibrary& library);
// False when another profiler is the subscriber.
bool subscribe(const CuptiLibrary& library);

// Of the subscriber. False when CUPTI refuses. One recording at a time.
bool start_call_tracing(const CuptiLibrary& library);
void stop_call_tracing(const CuptiLibrary& library);

// Calls are not recorded any more, but CUPTI goes on telling of them.
void pause_call_tracing();
// Whether any thread calls, from listening on; launches alone where calls are not traced. Ends with
// stop_call_tracing().
void listen_for_calls(const CuptiLibrary& library);
bool heard_calls();
// The thread is one of ours: its calls are neither recorded nor heard, for as long as it lives.
void ignore_this_thread();

// Takes CUPTI out of the process, so that launches cost again what they cost before it came: while
// it is there they cost more, whatever is switched off. As the vendor advises it happens at the end
// of a call of the driver, a call of this thread's own. Everything has to be flushed, and nothing
// switched off: whatever was, records, callbacks or the subscription, made programs crash whose
// other threads launched meanwhile (docs/cupti.md). False when another profiler is
// subscribed, which would lose its place, or when CUPTI cannot do it. A later recording brings
// CUPTI back by itself.
bool detach(const CuptiLibrary& library);

}  // namespace stepscope::cupti

#endif  // STEPSCOPE_COLLECTOR_SOURCES_CUPTI_CALL_TRACER_H_
