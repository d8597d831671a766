import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { DocumentsUnavailable } from '../../../../application/ports/documents.ts'
import { BEGINNING, type EventStore, type Position } from '../../../../application/ports/event-store.ts'
import type { LiveView } from '../../../../application/ports/read-models.ts'
import { findUnlistedLive } from '../../../../projections/live-tokens/queries.ts'
import type { ReadDocuments } from '../../../../projections/typed-documents.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { createMemoryDocuments } from '../../../support/doubles/memory/documents.ts'
import { after } from '../../../support/events/sample-events.ts'
import { right } from '../../../support/tools/right.ts'
import { testTokenLookup } from '../../../support/worlds/token-lookup.ts'
import { callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'

const OWNER = callerOf(1)
const finished = { status: 'finished', reason: 'finish_route' } as const
const down: DocumentsUnavailable = { _tag: 'DocumentsUnavailable', reason: 'simulated' }

/** Write side whose lists change only by `project`. The list of tokens knows the position that it has reached. */
const start = async (documents?: ReadDocuments) => {
  let listed: Position = BEGINNING
  const side = await createWriteSide()
  const lookUp = testTokenLookup({ ...side, ...(documents && { documents }), listedUpTo: () => listed })
  const create = async (listenerToken: string | null = null): Promise<LiveView> =>
    right(await side.createLive(OWNER, requestOf({ listenerToken })))
  return {
    ...side,
    create,
    answer: (token: string, liveId: number | null, mayReadLog = true) => lookUp(token, liveId, () => mayReadLog),
    resolve: async (token: string, liveId: number | null = null) =>
      O.toNullable(right(await lookUp(token, liveId, () => true))),
    project: async () => {
      await side.project()
      listed = side.log().at(-1)?.position ?? BEGINNING
    },
  }
}

test('both tokens of a session that no list shows yet open it, with its id and without', async (t) => {
  const { create, resolve } = await start()
  const [first, { id, senderToken, listenerToken }] = [await create(), await create()]
  for (const path of [id, null]) {
    t.like(await resolve(senderToken, path), { liveId: id, role: 'sender', status: 'pending' })
    t.like(await resolve(listenerToken, path), { liveId: id, role: 'listener', status: 'pending' })
    t.is(await resolve('x'.repeat(32), path), null)
  }
  t.is(await resolve(senderToken, first.id), null, 'a token of another session')
  t.is(await resolve(senderToken, 999), null)
})

test('a session that ended before any list showed it is found as ended, and a deleted one is not found', async (t) => {
  const { create, resolve, lifecycle, deleteLive } = await start()
  const { id, listenerToken } = await create()
  right(await lifecycle.endLive(id, finished)())
  for (const path of [id, null]) t.like(await resolve(listenerToken, path), { liveId: id, status: 'finished' })
  right(await deleteLive(OWNER, id))
  for (const path of [id, null]) t.is(await resolve(listenerToken, path), null)
})

test('a failed session that no list shows is found as failed', async (t) => {
  const { create, resolve, lifecycle } = await start()
  const { id, senderToken } = await create()
  right(await lifecycle.endLive(id, { status: 'error', code: 'engine_failed', detail: '' })())
  t.like(await resolve(senderToken, id), { status: 'error' })
})

test('a chosen listener token without an id opens the new session, not the listed one that has ended', async (t) => {
  const { create, resolve, lifecycle, project } = await start()
  const ended = await create('hall')
  right(await lifecycle.endLive(ended.id, finished)())
  await project()
  t.like(await resolve('hall'), { liveId: ended.id, status: 'finished' })
  const next = await create('hall')
  t.like(await resolve('hall'), { liveId: next.id, status: 'pending' })
  right(await lifecycle.endLive(next.id, finished)())
  t.like(await resolve('hall'), { liveId: next.id, status: 'finished' })
})

test('without a look into the log, an unlisted token is neither right nor wrong', async (t) => {
  const { create, answer, project } = await start()
  const { id, senderToken } = await create()
  for (const path of [id, null]) t.like(await answer(senderToken, path, false), { left: { _tag: 'TooManyRequests' } })
  await project()
  for (const path of [id, null]) t.like(await answer(senderToken, path, false), { right: { value: { liveId: id } } })
})

test('a listed token needs no log, and an unlisted one is not refused while the log cannot be read', async (t) => {
  const { create, project, documents } = await start()
  const listed = await create()
  await project()
  const store: Pick<EventStore, 'read' | 'subscribe'> = {
    read: async () => E.left({ _tag: 'StoreUnavailable', reason: 'simulated' }),
    subscribe: () => { throw new Error('simulated') },
  }
  const resolve = testTokenLookup({ store, documents })
  for (const path of [listed.id, null]) {
    t.like(await resolve(listed.senderToken, path, () => true), { right: { value: { liveId: listed.id } } })
    t.like(await resolve('of a new session', path, () => true), { left: { _tag: 'StoreUnavailable' } })
  }
})

test('while no list can be read, a path with an id is decided by the log alone', async (t) => {
  const documents = createMemoryDocuments()
  const broken = { ...documents, get: async () => E.left(down), page: async () => E.left(down) }
  const { create, answer } = await start(broken)
  const { id, senderToken } = await create()
  t.like(await answer(senderToken, id), { right: { value: { liveId: id } } })
  t.deepEqual(await answer('x'.repeat(32), id), E.right(O.none))
  t.like(await answer(senderToken, null), { left: down })
})

test('while the list is far behind, a token without an id is neither right nor wrong', async (t) => {
  const { create, answer, store, environment } = await start()
  const { id, senderToken } = await create()
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: after(0) }
  const event = () => ({ id: environment.newId(), type: 'LiveStarted', data: {}, metadata })
  const events = Array.from({ length: 1000 }, event)
  right(await store.append('live-1000', 'no-stream', events))
  t.like(await answer(senderToken, null), { left: { _tag: 'DocumentsUnavailable' } })
  t.like(await answer(senderToken, id), { right: { value: { liveId: id } } })
})

test('a log that does not answer in time makes a token without an id neither right nor wrong', async (t) => {
  const timers = createManualTimers()
  const never: EventStore['subscribe'] = async function* (_from, _prefixes, signal) {
    await new Promise((resolve) => { signal.addEventListener('abort', resolve) })
    yield* []
  }
  const found = findUnlistedLive({ store: { subscribe: never }, timers, listedUpTo: () => BEGINNING })('hash')
  timers.advance(1500)
  t.like(await found, { left: { _tag: 'StoreUnavailable' } })
})
