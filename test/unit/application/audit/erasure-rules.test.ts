import { randomUUID } from 'node:crypto'
import test from 'ava'
import { checkLog } from '../../../../application/audit/check-log.ts'
import { createErasureRules } from '../../../../application/audit/erasure-rules.ts'
import { BEGINNING, type EventStore } from '../../../../application/ports/event-store.ts'
import { after, liveCreated } from '../../../support/events/sample-events.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { sealedLive } from '../../../support/events/stored-events.ts'
import { NOTHING_ERASED } from './audited-log.ts'

const { data: created } = liveCreated()
const liveId = created.liveId
const observed = (type: string, data: object) => ({ stream: 'any', revision: 0, type, data: { ...data } })

/** Returns a function that lists what is left over of these events at a moment. */
const leftOverOf = (
  retentionMax: number, keys: ReadonlyArray<string>, ...events: ReadonlyArray<ReturnType<typeof observed>>
) => {
  const rules = createErasureRules(retentionMax)
  events.forEach(rules.observe)
  return async (until: number): Promise<ReadonlyArray<string>> =>
    (await rules.leftOver(keys, until)).map(({ where, problem }) => `${where}: ${problem}`)
}

test('data deleted up to the requested moment must be gone, later deletions need not be complete', async (t) => {
  const { userId } = created
  const at = after(100)
  const leftOver = leftOverOf(
    0,
    [`user-${userId}`, 'live-2', 'text-2', 'live-1', 'user-999', 'keyring-probe'],
    ...[1, 2].map((id) => observed('LiveCreated', { ...created, liveId: id })),
    observed('LiveDeleted', { liveId: 2, userId, lastStatus: 'finished', at }),
    observed('UserDeleted', { userId, usernameHash: 'h', at }),
  )
  const expected = [
    `session 1: still exists although user ${userId} was deleted`,
    `key user-${userId}: still exists although user ${userId} was deleted`,
    'key live-2: still exists although session 2 was deleted',
    'key text-2: still exists although session 2 was deleted',
  ]
  t.deepEqual(await leftOver(Date.parse(at) - 1), [])
  t.deepEqual(await leftOver(Date.parse(at)), expected)
  t.deepEqual(await leftOver(Date.parse(at) + 1), expected)
})

test('the key of a text must be gone when its time is over, counted from the end or the last start', async (t) => {
  const [end, start] = [Date.parse(after(1000)), Date.parse(after(500_000))]
  const of = (retention: boolean) => observed('LiveCreated', { ...created, retention })
  const ended = observed('LiveFailed', { ...created, at: after(1000) })
  const restarted = observed('WorkerJoined', { worker: 'w', at: after(500_000) })
  const keys = [`text-${liveId}`, `live-${liveId}`]
  const problem = [`key text-${liveId}: still exists although the text of session ${liveId} had to be forgotten`]

  const unretained = leftOverOf(0, keys, of(false), ended)
  t.deepEqual(await unretained(end + 59_999), [])
  t.deepEqual(await unretained(end + 60_000), problem)
  const afterStart = leftOverOf(0, keys, of(false), ended, restarted)
  t.deepEqual(await afterStart(start - 1), [], 'nothing is erased while the service is stopped')
  t.deepEqual(await afterStart(start), problem)
  const ahead = observed('WorkerJoined', { worker: 'w', at: after(900_000) })
  const restored = observed('LogRestored', { epoch: 'e', at: after(500_000) })
  const keptItsSessions = observed('WorkerRestarted', { worker: 'w', at: after(500_000) })
  for (const later of [restarted, restored, keptItsSessions]) {
    const counted = leftOverOf(0, keys, of(false), ended, ahead, later)
    t.deepEqual([await counted(start - 1), await counted(start)], [[], problem], later.type)
  }
  const retained = leftOverOf(7000, keys, of(true), ended)
  t.deepEqual(await retained(end + 6999), [])
  t.deepEqual(await retained(end + 7000), problem)
  t.deepEqual(await leftOverOf(0, keys, of(true), ended)(end * 2), [], 'without RETENTION_MAX the text stays')
  t.deepEqual(await leftOverOf(0, keys, of(false))(end * 2), [], 'an open session keeps its text')
  t.deepEqual(await leftOverOf(7000, keys, ended)(end * 2), [], 'the retention is unknown')
})

test('a stopped service is judged by its last event, not by a clock that was ahead or by a restore', async (t) => {
  const store = createMemoryEventStore()
  const append = async (type: string, data: object, recordedAt: string, actor = 'service') => {
    const metadata = { correlationId: 'c', causationId: 'c', actor, recordedAt }
    await store.append('any', 'any', [{ id: randomUUID(), type, data: { ...data }, metadata }])
  }
  const problems = async () => {
    const keyring = createMemoryKeyring()
    const checked = await checkLog({ ...NOTHING_ERASED, store, keyring, keyNames: () => [`text-${liveId}`], now: null })
    return checked.problems.filter(({ check, problem }) => check === 'erasure' && problem.includes('forgotten')).length
  }
  for (const at of [after(900_000_000), after(0)])
    await append('WorkerJoined', { worker: 'w', incarnation: 'i', vram: 1, at }, at)
  const { type, data } = sealedLive({ liveId, retention: false })
  await append(type, data, after(0))
  await append('LiveFinished', { liveId, userId: 1, reason: 'idle', at: after(0) }, after(0))
  t.is(await problems(), 0)
  const at = after(500_000)
  await append('UserDisabled', { userId: 1, at }, at, 'restore')
  t.is(await problems(), 0)
  await append('UserDisabled', { userId: 1, at }, at)
  t.is(await problems(), 1)
})

test('a log that ends in an error is not reported as clean', async (t) => {
  const memory = createMemoryEventStore()
  const store: EventStore = {
    ...memory,
    subscribe: async function* (from, prefixes, signal) {
      if (from === BEGINNING)
        throw new Error('the subscription ended: gone', { cause: { _tag: 'StoreUnavailable', reason: 'gone' } })
      yield* memory.subscribe(from, prefixes, signal)
    },
  }
  const checked = checkLog({
    ...NOTHING_ERASED, store, keyring: createMemoryKeyring(), keyNames: () => [], now: null,
  })
  await t.throwsAsync(checked, { message: /gone/ })
})
