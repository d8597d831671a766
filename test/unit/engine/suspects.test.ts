import test from 'ava'
import { suspectsOf, trialsOf } from '../../../infrastructure/onnx/process/suspects.ts'

const waits = { id: 1, begunAt: null, deaths: 1 }
const begun = { id: 2, begunAt: 10, deaths: 1 }
const alsoBegun = { id: 3, begunAt: 20, deaths: 1 }
const waitsAgain = { id: 4, begunAt: null, deaths: 3 }

test('suspects are the tasks that had begun, and tasks in flight at three deaths', (t) => {
  t.deepEqual(suspectsOf([waits, begun, alsoBegun], null), [begun, alsoBegun])
  t.deepEqual(suspectsOf([waits, waitsAgain, begun], null), [waitsAgain, begun])
  t.deepEqual(suspectsOf([waits, { ...waitsAgain, deaths: 2 }, begun], null), [begun])
})

test('if no task had begun, all are suspects', (t) => {
  t.deepEqual(suspectsOf([waits, { ...waits, id: 5 }], null), [waits, { ...waits, id: 5 }])
})

test('the task that took too long is the only suspect, while it is in flight', (t) => {
  t.deepEqual(suspectsOf([waits, begun, alsoBegun], 3), [alsoBegun])
  t.deepEqual(suspectsOf([waits, begun], 3), [begun])
})

test('suspects are tried in two halves, or in more groups if fewer may run at a time', (t) => {
  t.deepEqual(trialsOf([1, 2, 3, 4, 5], 8), [[1, 2, 3], [4, 5]])
  t.deepEqual(trialsOf([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]])
  t.deepEqual(trialsOf([1], 8), [[1]])
  t.deepEqual(trialsOf([], 8), [])
})
