import assert from 'node:assert/strict'
import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { loadState } from '../../../../application/log/states/load-state.ts'
import { originOf } from '../../../../application/log/origin.ts'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { createAdministrators } from '../../../../application/users/administrators.ts'
import { countAdministrators } from '../../../../application/users/policies/count-administrators.ts'
import { isSetUp } from '../../../../application/users/queries/is-set-up.ts'
import { DEFAULT_QUOTAS } from '../../../../application/users/commands/register-user.ts'
import { sendToUser } from '../../../../application/log/send-to.ts'
import { administratorsDecider } from '../../../../domain/administrators/decider.ts'
import { ADMINISTRATORS_STREAM, type AdministratorsEvent } from '../../../../domain/administrators/events.ts'
import { administers, userDecider, type UserCommand, type UserState } from '../../../../domain/user/decider.ts'
import type { Permission, UserEvent } from '../../../../domain/user/events.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { immediateTimers as timers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { dataOf } from '../../../support/events/stored-data.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { ada, startUserWorld } from '../../../support/worlds/user-world.ts'

const unavailable = { _tag: 'StoreUnavailable', reason: 'simulated' } as const

/** Creates a log with one user for each list of permissions. */
const openLog = async (permissions: ReadonlyArray<ReadonlyArray<Permission>>) => {
  const store: EventStore = createMemoryEventStore()
  const write = { store, keyring: createMemoryKeyring(), environment: createTestEnvironment(), timers }
  const send = (deps: typeof write, userId: number, command: UserCommand) =>
    sendToUser(deps)(userId, command, originOf(deps, 'test'))
  for (const [index, userPermissions] of permissions.entries()) {
    const userId = index + 1
    const name = { username: `user ${userId}`, usernameHash: `hash ${userId}`, passwordHash: 'hash' }
    const data = {
      userId,
      ...name,
      permissions: userPermissions,
      maxSessions: 1,
      maxTranslations: 1,
      at: write.environment.now(),
    }
    right(await send(write, userId, { type: 'Register', data }))
  }
  const ids = permissions.map((_, index) => index + 1)
  const idsThat = async (is: (userId: number) => Promise<boolean>): Promise<ReadonlyArray<number>> => {
    const found = await Promise.all(ids.map(async (id) => ((await is(id)) ? [id] : [])))
    return found.flat()
  }
  const recorded = async (): Promise<ReadonlyArray<number>> => {
    const load = loadState(write)<ReturnType<typeof administratorsDecider.evolve>, AdministratorsEvent>
    const { state } = right(await load(ADMINISTRATORS_STREAM, administratorsDecider))
    return await idsThat(async (id) => state.get(id)?.administers === true)
  }
  const administering = () => idsThat(async (id) => {
    const { state } = right(await loadState(write)<UserState, UserEvent>(`user-${id}`, userDecider))
    return administers(state)
  })
  return { store, write, send, ids, recorded, administering }
}

type Log = Awaited<ReturnType<typeof openLog>>

/** A process whose store calls run in the order of the scheduler, until it dies at an append. */
const processOn = (
  { write, send }: Log,
  scheduler: fc.Scheduler,
  diesAt: { readonly append: number; readonly isWritten: boolean },
) => {
  let appends = 0
  const store: EventStore = {
    ...write.store,
    append:
      async (...append) => {
        await scheduler.schedule(Promise.resolve())
        appends += 1
        if (appends < diesAt.append) return await write.store.append(...append)
        if (appends === diesAt.append && diesAt.isWritten) await write.store.append(...append)
        return E.left(unavailable)
      },
    read:
      async (...read) => {
        await scheduler.schedule(Promise.resolve())
        return appends < diesAt.append ? await write.store.read(...read) : E.left(unavailable)
      },
  }
  const deps = { ...write, store }
  const { removeThen, synchronise } = createAdministrators(deps)
  const change =
    (userId: number, changes: Extract<UserCommand, { type: 'Change' }>['changes'], nobodyElseAdministers = false) =>
      send(deps, userId, { type: 'Change', changes, nobodyElseAdministers })
  return {
    end: (userId: number, by: 'disable' | 'demote') => {
      const changes = by === 'disable' ? { isActive: false } : { permissions: [] }
      return removeThen(userId, originOf(deps, 'test'), (nobodyElse) => change(userId, changes, nobodyElse))
    },
    begin: async (userId: number) => {
      const changed = await change(userId, { isActive: true, permissions: ['admin'] })
      return E.isLeft(changed) ? changed : await synchronise(userId, originOf(deps, 'test'))
    },
  }
}

const ADMINISTRATORS: ReadonlyArray<ReadonlyArray<Permission>> = [['admin'], ['admin'], ['admin'], []]
const departure = fc.record({
  process: fc.nat({ max: 1 }),
  userId: fc.integer({ min: 1, max: 4 }),
  by: fc.constantFrom('disable' as const, 'demote' as const),
})
const death = fc.record({ append: fc.integer({ min: 1, max: 12 }), isWritten: fc.boolean() })

test('despite removals and crashes in two processes, an administrator remains and is recorded', async (t) => {
  const runs = fc.asyncProperty(
    fc.scheduler(),
    fc.array(departure, { minLength: 1, maxLength: 6 }),
    fc.tuple(death, death),
    async (scheduler, departures, deaths) => {
      const log = await openLog(ADMINISTRATORS)
      right(await countAdministrators(log.write))
      assert.deepEqual(await log.recorded(), [1, 2, 3])
      const processes = deaths.map((diesAt) => processOn(log, scheduler, diesAt))
      const ends = departures.map(async ({ process, userId, by }) => await processes[process]?.end(userId, by))
      await scheduler.waitFor(Promise.all(ends))
      const administering = await log.administering()
      assert.notEqual(administering.length, 0)
      for (const id of await log.recorded()) assert(administering.includes(id), `user ${id} is no administrator`)

      // Another process completes the work, and then all users become administrators again.
      const next = processOn(log, scheduler, { append: Infinity, isWritten: false })
      for (const id of log.ids) right((await scheduler.waitFor(next.begin(id))) ?? E.left('nothing'))
      for (const id of await log.recorded()) assert((await log.administering()).includes(id))
      for (const id of log.ids) await scheduler.waitFor(next.end(id, 'disable'))
      assert.equal((await log.administering()).length, 1)
    },
  )
  await fc.assert(runs, { numRuns: 60 })
  t.pass()
})

test('a log without a stream of administrators gets it once, in one append, from all user events', async (t) => {
  const log = await openLog([['admin'], ['admin'], [], ['admin'], [], ['admin'], ['admin']])
  const change = (userId: number, changes: Extract<UserCommand, { type: 'Change' }>['changes']) =>
    log.send(log.write, userId, { type: 'Change', changes })
  right(await change(2, { permissions: [] }))
  right(await change(3, { permissions: ['admin'] }))
  right(await change(4, { isActive: false }))
  right(await change(5, { isActive: false }))
  right(await change(5, { permissions: ['admin'] }))
  right(await change(6, { isActive: false, maxSessions: 3 }))
  right(await change(6, { isActive: true }))
  right(await log.send(log.write, 7, { type: 'Delete' }))
  const killed = { ...log.write, store: { ...log.store, append: async () => E.left(unavailable) } }
  t.deepEqual(await countAdministrators(killed), E.left(unavailable))
  t.deepEqual(right(await log.store.read(ADMINISTRATORS_STREAM)), [])
  let appends = 0
  const append: EventStore['append'] = (...events) => {
    appends += 1
    return log.store.append(...events)
  }
  const countingAppends = { ...log.write, store: { ...log.store, append } }
  const answers = await Promise.all([countAdministrators(countingAppends), countAdministrators(countingAppends)])
  t.true(answers.every(E.isRight))
  t.deepEqual(await log.recorded(), [1, 3, 6])
  t.deepEqual(await log.administering(), [1, 3, 6])
  t.is(right(await log.store.read(ADMINISTRATORS_STREAM)).length, 3)
  t.is(appends, 2, 'one append of each process')
})

test('a log without users or administrators is not set up; a log with unreadable users is set up', async (t) => {
  const log = await openLog([[]])
  right(await countAdministrators(log.write))
  t.deepEqual(await log.recorded(), [])
  const isSetUpWith = (hasUnreadable: boolean, store: Pick<EventStore, 'read'> = log.store) =>
    isSetUp({ store, log: { hasUnreadable: () => hasUnreadable } })()
  t.deepEqual(await isSetUpWith(false), E.right(false))
  t.deepEqual(await isSetUpWith(true), E.right(true))
  t.deepEqual(await isSetUpWith(false, { read: async () => E.left(unavailable) }), E.left(unavailable))
  t.deepEqual(
    await isSetUpWith(false, { read: async () => E.left({ _tag: 'LogCorrupted', reason: 'a flipped bit' }) }),
    E.right(true),
  )
  right(await createAdministrators(log.write).synchronise(1, originOf(log.write, 'test')))
  t.deepEqual(await isSetUpWith(false), E.right(false), 'a user without administrator rights is not recorded')
})

test('the duty records an administrator whose registration or promotion was interrupted', async (t) => {
  const store = createMemoryEventStore()
  const world = await startUserWorld(t, { store })
  right(await world.users.registerUser({ ...ada, permissions: ['admin'] }, 'setup'))
  const bob = right(await world.users.registerUser({ ...ada, username: 'Bob' }, 'setup'))
  const promote = { type: 'Change', changes: { permissions: ['admin'] }, nobodyElseAdministers: false } as const
  right(await sendToUser(world.write)(bob.id, promote, originOf(world.write, 'test')))
  const name = { username: 'Cy', usernameHash: 'hash of Cy', passwordHash: 'hash' }
  const cy = { ...name, ...DEFAULT_QUOTAS, userId: bob.id + 1, permissions: ['admin' as const] }
  right(await sendToUser(world.write)(cy.userId, { type: 'Register', data: cy }, originOf(world.write, 'test')))
  const duty = world.users.completeUsers()
  await eventually(async () => {
    assert.equal(right(await store.read(ADMINISTRATORS_STREAM)).length, 3)
  })
  await duty.stop()
  const recorded = right(await store.read(ADMINISTRATORS_STREAM)).map(dataOf)
  t.deepEqual(recorded.map(({ userId, revision }) => [userId, revision]), [[1, 0], [bob.id, 1], [cy.userId, 0]])
})
