// What is in the run whose pages are open. Another value means that the run has changed.
import type { InjectionKey, Ref } from 'vue'

import type { RunInfo } from './api'

export const runInfoKey: InjectionKey<Ref<RunInfo | null>> = Symbol('run')
