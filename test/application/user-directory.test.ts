import assert from 'node:assert/strict'
import test from 'ava'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { sealEvents } from '../../application/log/event-serialization.ts'
import type { EventStore, Position } from '../../application/ports/event-store.ts'
import type { Keyring } from '../../application/ports/keyring.ts'
import { startUserDirectory } from '../../application/users/policies/user-directory.ts'
import type { UserEvent } from '../../domain/user/events.ts'
import { systemTimers } from '../../infrastructure/node/system-timers.ts'
import { eventually } from '../support/eventually.ts'
import { createMemoryEventStore } from '../support/memory-event-store.ts'
import { createMemoryKeyring } from '../support/memory-keyring.ts'
import { right } from '../support/projecting.ts'
import { createRecordingLogger } from '../support/recording-logger.ts'
import { createTestEnvironment } from '../support/test-environment.ts'

const environment = createTestEnvironment()

const registered = (userId: number): UserEvent => ({
  type: 'UserRegistered',
  data: {
    userId,
    username: `user ${userId}`,
    usernameHash: `hash ${userId}`,
    passwordHash: 'hash of password',
    permissions: [],
    maxSessions: 10,
    maxTranslations: 5,
    at: environment.now(),
  },
})

const write = async (store: EventStore, keyring: Keyring, event: UserEvent): Promise<Position> => {
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }
  const sealed = right(await sealEvents(keyring, `user-${event.data.userId}`)([event])())
  const events = sealed.map((one) => ({ ...one, id: environment.newId(), metadata }))
  return right(await store.append(`user-${event.data.userId}`, 'any', events)()).position
}

const start = (t: { teardown: (fn: () => void) => void }, store: EventStore, keyring: Keyring) => {
  const stop = new AbortController()
  t.teardown(() => { stop.abort() })
  const logger = createRecordingLogger()
  return { directory: startUserDirectory({ store, keyring, logger, environment, timers: systemTimers, signal: stop.signal }), logger, stop }
}

test('it knows every user of the log once it is ready, opened in batches', async (t) => {
  const store = createMemoryEventStore()
  const inner = createMemoryKeyring()
  let openings = 0
  const keyring: Keyring = { ...inner, open: (envelopes) => { openings += 1; return inner.open(envelopes) } }
  for (let userId = 1; userId <= 1200; userId++) await write(store, keyring, registered(userId))
  const { directory } = start(t, store, keyring)
  await directory.ready()
  t.is(directory.count(), 1200)
  t.deepEqual(directory.ids().slice(0, 3), [1, 2, 3])
  t.like(O.toNullable(directory.byId(7)), { userId: 7, username: 'user 7', passwordHash: 'hash of password', generation: 0 })
  t.deepEqual(directory.byUsernameHash('hash 7'), directory.byId(7))
  t.deepEqual(directory.byUsernameHash('hash of nobody'), O.none)
  t.true(openings <= 3, `${openings} calls of the keyring`)
})

test('a change is known to who waited for it', async (t) => {
  const store = createMemoryEventStore()
  const keyring = createMemoryKeyring()
  const { directory } = start(t, store, keyring)
  await directory.ready()
  for (let userId = 1; userId <= 100; userId++) {
    await directory.whenSeen(await write(store, keyring, registered(userId)))
    t.true(O.isSome(directory.byId(userId)))
  }
  await directory.whenSeen(await write(store, keyring, { type: 'UserDisabled', data: { userId: 7, at: environment.now() } }))
  t.like(O.toNullable(directory.byId(7)), { status: 'disabled' })
})

test('while log and keyring are away the last known state holds, and it goes on by itself', async (t) => {
  const inner = createMemoryEventStore()
  const memoryKeyring = createMemoryKeyring()
  let isKeyringAway = false
  let breaks: AbortController = new AbortController()
  let subscriptions = 0
  const store: EventStore = {
    ...inner,
    subscribe: async function* (from, prefixes, signal) {
      subscriptions += 1
      const own = breaks
      for await (const message of inner.subscribe(from, prefixes, AbortSignal.any([signal, own.signal]))) yield message
      if (own.signal.aborted) throw new Error('the subscription ended', { cause: { _tag: 'StoreUnavailable', reason: 'dropped' } })
    },
  }
  const keyring: Keyring = {
    ...memoryKeyring,
    open: (envelopes) => (isKeyringAway ? TE.left({ _tag: 'KeyringUnavailable', reason: 'away' }) : memoryKeyring.open(envelopes)),
  }
  const { directory, logger } = start(t, store, keyring)
  await directory.ready()
  await directory.whenSeen(await write(store, keyring, registered(1)))

  isKeyringAway = true
  await write(inner, memoryKeyring, registered(2))
  await eventually(() => { assert(logger.lines.length > 0) })
  t.true(O.isSome(directory.byId(1)))
  t.true(O.isNone(directory.byId(2)))
  isKeyringAway = false
  await eventually(() => { assert(O.isSome(directory.byId(2))) })

  const before = subscriptions
  breaks.abort()
  breaks = new AbortController()
  await directory.whenSeen(await write(inner, memoryKeyring, registered(3)))
  await eventually(() => { assert(O.isSome(directory.byId(3))) })
  t.true(subscriptions > before)
  t.is(directory.count(), 3)
})

test('an event of a later version says nothing', async (t) => {
  const store = createMemoryEventStore()
  const keyring = createMemoryKeyring()
  await write(store, keyring, registered(1))
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }
  right(await store.append('user-1', 0, [{ id: environment.newId(), type: 'UserApplauded', data: { userId: 1 }, metadata }])())
  await write(store, keyring, registered(2))
  const { directory } = start(t, store, keyring)
  await directory.ready()
  t.is(directory.count(), 2)
})

test('it stops at the signal', async (t) => {
  const { directory, stop } = start(t, createMemoryEventStore(), createMemoryKeyring())
  await directory.ready()
  stop.abort()
  await directory.stopped
  t.pass()
})
