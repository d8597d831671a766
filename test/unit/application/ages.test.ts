import test from 'ava'
import { createAges } from '../../../application/ages.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'

const YEAR = 365 * 24 * 3_600_000

/** Ages with a clock of the store that the test sets, and a monotonic clock that it advances. */
const agesAt = (storeTime: number) => {
  const { monotonic, advance } = createManualTimers()
  let ahead = storeTime
  const ageOf = createAges({ store: { now: () => ahead + monotonic() }, environment: { monotonic } })
  return { ageOf, advance, jump: (ms: number) => { ahead += ms } }
}

test('the first age comes from the clock of the store, later ones from the monotonic clock', (t) => {
  const { ageOf, advance } = agesAt(10_000)
  t.is(ageOf('a', 4000), 6000)
  advance(500)
  t.is(ageOf('a', 4000), 6500)
  t.is(ageOf('b', 4000), 6500)
})

test('a clock that is set makes no known event older or younger', (t) => {
  const { ageOf, advance, jump } = agesAt(10_000)
  ageOf('a', 9000)
  for (const ms of [YEAR, -2 * YEAR, YEAR - 3_600_000]) {
    jump(ms)
    t.is(ageOf('a', 9000), 1000)
  }
  advance(8 * 3_600_000)
  t.is(ageOf('a', 9000), 8 * 3_600_000 + 1000, 'time that passes counts')
})

test('an event of the future counts as one of now', (t) => {
  const { ageOf, advance } = agesAt(10_000)
  t.is(ageOf('a', YEAR), 0)
  advance(58_000)
  t.is(ageOf('a', YEAR), 58_000)
})
