import test from 'ava'
import { checkLog } from '../../../../application/audit/check-log.ts'
import { createErasureRules } from '../../../../application/audit/erasure-rules.ts'
import { BEGINNING } from '../../../../application/ports/event-store.ts'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { after, liveCreated } from '../../../support/events/sample-events.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'

test('data deleted up to the requested moment must be gone, later deletions need not be complete', async (t) => {
  const { data: created } = liveCreated()
  const at = after(100)
  const rules = createErasureRules()
  for (const liveId of [1, 2]) rules.observe({ type: 'LiveCreated', data: { ...created, liveId } })
  rules.observe({ type: 'LiveDeleted', data: { liveId: 2, userId: created.userId, lastStatus: 'finished', at } })
  rules.observe({ type: 'UserDeleted', data: { userId: created.userId, usernameHash: 'h', at } })
  const keys = [`user-${created.userId}`, 'live-2', 'text-2', 'live-1', 'user-999', 'keyring-probe']
  const leftOverAt = async (until: number): Promise<ReadonlyArray<string>> =>
    (await rules.leftOver(keys, until)).map(({ where }) => where)
  const leftOver = ['session 1', `key user-${created.userId}`, 'key live-2', 'key text-2']
  t.deepEqual(await leftOverAt(Date.parse(at) - 1), [])
  t.deepEqual(await leftOverAt(Date.parse(at)), leftOver)
  t.deepEqual(await leftOverAt(Date.parse(at) + 1), leftOver)
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
  await t.throwsAsync(checkLog({ store, keyring: createMemoryKeyring(), keyNames: () => [], now: null }), {
    message: /gone/,
  })
})
