// Every page of the runs that the tests make.
import { describe } from 'vitest'

import { checkPages } from './support/checkPages'

describe.each(['generated', 'example', 'gpu_training', 'tiny.json'])('%s', checkPages)
