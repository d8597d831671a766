import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { loadLive } from '../../../../application/lives/load-live.ts'
import { unlistedLive } from '../../../../application/lives/queries/unlisted-live.ts'
import { deleteSnapshots } from '../../../../application/log/states/stream-snapshots.ts'
import { handleCommand, type WriteDeps } from '../../../../application/log/handle-command.ts'
import { sendToAdministrators, sendToProfiles, sendToToken } from '../../../../application/log/send-to.ts'
import { loadState } from '../../../../application/log/states/load-state.ts'
import { startTokenDirectory } from '../../../../application/tokens/policies/token-directory.ts'
import { administratorsDecider } from '../../../../domain/administrators/decider.ts'
import { ADMINISTRATORS_STREAM } from '../../../../domain/administrators/events.ts'
import type { ApiTokenCommand } from '../../../../domain/api-token/decider.ts'
import { CATALOGUE_STREAM } from '../../../../domain/catalogue/events.ts'
import { switchesDecider } from '../../../../domain/catalogue/switches.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../../domain/live/settings.ts'
import { MAX_PROFILES } from '../../../../domain/profiles/decider.ts'
import type { Decider } from '../../../../domain/shared/decider.ts'
import { StateSnapshotTaken } from '../../../../domain/shared/snapshot.ts'
import { lives } from '../../../../projections/lives/projection.ts'
import { factsOfLive, getLive } from '../../../../projections/lives/queries.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { silentLogger } from '../../../support/doubles/loggers.ts'
import { createMemoryDocuments } from '../../../support/doubles/memory/documents.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import {
  changedProfiles, changedSession, countReads, HOTWORDS, OWNER, PROFILES_STREAM, startProfiles,
} from '../../../support/worlds/long-streams.ts'
import { createStreamStates } from '../../../support/worlds/stream-states.ts'
import { createFailingStore } from '../failing-store.ts'

const inMemory = () => ({ store: createMemoryEventStore(), keyring: createMemoryKeyring() })
type Profiles = ReturnType<typeof startProfiles<ReturnType<typeof inMemory>>>
const afterChanges = (count: number): Promise<Profiles> => changedProfiles(inMemory(), count)

const snapshots = (world: Profiles) =>
  world.store.allEvents().filter(({ type }) => type === StateSnapshotTaken.type)

test('a command reads no earlier event, however long its stream is', async (t) => {
  const world = await afterChanges(600)
  t.is(await world.reads(() => world.change(601)), 0)
  t.deepEqual(await world.load(), await world.loadWhole())
})

test('right after a restart, a command reads a snapshot and few events', async (t) => {
  const world = await afterChanges(600)
  const restarted = world.restart()
  const read = await restarted.reads(() => restarted.change(601))
  t.true(read < 40, `${read} events were read`)
  t.deepEqual(await restarted.load(), await world.loadWhole())
  t.is(right(await world.store.read(`snapshot-${PROFILES_STREAM}`)).length, 2, 'only the newest snapshots are kept')
})

test('a state without a snapshot is saved when it is read, and read in pages', async (t) => {
  const world = await afterChanges(300)
  right(await deleteSnapshots(world.store, PROFILES_STREAM))
  const first = world.restart()
  t.true(await first.reads(() => first.load()) > 300)
  await first.deps.states.snapshots.idle()
  const second = world.restart()
  t.true(await second.reads(() => second.load()) < 40)
})

test('a large state is saved in parts, each smaller than an append may be', async (t) => {
  const world = startProfiles(inMemory())
  for (let id = 1; id <= MAX_PROFILES; id++) right(await world.add(id))
  for (let id = 1; id <= MAX_PROFILES; id++) {
    const vocabulary = { hotwords: HOTWORDS.map((word) => `${word}𝄞${id}`) }
    right(await world.send({ type: 'ChangeProfile', profileId: id, settings: {}, vocabulary }))
  }
  for (let each = 1; each <= 400; each++) right(await world.change(each))
  const largest = Math.max(...snapshots(world).map(({ data }) => Buffer.byteLength(JSON.stringify(data))))
  t.true(largest > 200_000 && largest < 1024 * 1024, `${largest} bytes`)
  const restarted = world.restart()
  t.true(await restarted.reads(() => restarted.load()) < 500)
  t.deepEqual(await restarted.load(), await world.loadWhole())
})

test('the streams of all switches and of all administrators have snapshots too', async (t) => {
  const stores = inMemory()
  const environment = createTestEnvironment()
  const { store, during } = countReads(stores.store)
  const start = () => {
    const base = { ...stores, store, environment, timers: immediateTimers }
    return { ...base, states: createStreamStates(base) }
  }
  const deps = start()
  const origin = () => ({ commandId: environment.newId(), correlationId: 'test', actor: 'test' })
  for (let count = 0; count < 600; count++) {
    const at = environment.now()
    const [id, active, administers] = [1 + (count % 7), count % 14 >= 7, count % 2 === 0]
    const command = { kind: 'model', id, active, at } as const
    right(await handleCommand(deps)({ ...origin(), stream: CATALOGUE_STREAM, decider: switchesDecider, command }))
    const report = { type: 'Report', userId: 1 + (count >> 1), administers, revision: count } as const
    right(await sendToAdministrators(deps)(null, report, origin()))
    await deps.states.snapshots.idle()
  }
  const restarted = start()
  const readsFew = async <State, Event extends { readonly type: string; readonly data: unknown }>(
    stream: string, decider: Decider<State, never, Event, unknown>,
  ) => {
    const whole = right(await loadState(stores)(stream, decider))
    const read = await during(async () => {
      t.deepEqual(right(await loadState(restarted)(stream, decider)).state, whole.state)
    })
    t.true(read < 250, `${read} events of ${stream} were read`)
  }
  await readsFew(CATALOGUE_STREAM, switchesDecider)
  await readsFew(ADMINISTRATORS_STREAM, administratorsDecider)
})

/** Changes the newest snapshot, and shows that it is then not used. */
const ignores = async (
  t: ExecutionContext,
  spoil: (snapshot: StateSnapshotTaken['data']) => object,
): Promise<void> => {
  const world = await afterChanges(100)
  const read: WriteDeps['store']['read'] = async (stream, options) => {
    const found = await world.store.read(stream, options)
    return !stream.startsWith('snapshot-') || E.isLeft(found) ? found : E.right(found.right.map((event) =>
      ({ ...event, data: { ...(event.data as object), ...spoil(event.data as StateSnapshotTaken['data']) } })))
  }
  const restarted = startProfiles({ keyring: world.keyring, store: { ...world.store, read } })
  t.true(await restarted.reads(() => restarted.load()) > 100)
  t.deepEqual(await restarted.load(), await world.loadWhole())
}

test('a snapshot of another version of the state is not used', (t) => ignores(t, ({ version }) =>
  ({ version: version + 1 })))
test('a snapshot of another stream is not used', (t) => ignores(t, () => ({ stream: 'profiles-8' })))
test('a snapshot of an event that the log does not have is not used', (t) => ignores(t, () => ({ eventId: 'other' })))
test('a snapshot after the end of the log is not used', (t) => ignores(t, ({ revision }) =>
  ({ revision: revision + 1000 })))
test('a snapshot with a missing part is not used', (t) => ignores(t, ({ part }) => ({ part: part + 1, parts: 2 })))
test('a snapshot in an unknown shape is not used', (t) => ignores(t, () => ({ sealed: null, plain: '{"a":1}' })))
test('a damaged snapshot is not used', (t) => ignores(t, () => ({ revision: 'no number' })))

test('a snapshot is unreadable once the key of its state is erased', async (t) => {
  const world = await afterChanges(100)
  t.true(snapshots(world).length > 0)
  for (const { data } of snapshots(world)) t.notRegex(JSON.stringify(data), /hotword|prompt|change/)
  right(await world.keyring.erase(['user-7']))
  const restarted = world.restart()
  t.like(await restarted.load(), [{ name: '[erased]' }])
  const before = snapshots(world).length
  t.is(restarted.deps.states.known.get(PROFILES_STREAM), undefined, 'the key may be restored')
  await restarted.deps.states.snapshots.idle()
  t.is(snapshots(world).length, before, 'no snapshot of an erased state')
})

test('a command whose append is answered late is not repeated, although others follow', async (t) => {
  const world = startProfiles(inMemory())
  right(await world.add(1))
  const failures = { [PROFILES_STREAM]: ['lost-answer', 'lost-answer', 'lost-answer'] } as const
  const { store } = createFailingStore(world.deps.store, failures)
  const deps = { ...world.deps, store }
  const command = { type: 'AddProfile', profileId: 2, userId: 7, name: 'b', settings: DEFAULT_ENGINE_SETTINGS } as const
  const origin = { commandId: 'command-1', correlationId: 'c', actor: 'user:7' }
  const append = () => sendToProfiles(deps)(7, command, origin)
  const handled = right(await append())
  t.is(handled.events.length, 1)
  right(await world.change(1))
  t.deepEqual(right(await append()).stored, handled.stored, 'a repeat finds the events of the first')
  t.is(right(await world.store.read(PROFILES_STREAM)).length, 3)
})

test('every command and every entry of the history of a long session reads few events', async (t) => {
  const { side, during, entry } = await changedSession(createMemoryEventStore(), 600)
  for (const id of [1, 2, 17, 123, 456, 601]) {
    const { prompt, read } = await entry(id)
    t.is(prompt, id <= 2 ? undefined : `prompt ${id - 2}`)
    t.true(read < 80, `${read} events were read for entry ${id}`)
  }
  const restarted = { ...side.deps, states: createStreamStates(side.deps) }
  t.true(await during(async () => right(await loadLive(restarted, 1))) < 60)
  t.is(await during(async () => right(await side.lifecycle.startLive(1))), 0)
})

test('a session that no list shows is read from its snapshot', async (t) => {
  const { side, during } = await changedSession(createMemoryEventStore(), 600)
  const documents = createMemoryDocuments()
  right(await documents.ensure([lives.collection]))
  const fresh = () => {
    const log = { ...side.deps, states: createStreamStates(side.deps) }
    return { documents, keyring: side.deps.keyring, unlistedLive: unlistedLive(log) }
  }
  const live = await during(async () => {
    t.like(right(await getLive(fresh())(1, 1)), { value: { status: 'active', vocabulary: { prompt: 'prompt 600' } } })
  })
  const facts = await during(async () => {
    t.like(right(await factsOfLive(fresh())(1)), { value: { userId: 1, status: 'active' } })
  })
  t.true(live < 80 && facts < 80, `${live} and ${facts} events were read`)
  t.deepEqual(right(await getLive(fresh())(2, 1)), O.none, 'it belongs to another user')
})

test('a deleted session that no list shows costs one event', async (t) => {
  const { side, during } = await changedSession(createMemoryEventStore(), 100)
  right(await side.deleteLive(OWNER, 1))
  const log = { ...side.deps, states: createStreamStates(side.deps) }
  t.is(await during(async () => { t.deepEqual(right(await unlistedLive(log)(1)), O.none) }), 1)
})

test('a process that just started finds an API token with many names in few events', async (t) => {
  const environment = createTestEnvironment()
  const { store, during } = countReads(createMemoryEventStore())
  const base = { store, keyring: createMemoryKeyring(), environment, timers: immediateTimers }
  const deps = { ...base, states: createStreamStates(base) }
  const send = async (command: ApiTokenCommand) => {
    const origin = { commandId: environment.newId(), correlationId: 'test', actor: 'user:7' }
    right(await sendToToken(deps)(1, command, origin))
    await deps.states.snapshots.idle()
  }
  const data = { tokenId: 1, userId: 7, prefix: 'lt_a', secretHash: 'a hash', expiresAt: null }
  await send({ type: 'Issue', data: { ...data, name: 'first' } })
  for (let each = 1; each <= 600; each++) await send({ type: 'Change', userId: 7, name: `name ${each}` })
  await send({ type: 'Change', userId: 7, isActive: false })
  const stop = new AbortController()
  t.teardown(() => { stop.abort() })
  const directory = startTokenDirectory({
    ...base, states: createStreamStates(base), logger: silentLogger, from: right(await store.head()),
    signal: stop.signal, tokenIdByPrefix: async () => E.right(O.none),
  })
  const read = await during(async () => {
    t.like(right(await directory.byId(1)), { value: { ...data, isActive: false } })
  })
  t.true(read < 100, `${read} events were read`)
})

test('the deletion of a session deletes its snapshots', async (t) => {
  const memory = createMemoryEventStore()
  const { side } = await changedSession(memory, 100)
  t.true(right(await memory.read('snapshot-live-1')).length > 0)
  right(await side.deleteLive(OWNER, 1))
  t.deepEqual(right(await memory.read('snapshot-live-1')), [])
  const restarted = { ...side.deps, states: createStreamStates(side.deps) }
  t.like(right(await loadLive(restarted, 1)).state, { status: 'deleted' })
})
