import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createSharedPages } from '../../../../application/lives/queries/shared-pages.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { right } from '../../../support/tools/right.ts'

/** A page that holds what was written when its read began; each read waits until it is let go on. */
const start = (isFull: boolean) => {
  const shared = createSharedPages<never, { readonly isFull: boolean; readonly last: number }>(createManualTimers())
  const going: Array<() => void> = []
  let last = 1
  const ask = async (): Promise<number> =>
    right(await shared('page', () => {
      const page = { isFull, last }
      const { promise, resolve } = Promise.withResolvers<void>()
      going.push(resolve)
      return promise.then(() => E.right(page))
    })).last
  return { ask, going, write: () => (last += 1) }
}

test('readers of a growing page share one more read with everything written before', async (t) => {
  const { ask, going, write } = start(false)
  const first = ask()
  write()
  const later = [ask(), ask(), ask()]
  going[0]?.()
  t.is(await first, 1)
  await new Promise((resolve) => setImmediate(resolve))
  write()
  const last = ask()
  going[1]?.()
  t.deepEqual(await Promise.all(later), [2, 2, 2])
  await new Promise((resolve) => setImmediate(resolve))
  going[2]?.()
  t.is(await last, 3)
  t.is(going.length, 3)
})

test('a full page is shared by all readers during its read', async (t) => {
  const { ask, going } = start(true)
  const all = [ask(), ask(), ask()]
  going[0]?.()
  t.deepEqual(await Promise.all(all), [1, 1, 1])
  t.is(going.length, 1)
})
