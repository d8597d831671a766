import test from 'ava'
import { createFailureLimit } from '../../../../../interfaces/http/clients/failure-limit.ts'

/** Failures of this many addresses are counted in a minute. */
const COUNTED = 10_000

test('however many addresses fail in a minute, only the first ten thousand take memory', (t) => {
  let now = 0
  const limit = createFailureLimit({ monotonic: () => now }, 1)
  for (let index = 0; index < COUNTED; index += 1) limit.countFailure(`address ${index}`)
  limit.countFailure('one more')
  t.deepEqual([limit.isReached('address 0'), limit.isReached(`address ${COUNTED - 1}`)], [true, true])
  t.false(limit.isReached('one more'))
  now = 60_000
  limit.countFailure('one more')
  t.true(limit.isReached('one more'), 'the next minute counts again')
})
