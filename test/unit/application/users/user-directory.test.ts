import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { sealEvents } from '../../../../application/log/event-serialization.ts'
import type { EventStore, Position } from '../../../../application/ports/event-store.ts'
import type { Keyring } from '../../../../application/ports/keyring.ts'
import { startUserDirectory } from '../../../../application/users/policies/user-directory.ts'
import type { UserEvent } from '../../../../domain/user/events.ts'
import { systemTimers } from '../../../../infrastructure/process/system-timers.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'

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
  const sealed = right(await sealEvents(keyring, `user-${event.data.userId}`)([event]))
  const events = sealed.map((event) => ({ ...event, id: environment.newId(), metadata }))
  return right(await store.append(`user-${event.data.userId}`, 'any', events)).position
}

const start = async (t: { teardown: (fn: () => void) => void }, store: EventStore, keyring: Keyring) => {
  const stop = new AbortController()
  t.teardown(() => { stop.abort() })
  const logger = createRecordingLogger()
  const from = right(await store.head())
  const following = { store, from, logger, environment, timers: systemTimers, signal: stop.signal }
  const directory = startUserDirectory({ ...following, keyring })
  return { directory, logger, stop, find: async (id: number) => right(await directory.byId(id)) }
}

const claimName = async (store: EventStore, userId: number): Promise<void> => {
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }
  const claim = { type: 'UsernameClaimed', data: { userId, at: environment.now() } }
  right(await store.append(`username-hash ${userId}`, 'any', [{ id: environment.newId(), ...claim, metadata }]))
}

const unavailable = { _tag: 'StoreUnavailable', reason: 'simulated' } as const

test('users are found by id and name in their own streams, which are read once and on demand', async (t) => {
  const inner = createMemoryEventStore()
  const keyring = createMemoryKeyring()
  const reads: Array<string> = []
  const subscriptions: Array<Position> = []
  const store: EventStore = {
    ...inner,
    read: (stream, options) => {
      reads.push(stream)
      return inner.read(stream, options)
    },
    subscribe: (from, ...rest) => {
      subscriptions.push(from)
      return inner.subscribe(from, ...rest)
    },
  }
  for (let userId = 1; userId <= 20; userId++) {
    await claimName(inner, userId)
    await write(inner, keyring, registered(userId))
  }
  const { directory, find } = await start(t, store, keyring)
  t.deepEqual(subscriptions, [right(await inner.head())], 'the subscription starts at the end of the log')
  t.deepEqual(reads, [])
  t.like(O.toNullable(await find(7)), {
    userId: 7,
    username: 'user 7',
    passwordHash: 'hash of password',
    generation: 0,
  })
  for (const _ of [1, 2]) t.deepEqual(right(await directory.byUsernameHash('hash 7')), await find(7))
  t.deepEqual(reads, ['user-7', 'username-hash 7'])
  t.deepEqual(right(await directory.byUsernameHash('hash of nobody')), O.none)
  t.deepEqual(await find(4711), O.none)
})

test('a change is known to the caller that waited for it', async (t) => {
  const store = createMemoryEventStore()
  const keyring = createMemoryKeyring()
  const { directory, find } = await start(t, store, keyring)
  for (let userId = 1; userId <= 100; userId++) {
    t.deepEqual(await find(userId), O.none)
    await directory.whenSeen(await write(store, keyring, registered(userId)))
    t.true(O.isSome(await find(userId)))
  }
  const disabled: UserEvent = { type: 'UserDisabled', data: { userId: 7, at: environment.now() } }
  await directory.whenSeen(await write(store, keyring, disabled))
  t.like(O.toNullable(await find(7)), { status: 'disabled' })
})

test('in an outage known users keep their last state, and queries for other users fail', async (t) => {
  const inner = createMemoryEventStore()
  const memoryKeyring = createMemoryKeyring()
  let isUnavailable = false
  let connection: AbortController = new AbortController()
  const store: EventStore = {
    ...inner,
    read: async (...read) => (isUnavailable ? E.left(unavailable) : inner.read(...read)),
    subscribe: async function* (from, prefixes, signal) {
      const own = connection
      for await (const message of inner.subscribe(from, prefixes, AbortSignal.any([signal, own.signal]))) yield message
      if (own.signal.aborted || isUnavailable) throw new Error('the subscription ended', { cause: unavailable })
    },
  }
  for (const userId of [1, 2]) {
    await claimName(inner, userId)
    await write(inner, memoryKeyring, registered(userId))
  }
  const { directory, find } = await start(t, store, memoryKeyring)
  t.true(O.isSome(right(await directory.byUsernameHash('hash 1'))))

  isUnavailable = true
  connection.abort()
  await write(inner, memoryKeyring, { type: 'UserDisabled', data: { userId: 1, at: environment.now() } })
  t.like(O.toNullable(await find(1)), { status: 'active' })
  t.like(O.toNullable(right(await directory.byUsernameHash('hash 1'))), { status: 'active' })
  for (const query of [() => directory.byId(2), () => directory.byUsernameHash('hash 2')])
    t.deepEqual(await query(), E.left(unavailable))

  connection = new AbortController()
  isUnavailable = false
  await eventually(async () => {
    assert.equal(O.toNullable(await find(1))?.status, 'disabled')
  })
  t.true(O.isSome(await find(2)))
})

test('a freed name that another user claims belongs to that user from this event on', async (t) => {
  const store = createMemoryEventStore()
  const keyring = createMemoryKeyring()
  for (const userId of [1, 2]) await write(store, keyring, registered(userId))
  await claimName(store, 1)
  const { directory } = await start(t, store, keyring)
  t.like(O.toNullable(right(await directory.byUsernameHash('hash 1'))), { userId: 1 })
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }
  const changes = [['UsernameFreed', 1], ['UsernameClaimed', 2]] as const
  const events = changes.map(([type, userId]) => ({
    id: environment.newId(),
    type,
    data: { userId, at: environment.now() },
    metadata,
  }))
  await directory.whenSeen(right(await store.append('username-hash 1', 0, events)).position)
  t.like(O.toNullable(right(await directory.byUsernameHash('hash 1'))), { userId: 2 })
})

test('a user that cannot be decrypted is not reported as unknown, and is known once the keyring is back', async (t) => {
  const store = createMemoryEventStore()
  const memoryKeyring = createMemoryKeyring()
  const failures = [
    async () => E.left({ _tag: 'KeyringUnavailable' as const, reason: 'simulated' }),
    async () =>
      E.right([
        E.left({ _tag: 'KeyMissing' as const, key: 'user-1' }),
        E.left({ _tag: 'KeyMissing' as const, key: 'user-1' }),
      ]),
  ]
  const keyring: Keyring = {
    ...memoryKeyring,
    open: (sealed) => (failures.shift() ?? (() => memoryKeyring.open(sealed)))(),
  }
  await write(store, memoryKeyring, registered(1))
  const { directory, find } = await start(t, store, keyring)
  t.like(await directory.byId(1), { left: { _tag: 'KeyringUnavailable' } })
  t.like(O.toNullable(await find(1)), { passwordHash: '[erased]' })
  t.like(O.toNullable(await find(1)), { passwordHash: 'hash of password' }, 'an unreadable state is not cached')
})

test('an event of a later version changes nothing', async (t) => {
  const store = createMemoryEventStore()
  const keyring = createMemoryKeyring()
  await write(store, keyring, registered(1))
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }
  right(
    await store.append('user-1', 0, [
      { id: environment.newId(), type: 'UserApplauded', data: { userId: 1 }, metadata },
    ]),
  )
  const { find } = await start(t, store, keyring)
  t.true(O.isSome(await find(1)))
})

test('the directory stops at the signal', async (t) => {
  const { directory, stop } = await start(t, createMemoryEventStore(), createMemoryKeyring())
  stop.abort()
  await directory.stopped
  t.pass()
})
