import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { forgetText } from '../../../../application/lives/policies/forget-text.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { silentLogger } from '../../../support/doubles/loggers.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { right } from '../../../support/tools/right.ts'
import { callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'

const START = Date.parse('2026-11-21T09:30:00Z')
const HOUR = 3_600_000
const YEAR = 8766 * HOUR
const finished = { status: 'finished', reason: 'finish_message' } as const
const instantAt = (ms: number): string => new Date(ms).toISOString().replace('Z', '000+00:00')

/**
 * A service whose time the test moves. `set` sets the clock of the machine. `end` creates and ends a session with text.
 * `readable` lists the sessions whose text can be read.
 */
const serviceWith = async ({ retention = false, retentionMax = 0 } = {}) => {
  const timers = createManualTimers()
  let offset = 0
  /** The clock of the store counts evenly. It has not counted while the machine was switched off. */
  let switchedOff = 0
  const storeNow = (): number => START + switchedOff + timers.monotonic()
  const now = (): string => instantAt(storeNow() + offset)
  const environment = { ...createTestEnvironment(), now, monotonic: timers.monotonic }
  const { deps, documents, store, ...side } = await createWriteSide({ environment, storeNow, capacity: 1000 })
  const caller = callerOf(1, { maxSessions: 100, permissions: ['user_retention'] })
  const start = () => forgetText({ ...deps, documents, logger: silentLogger, timers, retentionMax })
  let forgetting = start()

  const end = async (): Promise<number> => {
    const liveId = right(await side.createLive(caller, requestOf({ retention }))).id
    const text = { text: 'the secret', kind: 'transcription', language: 'en' } as const
    right(await side.lifecycle.recordSegment({ liveId, segment: 1, start: 0, end: 1, ...text }))
    right(await side.lifecycle.endLive(liveId, finished)())
    return liveId
  }
  const readable = async (ids: ReadonlyArray<number>): Promise<ReadonlyArray<number>> => {
    const read = await Promise.all(ids.map((id) => store.read(`segments-${id}`)))
    return ids.filter((_, index) => right(read[index] ?? E.right([])).length > 0)
  }
  const untilReadable = (ids: ReadonlyArray<number>, expected: ReadonlyArray<number>): Promise<void> =>
    eventually(async () => {
      const found = await readable(ids)
      if (found.join() !== expected.join()) throw new Error(`readable: ${found.join()}`)
    })
  const untilWaiting = (): Promise<void> =>
    eventually(() => { if (timers.size() === 0) throw new Error('nothing waits') })
  return {
    end, readable, untilReadable, untilWaiting, advance: timers.advance,
    set: (ms: number) => { offset = ms },
    restartAfter: async (ms: number) => {
      await forgetting.stop()
      switchedOff += ms
      forgetting = start()
    },
    stop: () => forgetting.stop(),
  }
}

test('ends that were written while the clock was ahead delay no later one', async (t) => {
  const service = await serviceWith()
  service.set(YEAR)
  const ahead = [await service.end(), await service.end(), await service.end(), await service.end()]
  service.set(0)
  await service.untilWaiting()
  service.advance(1000)
  const later = await service.end()
  const all = [...ahead, later]
  service.advance(56_999)
  t.deepEqual(await service.readable(all), all, 'nothing is erased early')
  service.advance(1)
  await service.untilReadable(all, [later])
  service.advance(1000)
  await service.untilReadable(all, [])
  await service.stop()
})

for (const [what, jump, later] of [
  ['the clock is set a year ahead and right again', YEAR, 0],
  ['the clock is set an hour behind', -HOUR, -HOUR],
  ['the machine sleeps for 8 hours', 8 * HOUR, 8 * HOUR],
] as const)
  for (const [kept, options, afterMs] of [
    ['a minute', {}, 58_000],
    ['RETENTION_MAX', { retention: true, retentionMax: 30 * 24 * HOUR }, 30 * 24 * HOUR],
  ] as const)
    test(`text is kept for ${kept}, although ${what}`, async (t) => {
      const service = await serviceWith(options)
      const before = await service.end()
      await service.untilWaiting()
      service.set(jump)
      const during = await service.end()
      service.advance(afterMs - 1000)
      service.set(later)
      t.deepEqual(await service.readable([before, during]), [before, during])
      service.advance(1000)
      await service.untilReadable([before, during], [])
      await service.stop()
    })

test('after a restart, text is kept for the rest of its time, also while the clock is an hour behind', async (t) => {
  const service = await serviceWith()
  const first = await service.end()
  await service.untilWaiting()
  service.advance(30_000)
  service.set(-HOUR)
  await service.restartAfter(10_000)
  await service.untilWaiting()
  service.advance(17_999)
  t.deepEqual(await service.readable([first]), [first])
  service.advance(1)
  await service.untilReadable([first], [])
  await service.stop()
})

test('text whose time passed while the service was down is erased at the start', async (t) => {
  const service = await serviceWith()
  const [first, second] = [await service.end(), await service.end()]
  await service.restartAfter(8 * HOUR)
  await service.untilReadable([first, second], [])
  t.deepEqual(await service.readable([first, second]), [])
  await service.stop()
})
