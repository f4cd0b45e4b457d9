// Of several requests only the newest counts: beginning one aborts the one before, leaving the page aborts the last.
import { onScopeDispose } from 'vue'

export interface Newest {
  begin: () => AbortSignal // of the request that begins; aborted as soon as it does not count any more
  stop: () => void
}

export function useNewest(): Newest {
  let last = new AbortController()
  const stop = () => last.abort()
  const begin = () => {
    stop()
    last = new AbortController()
    return last.signal
  }
  onScopeDispose(stop)
  return { begin, stop }
}
