import test from 'ava'
import { suspectsOf, trialsOf } from '../../../../../infrastructure/onnx/process/suspects.ts'

// Tasks in flight when the process died. `deaths`: how often a process died with the task in flight.
const waiting = { id: 1, begunAt: null, deaths: 1 }
const begun = { id: 2, begunAt: 10, deaths: 1 }
const alsoBegun = { id: 3, begunAt: 20, deaths: 1 }
const oftenWaiting = { id: 4, begunAt: null, deaths: 3 }

test('suspects are the tasks that had begun, and the tasks in flight at three deaths of a process', (t) => {
  t.deepEqual(suspectsOf([waiting, begun, alsoBegun], null), [begun, alsoBegun])
  t.deepEqual(suspectsOf([waiting, oftenWaiting, begun], null), [oftenWaiting, begun])
  t.deepEqual(suspectsOf([waiting, { ...oftenWaiting, deaths: 2 }, begun], null), [begun])
})

test('if no task had begun, all are suspects', (t) => {
  t.deepEqual(suspectsOf([waiting, { ...waiting, id: 5 }], null), [waiting, { ...waiting, id: 5 }])
})

test('the task that took too long is the only suspect, while it is in flight', (t) => {
  t.deepEqual(suspectsOf([waiting, begun, alsoBegun], 3), [alsoBegun])
  t.deepEqual(suspectsOf([waiting, begun], 3), [begun])
})

test('suspects are tried in two halves, or in more groups if fewer may run at a time', (t) => {
  t.deepEqual(trialsOf([1, 2, 3, 4, 5], 8), [[1, 2, 3], [4, 5]])
  t.deepEqual(trialsOf([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]])
  t.deepEqual(trialsOf([1], 8), [[1]])
  t.deepEqual(trialsOf([], 8), [])
})
