import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createSharedPages } from '../../../../application/lives/queries/shared-pages.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { right } from '../../../support/tools/right.ts'

/** Starts shared pages. Each read waits until the test resolves it. It returns the page as of the start of the read. */
const start = (isFull: boolean) => {
  const shared = createSharedPages<never, { readonly isFull: boolean; readonly last: number }>(createManualTimers())
  const reads: Array<() => void> = []
  let last = 1
  const read = async (): Promise<number> =>
    right(await shared('page', () => {
      const page = { isFull, last }
      const { promise, resolve } = Promise.withResolvers<void>()
      reads.push(resolve)
      return promise.then(() => E.right(page))
    })).last
  return { read, reads, write: () => (last += 1) }
}

test('readers that join while a growing page is read share one further read', async (t) => {
  const { read, reads, write } = start(false)
  const first = read()
  write()
  const later = [read(), read(), read()]
  reads[0]?.()
  t.is(await first, 1)
  await new Promise((resolve) => setImmediate(resolve))
  write()
  const last = read()
  reads[1]?.()
  t.deepEqual(await Promise.all(later), [2, 2, 2])
  await new Promise((resolve) => setImmediate(resolve))
  reads[2]?.()
  t.is(await last, 3)
  t.is(reads.length, 3)
})

test('a full page is shared by all readers during its read', async (t) => {
  const { read, reads } = start(true)
  const all = [read(), read(), read()]
  reads[0]?.()
  t.deepEqual(await Promise.all(all), [1, 1, 1])
  t.is(reads.length, 1)
})
