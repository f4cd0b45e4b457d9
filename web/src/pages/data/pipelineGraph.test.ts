import { expect, test } from 'vitest'

import { layOut } from './pipelineGraph'

const places = (stages: ReturnType<typeof layOut>) => stages.map((stage) => [stage.name, stage.column, stage.line, stage.consumer])

test('two readers meet before the training', () => {
  const stages = layOut([
    { stage: 'Batch_0', op_id: 0, parent_id: null, children: '[1]' },
    { stage: 'Shuffle_1', op_id: 1, parent_id: 0, children: '[2, 3]' },
    { stage: 'TFReader_2', op_id: 2, parent_id: 1, children: '[]' },
    { stage: 'TFReader_3', op_id: 3, parent_id: 1, children: '[]' },
  ])
  expect(places(stages)).toEqual([['Batch_0', 2, 0, null], ['Shuffle_1', 1, 0, 'Batch_0'], ['TFReader_2', 0, 0, 'Shuffle_1'], ['TFReader_3', 0, 1, 'Shuffle_1']])
})

test('queues without an operator come last', () => {
  const stages = layOut([{ stage: 'Map_0', op_id: 0, parent_id: null, children: '[]' }, { stage: 'dataset_iterator', op_id: null, children: '[]' }])
  expect(places(stages)).toEqual([['Map_0', 0, 0, 'dataset_iterator'], ['dataset_iterator', 1, 0, null]])
})

test('a loop or broken children lose no operator', () => {
  const stages = layOut([{ stage: 'a', op_id: 0, parent_id: 1, children: '[1]' }, { stage: 'b', op_id: 1, parent_id: 0, children: '[0]' }, { stage: 'c', op_id: 2, parent_id: null, children: 'nonsense' }])
  expect(stages.length).toBe(3)
})
