import test from 'ava'
import { v7 } from 'uuid'
import { lastRestore } from '../../../../application/log/last-restore.ts'
import { nextId } from '../../../../application/log/next-id.ts'
import { RESTORES_STREAM } from '../../../../domain/restores/events.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { after } from '../../../support/events/sample-events.ts'
import { right } from '../../../support/tools/right.ts'

const at = after(0)
const metadata = { correlationId: 'c', causationId: 'c', actor: 'restore', recordedAt: at }
const idOffsets = { user: 5, profile: 0, 'api-token': 0, job: 0 }

const start = () => {
  const store = createMemoryEventStore()
  const write = { store, keyring: createMemoryKeyring(), environment: createTestEnvironment(), timers: immediateTimers }
  return {
    store,
    append: async (type: string, data: Readonly<Record<string, unknown>>) =>
      right(await store.append(RESTORES_STREAM, 'any', [{ id: v7(), type, data, metadata }])),
    next: () => nextId(write)('user', { correlationId: 'c', causationId: 'c', actor: 'user:1' }),
  }
}

test('the newest restore counts', async (t) => {
  const { store, append, next } = start()
  t.is(right(await lastRestore({ store })), null)
  t.is(right(await next()), 1)
  for (const [epoch, user] of [['first', 5], ['second', 9]] as const)
    await append('LogRestored', { epoch, idOffsets: { ...idOffsets, user }, lost: 'known', backupAt: null, at })
  t.like(right(await lastRestore({ store })), { epoch: 'second', idOffsets: { user: 9 } })
  t.is(right(await next()), 11)
})

test('without the newest restore no id is given out, and nobody learns an earlier epoch', async (t) => {
  for (const [type, data, tag] of [
    ['LogRestoredTwice', {}, 'EventTypeUnknown'], ['LogRestored', { epoch: 1 }, 'LogCorrupted'],
  ] as const) {
    const { store, append, next } = start()
    await append('LogRestored', { epoch: 'first', idOffsets, lost: 'known', backupAt: null, at })
    await append(type, data)
    t.like(await lastRestore({ store }), { left: { _tag: tag } })
    t.like(await next(), { left: { _tag: tag } })
    t.is(right(await store.read('seq-user')).length, 0)
  }
})
