// Every page of real recordings of several kinds, where they are.
import { describe, it } from 'vitest'

import { checkPages } from './support/checkPages'
import { sharedPath, sharedRuns } from './support/paths'

for (const name of Object.keys(sharedRuns)) {
  if (sharedPath(name)) describe(name, () => checkPages(name))
  else it.skip(`${name}: there is no ${sharedRuns[name]} in STEPSCOPE_SHARED_DATA`, () => {})
}
